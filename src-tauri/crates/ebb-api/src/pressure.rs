//! When the system runs short of memory, the policies of the models are asked, the least recently used model first, until
//! there is enough again.

use std::{
    cmp::Reverse,
    sync::{Arc, Weak},
    time::Duration,
};

use ebb_core::operations::ModelState;
use ebb_host::ModelHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::{Host, available::system_memory, host::Inner};

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// While the shortage lasts, the models are asked again, but not more often than this.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The system is short where less than this part of its memory is available, in percent.
const SHORT_BELOW: u64 = 10;

/// It is no longer, once as much is available: more, so that it does not go to and fro.
const ENOUGH_FROM: u64 = 15;

/// A model whose worker hangs is not waited for.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Whether the system is short of memory, and when the models were last asked.
#[derive(Debug, Default)]
struct Shortage {
    lasts: bool,
    asked: Option<Instant>,
}

impl Shortage {
    /// Looks at what is available; says whether the system is short.
    fn look(&mut self, (available_bytes, total_bytes): (u64, u64)) -> bool {
        let bound = if self.lasts { ENOUGH_FROM } else { SHORT_BELOW };
        let short = u128::from(available_bytes) * 100 < u128::from(total_bytes) * u128::from(bound);
        if short != self.lasts {
            tracing::info!(available_bytes, total_bytes, short, "memory of the system");
        }
        self.lasts = short;
        short
    }

    /// Whether the models are to be asked now.
    fn is_due(&mut self, now: Instant) -> bool {
        let due = self.lasts && self.asked.is_none_or(|asked| now.duration_since(asked) >= AGAIN_AFTER);
        if due {
            self.asked = Some(now);
        }
        due
    }
}

/// Starts the look-out of a host.
pub(crate) fn watch(host: &Host) {
    tokio::spawn(look_out(Arc::downgrade(&host.inner)));
}

/// Looks out for shortages, for as long as the host lives.
async fn look_out(host: Weak<Inner>) {
    let mut shortage = Shortage::default();
    loop {
        sleep(LOOK_EVERY).await;
        let Some(inner) = host.upgrade() else { return };
        let host = Host { inner };
        // The native policy has no opinion on it.
        if !host.inner.plugins.decide_for_a_model() {
            continue;
        }
        if let Some(memory) = host.memory_now()
            && shortage.look(memory)
            && shortage.is_due(Instant::now())
        {
            relieve(&host, &mut shortage, memory).await;
        }
    }
}

async fn relieve(host: &Host, shortage: &mut Shortage, mut memory: (u64, u64)) {
    for (alias, model) in least_recently_used_first(host) {
        let (available_bytes, total_bytes) = memory;
        let asked = timeout(ANSWER_WITHIN, model.under_pressure(available_bytes, total_bytes)).await;
        if asked.is_err() {
            tracing::warn!(model = alias, "its policies do not answer, although memory is short");
        }
        if asked != Ok(true) {
            continue;
        }
        match host.memory_now() {
            Some(now) if shortage.look(now) => memory = now,
            _ => return,
        }
    }
}

fn least_recently_used_first(host: &Host) -> Vec<(String, ModelHandle)> {
    let models = host.inner.supervisor.models().into_iter();
    let mut loaded: Vec<_> = models
        .filter(|(_, state)| *state == ModelState::Loaded)
        .filter_map(|(alias, _)| Some((alias.clone(), host.inner.supervisor.model(&alias)?)))
        .collect();
    // One that works now was used last of all.
    loaded.sort_by_key(|(_, model)| Reverse(model.idle_for()));
    loaded
}

impl Host {
    /// Available and whole memory, by what the host was told to look at.
    pub(crate) fn memory_now(&self) -> Option<(u64, u64)> {
        if let Some(watch) = &self.inner.settings.memory_watch {
            return Some(watch.look());
        }
        system_memory().inspect_err(|failure| tracing::debug!(%failure, "no figures of the system")).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_begins_below_a_tenth_and_ends_higher() {
        let mut shortage = Shortage::default();
        let looks = [11, 10, 9, 10, 14, 15, 14, 10, 9].map(|available| shortage.look((available, 100)));
        assert_eq!(looks, [false, false, true, true, true, false, false, false, true]);
        assert!(!Shortage::default().look((0, 0)) && !Shortage::default().look((u64::MAX, u64::MAX)));
    }

    #[test]
    fn while_it_lasts_models_are_asked_now_and_then() {
        let mut shortage = Shortage::default();
        let begun = Instant::now();
        assert!(!shortage.is_due(begun), "there is none");
        shortage.look((1, 100));
        let asked = [0, 2, 4, 5, 9, 10].map(|seconds| shortage.is_due(begun + Duration::from_secs(seconds)));
        assert_eq!(asked, [true, false, false, true, false, true]);
        shortage.look((50, 100));
        assert!(!shortage.is_due(begun + Duration::from_secs(60)));
    }
}
