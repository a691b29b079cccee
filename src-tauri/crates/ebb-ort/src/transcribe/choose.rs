//! Which token comes next, and when a model has begun to go round in circles.

use super::family::Family;

/// Least tokens that go round before it counts as a circle: people say `no, no, no` as well.
const CIRCLE_TOKENS: usize = 16;

/// Least times that a circle is gone round.
const CIRCLE_TIMES: usize = 4;

/// Longest circle that is looked for.
const LONGEST_CIRCLE: usize = 24;

/// The likeliest token that may come, `None` where there is none.
pub(super) fn likeliest(family: &Family, mut logits: Vec<f32>, begins: bool) -> Option<u32> {
    let first = if begins { &family.banned_first[..] } else { &[] };
    for &id in family.banned.iter().chain(first) {
        if let Some(logit) = logits.get_mut(id as usize) {
            *logit = f32::NEG_INFINITY;
        }
    }
    let texts = family.banned_from.map_or(logits.len(), |from| logits.len().min(from as usize));
    best(logits[..texts].iter().copied().enumerate())
}

/// The likeliest of these tokens.
pub(super) fn likeliest_of(logits: &[f32], ids: impl Iterator<Item = u32>) -> Option<u32> {
    best(ids.filter_map(|id| Some((id as usize, *logits.get(id as usize)?))))
}

/// The first of the highest; what is no number is never it.
fn best(logits: impl Iterator<Item = (usize, f32)>) -> Option<u32> {
    let mut found: Option<(usize, f32)> = None;
    for (id, logit) in logits {
        if logit > found.map_or(f32::NEG_INFINITY, |(_, best)| best) {
            found = Some((id, logit));
        }
    }
    found.and_then(|(id, _)| u32::try_from(id).ok())
}

/// How many of these tokens to keep, where the last of them only repeat what stands before them.
pub(super) fn circle(ids: &[u32]) -> Option<usize> {
    (1..=LONGEST_CIRCLE).find_map(|round| {
        let times = CIRCLE_TIMES.max(CIRCLE_TOKENS.div_ceil(round));
        let from = ids.len().checked_sub(round * times)?;
        let goes_round = ids[from..].windows(round + 1).all(|window| window[0] == window[round]);
        goes_round.then_some(from + round)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_cut_to_one_round() {
        let said: Vec<u32> = (0..30).collect();
        assert_eq!(circle(&said), None);
        let with = |round: &[u32], times: usize| [&said[..], &round.repeat(times)].concat();
        assert_eq!(circle(&with(&[7], 15)), None, "people do say it often");
        assert_eq!(circle(&with(&[7], 16)), Some(31));
        assert_eq!(circle(&with(&[50, 51, 52, 53, 54], 3)), None);
        assert_eq!(circle(&with(&[50, 51, 52, 53, 54], 4)), Some(35));
        assert_eq!(circle(&[]), None);
    }

    #[test]
    fn the_likeliest_is_chosen_of_those_that_are_numbers() {
        assert_eq!(best([0.5, f32::NAN, 2.0, 2.0].into_iter().enumerate()), Some(2));
        assert_eq!(best([f32::NAN, f32::NEG_INFINITY].into_iter().enumerate()), None);
        assert_eq!(likeliest_of(&[9.0, 1.0, 3.0], [1, 2, 77].into_iter()), Some(2));
    }
}
