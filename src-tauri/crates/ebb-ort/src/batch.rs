//! Texts into batches by length.

/// What a batch costs besides its tokens, in tokens: the time of a run that does not grow with them. Measured with MiniLM:
/// about 2 ms a run at 0.12 ms a token, on one thread.
const BATCH_COST_TOKENS: usize = 16;

/// Texts that run together, each padded to `len` tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Which texts.
    pub(crate) texts: Vec<usize>,
    /// Tokens of the longest.
    pub(crate) len: usize,
}

/// Splits texts of these `lengths` in tokens into batches of at most `batch_tokens`, padding included (a single text may be
/// longer), so that tokens run plus a fixed cost a batch are the least possible. The longest come first: what they take of
/// the arena serves all that follow.
///
/// Sorted by length, the best batches are runs of neighbours; which ones, dynamic programming tells.
pub(crate) fn split(lengths: &[usize], batch_tokens: usize) -> Vec<Batch> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(lengths[text]));
    // For the first `end` texts of `order`: the least cost, and where its last batch starts.
    let mut best = vec![(0_usize, 0_usize)];
    for end in 1..=order.len() {
        let cost_from =
            |start: usize| best[start].0 + (end - start) * lengths[order[start]] + BATCH_COST_TOKENS;
        let fits = |start: &usize| end - start == 1 || (end - start) * lengths[order[*start]] <= batch_tokens;
        let cheapest = (0..end).rev().take_while(fits).map(|start| (cost_from(start), start)).min();
        best.push(cheapest.unwrap_or_default());
    }
    let mut batches = Vec::new();
    let mut end = order.len();
    while end > 0 {
        let start = best[end].1;
        batches.push(Batch { texts: order[start..end].to_vec(), len: lengths[order[start]] });
        end = start;
    }
    batches.reverse();
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// C16: one long text among short ones runs alone.
    #[test]
    fn a_long_text_does_not_pad_the_short_ones() {
        let mut lengths = vec![10; 31];
        lengths.push(256);
        let batches = split(&lengths, 8192);
        assert_eq!(batches.len(), 2);
        assert_eq!(batches[0], Batch { texts: vec![31], len: 256 });
        assert_eq!((batches[1].texts.len(), batches[1].len), (31, 10));
    }

    /// C15: many texts at once do not make one large batch.
    #[test]
    fn the_budget_splits_equal_texts() {
        let batches = split(&[256; 64], 2048);
        assert_eq!(batches.len(), 8);
        assert!(batches.iter().all(|batch| batch.texts.len() == 8));
    }

    #[test]
    fn a_text_above_the_budget_runs_alone() {
        let batches = split(&[500, 500], 300);
        assert_eq!(batches.len(), 2);
        assert!(split(&[], 300).is_empty());
    }

    proptest! {
        #[test]
        fn every_text_runs_once_within_the_budget(
            lengths in prop::collection::vec(1_usize..300, 0..200),
            batch_tokens in 1_usize..4096,
        ) {
            let batches = split(&lengths, batch_tokens);
            let mut texts: Vec<usize> = batches.iter().flat_map(|batch| batch.texts.clone()).collect();
            texts.sort_unstable();
            prop_assert_eq!(texts, (0..lengths.len()).collect::<Vec<_>>());
            for batch in &batches {
                let longest = batch.texts.iter().map(|&text| lengths[text]).max();
                prop_assert_eq!(longest, Some(batch.len));
                prop_assert!(batch.texts.len() == 1 || batch.texts.len() * batch.len <= batch_tokens);
            }
        }

        /// No padding is worth more than the run that it saves.
        #[test]
        fn padding_never_costs_more_than_single_runs(
            lengths in prop::collection::vec(1_usize..300, 1..100),
            batch_tokens in 1_usize..4096,
        ) {
            let padded: usize = split(&lengths, batch_tokens)
                .iter()
                .map(|batch| batch.texts.len() * batch.len + BATCH_COST_TOKENS)
                .sum();
            let single: usize = lengths.iter().map(|len| len + BATCH_COST_TOKENS).sum();
            prop_assert!(padded <= single);
        }
    }
}
