//! Registering an arena with the environment for as long as it takes to create a model's sessions.

use std::{
    ffi::CString,
    ptr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ebb_core::options::{ArenaPlan, ExtendStrategy};
use ort::{
    AsPointer, api,
    environment::Environment,
    memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType},
    sys::OrtArenaCfg,
};

use crate::Error;

/// The environment has one place for a CPU arena, so models are created one after the other.
static TURN: Mutex<()> = Mutex::new(());

/// Waits until no arena is registered, and keeps it so.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An arena that sessions with environment allocators take while this lives. Dropping it unregisters the arena, on every
/// way out, so that no other session can get it.
pub(crate) struct Registration {
    environment: Environment,
    memory: MemoryInfo<'static>,
    refused: Vec<String>,
    _turn: MutexGuard<'static, ()>,
}

impl Registration {
    /// Registers an arena as planned, with `limit_bytes` as its cap. Keys that Ebb does not know are handed over too; where
    /// ONNX Runtime refuses them, the arena is made without, and [`Self::refused`] names them.
    ///
    /// # Errors
    /// Where ONNX Runtime refuses a value.
    pub(crate) fn new(
        environment: &Environment,
        plan: &ArenaPlan,
        limit_bytes: Option<u64>,
    ) -> Result<Self, Error> {
        let turn = turn();
        let memory = cpu_arena_memory()?;
        let known = pairs(plan, limit_bytes);
        let mut refused = Vec::new();
        let all: Vec<(String, u64)> = known.iter().chain(&plan.more).cloned().collect();
        let mut result = register(environment, &memory, &all);
        if result.is_err() && !plan.more.is_empty() {
            result = register(environment, &memory, &known);
            refused = plan.more.iter().map(|(key, _)| key.clone()).collect();
        }
        result?;
        Ok(Self { environment: environment.clone(), memory, refused, _turn: turn })
    }

    /// Unknown keys that ONNX Runtime refused.
    pub(crate) fn refused(&self) -> &[String] {
        &self.refused
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // SAFETY: environment and memory info are valid; the arena under this memory info is the one registered by `new`,
        // because `TURN` is held, and sessions that took it hold their own reference.
        let status = unsafe {
            ort::Error::result_from_status((api().UnregisterAllocator)(
                self.environment.ptr().cast_mut(),
                self.memory.ptr(),
            ))
        };
        if let Err(error) = status {
            tracing::error!(%error, "the arena could not be unregistered; the next model may share it");
        }
    }
}

/// The memory info under which a CPU arena is registered and found.
pub(super) fn cpu_arena_memory() -> Result<MemoryInfo<'static>, Error> {
    MemoryInfo::new(AllocationDevice::CPU, 0, AllocatorType::Arena, MemoryType::Default)
        .map_err(Error::runtime("describe the CPU arena"))
}

/// The plan in ONNX Runtime's keys. What is not given stays at its default.
fn pairs(plan: &ArenaPlan, limit_bytes: Option<u64>) -> Vec<(String, u64)> {
    let strategy = match plan.strategy {
        ExtendStrategy::NextPowerOfTwo => 0,
        ExtendStrategy::SameAsRequested => 1,
    };
    [
        ("arena_extend_strategy", Some(strategy)),
        ("max_mem", limit_bytes),
        ("initial_chunk_size_bytes", plan.initial_chunk_size_bytes),
        ("max_dead_bytes_per_chunk", plan.max_dead_bytes_per_chunk),
        ("initial_growth_chunk_size_bytes", plan.initial_growth_chunk_size_bytes),
        ("max_power_of_two_extend_bytes", plan.max_power_of_two_extend_bytes),
    ]
    .into_iter()
    .filter_map(|(key, value)| Some((key.to_owned(), value?)))
    .collect()
}

/// Owns an arena configuration until it is registered.
struct Config(*mut OrtArenaCfg);

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: made by CreateArenaCfgV2 and released once.
        unsafe { (api().ReleaseArenaCfg)(self.0) };
    }
}

fn register(
    environment: &Environment,
    memory: &MemoryInfo<'_>,
    pairs: &[(String, u64)],
) -> Result<(), Error> {
    let said = || pairs.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ");
    let refusal = |error: ort::Error| Error::Option {
        key: "arena".to_owned(),
        value: said(),
        reason: error.message().to_owned(),
    };
    let keys: Vec<CString> = pairs
        .iter()
        .map(|(key, _)| CString::new(key.as_str()).map_err(|error| refusal(error.into())))
        .collect::<Result<_, _>>()?;
    let values: Vec<usize> =
        pairs.iter().map(|&(_, value)| usize::try_from(value).unwrap_or(usize::MAX)).collect();
    let key_pointers: Vec<_> = keys.iter().map(|key| key.as_ptr()).collect();
    let mut config = ptr::null_mut();
    // SAFETY: keys end in NUL; keys and values live until the call returns and are as many as the count says.
    unsafe {
        ort::Error::result_from_status((api().CreateArenaCfgV2)(
            key_pointers.as_ptr(),
            values.as_ptr(),
            values.len(),
            &mut config,
        ))
    }
    .map_err(refusal)?;
    let config = Config(config);
    // SAFETY: environment, memory info and configuration are valid, and ONNX Runtime copies the latter two.
    unsafe {
        ort::Error::result_from_status((api().CreateAndRegisterAllocator)(
            environment.ptr().cast_mut(),
            memory.ptr(),
            config.0,
        ))
    }
    .map_err(refusal)
}
