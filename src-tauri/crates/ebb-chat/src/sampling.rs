//! The choice of the next token by its score.

use crate::Error;

/// The likeliest token, the first of them where several are.
///
/// # Errors
/// Where a score is not a number or infinite, or no token is possible.
pub(crate) fn likeliest(scores: &[f32]) -> Result<usize, Error> {
    // Both folds run in vector registers, unlike a search that keeps the place.
    let (mut best, mut broken) = (f32::NEG_INFINITY, false);
    for &score in scores {
        best = if score > best { score } else { best };
        broken |= score.is_nan();
    }
    if broken || best == f32::INFINITY {
        return Err(Error::Scores("some are not numbers or infinite".to_owned()));
    }
    let place = (best != f32::NEG_INFINITY).then(|| scores.iter().position(|&score| score == best)).flatten();
    place.ok_or_else(|| Error::Scores("no token has any probability".to_owned()))
}
