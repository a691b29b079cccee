//! Starting a worker process, in a group of its own, so that nothing of it is left behind.

use std::{fmt, path::PathBuf, process::Stdio, time::Duration};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Error, exit::OomKills, logs};

/// How a worker is started.
pub trait Launch: fmt::Debug + Send + Sync {
    /// Starts a worker for a model.
    ///
    /// # Errors
    /// Where it does not start.
    fn launch(&self, model: &str) -> Result<Link, Error>;
}

/// A worker that was started.
pub struct Link {
    /// What it says.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// What it is told; unbuffered.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// Its process, where it is one.
    pub process: Option<Process>,
}

/// A worker process; killed when this is dropped.
pub struct Process {
    child: Box<dyn ChildWrapper>,
    oom_kills: OomKills,
}

impl Process {
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for its end, at most `grace`; then kills it. Says how it ended, and whether it is seen to be gone.
    pub(crate) async fn end(mut self, grace: Duration) -> (String, bool) {
        let status = match tokio::time::timeout(grace, self.child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                tracing::warn!(pid = self.id(), "the worker does not end; killing it");
                if let Err(error) = self.child.start_kill() {
                    return (format!("it cannot be killed: {error}"), false);
                }
                self.child.wait().await
            }
        };
        match status {
            Ok(status) => (self.oom_kills.reason(status), true),
            Err(error) => (format!("its end cannot be awaited: {error}"), false),
        }
    }
}

/// Starts the worker program.
#[derive(Debug, Clone)]
pub struct ProcessLaunch {
    program: PathBuf,
}

impl ProcessLaunch {
    /// Starts this program.
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }
}

impl Launch for ProcessLaunch {
    fn launch(&self, model: &str) -> Result<Link, Error> {
        let failed = |source| Error::Start { program: self.program.clone(), source };
        let oom_kills = OomKills::now();
        let mut command = CommandWrap::with_new(&self.program, |command| {
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                // Before ONNX Runtime is loaded; the worker sets it too.
                .env("ORT_DISABLE_TELEMETRY", "1");
        });
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let mut child = command.spawn().map_err(failed)?;
        let (stdin, stdout, stderr) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(failed(std::io::Error::other("it has no pipes")));
        };
        tokio::spawn(logs::forward(model.to_owned(), stderr));
        tracing::debug!(model, pid = child.id(), "worker started");
        Ok(Link {
            reader: Box::new(stdout),
            writer: Box::new(stdin),
            process: Some(Process { child, oom_kills }),
        })
    }
}
