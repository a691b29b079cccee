use std::collections::HashMap;

/// Merges that lead to the pieces of a SentencePiece vocabulary: each way to make a piece of two others, the pieces with
/// the best scores first, and of one piece the ways whose halves come first.
pub(super) fn from_scores(tokens: &[String], normal: &[bool], scores: &[f64]) -> Vec<String> {
    let ids: HashMap<&str, usize> =
        tokens.iter().enumerate().map(|(id, token)| (token.as_str(), id)).collect();
    let mut merges: Vec<(f64, usize, usize)> = Vec::new();
    for (id, piece) in tokens.iter().enumerate() {
        // A merge is two pieces with a space between.
        if !normal[id] || piece.contains(' ') {
            continue;
        }
        let mut ways: Vec<(usize, usize)> = piece
            .char_indices()
            .skip(1)
            .filter_map(|(at, _)| Some((*ids.get(&piece[..at])?, *ids.get(&piece[at..])?)))
            .collect();
        ways.sort_unstable();
        merges.extend(ways.into_iter().map(|(left, right)| (scores[id], left, right)));
    }
    merges.sort_by(|a, b| b.0.total_cmp(&a.0));
    merges.into_iter().map(|(_, left, right)| format!("{} {}", tokens[left], tokens[right])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_pieces_come_first_and_every_way_to_them_counts() {
        let tokens = ["<s>", "a", "b", "c", "bc", "ab", "abc", "d e"].map(str::to_owned);
        let normal = [false, true, true, true, true, true, true, true];
        let scores = [0.0, 0.0, 0.0, 0.0, -2.0, -1.0, -3.0, 0.0];
        assert_eq!(from_scores(&tokens, &normal, &scores), ["a b", "b c", "a bc", "ab c"]);
    }

    #[test]
    fn a_long_piece_of_letters_of_several_bytes() {
        let tokens = ["ä", "ö", "äö"].map(str::to_owned);
        assert_eq!(from_scores(&tokens, &[true; 3], &[0.0; 3]), ["ä ö"]);
    }
}
