//! What the host's own process holds.

/// Resident less shared; `None` where the system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn private_bytes() -> Option<u64> {
    anonymous_bytes(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// Resident less shared; `None` where the system does not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn private_bytes() -> Option<u64> {
    None
}

/// What is resident and of no file and no shared memory.
#[cfg(target_os = "linux")]
fn anonymous_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_holds_private_memory_and_not_more_than_all() {
        assert_eq!(anonymous_bytes("VmRSS:\t 9 kB\nRssAnon:\t   12 kB\n"), Some(12_288));
        assert_eq!(anonymous_bytes("RssAnon: many kB"), None);
        assert_eq!(anonymous_bytes("RssAnon: 18446744073709551615 kB"), None);
        let block = vec![1_u8; 8 << 20];
        let private_bytes = private_bytes().unwrap();
        assert!(private_bytes > block.len() as u64, "{private_bytes}");
    }
}
