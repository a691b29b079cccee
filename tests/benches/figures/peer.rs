//! Plain onnxruntime in Python (`peer.py`), as a process that runs the batch it is told to.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::Value;

/// The running peer.
pub(crate) struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// What it held after load and one warm-up.
    pub(crate) loaded_bytes: u64,
}

/// What one batch came to.
pub(crate) struct Ran {
    pub(crate) took_us: f64,
    pub(crate) resident_bytes: u64,
}

impl Peer {
    /// Starts it on these batches, which it reads from `folder`.
    pub(crate) fn start(model: &Path, folder: &Path, batches: &[Vec<String>], threads: u32) -> Self {
        let file = folder.join("batches.json");
        std::fs::write(&file, serde_json::to_vec(batches).expect("texts are JSON"))
            .expect("batches are written");
        let python = std::env::var_os("EBB_PYTHON").unwrap_or_else(|| "python3".into());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peer.py");
        let mut child = Command::new(python)
            .arg(script)
            .args([model, &file])
            .arg(threads.to_string())
            .env("ORT_DISABLE_TELEMETRY", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut peer = Self { child, stdin, stdout, loaded_bytes: 0 };
        peer.loaded_bytes = number(&peer.line(), "resident_bytes");
        peer
    }

    /// Runs one batch.
    pub(crate) fn run(&mut self, batch: usize) -> Ran {
        writeln!(self.stdin, "{batch}").expect("the peer listens");
        let line = self.line();
        Ran { took_us: number(&line, "took_us") as f64, resident_bytes: number(&line, "resident_bytes") }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the peer answers");
        serde_json::from_str(&line).expect("the peer answers in JSON; run this as `cargo xtask bench`")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn number(line: &Value, key: &str) -> u64 {
    line[key].as_u64().unwrap_or_else(|| panic!("no {key} in {line}"))
}
