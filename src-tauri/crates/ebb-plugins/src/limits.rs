//! What a plugin is held to: the figures, and the limiter that wasmtime asks before memory or a table grows.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ebb_core::{PluginLimits, PluginManifest, PluginWorld};
use wasmtime::ResourceLimiter;

use crate::Stop;

/// A limit: what holds where a manifest says nothing, and what it can ask for at most.
struct Bounds {
    default: u64,
    most: u64,
}

const MEMORY_BYTES: Bounds = Bounds { default: 64 << 20, most: 1 << 30 };
const TABLE_ELEMENTS: Bounds = Bounds { default: 20_000, most: 200_000 };
const HANDLES: Bounds = Bounds { default: 1_000, most: 10_000 };
const CPU_MS: Bounds = Bounds { default: 60_000, most: 600_000 };
const CALL_MS: Bounds = Bounds { default: 600_000, most: 86_400_000 };
const HOST_CALLS: Bounds = Bounds { default: 10_000, most: 100_000 };
const PAYLOAD_BYTES: Bounds = Bounds { default: 16 << 20, most: 64 << 20 };
const STORE_BYTES: Bounds = Bounds { default: 1 << 30, most: 64 << 30 };
const LOG_BYTES: Bounds = Bounds { default: 1 << 20, most: 16 << 20 };

/// Processor time of a policy's call.
const POLICY_CPU_MS: u64 = 5;

/// Wall time of a policy's call: it waits for nothing, so this is only reached where the machine is overloaded.
const POLICY_CALL_MS: u64 = 50;

/// Largest table of one instance, for the pool that tables come from.
pub(crate) const MOST_TABLE_ELEMENTS: usize = 200_000;

/// Largest memory of one instance, for the pool that memories come from.
pub(crate) const MOST_MEMORY_BYTES: usize = 1 << 30;

/// Instances of core modules, memories and tables of one component: interpreters are linked from dozens of modules.
const MOST_INSTANCES: usize = 200;
const MOST_MEMORIES: usize = 8;
const MOST_TABLES: usize = 16;

/// What a plugin is held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of an instance.
    pub memory_bytes: u64,
    /// Elements of all tables of an instance.
    pub table_elements: u64,
    /// Handles that are open at once.
    pub handles: u64,
    /// Processor time of one call.
    pub cpu: Duration,
    /// Wall time of one call.
    pub call: Duration,
    /// Host calls a second.
    pub host_calls_per_s: u32,
    /// Largest text or block handed over in one call.
    pub payload_bytes: u64,
    /// What its store may hold.
    pub store_bytes: u64,
    /// What its log may hold on disk.
    pub log_bytes: u64,
}

impl Limits {
    /// The limits that a manifest asks for, each within what the host grants at most.
    pub fn of(manifest: &PluginManifest) -> Self {
        let asked = &manifest.limits;
        let within = |asked: Option<u64>, bounds: Bounds| asked.unwrap_or(bounds.default).min(bounds.most);
        let (cpu_ms, call_ms) = match manifest.world {
            PluginWorld::ShrinkPolicy => (POLICY_CPU_MS, POLICY_CALL_MS),
            PluginWorld::RagPipeline => (within(asked.cpu_ms, CPU_MS), within(asked.call_ms, CALL_MS)),
        };
        let host_calls = within(asked.host_calls_per_s.map(u64::from), HOST_CALLS);
        Self {
            memory_bytes: within(asked.memory_bytes, MEMORY_BYTES),
            table_elements: within(asked.table_elements.map(u64::from), TABLE_ELEMENTS),
            handles: within(asked.handles.map(u64::from), HANDLES),
            cpu: Duration::from_millis(cpu_ms),
            call: Duration::from_millis(call_ms),
            host_calls_per_s: u32::try_from(host_calls).unwrap_or(u32::MAX),
            payload_bytes: within(asked.payload_bytes, PAYLOAD_BYTES),
            store_bytes: within(asked.store_bytes, STORE_BYTES),
            log_bytes: within(asked.log_bytes, LOG_BYTES),
        }
    }

    /// The limits as they are told.
    pub fn told(&self) -> PluginLimits {
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        PluginLimits {
            memory_bytes: Some(self.memory_bytes),
            table_elements: Some(small(self.table_elements)),
            handles: Some(small(self.handles)),
            cpu_ms: Some(ms(self.cpu)),
            call_ms: Some(ms(self.call)),
            host_calls_per_s: Some(self.host_calls_per_s),
            payload_bytes: Some(self.payload_bytes),
            store_bytes: Some(self.store_bytes),
            log_bytes: Some(self.log_bytes),
        }
    }
}

