//! Caches of conversations: what those in flight take, and those of ended ones, kept for their next turn.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use ebb_core::{DroppedPool, Pool, Target};

use super::cache::Cache;

/// Name of the pool of caches in flight.
const RUNNING: &str = "kv";

/// Name of the pool of kept ones.
const IDLE: &str = "prefix";

/// Fewest tokens that are worth a copy of a kept cache: reading so few takes no longer than a step or two.
const LEAST_COPIED_TOKENS: usize = 32;

/// The caches of a model. Controls look at them and drop the idle ones while a job runs.
#[derive(Debug)]
pub(crate) struct Caches {
    /// Where they lie.
    device: Target,
    limit_bytes: u64,
    running_bytes: Arc<AtomicU64>,
    idle_bytes: Arc<AtomicU64>,
    /// The last one ended last.
    idle: Mutex<Vec<Idle>>,
}

/// The cache of an ended conversation.
#[derive(Debug)]
struct Idle {
    /// The tokens that it holds.
    tokens: Vec<u32>,
    cache: Cache,
}

/// Bytes that count as in flight or as idle for as long as they are held.
#[derive(Debug)]
pub(super) struct Charge {
    counter: Arc<AtomicU64>,
    bytes: u64,
}

impl Charge {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn set(&mut self, bytes: u64) {
        self.counter.fetch_add(bytes, Ordering::Relaxed);
        self.counter.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
    }

    fn move_to(&mut self, counter: &Arc<AtomicU64>) {
        let bytes = self.bytes;
        self.set(0);
        self.counter = Arc::clone(counter);
        self.set(bytes);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl Caches {
    /// For caches that lie on `device`; kept ones may take `limit_bytes` together.
    pub(super) fn new(device: Target, limit_bytes: u64) -> Self {
        Self {
            device,
            limit_bytes,
            running_bytes: Arc::default(),
            idle_bytes: Arc::default(),
            idle: Mutex::default(),
        }
    }

    /// Counts what a new cache in flight takes.
    pub(super) fn charge(&self) -> Charge {
        Charge { counter: Arc::clone(&self.running_bytes), bytes: 0 }
    }

    /// The kept cache that begins with the most tokens of `prompt`, and how many those are. It is taken out if that is most
    /// of it, for then this is its conversation. Else that may go on as well, and it is copied if that is worth it.
    ///
    /// At least the last two tokens of the prompt are left to be read: what comes after them is wanted, and a runtime
    /// multiplies a lone token with the weights in another way, so that scores would differ a little from those of the same
    /// prompt read whole, and with them now and then the text of the same seed.
    pub(super) fn take(
        &self,
        prompt: &[u32],
        copy: impl FnOnce(&Cache, usize) -> Option<Cache>,
    ) -> Option<(Cache, usize)> {
        let usable = &prompt[..prompt.len().saturating_sub(2)];
        let mut idle = self.idle();
        let common =
            |idle: &Idle| idle.tokens.iter().zip(usable).take_while(|(kept, asked)| kept == asked).count();
        let (common, at) = idle.iter().enumerate().map(|(at, idle)| (common(idle), at)).max()?;
        if common == 0 {
            return None;
        }
        if common * 2 > idle[at].tokens.len() {
            let mut cache = idle.remove(at).cache;
            cache.charge_mut().move_to(&self.running_bytes);
            return Some((cache, common));
        }
        if common < LEAST_COPIED_TOKENS {
            return None;
        }
        copy(&idle[at].cache, common).map(|cache| (cache, common))
    }

    /// Keeps the cache of an ended conversation, if there is room for it; those that were kept longest make it.
    pub(super) fn keep(&self, tokens: Vec<u32>, mut cache: Cache) {
        if cache.bytes() > self.limit_bytes || tokens.is_empty() {
            return;
        }
        let mut idle = self.idle();
        while !idle.is_empty() && self.idle_bytes.load(Ordering::Relaxed) + cache.bytes() > self.limit_bytes {
            idle.remove(0);
        }
        cache.charge_mut().move_to(&self.idle_bytes);
        idle.push(Idle { tokens, cache });
    }

    /// Drops the kept caches; `None` where there were none.
    pub(crate) fn drop_idle(&self) -> Option<DroppedPool> {
        let dropped = std::mem::take(&mut *self.idle());
        let bytes = dropped.iter().map(|idle| idle.cache.bytes()).sum();
        (bytes > 0).then(|| DroppedPool { name: IDLE.to_owned(), bytes })
    }

    /// Where they lie.
    pub(crate) fn device(&self) -> Target {
        self.device
    }

    /// What they take.
    pub(crate) fn pools(&self) -> [Pool; 2] {
        let pool = |name: &str, bytes: &AtomicU64, droppable| Pool {
            name: name.to_owned(),
            bytes: bytes.load(Ordering::Relaxed),
            droppable,
        };
        [pool(RUNNING, &self.running_bytes, false), pool(IDLE, &self.idle_bytes, true)]
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
