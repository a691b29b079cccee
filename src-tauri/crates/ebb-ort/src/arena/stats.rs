//! What an arena holds, by the allocator's own statistics.

use std::{
    ffi::{CStr, c_char},
    ptr,
};

use ebb_core::{ArenaSample, Target};
use ort::{
    AsPointer, api,
    memory::{AllocationDevice, Allocator, AllocatorType, MemoryInfo, MemoryType},
    session::Session,
    sys::OrtKeyValuePairs,
};

use super::registration::cpu_arena_memory;
use crate::Error;

/// The statistics of an arena, as far as Ebb uses them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ArenaStats {
    pub(crate) limit_bytes: Option<u64>,
    pub(crate) in_use_bytes: u64,
    pub(crate) reserved_bytes: u64,
    pub(crate) peak_in_use_bytes: u64,
    pub(crate) regions: u64,
    pub(crate) shrinkages: u64,
}

/// A handle on a session's arena. It keeps the arena alive, so it must go when the model is unloaded.
#[derive(Debug)]
pub(crate) struct Arena {
    target: Target,
    allocator: Allocator,
}

// SAFETY: the handle is used to read statistics only, and ONNX Runtime's arena takes its own lock for that.
unsafe impl Sync for Arena {}

impl Arena {
    /// The CPU arena of a session; `None` where its arena is off.
    ///
    /// # Errors
    /// Where ONNX Runtime does not give its allocator.
    pub(crate) fn of_cpu(session: &Session) -> Result<Option<Self>, Error> {
        Self::of(session, cpu_arena_memory()?, Target::cpu(0))
    }

    /// The arena of a session's GPU provider, by the name that ONNX Runtime gives its memory; `None` where it has none.
    pub(crate) fn of_gpu(session: &Session, memory_name: &str, device: u32) -> Option<Self> {
        let memory = MemoryInfo::new(
            AllocationDevice::new(memory_name),
            i32::try_from(device).ok()?,
            AllocatorType::Arena,
            MemoryType::Default,
        );
        let arena = memory
            .map_err(Error::runtime("describe the GPU arena"))
            .and_then(|memory| Self::of(session, memory, Target::gpu(device)));
        arena.unwrap_or_else(|error| {
            tracing::warn!(%error, device, "the GPU arena gives no statistics");
            None
        })
    }

    fn of(session: &Session, memory: MemoryInfo<'_>, target: Target) -> Result<Option<Self>, Error> {
        let allocator =
            Allocator::new(session, memory).map_err(Error::runtime("find the session's allocator"))?;
        let arena = Self { target, allocator };
        Ok(arena.stats()?.is_some().then_some(arena))
    }

    /// Whose memory it is.
    pub(crate) fn target(&self) -> Target {
        self.target
    }

    /// What it holds now; `None` where the allocator is no arena.
    ///
    /// # Errors
    /// Where ONNX Runtime does not tell.
    pub(crate) fn stats(&self) -> Result<Option<ArenaStats>, Error> {
        let mut out = ptr::null_mut();
        // SAFETY: the allocator is valid as long as `self`, and `out` is written where the call succeeds.
        unsafe { ort::Error::result_from_status((api().AllocatorGetStats)(self.allocator.ptr(), &mut out)) }
            .map_err(Error::runtime("read the arena's statistics"))?;
        Ok(Pairs(out).read())
    }

    /// What it holds now, in the words of a sample.
    ///
    /// # Errors
    /// Where ONNX Runtime does not tell.
    pub(crate) fn sample(&self) -> Result<ArenaSample, Error> {
        let stats = self.stats()?.unwrap_or_default();
        Ok(ArenaSample {
            device: self.target,
            in_use_bytes: stats.in_use_bytes,
            reserved_bytes: stats.reserved_bytes,
            peak_in_use_bytes: stats.peak_in_use_bytes,
            limit_bytes: stats.limit_bytes,
            regions: stats.regions,
            shrinkages: stats.shrinkages,
        })
    }
}

/// Statistics as ONNX Runtime hands them out: texts by name.
struct Pairs(*mut OrtKeyValuePairs);

impl Drop for Pairs {
    fn drop(&mut self) {
        // SAFETY: handed out by AllocatorGetStats for the caller to release, and released once; null is allowed.
        unsafe { (api().ReleaseKeyValuePairs)(self.0) };
    }
}

impl Pairs {
    fn read(&self) -> Option<ArenaStats> {
        if self.0.is_null() {
            return None;
        }
        let (mut keys, mut values, mut count) = (ptr::null(), ptr::null(), 0_usize);
        // SAFETY: the pairs are valid, and the call writes all three.
        unsafe { (api().GetKeyValuePairs)(self.0, &mut keys, &mut values, &mut count) };
        let mut stats = ArenaStats::default();
        for index in 0..count {
            // SAFETY: both arrays have `count` entries, each a text that ends in NUL and lives as long as the pairs.
            let (key, value) = unsafe { (text(*keys.add(index)), text(*values.add(index))) };
            let number = value.parse::<i64>().unwrap_or(0);
            let bytes = u64::try_from(number).unwrap_or(0);
            match key {
                // ONNX Runtime writes -1, or the largest number, where there is no limit.
                "Limit" => stats.limit_bytes = (number > 0 && number < i64::MAX).then_some(bytes),
                "InUse" => stats.in_use_bytes = bytes,
                "TotalAllocated" => stats.reserved_bytes = bytes,
                "MaxInUse" => stats.peak_in_use_bytes = bytes,
                // Counts down again when a region is freed, whatever its name says.
                "NumArenaExtensions" => stats.regions = bytes,
                "NumArenaShrinkages" => stats.shrinkages = bytes,
                _ => {}
            }
        }
        (count > 0).then_some(stats)
    }
}

/// # Safety
/// `pointer` is a text that ends in NUL and lives as long as the result is used.
unsafe fn text<'a>(pointer: *const c_char) -> &'a str {
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or_default()
}
