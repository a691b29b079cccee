//! Memory of this process, as the system counts it.

/// Resident and private memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProcessMemory {
    /// Pages that are in memory.
    pub(crate) resident_bytes: u64,
    /// Those of them that no file and no other process backs: what would come back if the process ended.
    pub(crate) private_bytes: u64,
}

/// Reads it; some microseconds.
///
/// # Errors
/// Where the system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn memory() -> std::io::Result<ProcessMemory> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let page = crate::sys::page_bytes();
    let mut pages = text.split_ascii_whitespace().skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    Ok(ProcessMemory {
        resident_bytes: resident * page,
        private_bytes: resident.saturating_sub(shared) * page,
    })
}

/// Reads it. What is shared is not told here, so all of it counts as private.
///
/// # Errors
/// Where the system does not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn memory() -> std::io::Result<ProcessMemory> {
    let stats = memory_stats::memory_stats()
        .ok_or_else(|| std::io::Error::other("the system does not tell this process's memory"))?;
    let resident_bytes = stats.physical_mem as u64;
    Ok(ProcessMemory { resident_bytes, private_bytes: resident_bytes })
}
