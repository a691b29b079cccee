//! What the system sees: resident memory of the whole process. Its own program, one test at a time, so that nothing else
//! moves the figures.
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::{
    path::Path,
    process::Command,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

use bytes::Bytes;
use ebb_core::{
    Control, DType, Job, JobKind, LoadOptions, LoadSpec, ModelKind, Session, Step, Target, TensorSpec,
};
use ebb_ort::OrtSession;

const MIB: u64 = 1 << 20;

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    static PREPARED: Once = Once::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    PREPARED.call_once(ebb_ort::prepare_process);
    turn
}

fn open(path: &Path) -> OrtSession {
    let spec = LoadSpec {
        alias: "m".to_owned(),
        path: path.to_owned(),
        options: LoadOptions { provider: Some("cpu".to_owned()), threads: Some(1), ..LoadOptions::default() },
        runtime_library: Some(ebb_tests::home::runtime_library()),
        runtime_folders: Vec::new(),
    };
    ebb_ort::open(&spec, &mut |_| {}).unwrap()
}

/// Runs a batch of so many rows; the chunks are dropped before this returns.
fn run(session: &mut OrtSession, rows: u64) {
    let width = session.info().inputs[0].shape[1] as u64;
    let input = TensorSpec { name: "X".to_owned(), dtype: DType::Float32, shape: vec![rows, width] };
    let data = Bytes::from(vec![0_u8; input.len_bytes().unwrap()]);
    let job = Job::new(JobKind::Tensors { inputs: vec![input], outputs: Vec::new() });
    let mut run = session.begin(job, data, &[].into()).unwrap();
    let mut chunks = Vec::new();
    while let Step::More(_) = session.step(&mut run, &mut chunks).unwrap() {}
    assert_eq!(chunks.len(), 1);
}

fn resident(control: &dyn Control) -> u64 {
    control.memory().unwrap().resident_bytes
}

/// C01: a small model runs one large batch; what comes back is what the system sees.
#[test]
fn a_shrink_gives_back_all_but_the_weights_and_says_so_truly() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(&ebb_tests::models::activations(folder.path()));
    assert_eq!(session.info().kind, ModelKind::Tensors);
    assert_eq!(session.info().arenas, [Target::cpu(0)]);
    let control = session.control();
    let at_load = control.memory().unwrap();
    run(&mut session, 2048);
    let report = control.shrink(None).unwrap();
    assert!(report.freed_bytes >= 128 * MIB, "{report:?}");
    assert_eq!(report.reserved_after_bytes, at_load.arenas[0].reserved_bytes);
    let seen = report.resident_before_bytes - report.resident_after_bytes;
    let within = report.freed_bytes / 10 * 9..=report.freed_bytes / 10 * 11;
    assert!(within.contains(&seen), "freed {}, seen {seen}", report.freed_bytes);
    // The kernel counts pages for each core and adds them up in batches: two reads differ by a few of these.
    assert!(report.resident_after_bytes.abs_diff(resident(&*control)) <= MIB, "{report:?}");
    assert!(report.resident_after_bytes < at_load.resident_bytes + at_load.resident_bytes / 100 * 15);
}

/// C13 in small: twenty models come and go, and the process is as large as before.
#[test]
fn loading_and_unloading_leaves_nothing() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let model = ebb_tests::models::mlp(folder.path(), 512, 4);
    let cycle = || {
        let mut session = open(&model);
        run(&mut session, 4000);
        let control = session.control();
        drop(session);
        resident(&*control)
    };
    let settled = (0..3).map(|_| cycle()).max().unwrap();
    let end = (0..20).fold(0, |_, _| cycle());
    assert!(end <= settled + 2 * MIB, "{settled} → {end}");
}

/// ONNX Runtime writes telemetry below the user's home unless it is told not to before it is loaded. The test runs itself
/// again with a home of its own.
#[test]
fn no_telemetry_is_written() {
    const INNER: &str = "EBB_TEST_INNER";
    if std::env::var_os(INNER).is_some() {
        let _alone = alone();
        let folder = tempfile::tempdir().unwrap();
        let mut session = open(&ebb_tests::models::mlp(folder.path(), 64, 2));
        run(&mut session, 1);
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "no_telemetry_is_written"])
        .env(INNER, "1")
        .env("HOME", home.path())
        .env("LOCALAPPDATA", home.path())
        .env("ORT_DYLIB_PATH", ebb_tests::home::runtime_library())
        .env_remove("XDG_CACHE_HOME")
        .env_remove("ORT_DISABLE_TELEMETRY")
        .status()
        .unwrap();
    assert!(status.success());
    let written: Vec<_> =
        std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(written.is_empty(), "{written:?}");
}
