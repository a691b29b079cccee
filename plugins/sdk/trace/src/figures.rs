//! What a replay measures.

use serde::{Deserialize, Serialize};

/// Slack that a promise on idle models allows.
const LITTLE_BYTES: u64 = 16 << 20;

/// A figure that a policy can promise, as manifests name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Mean reserved bytes, as a part of what they are without the policy.
    MeanReservedRatio,
    /// Reserved bytes at the end, as a part of those right after load.
    EndReservedRatio,
    /// Part of the time in which reserved is more than twice what is in use.
    OverTwiceInUse,
    /// Longest time that slack of more than 16 MiB stays while the model is idle, in milliseconds.
    IdleSlackMs,
    /// Longest time from a shortage of memory to its end, in milliseconds.
    ReliefMs,
}

/// What a model held over a replay.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// How long the replay was.
    pub duration_ms: u64,
    /// Reserved bytes right after load.
    pub after_load_bytes: u64,
    /// Most reserved bytes.
    pub peak_bytes: u64,
    /// Reserved bytes, weighted by time.
    pub mean_bytes: u64,
    /// Reserved bytes at the end.
    pub end_bytes: u64,
    /// What shrinks gave back, together.
    pub freed_bytes: u64,
    /// Shrinks.
    pub shrinks: u64,
    /// Times that the policy unloaded the model, to reload it or not.
    pub unloads: u64,
    /// Times that the model had to be loaded again.
    pub reloads: u64,
    /// Time spent in shrinks, an estimate.
    pub shrink_ms: u64,
    /// Time spent loading again, an estimate where the recording does not tell how long a load takes.
    pub reload_ms: u64,
    /// Part of the time in which reserved was more than twice what was in use.
    pub over_twice_in_use: f64,
    /// Longest time that slack of more than 16 MiB stayed while the model was idle.
    pub idle_slack_ms: u64,
    /// Longest time from a shortage of memory to its end.
    pub relief_ms: u64,
    /// Time in which memory was short, together.
    pub short_ms: u64,
}

/// Adds the figures up as time passes.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) figures: Figures,
    byte_ms: u128,
    over_twice_ms: u64,
    slack_for_ms: u64,
    short_for_ms: u64,
}

/// What held for a while.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) took_ms: u64,
    pub(crate) in_use_bytes: u64,
    pub(crate) reserved_bytes: u64,
    pub(crate) idle: bool,
    pub(crate) short: bool,
}

impl Tally {
    pub(crate) fn add(&mut self, stretch: Stretch) {
        let Stretch { took_ms, in_use_bytes, reserved_bytes, idle, short } = stretch;
        let figures = &mut self.figures;
        figures.duration_ms += took_ms;
        figures.peak_bytes = figures.peak_bytes.max(reserved_bytes);
        self.byte_ms += u128::from(reserved_bytes) * u128::from(took_ms);
        if reserved_bytes > in_use_bytes.saturating_mul(2) {
            self.over_twice_ms += took_ms;
        }
        let slack = idle && reserved_bytes.saturating_sub(in_use_bytes) > LITTLE_BYTES;
        self.slack_for_ms = if slack { self.slack_for_ms + took_ms } else { 0 };
        figures.idle_slack_ms = figures.idle_slack_ms.max(self.slack_for_ms);
        self.short_for_ms = if short { self.short_for_ms + took_ms } else { 0 };
        figures.relief_ms = figures.relief_ms.max(self.short_for_ms);
        figures.short_ms += if short { took_ms } else { 0 };
    }

    pub(crate) fn finish(mut self, end_bytes: u64) -> Figures {
        let duration_ms = self.figures.duration_ms;
        self.figures.end_bytes = end_bytes;
        self.figures.mean_bytes = match duration_ms {
            0 => end_bytes,
            ms => u64::try_from(self.byte_ms / u128::from(ms)).unwrap_or(u64::MAX),
        };
        self.figures.over_twice_in_use = self.over_twice_ms as f64 / duration_ms.max(1) as f64;
        self.figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_weighted_by_time() {
        let mut tally = Tally::default();
        let calm = Stretch {
            took_ms: 0,
            in_use_bytes: 100 << 20,
            reserved_bytes: 100 << 20,
            idle: true,
            short: false,
        };
        tally.add(Stretch { took_ms: 500, ..calm });
        tally.add(Stretch { took_ms: 300, reserved_bytes: 300 << 20, ..calm });
        tally.add(Stretch { took_ms: 100, reserved_bytes: 150 << 20, short: true, ..calm });
        tally.add(Stretch { took_ms: 50, reserved_bytes: 150 << 20, idle: false, short: true, ..calm });
        tally.add(Stretch { took_ms: 50, reserved_bytes: 150 << 20, ..calm });
        let figures = tally.finish(100 << 20);
        assert_eq!(figures.duration_ms, 1_000);
        assert_eq!((figures.peak_bytes >> 20, figures.mean_bytes >> 20), (300, 170));
        assert_eq!(figures.over_twice_in_use, 0.3);
        // A request in between begins the idle time anew.
        assert_eq!(figures.idle_slack_ms, 400);
        assert_eq!((figures.relief_ms, figures.short_ms), (150, 150));
    }

    #[test]
    fn an_empty_replay_has_figures() {
        assert_eq!(Tally::default().finish(7).mean_bytes, 7);
    }
}
