//! Processes by their number.

/// Whether the process is there. One that has ended and that nobody has waited for yet is not.
#[cfg(unix)]
pub(super) fn alive(pid: u32) -> bool {
    let Some(process) = unix_pid(pid) else { return false };
    // A process of somebody else is one too; "no such process" is the only other answer.
    let there = rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH);
    there && !ended(pid)
}

/// Asks the process to end, or ends it.
#[cfg(unix)]
pub(super) fn end(pid: u32, by_force: bool) {
    use rustix::process::{Signal, kill_process};
    let signal = if by_force { Signal::KILL } else { Signal::TERM };
    if let Some(process) = unix_pid(pid) {
        // It may have ended by itself meanwhile; the caller looks again anyway.
        let _ = kill_process(process, signal);
    }
}

#[cfg(unix)]
fn unix_pid(pid: u32) -> Option<rustix::process::Pid> {
    i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw)
}

/// In a container nobody may ever wait for a process that has ended.
#[cfg(target_os = "linux")]
fn ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    matches!(state, Some('Z' | 'X'))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn ended(_pid: u32) -> bool {
    false
}

#[cfg(windows)]
pub(super) fn alive(pid: u32) -> bool {
    let filter = format!("PID eq {pid}");
    let listed = std::process::Command::new("tasklist").args(["/NH", "/FO", "CSV", "/FI", &filter]).output();
    listed.is_ok_and(|listed| String::from_utf8_lossy(&listed.stdout).contains(&format!("\"{pid}\"")))
}

#[cfg(windows)]
pub(super) fn end(pid: u32, by_force: bool) {
    let mut command = std::process::Command::new("taskkill");
    command.args(["/PID", &pid.to_string()]);
    if by_force {
        command.arg("/F");
    }
    let _ = command.output();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_is_not_there_even_before_it_is_waited_for() {
        assert!(alive(std::process::id()));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(alive(child.id()));
        end(child.id(), true);
        while alive(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!alive(child.id()));
        assert!(!alive(0) && !alive(u32::MAX));
    }
}
