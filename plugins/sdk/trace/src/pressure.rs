//! When the simulated system is short of memory. Bounds and times are those of Ebb's own watch.

/// The system is short of memory once less than this part of it is available.
pub const SHORT_BELOW: f64 = 0.10;

/// It is short no longer once this part is available: more, so that it does not go to and fro.
pub const ENOUGH_FROM: f64 = 0.15;

/// How often it is looked.
pub(crate) const LOOK_MS: u64 = 2_000;

/// While a shortage lasts, models are asked again, but not more often than this.
pub(crate) const AGAIN_MS: u64 = 5_000;

/// What the machine has besides the model.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Machine {
    total_bytes: u64,
    /// What would be available were the model not there.
    without_model_bytes: u64,
    short: bool,
}

impl Machine {
    /// It is told what is available, while the recorded model has reserved some.
    pub(crate) fn hear(&mut self, available_bytes: u64, total_bytes: u64, recorded_bytes: u64) {
        self.total_bytes = total_bytes;
        self.without_model_bytes = available_bytes.saturating_add(recorded_bytes);
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// What is available while the simulated model has reserved some.
    pub(crate) fn available_bytes(&self, reserved_bytes: u64) -> u64 {
        self.without_model_bytes.saturating_sub(reserved_bytes)
    }

    /// Whether it is short while the simulated model has reserved some; a shortage lasts until there is enough.
    pub(crate) fn is_short(&mut self, reserved_bytes: u64) -> bool {
        let bound = if self.short { ENOUGH_FROM } else { SHORT_BELOW };
        self.short = (self.available_bytes(reserved_bytes) as f64) < bound * self.total_bytes as f64;
        self.short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_lasts_until_the_model_has_given_enough_back() {
        let mut machine = Machine::default();
        assert!(!machine.is_short(u64::MAX), "nothing was told");
        machine.hear(50, 1_000, 300);
        assert_eq!(machine.available_bytes(200), 150);
        assert!(!machine.is_short(250), "a tenth is there");
        assert!(machine.is_short(300));
        assert!(machine.is_short(250), "that is not enough");
        assert!(!machine.is_short(200));
    }
}
