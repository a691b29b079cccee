//! Samples and run reports for tests.

use crate::{Arena, RunReport, Sample};

/// What the model `model` holds in one arena, `cpu:0`. Change what else the test needs:
///
/// ```
/// let sample = ebb_plugin_sdk::Sample { runs: 7, ..ebb_plugin_sdk::testing::sample(90 << 20, 300 << 20) };
/// assert_eq!(sample.slack_bytes(), 210 << 20);
/// ```
pub fn sample(in_use_bytes: u64, reserved_bytes: u64) -> Sample {
    Sample {
        model: "model".into(),
        at_ms: 0,
        resident_bytes: reserved_bytes,
        private_bytes: reserved_bytes,
        runs: 1,
        arenas: vec![Arena {
            device: "cpu:0".into(),
            in_use_bytes,
            reserved_bytes,
            peak_in_use_bytes: reserved_bytes,
            limit_bytes: None,
            regions: 1,
            shrinkages: 0,
        }],
        pools: Vec::new(),
        more: Vec::new(),
    }
}

/// A request of one item that was answered in a millisecond and left `after` behind.
pub fn run(after: Sample) -> RunReport {
    RunReport {
        model: after.model.clone(),
        outcome: "ok".into(),
        took_us: 1_000,
        items: 1,
        queued: 0,
        after,
        more: Vec::new(),
    }
}
