//! Real workers under a supervisor, seen from outside as well: their processes, as the system lists them.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use ebb_core::{
    ChunkBody, DType, EmbedFigures, Event, EventKind, Failure, Figures, Job, JobKind, LoadOptions, LoadSpec,
    Policy, ShrinkEvery, TensorSpec,
};
use ebb_host::{HostConfig, ModelHandle, RunItem, Running, Supervisor};
use ebb_tests::home::{program, real_model, runtime_library};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::broadcast;

pub(crate) const MIB: u64 = 1 << 20;

/// What is bound to happen is waited for this long: the machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// A supervisor whose workers are told from those of other tests by the name that they are started under.
pub(crate) struct Scene {
    pub(crate) supervisor: Supervisor,
    events: broadcast::Receiver<Event>,
    program: PathBuf,
    folder: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut HostConfig)) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = folder.path().join("worker");
        symlink(program("ebb-worker"), &name).expect("a link can be made");
        Self::on(folder, name, change)
    }

    /// With a shell script for a worker; in it `$WORKER` is the real one.
    pub(crate) fn scripted(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = folder.path().join("script");
        let worker = program("ebb-worker");
        // Written by another process: one that this test forks meanwhile would hold it open for writing, and it could not
        // be executed.
        let text = format!("#!/bin/sh\nWORKER='{}'\n{script}\n", worker.display());
        let plain = folder.path().join("text");
        fs::write(&plain, text).expect("a script can be written");
        let copied = Command::new("cp").arg(&plain).arg(&name).status().expect("cp runs");
        assert!(copied.success());
        fs::set_permissions(&name, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
        Self::on(folder, name, |_| {})
    }

    fn on(folder: TempDir, program: PathBuf, change: impl FnOnce(&mut HostConfig)) -> Self {
        let mut config = HostConfig::new(program.clone());
        config.restart_first = Duration::from_millis(10);
        change(&mut config);
        let supervisor = Supervisor::new(config);
        Self { events: supervisor.events(), supervisor, program, folder }
    }

    /// A folder that ends with the test.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Loads a model on one thread, unless the options say otherwise; `shrink_every` is obeyed as the host does it.
    pub(crate) async fn load(
        &self,
        alias: &str,
        path: &Path,
        options: LoadOptions,
    ) -> Result<ModelHandle, Failure> {
        let policies: Vec<Box<dyn Policy>> = match options.shrink_every {
            Some(every) => vec![Box::new(ShrinkEvery::new(every))],
            None => Vec::new(),
        };
        self.supervisor.load(spec(alias, path, options), policies).await?;
        Ok(self.supervisor.model(alias).expect("it was just loaded"))
    }

    /// The processes of its workers.
    pub(crate) fn workers(&self) -> Vec<Pid> {
        workers_of(&self.program)
    }

    /// The process of its only worker.
    pub(crate) fn worker(&self) -> Pid {
        let workers = self.workers();
        assert_eq!(workers.len(), 1, "one worker");
        workers[0]
    }

    /// The next event of this kind.
    pub(crate) async fn event<T>(&mut self, mut wanted: impl FnMut(EventKind) -> Option<T>) -> T {
        let found = async {
            loop {
                match self.events.recv().await {
                    Ok(event) => {
                        if let Some(found) = wanted(event.kind) {
                            return found;
                        }
                    }
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(closed) => panic!("{closed}"),
                }
            }
        };
        tokio::time::timeout(PATIENCE, found).await.expect("the event comes")
    }
}

pub(crate) fn spec(alias: &str, path: &Path, options: LoadOptions) -> LoadSpec {
    LoadSpec {
        alias: alias.to_owned(),
        path: path.to_owned(),
        options: LoadOptions { threads: options.threads.or(Some(1)), ..options },
        runtime_library: Some(runtime_library()),
        runtime_folders: Vec::new(),
    }
}

/// The processes that were started under this name.
pub(crate) fn workers_of(program: &Path) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").expect("the system lists its processes");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let is_ours = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // A script's name comes second, behind the shell's.
        line.split(|&byte| byte == 0).take(2).any(|arg| arg == program.as_os_str().as_encoded_bytes())
            && !status(*pid, "State:").is_some_and(|state| state.starts_with('Z'))
    };
    pids.filter(is_ours).filter_map(Pid::from_raw).collect()
}

/// A line of what the system says of a process; `None` where it is gone.
fn status(pid: i32, name: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
}

fn status_bytes(pid: Pid, name: &str) -> u64 {
    let value = status(pid.as_raw_nonzero().get(), name).expect("the process is there");
    let kib = value.strip_suffix("kB").expect("in KiB").trim();
    kib.parse::<u64>().expect("a number") << 10
}

