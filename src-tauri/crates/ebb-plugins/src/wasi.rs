//! WASI for guests that bring it: an empty world. No arguments, environment, files or network; clocks of a millisecond.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use ebb_core::{PluginWorld, operations::LogLevel};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtx, random::Deterministic};

use crate::{log::Log, stdio::Stdio};

/// There is no finer clock.
const TICK: Duration = Duration::from_millis(1);

/// Most random bytes that one call gives.
const MAX_RANDOM_BYTES: u64 = 1 << 20;

/// The empty world; what is printed goes to the plugin's log. Policies get no chance either: they decide the same on every
/// replay.
pub(crate) fn empty(world: PluginWorld, log: &Log, request: &Arc<AtomicU64>) -> WasiCtx {
    let printed = |level| Stdio::new(log.clone(), level, Arc::clone(request));
    let mut builder = WasiCtx::builder();
    builder
        .stdout(printed(LogLevel::Info))
        .stderr(printed(LogLevel::Warn))
        .wall_clock(Clock::new())
        .monotonic_clock(Clock::new())
        .max_random_size(MAX_RANDOM_BYTES)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false);
    if world == PluginWorld::ShrinkPolicy {
        let chance = || Deterministic::new(b"ebb".to_vec());
        builder.secure_random(chance()).insecure_random(chance()).insecure_random_seed(0);
    }
    builder.build()
}

/// Both clocks, in whole milliseconds.
struct Clock {
    began: Instant,
}

impl Clock {
    fn new() -> Self {
        Self { began: Instant::now() }
    }
}

fn whole_ms(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

impl HostWallClock for Clock {
    fn resolution(&self) -> Duration {
        TICK
    }

    fn now(&self) -> Duration {
        whole_ms(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }
}

impl HostMonotonicClock for Clock {
    fn resolution(&self) -> u64 {
        u64::try_from(TICK.as_nanos()).unwrap_or(u64::MAX)
    }

    fn now(&self) -> u64 {
        u64::try_from(whole_ms(self.began.elapsed()).as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_tick_in_milliseconds() {
        let clock = Clock::new();
        for _ in 0..1_000 {
            assert_eq!(HostMonotonicClock::now(&clock) % 1_000_000, 0);
            assert_eq!(HostWallClock::now(&clock).subsec_nanos() % 1_000_000, 0);
        }
    }
}