/// What is wrong with the limits that a manifest asks for.
pub(crate) fn problems(manifest: &PluginManifest) -> Vec<String> {
    let asked = &manifest.limits;
    let wide = |value: Option<u32>| value.map(u64::from);
    let mut problems: Vec<String> = [
        ("memory_bytes", asked.memory_bytes, MEMORY_BYTES),
        ("table_elements", wide(asked.table_elements), TABLE_ELEMENTS),
        ("handles", wide(asked.handles), HANDLES),
        ("cpu_ms", asked.cpu_ms, CPU_MS),
        ("call_ms", asked.call_ms, CALL_MS),
        ("host_calls_per_s", wide(asked.host_calls_per_s), HOST_CALLS),
        ("payload_bytes", asked.payload_bytes, PAYLOAD_BYTES),
        ("store_bytes", asked.store_bytes, STORE_BYTES),
        ("log_bytes", asked.log_bytes, LOG_BYTES),
    ]
    .into_iter()
    .filter_map(|(name, asked, bounds)| {
        let asked = asked?;
        (asked == 0 || asked > bounds.most)
            .then(|| format!("limits.{name} is {asked}; it can be 1 to {}", bounds.most))
    })
    .collect();
    let timed = asked.cpu_ms.is_some() || asked.call_ms.is_some();
    if manifest.world == PluginWorld::ShrinkPolicy && timed {
        problems.push(format!(
            "limits.cpu_ms and limits.call_ms are fixed for policies: {POLICY_CPU_MS} ms and {POLICY_CALL_MS} ms"
        ));
    }
    problems
}

/// What the instances of a plugin take together.
#[derive(Debug, Default)]
pub(crate) struct Consumption {
    memory_bytes: AtomicU64,
    cpu_us: AtomicU64,
}

impl Consumption {
    /// Linear memory of its instances now.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Ordering::Relaxed)
    }

    /// Processor time of its calls since the host started.
    pub(crate) fn cpu_us(&self) -> u64 {
        self.cpu_us.load(Ordering::Relaxed)
    }

    pub(crate) fn add_cpu(&self, used: Duration) {
        self.cpu_us.fetch_add(u64::try_from(used.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// Holds one instance to its plugin's limits.
#[derive(Debug)]
pub(crate) struct Limiter {
    limits: Arc<Limits>,
    consumption: Arc<Consumption>,
    memory_bytes: u64,
    table_elements: u64,
    host_calls: u32,
    host_calls_since: Instant,
    /// What it ran into. Guests are told of memory that they do not get, and mostly trap then; this says why.
    pub(crate) hit: Option<Stop>,
}

impl Limiter {
    pub(crate) fn new(limits: Arc<Limits>, consumption: Arc<Consumption>) -> Self {
        Self {
            limits,
            consumption,
            memory_bytes: 0,
            table_elements: 0,
            host_calls: 0,
            host_calls_since: Instant::now(),
            hit: None,
        }
    }

    /// Counts a call of the host. The clock is looked at only once in as many calls as are allowed in a second.
    ///
    /// # Errors
    /// Where those took less than a second: the call is to be stopped.
    pub(crate) fn count_host_call(&mut self) -> wasmtime::Result<()> {
        self.host_calls += 1;
        if self.host_calls <= self.limits.host_calls_per_s {
            return Ok(());
        }
        if self.host_calls_since.elapsed() < Duration::from_secs(1) {
            return Err(self.stop(Stop::HostCalls(self.limits.host_calls_per_s)));
        }
        self.host_calls = 1;
        self.host_calls_since = Instant::now();
        Ok(())
    }

    /// Notes why the call is stopped; the error traps it.
    pub(crate) fn stop(&mut self, stop: Stop) -> wasmtime::Error {
        self.hit = Some(stop);
        wasmtime::Error::msg(stop.to_string())
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let fits = self.memory_bytes.saturating_add(more) <= self.limits.memory_bytes;
        if fits {
            self.memory_bytes += more;
            self.consumption.memory_bytes.fetch_add(more, Ordering::Relaxed);
        } else {
            self.hit = Some(Stop::Memory(self.limits.memory_bytes));
        }
        Ok(fits)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let fits = self.table_elements.saturating_add(more) <= self.limits.table_elements;
        if fits {
            self.table_elements += more;
        } else {
            self.hit = Some(Stop::Tables(self.limits.table_elements));
        }
        Ok(fits)
    }

    fn instances(&self) -> usize {
        MOST_INSTANCES
    }

    fn tables(&self) -> usize {
        MOST_TABLES
    }

    fn memories(&self) -> usize {
        MOST_MEMORIES
    }
}

impl Drop for Limiter {
    fn drop(&mut self) {
        self.consumption.memory_bytes.fetch_sub(self.memory_bytes, Ordering::Relaxed);
    }
}
