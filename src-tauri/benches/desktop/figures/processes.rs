//! The processes that one user's app is made of, as the kernel counts them.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::time::sleep;

/// What `/proc` counts time in, on every Linux that Ebb runs on.
const TICK_MS: f64 = 10.0;

/// A process of the app: itself, its web view's, or a worker.
pub(super) struct Process {
    pid: u64,
    pub(super) name: String,
}

/// Those of the app whose home this is.
pub(super) fn of(home: &Path) -> Vec<Process> {
    let own = format!("EBB_HOME={}", home.display());
    let pids = fs::read_dir("/proc").expect("/proc can be read").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let process = |pid: u64| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        environment.split(|byte| *byte == 0).find(|variable| *variable == own.as_bytes())?;
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let name = program.file_name()?.to_string_lossy().into_owned();
        let ours = ["ebb-desktop", "ebb-worker"].contains(&name.as_str())
            || (name.starts_with("WebKit") && name.ends_with("Process"));
        ours.then_some(Process { pid, name })
    };
    pids.filter_map(process).collect()
}

impl Process {
    /// Its memory, with its share of what it has together with others.
    pub(super) fn pss_mib(&self) -> f64 {
        let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kib.unwrap_or(0.0) / 1024.0
    }

    fn cpu_ms(&self) -> f64 {
        let used = |field| stat(self.pid, field).unwrap_or(0.0) * TICK_MS;
        used(USER) + used(SYSTEM)
    }
}

/// Fields of `/proc/PID/stat`, counted after the name of the program.
const USER: usize = 11;
const SYSTEM: usize = 12;
const START: usize = 19;

fn stat(pid: u64, field: usize) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(field)?.parse().ok()
}

/// When a process began, in milliseconds since 1970.
pub(super) fn began_ms(pid: u64) -> f64 {
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs_f64() * 1000.0;
    let uptime = fs::read_to_string("/proc/uptime").expect("/proc/uptime can be read");
    let up_s: f64 = uptime.split(' ').next().and_then(|up| up.parse().ok()).expect("seconds since boot");
    now_ms - up_s * 1000.0 + stat(pid, START).expect("the process is there") * TICK_MS
}

/// What each of these processes uses of one core over this time, in percent.
pub(super) async fn cpu_percent(processes: &[Process], over: Duration) -> Vec<f64> {
    let (begun, before): (_, Vec<f64>) = (Instant::now(), processes.iter().map(Process::cpu_ms).collect());
    sleep(over).await;
    let over_ms = begun.elapsed().as_secs_f64() * 1000.0;
    let used = processes.iter().zip(before).map(|(process, before)| process.cpu_ms() - before);
    used.map(|used_ms| used_ms / over_ms * 100.0).collect()
}

/// A figure for each, with the names: `ebb-desktop 61, WebKitWebProcess 128`.
pub(super) fn named(processes: &[Process], figures: &[f64], digits: usize) -> String {
    let one = |(process, figure): (&Process, &f64)| format!("{} {figure:.digits$}", process.name);
    processes.iter().zip(figures).map(one).collect::<Vec<_>>().join(", ")
}
