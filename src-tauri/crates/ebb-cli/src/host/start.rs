//! A host in the background.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use ebb_client::Client;
use ebb_core::{Code, ErrorBody, Failure, Places};
use tokio::time::{Instant, sleep};

use super::{held, running};
use crate::error::{Error, Result, storage};

/// A host opens a few files and a port; a slow machine gets time for it.
const PATIENCE: Duration = Duration::from_secs(20);
/// A host that ended at once may have found another that is just starting.
const OTHER_HOST: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A log that has grown beyond this is put aside before a new host writes to it.
const LOG_LIMIT_BYTES: u64 = 8 << 20;

/// How to start it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) port: Option<u16>,
    pub(crate) idle_exit: Option<Duration>,
    /// With the page for browsers.
    pub(crate) ui: bool,
}

/// Starts `ebb server run` as a process of its own and waits until it answers. Where two start a host at the same moment,
/// one comes up and both find it.
pub(crate) async fn start(places: &Places, how: Start) -> Result<Client> {
    let (mut child, log, log_from) = spawn(places, how)?;
    let begun = Instant::now();
    let mut ended: Option<Instant> = None;
    loop {
        if let Some(client) = running(places)?
            && client.status().await.is_ok()
        {
            if client.endpoint().pid != child.id() {
                // Another was first. Ours is still waiting, and would become the host of whoever stops that one.
                let _ = child.kill();
            }
            return Ok(client);
        }
        if ended.is_none() && child.try_wait().is_ok_and(|status| status.is_some()) {
            ended = Some(Instant::now());
        }
        let too_late = ended.map_or(begun.elapsed() > PATIENCE, |at| at.elapsed() > OTHER_HOST);
        if too_late || (ended.is_some() && !held(&places.lock_file())) {
            return Err(Error::NoHost(why(&log, log_from, ended.is_some())));
        }
        sleep(LOOK_EVERY).await;
    }
}

fn spawn(places: &Places, how: Start) -> Result<(Child, PathBuf, u64)> {
    let log = places.log_file();
    let folder = log.parent().unwrap_or(&places.home);
    fs::create_dir_all(folder).map_err(|error| no_host(storage("make the folder", folder, &error)))?;
    if fs::metadata(&log).is_ok_and(|meta| meta.len() > LOG_LIMIT_BYTES) {
        // Should that fail, the log goes on growing: no reason not to start.
        let _ = fs::rename(&log, log.with_extension("log.1"));
    }
    let open = || File::options().create(true).append(true).open(&log);
    let file = open().map_err(|error| no_host(storage("open the log", &log, &error)))?;
    let log_from = file.metadata().map_or(0, |meta| meta.len());
    let program = std::env::current_exe()?;
    let mut command = Command::new(&program);
    command.args(["--json", "--color=never", "server", "run"]);
    if let Some(port) = how.port {
        command.args(["--port", &port.to_string()]);
    }
    if how.ui {
        command.arg("--ui");
    }
    if let Some(idle) = how.idle_exit {
        command.args(["--idle-exit", &idle.as_secs().to_string()]);
    }
    if std::env::var_os("EBB_HOME").is_some_and(|home| !home.is_empty()) {
        // Relative, it would mean another folder from where the host stands.
        command.env("EBB_HOME", &places.home);
    }
    // The folder that one happened to stand in should not be held by a host.
    // It logs to stderr. What it prints, a link that lets a browser in, belongs in no log.
    command.current_dir(&places.home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    detach(&mut command);
    let child = command.spawn().map_err(|error| no_host(storage("start", &program, &error)))?;
    Ok((child, log, log_from))
}

/// Ctrl-C in this terminal, and its closing, must not reach the host.
#[cfg(unix)]
fn detach(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(windows)]
fn detach(command: &mut Command) {
    use std::os::windows::process::CommandExt as _;
    const DETACHED_PROCESS: u32 = 0x8;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}

fn no_host(error: Error) -> Error {
    match error {
        Error::Failure(failure) => {
            Error::NoHost(failure.hint("EBB_HOME names another folder for Ebb's data"))
        }
        other => other,
    }
}

/// What the host said before it ended: its last line, which is its error as JSON, else the end of its log.
fn why(log: &Path, from: u64, ended: bool) -> Failure {
    let said = said(log, from).unwrap_or_default();
    let error = said.lines().rev().find_map(|line| serde_json::from_str::<ErrorBody>(line).ok());
    if let Some(body) = error {
        return body.into();
    }
    let what = if ended { "it ended at once" } else { "it did not answer in time" };
    let last: Vec<_> = said.lines().rev().take(5).collect();
    let last = last.into_iter().rev().collect::<Vec<_>>().join("\n");
    let message =
        if last.is_empty() { what.to_owned() } else { format!("{what}; its log ends with\n{last}") };
    Failure::new(Code::Internal, message).hint(format!("its log is {}", log.display()))
}

fn said(log: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(log)?;
    file.seek(SeekFrom::Start(from))?;
    let mut text = Vec::new();
    file.take(1 << 20).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_what_the_host_said_last() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("host.log");
        fs::write(
            &log,
            "old\nINFO starting\n{\"error\":{\"code\":\"conflict\",\"message\":\"port 1 is taken\",\
            \"hint\":\"choose another\",\"type\":\"\",\"param\":\"port\"}}\n",
        )
        .unwrap();
        assert_eq!(why(&log, 4, true).message, "port 1 is taken");
        fs::write(&log, "old\nthread panicked\n").unwrap();
        let failure = why(&log, 4, true);
        assert_eq!(failure.message, "it ended at once; its log ends with\nthread panicked");
        assert!(why(&log, 999, false).message.contains("did not answer"));
    }
}
