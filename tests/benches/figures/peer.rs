//! What Ebb is compared with, in Python: plain onnxruntime (`peer.py`) and onnxruntime-genai (`chat_peer.py`), each as a
//! process that does what it is told line by line.

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

/// What one generation came to.
pub(crate) struct Generated {
    pub(crate) tokens: u64,
    pub(crate) first_token_us: f64,
    pub(crate) took_us: f64,
    pub(crate) resident_bytes: u64,
}

impl Generated {
    /// Tokens a second after the first.
    pub(crate) fn tokens_per_second(&self) -> f64 {
        self.tokens.saturating_sub(1) as f64 / (self.took_us - self.first_token_us) * 1e6
    }
}

impl Peer {
    /// Starts plain onnxruntime on these batches, which it reads from `folder`.
    pub(crate) fn start(model: &Path, folder: &Path, batches: &[Vec<String>], threads: u32) -> Self {
        Self::of("peer.py", model, folder, &serde_json::json!(batches), threads)
    }

    /// Starts onnxruntime-genai on these prompts, which it reads from `folder`.
    pub(crate) fn chat(model: &Path, folder: &Path, prompts: &[String], threads: u32) -> Self {
        Self::of("chat_peer.py", model, folder, &serde_json::json!(prompts), threads)
    }

    fn of(script: &str, model: &Path, folder: &Path, work: &Value, threads: u32) -> Self {
        let file = folder.join("work.json");
        std::fs::write(&file, work.to_string()).expect("texts are written");
        let python = std::env::var_os("EBB_PYTHON").unwrap_or_else(|| "python3".into());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join(script);
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

    /// Generates so many tokens after a prompt.
    pub(crate) fn generate(&mut self, prompt: usize, tokens: u32) -> Generated {
        writeln!(self.stdin, "{prompt} {tokens}").expect("the peer listens");
        let line = self.line();
        Generated {
            tokens: number(&line, "tokens"),
            first_token_us: number(&line, "first_token_us") as f64,
            took_us: number(&line, "took_us") as f64,
            resident_bytes: number(&line, "resident_bytes"),
        }
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
