//! When the simulated system is short of memory.

/// The system is short of memory when less than this part of it is available.
pub const SHORT_PART: f64 = 0.1;

/// What the machine has besides the model.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Machine {
    total_bytes: u64,
    /// What would be available were the model not there.
    without_model_bytes: u64,
}

impl Machine {
    /// As it was told while the recorded model had reserved some.
    pub(crate) fn told(available_bytes: u64, total_bytes: u64, recorded_bytes: u64) -> Self {
        Self { total_bytes, without_model_bytes: available_bytes.saturating_add(recorded_bytes) }
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// What is available while the simulated model has reserved some.
    pub(crate) fn available_bytes(&self, reserved_bytes: u64) -> u64 {
        self.without_model_bytes.saturating_sub(reserved_bytes)
    }

    pub(crate) fn is_short(&self, reserved_bytes: u64) -> bool {
        (self.available_bytes(reserved_bytes) as f64) < SHORT_PART * self.total_bytes as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_model_gives_back_is_available() {
        let machine = Machine::told(50, 1_000, 300);
        assert!(machine.is_short(300));
        assert_eq!(machine.available_bytes(200), 150);
        assert!(!machine.is_short(200));
        assert!(!Machine::default().is_short(u64::MAX), "nothing was told");
    }
}
