//! The process environment and the C library's heap.

/// Tells ONNX Runtime, before it is loaded, to write no telemetry. Switching it off by its interface comes too late: the
/// library writes files under the user's cache folder while it loads.
pub(crate) fn disable_telemetry() {
    // SAFETY: the caller is the first thing in `main`, so no other thread reads or writes the environment.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}

/// Keeps large blocks of the heap apart from small ones, so that freeing them gives them back. By itself glibc raises the
/// size from which a block is mapped on its own up to 32 MiB as such blocks are freed; after that a freed arena region
/// stays resident, under small blocks that live on. Setting either threshold ends that.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn fix_heap_thresholds() {
    const THRESHOLD_BYTES: libc::c_int = 1 << 20;
    // SAFETY: `mallopt` takes two numbers and may be called at any time.
    let both = unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, THRESHOLD_BYTES) == 1
            && libc::mallopt(libc::M_TRIM_THRESHOLD, THRESHOLD_BYTES) == 1
    };
    if !both {
        tracing::warn!("the C library refused the heap thresholds; a shrink may leave memory resident");
    }
}

/// Other heaps give large blocks back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn fix_heap_thresholds() {}

/// Gives the free pages of the heap back to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn trim_heap() {
    // SAFETY: `malloc_trim` takes a number, locks the heap itself, and touches free blocks only.
    unsafe { libc::malloc_trim(0) };
}

/// Other heaps offer nothing like it.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn trim_heap() {}

/// Size of a memory page.
#[cfg(target_os = "linux")]
pub(crate) fn page_bytes() -> u64 {
    // SAFETY: `sysconf` takes a number and has no effect.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
