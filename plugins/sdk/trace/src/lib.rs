//! Recordings of what models held, and a simulator that shows what a policy would have made of it.
//!
//! A [`Trace`] is a file of JSON lines. The first says what was loaded, the others what happened, each `at_ms` after the load:
//!
//! ```text
//! {"trace": {"version": 1, "kind": "embeddings", "provider": "cpu", "load_ms": 180, "after_load": SAMPLE}}
//! {"at_ms": 40, "run": RUN_REPORT}
//! {"at_ms": 41, "shrink": {"cause": "after_run", "report": SHRINK_REPORT}}
//! {"at_ms": 1000, "sample": SAMPLE}
//! {"at_ms": 1500, "pressure": {"available_bytes": 600000000, "total_bytes": 8000000000}}
//! ```
//!
//! Samples and reports are those of Ebb's own JSON; fields and lines that are not known are passed over. No texts are in it.
//!
//! [`replay`] runs the requests of a trace against a simulated arena, asks a policy as the host would, and reports what the
//! model held with and without it:
//!
//! ```
//! use ebb_trace::{Asked, Decision, Hook, Workload, replay};
//!
//! let trace = Workload { seed: 1, duration_ms: 600_000, phase_runs: 10 }.trace();
//! let report = replay(&trace, |asked: Asked<'_>| {
//!     Ok(match asked.hook {
//!         Hook::Idle { now, .. } if now.slack_bytes() > 16 << 20 => Decision::Shrink(Vec::new()),
//!         _ => Decision::Keep,
//!     })
//! });
//! assert!(report.with.mean_bytes < report.without.mean_bytes);
//! assert!(report.with.idle_slack_ms <= 1_000);
//! ```
//!
//! It must not know Ebb's other crates: authors of plugins build it from the folder that `ebb plugin new` writes.
#![warn(missing_docs)]

mod arena;
mod asked;
mod error;
mod figures;
mod needs;
mod pressure;
mod read;
mod record;
mod report;
mod series;
mod simulator;
mod workload;

pub use asked::{Asked, Decision, Hook};
pub use error::Error;
pub use figures::{Figure, Figures};
pub use pressure::{ENOUGH_FROM, SHORT_BELOW};
pub use record::{
    Arena, Entry, Event, Head, HeadLine, Pool, RunReport, Sample, Shrink, ShrinkReport, Trace, VERSION,
};
pub use report::{Decided, Report};
pub use series::Point;
pub use simulator::{replay, replay_over_time};
pub use workload::Workload;
