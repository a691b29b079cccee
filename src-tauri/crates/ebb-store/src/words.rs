//! What a person wrote becomes a query that the full-text index takes: words alone, no syntax.

use std::collections::HashSet;

use crate::scripts::{self, Part};

/// How much of a text is looked at.
const MAX_QUERY_BYTES: usize = 16 << 10;
/// How many different terms are looked for.
const MAX_TERMS: usize = 64;

/// What is looked for of a text, each once, in the order in which it comes: words; of scripts without spaces pairs of characters,
/// as the index has them, and of a character alone all that begins with it. Each is a query by itself: within quotes FTS5 knows
/// no operators, and no quotes are left. The index splits words further as it split the texts: a word here is at least one there.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
    let mut seen = HashSet::new();
    text.split(|character: char| character.is_ascii() && !character.is_ascii_alphanumeric())
        .flat_map(str::split_whitespace)
        .flat_map(scripts::parts)
        .flat_map(of_part)
        .filter(|term| seen.insert(term.clone()))
        .take(MAX_TERMS)
        .collect()
}

fn of_part(part: Part<'_>) -> Vec<String> {
    match part {
        Part::Other(word) if word.chars().any(char::is_alphanumeric) => {
            vec![format!("\"{}\"", word.to_lowercase())]
        }
        Part::Other(_) => Vec::new(),
        Part::Run(run) if run.chars().nth(1).is_none() => vec![format!("\"{run}\"*")],
        Part::Run(run) => scripts::pairs(run).map(|pair| format!("\"{pair}\"")).collect(),
    }
}

/// The query of chunks that have any of the terms; none where there is no term.
pub(crate) fn any_of(terms: &[String]) -> Option<String> {
    (!terms.is_empty()).then(|| terms.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Option<String> {
        any_of(&terms(text))
    }

    #[test]
    fn only_words_remain() {
        assert_eq!(
            query(" What's the arena's size? ").unwrap(),
            r#""what" OR "s" OR "the" OR "arena" OR "size""#
        );
        assert_eq!(query(r#"a" OR text:b* NEAR(c,2) ^d {e}-f"#).unwrap().matches('"').count(), 2 * 10);
        assert_eq!(query("naïve\u{a0}Größe").unwrap(), r#""naïve" OR "größe""#);
        for nothing in ["", " \n\t", "\"'*()", "🦀 👩‍👩‍👧", "\0\0", "—…", "。「」"] {
            assert_eq!(query(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn scripts_without_spaces_are_looked_for_by_pairs() {
        assert_eq!(query("東京都の地図?").unwrap(), r#""東京" OR "京都" OR "都の" OR "の地" OR "地図""#);
        assert_eq!(query("木").unwrap(), r#""木"*"#);
        assert_eq!(query("LINEの、使い").unwrap(), r#""line" OR "の"* OR "使い""#);
        assert_eq!(query("서울 물").unwrap(), r#""서울" OR "물"*"#);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let words = terms(&"ä1 ö2 ".repeat(1 << 20));
        assert_eq!(words, ["\"ä1\"", "\"ö2\""]);
        let many: String = (0..1_000).map(|number| format!("w{number} ")).collect();
        assert_eq!(terms(&many).len(), MAX_TERMS);
        assert_eq!(terms(&"ä".repeat(1 << 20)).len(), 1);
        let many: String = ('一'..).take(1_000).collect();
        assert_eq!(terms(&many).len(), MAX_TERMS);
    }
}
