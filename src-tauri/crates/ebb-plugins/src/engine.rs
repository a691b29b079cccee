//! How wasmtime is set up.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use wasmtime::{
    CacheStore, Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy,
};

use crate::{
    Error,
    limits::{MOST_MEMORY_BYTES, MOST_TABLE_ELEMENTS},
};

/// Instances that fit at once, of all plugins. A slot that is not used costs address space alone: 4 GiB each, of the 128 TiB
/// that a process has.
const INSTANCES: u32 = 1_000;

/// Calls that wait at once: those of pipelines, and of policies that bring WASI.
const FIBERS: u32 = 200;

/// Memory of a slot that stays resident for its next instance, instead of being given back and faulted in again.
const KEEP_RESIDENT_BYTES: usize = 64 << 10;

/// A wasmtime engine, and how many functions it has compiled.
///
/// # Errors
/// Where wasmtime does not run on this machine.
pub(crate) fn new() -> Result<(Engine, Arc<Compiled>), Error> {
    let compiled = Arc::new(Compiled::default());
    let pooled = config(&compiled).and_then(|mut config| {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool()));
        Engine::new(&config)
    });
    let engine = pooled.or_else(|error| {
        // Where address space is limited (`ulimit -v`), each instance maps its own.
        tracing::warn!(%error, "no pool for instances of plugins; each is mapped when it is needed");
        config(&compiled).and_then(|config| Engine::new(&config))
    });
    engine.map(|engine| (engine, compiled)).map_err(|error| Error::Engine(error.into()))
}

fn config(compiled: &Arc<Compiled>) -> wasmtime::Result<Config> {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        // It reaches memory that no limit counts.
        .wasm_memory64(false)
        // Traces hold the names of a plugin's functions, nothing of the host.
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(16))
        .enable_incremental_compilation(Arc::clone(compiled) as Arc<dyn CacheStore>)?;
    Ok(config)
}

fn pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(INSTANCES)
        .total_memories(INSTANCES)
        .total_tables(INSTANCES * 4)
        .total_core_instances(INSTANCES * 20)
        .total_stacks(FIBERS)
        .max_memory_size(MOST_MEMORY_BYTES)
        .table_elements(MOST_TABLE_ELEMENTS)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        // The host lets models shrink; it keeps little itself.
        .max_unused_warm_slots(16);
    pool
}

/// Counts functions that were compiled. Wasmtime tells of each through its cache of functions, which keeps nothing here: it
/// is the only way to see how far a compilation is.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    functions: AtomicU64,
}

impl Compiled {
    /// Functions since the engine was made.
    pub(crate) fn functions(&self) -> u64 {
        self.functions.load(Ordering::Relaxed)
    }
}

impl CacheStore for Compiled {
    fn get(&self, _key: &[u8]) -> Option<Cow<'_, [u8]>> {
        None
    }

    fn insert(&self, _key: &[u8], _value: Vec<u8>) -> bool {
        self.functions.fetch_add(1, Ordering::Relaxed);
        true
    }
}
