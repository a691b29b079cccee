//! How much memory there is: of the machine, or of a control group where that leaves less.

mod cgroup;

use ebb_core::{Code, Failure};
use sysinfo::System;

/// Available and whole memory: of whatever leaves least, the machine or a limit that the process is under.
///
/// # Errors
/// [`Code::Unsupported`] where the system does not tell.
pub(crate) fn system_memory() -> Result<(u64, u64), Failure> {
    let mut system = System::new().map_err(|error| {
        Failure::new(Code::Unsupported, format!("the system does not tell its free memory: {error}"))
    })?;
    system.refresh_memory();
    Ok(least((system.available_memory(), system.total_memory()), cgroup::memory()))
}

/// A limit that is larger than the machine limits nothing.
fn least(machine: (u64, u64), group: Option<(u64, u64)>) -> (u64, u64) {
    group.filter(|(free, whole)| *free < machine.0 && *whole <= machine.1).unwrap_or(machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_leaves_least_decides() {
        let machine = (30, 64);
        assert_eq!(least(machine, None), (30, 64));
        assert_eq!(least(machine, Some((2, 16))), (2, 16));
        assert_eq!(least(machine, Some((40, 50))), (30, 64), "the machine is fuller than the group");
        assert_eq!(least(machine, Some((u64::MAX - 5, u64::MAX))), (30, 64));
    }

    #[test]
    fn there_is_memory_and_not_more_than_there_is() {
        let (available, whole) = system_memory().unwrap();
        assert!(0 < available && available <= whole, "{available} of {whole}");
    }
}
