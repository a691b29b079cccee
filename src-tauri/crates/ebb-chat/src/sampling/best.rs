//! The best few of many, without sorting all.

use std::cmp::Ordering;

/// Fills `into` with the `count` highest scores and their tokens, highest first, the first token first where scores are
/// equal. Scores that are not numbers are left out.
pub(crate) fn best(scores: &[f32], count: usize, into: &mut Vec<(f32, u32)>) {
    into.clear();
    if count == 0 {
        return;
    }
    let count = count.min(scores.len());
    // Kept until they are twice as many as wanted, then the worse half goes, and what follows must be better than the rest.
    let room = count.saturating_mul(2).max(64);
    let mut bar = f32::NEG_INFINITY;
    for (&score, token) in scores.iter().zip(0..) {
        if score > bar {
            into.push((score, token));
            if into.len() == room {
                into.select_nth_unstable_by(count - 1, order);
                into.truncate(count);
                bar = into[count - 1].0;
            }
        }
    }
    if into.len() > count {
        into.select_nth_unstable_by(count - 1, order);
        into.truncate(count);
    }
    into.sort_unstable_by(order);
}

fn order(a: &(f32, u32), b: &(f32, u32)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_those_that_sorting_all_gives(scores in prop::collection::vec(-8_i8..8, 0..300), count in 0_usize..80) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let mut all: Vec<(f32, u32)> = scores.iter().copied().zip(0..).collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            all.truncate(count);
            let mut few = vec![(9.0, 9)];
            best(&scores, count, &mut few);
            prop_assert_eq!(few, all);
        }
    }

    #[test]
    fn what_is_not_possible_or_not_a_number_is_left_out() {
        let mut few = Vec::new();
        best(&[1.0, f32::NAN, f32::NEG_INFINITY, 2.0], 4, &mut few);
        assert_eq!(few, [(2.0, 3), (1.0, 0)]);
    }
}
