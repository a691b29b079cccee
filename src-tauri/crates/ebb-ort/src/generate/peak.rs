//! The most that a model's arenas had in use while a job ran.

use crate::held::Held;

/// Watches from its making on. The allocators tell the most that was in use since load. Where a job passes that, it is exact.
/// Else it is what the arenas have reserved at most: no more can have been in use.
#[derive(Debug)]
pub(crate) struct Peak {
    before_bytes: u64,
    reserved_bytes: u64,
}

impl Peak {
    pub(crate) fn new(held: &Held) -> Self {
        let usage = held.usage();
        Self { before_bytes: usage.peak_bytes, reserved_bytes: usage.reserved_bytes }
    }

    /// Looks at what is in use; what it has been at most.
    pub(crate) fn look(&mut self, held: &Held) -> u64 {
        let usage = held.usage();
        self.reserved_bytes = self.reserved_bytes.max(usage.reserved_bytes);
        if usage.peak_bytes > self.before_bytes {
            usage.peak_bytes
        } else {
            usage.peak_bytes.min(self.reserved_bytes)
        }
    }
}