/// What the system says that a process holds. The middle one of five looks.
pub(crate) async fn resident(pid: Pid) -> u64 {
    let mut looks = Vec::new();
    for _ in 0..5 {
        looks.push(status_bytes(pid, "VmRSS:"));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    looks.sort_unstable();
    looks[2]
}

/// The most that it ever held.
pub(crate) fn resident_peak(pid: Pid) -> u64 {
    status_bytes(pid, "VmHWM:")
}

pub(crate) fn kill(pid: Pid, signal: Signal) {
    kill_process(pid, signal).expect("the process is there");
}

/// Waits for what is bound to happen.
pub(crate) async fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < PATIENCE, "not in {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Runs a test again in a process of its own, where nothing else moves its figures, with a home and a place for temporary
/// files that must be empty in the end. True in that process.
pub(crate) fn alone(test: &str) -> bool {
    const INNER: &str = "EBB_TEST_ALONE";
    if std::env::var_os(INNER).is_some_and(|inner| inner == test) {
        return true;
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    let test_program = std::env::current_exe().expect("this test has a path");
    let models = real_model("minilm");
    let output = Command::new(test_program)
        .args(["--exact", test])
        .env(INNER, test)
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .env_remove("XDG_CACHE_HOME")
        .env("ORT_DYLIB_PATH", runtime_library())
        .env("EBB_TEST_MODELS", models.parent().expect("models lie in a folder"))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    std::io::stderr().write_all(&output.stderr).expect("stderr takes it");
    assert!(output.status.success() && said.contains("1 passed"), "{test} failed:\n{said}");
    let left: Vec<_> = fs::read_dir(home.path())
        .expect("it is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    assert!(left.is_empty(), "{test} left {left:?}");
    false
}

pub(crate) fn texts(texts: &[impl AsRef<str>]) -> Job {
    Job::new(JobKind::Embed { texts: texts.iter().map(|text| text.as_ref().to_owned()).collect() })
}

/// Texts of so many words, each different.
pub(crate) fn words(count: usize, words: usize) -> Vec<String> {
    const SEA: [&str; 8] = ["the", "tide", "goes", "out", "and", "leaves", "shells", "behind"];
    let word = |text: usize, place: usize| SEA[(text * 5 + place * 3) % SEA.len()];
    (0..count).map(|text| (0..words).map(|place| word(text, place)).collect::<Vec<_>>().join(" ")).collect()
}

/// Runs to the end: the vectors' bytes, which came in order, and the figures.
pub(crate) async fn embed(
    model: &ModelHandle,
    of: &[impl AsRef<str>],
) -> Result<(Bytes, EmbedFigures), Failure> {
    embedded(model.run(&texts(of), &Bytes::new()).await?).await
}

/// What remains of a run.
pub(crate) async fn embedded(mut running: Running) -> Result<(Bytes, EmbedFigures), Failure> {
    let mut bytes = BytesMut::new();
    let mut next = None;
    loop {
        match running.next().await.expect("an end") {
            RunItem::Progress(_) => {}
            RunItem::Chunk(chunk) => {
                let ChunkBody::Vectors { first, count, .. } = chunk.body else { panic!("{chunk:?}") };
                assert!(next.is_none_or(|next| next == first), "out of order");
                next = Some(first + count);
                bytes.extend_from_slice(&chunk.data);
            }
            RunItem::Done(Figures::Embed(figures)) => return Ok((bytes.freeze(), figures)),
            RunItem::Done(other) => panic!("{other:?}"),
            RunItem::Failed(failure) => return Err(failure),
        }
    }
}

pub(crate) fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect()
}

pub(crate) fn assert_same(left: &[u8], right: &[u8]) {
    let (left, right) = (numbers(left), numbers(right));
    assert_eq!(left.len(), right.len());
    let most = left.iter().zip(&right).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(most < 1e-5, "they differ by {most}");
}

/// A run of the models that take `X` [rows, width].
pub(crate) fn rows(rows: u64, width: u64) -> (Job, Bytes) {
    let input = TensorSpec { name: "X".to_owned(), dtype: DType::Float32, shape: vec![rows, width] };
    let data: Vec<u8> = (0..rows * width).flat_map(|at| ((at % 13) as f32 / 13.0).to_le_bytes()).collect();
    (Job::new(JobKind::Tensors { inputs: vec![input], outputs: Vec::new() }), data.into())
}

/// Runs it to the end: the bytes of `Y`, and how often the cap was hit.
pub(crate) async fn run_rows(model: &ModelHandle, count: u64, width: u64) -> Result<(Bytes, u32), Failure> {
    let (job, data) = rows(count, width);
    tensor(model.run(&job, &data).await?).await
}

pub(crate) async fn tensor(mut running: Running) -> Result<(Bytes, u32), Failure> {
    let mut output = Bytes::new();
    loop {
        match running.next().await.expect("an end") {
            RunItem::Progress(_) => {}
            RunItem::Chunk(chunk) => output = chunk.data,
            RunItem::Done(figures) => return Ok((output, figures.cap_retries())),
            RunItem::Failed(failure) => return Err(failure),
        }
    }
}

/// Options of the arena.
pub(crate) fn arena(pairs: &[(&str, &str)]) -> LoadOptions {
    LoadOptions { arena_options: map(pairs), ..LoadOptions::default() }
}

/// Options of the session.
pub(crate) fn session(pairs: &[(&str, &str)]) -> LoadOptions {
    LoadOptions { session_options: map(pairs), ..LoadOptions::default() }
}

pub(crate) fn map(pairs: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
