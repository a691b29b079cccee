//! The C library's heap, which belongs to the whole process.

#![expect(unsafe_code, reason = "each call is argued where it stands")]

/// Gives the free pages of the heap back to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn trim_heap() {
    // SAFETY: `malloc_trim` takes a number, locks the heap itself, and touches free blocks only.
    unsafe { libc::malloc_trim(0) };
}

/// Other heaps offer nothing like it.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn trim_heap() {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Freed blocks between live ones stay with the process until the heap is trimmed.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn pages_between_live_blocks_go_back() {
        const BLOCK_BYTES: usize = 64 << 10;
        let resident = || memory_stats::memory_stats().expect("the system tells").physical_mem;
        let (mut large, mut live) = (Vec::new(), Vec::new());
        for _ in 0..2_000 {
            large.push(vec![1_u8; BLOCK_BYTES]);
            live.push(vec![1_u8; 64]);
        }
        drop(large);
        let before = resident();
        trim_heap();
        let after = resident();
        assert_eq!(live.len(), 2_000);
        // Most of 125 MiB; other tests of this process may take some meanwhile.
        assert!(before.saturating_sub(after) > 64 << 20, "{before} before, {after} after");
    }
}
