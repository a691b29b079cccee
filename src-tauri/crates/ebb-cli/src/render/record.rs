//! Recordings, and counts of tokens.

use ebb_core::operations::TokenCounts;

use super::{Look, counted, stats::duration};
use crate::cmd::Recorded;

/// What was recorded.
pub(crate) fn recorded(recorded: &Recorded, look: Look) -> String {
    format!(
        "{}  {}, {}, {} in {}: {}\n",
        look.bold(&recorded.model),
        counted(recorded.runs, "request", "requests"),
        counted(recorded.samples, "sample", "samples"),
        counted(recorded.shrinks, "shrink", "shrinks"),
        duration(recorded.took_ms),
        recorded.file.display()
    )
}

/// One count a line, as the texts were given.
pub(crate) fn token_counts(counts: &TokenCounts, _: Look) -> String {
    counts.tokens.iter().map(|count| format!("{count}\n")).collect()
}
