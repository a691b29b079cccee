//! The most that a model's arenas had in use while a job ran.

use crate::held::Held;

/// Watches from its making on. The allocators tell the most since load. Where a job passes that, it is exact; else it is the
/// most that was seen between its steps.
#[derive(Debug)]
pub(crate) struct Peak {
    before_bytes: u64,
    seen_bytes: u64,
}

impl Peak {
    pub(crate) fn new(held: &Held) -> Self {
        let in_use = held.in_use();
        Self { before_bytes: in_use.peak_bytes, seen_bytes: in_use.now_bytes }
    }

    /// Looks at what is in use; what it has been at most.
    pub(crate) fn look(&mut self, held: &Held) -> u64 {
        let in_use = held.in_use();
        let now_bytes =
            if in_use.peak_bytes > self.before_bytes { in_use.peak_bytes } else { in_use.now_bytes };
        self.seen_bytes = self.seen_bytes.max(now_bytes);
        self.seen_bytes
    }
}
