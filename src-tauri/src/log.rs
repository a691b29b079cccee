//! The host's log, where `ebb server logs` and the Activity view look for it.

use std::{
    fs::{self, File},
    io::{self, IsTerminal as _},
    path::Path,
    sync::Mutex,
};

use ebb_core::Places;
use tracing_subscriber::{
    EnvFilter, Layer as _, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

/// A log that has grown beyond this is put aside before more is written, as by `ebb server start`.
const LIMIT_BYTES: u64 = 8 << 20;

/// Begins to log: into the host's log, or to stderr where it cannot be written or a person looks on.
pub(crate) fn begin() {
    let filter = EnvFilter::try_from_env("EBB_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let terminal = io::stderr().is_terminal();
    let file = Places::from_env().ok().filter(|_| !terminal).and_then(|places| open(&places.log_file()).ok());
    let written = match file {
        Some(file) => fmt::layer().with_ansi(false).with_writer(Mutex::new(file)).boxed(),
        None => fmt::layer().with_ansi(terminal).with_writer(io::stderr).boxed(),
    };
    // What the Activity view shows is kept besides. A test of the library may have set a subscriber up already.
    let all = tracing_subscriber::registry().with(written.with_filter(filter)).with(ebb_api::keep_log());
    let _ = all.try_init();
    // Nobody sees the stderr of an app that a desktop started.
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a part of the app failed")));
}

fn open(log: &Path) -> io::Result<File> {
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder)?;
    }
    if fs::metadata(log).is_ok_and(|meta| meta.len() > LIMIT_BYTES) {
        // Should that fail, the log goes on growing: no reason not to start.
        let _ = fs::rename(log, log.with_extension("log.1"));
    }
    File::options().create(true).append(true).open(log)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_log_is_continued_and_a_large_one_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("run/host.log");
        open(&log).unwrap().write_all(b"one\n").unwrap();
        open(&log).unwrap().write_all(b"two\n").unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), "one\ntwo\n");
        File::options().write(true).open(&log).unwrap().set_len(LIMIT_BYTES + 1).unwrap();
        open(&log).unwrap();
        assert_eq!(fs::metadata(&log).unwrap().len(), 0);
        assert_eq!(fs::metadata(log.with_extension("log.1")).unwrap().len(), LIMIT_BYTES + 1);
    }
}
