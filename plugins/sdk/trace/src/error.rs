/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file itself.
    #[error("the trace cannot be read or written: {0}")]
    Io(#[from] std::io::Error),
    /// A line that is no JSON, or not what a line of a trace holds.
    #[error("line {line} of the trace: {source}")]
    Json {
        /// From 1.
        line: u64,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A line whose content does not fit.
    #[error("line {line} of the trace: {reason}")]
    Line {
        /// From 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// Nothing is in it.
    #[error("the trace is empty: record one with 'ebb model record MODEL --out FILE'")]
    Empty,
}
