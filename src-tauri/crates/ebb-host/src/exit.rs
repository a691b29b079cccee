//! How a worker process ended, in words.

use std::process::ExitStatus;

/// Counts kills by the system for lack of memory, so that one can be told from other kills.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OomKills(u64);

impl OomKills {
    /// Those so far.
    pub(crate) fn now() -> Self {
        Self(kills())
    }

    /// Why a process ended that was started when these were counted.
    pub(crate) fn reason(self, status: ExitStatus) -> String {
        describe(status, kills() > self.0)
    }
}

fn describe(status: ExitStatus, oom: bool) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(number) = status.signal() {
            let name = signal_name(number);
            return match (number, oom) {
                (9, true) => "killed by the system for lack of memory (SIGKILL)".to_owned(),
                _ => format!("killed by {name}"),
            };
        }
    }
    let _ = oom;
    match status.code() {
        Some(0) => "it ended by itself (exit code 0)".to_owned(),
        Some(code) => format!("exit code {code}"),
        None => "for an unknown reason".to_owned(),
    }
}

#[cfg(unix)]
fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

/// Kills for lack of memory in this machine and in this control group, as Linux counts them; 0 elsewhere.
fn kills() -> u64 {
    let machine = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let group = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let path = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let events = std::fs::read_to_string(format!("/sys/fs/cgroup{path}/memory.events")).unwrap_or_default();
    counter(&machine) + counter(&events)
}

fn counter(text: &str) -> u64 {
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn every_end_has_words() {
        for (raw, oom, want) in [
            (9, true, "killed by the system for lack of memory (SIGKILL)"),
            (9, false, "killed by SIGKILL"),
            (11, true, "killed by SIGSEGV"),
            (60, false, "killed by signal 60"),
            (1 << 8, false, "exit code 1"),
            (0, false, "it ended by itself (exit code 0)"),
        ] {
            assert_eq!(describe(ExitStatus::from_raw(raw), oom), want);
        }
    }

    #[test]
    fn the_kernels_counter_is_read() {
        assert_eq!(counter("low 0\noom 2\noom_kill 3\noom_group_kill 0\n"), 3);
        assert_eq!(counter(""), 0);
    }
}
