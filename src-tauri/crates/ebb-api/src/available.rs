//! How much memory there is: of the machine, or of the container where that has less.

use std::{fs, path::Path};

use ebb_core::{Code, Failure};
use sysinfo::System;

/// Where a container finds what its files take, and under which name, by version of control groups.
const RECLAIMABLE: [(&str, &str); 2] = [
    ("/sys/fs/cgroup/memory.stat", "inactive_file"),
    ("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"),
];

/// Available and whole memory.
///
/// # Errors
/// [`Code::Unsupported`] where the system does not tell.
pub(crate) fn system_memory() -> Result<(u64, u64), Failure> {
    let mut system = System::new().map_err(|error| {
        Failure::new(Code::Unsupported, format!("the system does not tell its free memory: {error}"))
    })?;
    system.refresh_memory();
    let (available, whole) = (system.available_memory(), system.total_memory());
    Ok(match system.cgroup_limits() {
        Some(limits) if limits.total_memory > 0 => {
            // Copies of files count as used there, and go when memory is needed: without them, a model that was just read
            // would look like a shortage.
            let free = limits.free_memory.saturating_add(reclaimable()).min(limits.total_memory);
            (available.min(free), whole.min(limits.total_memory))
        }
        _ => (available, whole),
    })
}

fn reclaimable() -> u64 {
    let found = RECLAIMABLE.iter().find_map(|(path, name)| {
        let stat = fs::read_to_string(Path::new(path)).ok()?;
        figure(&stat, name)
    });
    found.unwrap_or(0)
}

/// A figure of `memory.stat`.
fn figure(stat: &str, name: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_other_memory() {
        let stat = "anon 1\ninactive_file_x 7\ninactive_file 4096\nactive_file 3\n";
        assert_eq!(figure(stat, "inactive_file"), Some(4_096));
        assert_eq!((figure(stat, "file"), figure("inactive_file many", "inactive_file")), (None, None));
    }

    #[test]
    fn there_is_memory_and_not_more_than_there_is() {
        let (available, whole) = system_memory().unwrap();
        assert!(0 < available && available <= whole, "{available} of {whole}");
    }
}
