//! Workers that are not what they should be, and what the host makes of them.

use std::{
    io::Write,
    path::Path,
    sync::{Arc, Mutex},
};

use ebb_core::{Code, EventKind, Failure, LoadOptions, operations::ModelState};
use ebb_host::{HostConfig, Supervisor};
use ebb_tests::models;
use tracing_subscriber::fmt::MakeWriter;

use crate::supervised::{MIB, Scene, embed, eventually, run_rows, session, spec};

/// Why this script is no worker.
async fn refused(script: &str) -> Failure {
    let scene = Scene::scripted(script);
    let model = models::embedder(&scene.path().join("model"));
    let failure = scene.load("m", &model, LoadOptions::default()).await.unwrap_err();
    assert!(scene.supervisor.models().is_empty(), "its name is free");
    eventually("nothing of it is left", || scene.workers().is_empty()).await;
    failure
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_no_worker_is_told_from_one_that_ends() {
    // Reads to the end, so that it is heard before its end is seen.
    let stays = "exec cat > /dev/null";
    let one_version = "install ebb and ebb-worker of one version";
    for (script, code, message, hint) in [
        (format!("printf 'EBBW\\011\\0\\0\\0'; {stays}"), Code::Internal, "protocol 9", one_version),
        (format!("echo 'usage: something else'; {stays}"), Code::Internal, "does not speak", one_version),
        (
            format!("printf 'EBBW\\003\\0\\0\\0\\377\\377\\377\\377\\377\\377\\377\\377'; {stays}"),
            Code::Internal,
            "is larger than",
            one_version,
        ),
        ("exit 3".to_owned(), Code::WorkerCrashed, "exit code 3", "ebb model load m"),
        ("kill -SEGV $$".to_owned(), Code::WorkerCrashed, "SIGSEGV", "ebb model load m"),
        ("printf 'EBBW\\003\\0\\0\\0'; exit 0".to_owned(), Code::WorkerCrashed, "exit code 0", "ebb model"),
    ] {
        let failure = refused(&script).await;
        assert_eq!(failure.code, code, "{script}: {failure}");
        assert!(failure.message.contains(message), "{script}: {failure}");
        assert!(failure.hint.as_deref().unwrap().contains(hint), "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_program_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let model = models::embedder(&folder.path().join("model"));
    let text = folder.path().join("text");
    std::fs::write(&text, "not a program").unwrap();
    for program in [folder.path().join("no worker"), text] {
        let supervisor = Supervisor::new(HostConfig::new(program.clone()));
        let loading = supervisor.load(spec("m", &model, LoadOptions::default()), Vec::new()).await;
        let inspecting = supervisor.inspect(&model, None).await;
        for failure in [loading.unwrap_err(), inspecting.unwrap_err()] {
            assert!(failure.message.contains(program.to_str().unwrap()), "{failure}");
            assert!(failure.hint.as_deref().unwrap().contains("EBB_WORKER"), "{failure:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_fail_are_told_in_words() {
    let path = Path::new("anything");
    for (script, code, message) in [
        ("echo 'not JSON'", Code::Internal, "something else than JSON"),
        ("exit 7", Code::WorkerCrashed, "exit code 7"),
        ("kill -ABRT $$", Code::WorkerCrashed, "SIGABRT"),
    ] {
        let failure = Scene::scripted(script).supervisor.inspect(path, None).await.unwrap_err();
        assert_eq!(failure.code, code, "{script}: {failure}");
        assert!(failure.message.contains(message), "{script}: {failure}");
    }
}

/// A model whose weights or working memory the system does not give: the load or the request fails and says so; the host
/// and what else it holds go on.
#[tokio::test(flavor = "multi_thread")]
async fn a_system_without_memory_fails_the_request() {
    let scene = Scene::scripted("ulimit -v $((900 * 1024)); exec \"$WORKER\" \"$@\"");
    let path = models::activations(&scene.path().join("model"));
    let model = scene.load("m", &path, LoadOptions::default()).await.unwrap();
    run_rows(&model, 64, 64).await.unwrap();
    // 3 GiB of activations.
    let failure = run_rows(&model, 32_768, 64).await.unwrap_err();
    assert!(matches!(failure.code, Code::OutOfMemory | Code::WorkerCrashed), "{failure:?}");
    if model.state() == ModelState::Loaded {
        run_rows(&model, 64, 64).await.unwrap();
        assert!(model.sample().await.unwrap().resident_bytes < 900 * MIB);
    }
    assert!(scene.supervisor.unload("m").await.unwrap().worker_gone);
}

/// What a subscriber was told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<u8>>>);

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Told {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Told {
    fn lines(&self) -> Vec<serde_json::Value> {
        let bytes = self.0.lock().unwrap();
        let text = std::str::from_utf8(&bytes).expect("the log is text");
        text.lines().map(|line| serde_json::from_str(line).expect("a line is whole")).collect()
    }

    fn find(&self, message: &str) -> Option<serde_json::Value> {
        let says = |line: &serde_json::Value| {
            line["fields"].as_object().is_some_and(|fields| {
                fields.values().any(|value| value.as_str().is_some_and(|value| value.contains(message)))
            })
        };
        self.lines().into_iter().find(says)
    }
}

/// C10, in the log: the worker's own lines, and whatever else comes out of it, carry the model's name.
#[tokio::test(flavor = "current_thread")]
async fn what_a_worker_logs_ends_in_the_hosts_log_with_the_models_name() {
    let told = Told::default();
    let log =
        tracing_subscriber::fmt().json().with_max_level(tracing::Level::DEBUG).with_writer(told.clone());
    let _here = tracing::subscriber::set_default(log.finish());
    let noise = "echo 'a library says hello' >&2; printf 'not \\377 text\\n\\n{\"level\": \"odd\"}\\n' >&2";
    let mut scene = Scene::scripted(&format!("{noise}; exec \"$WORKER\" \"$@\""));
    let path = models::embedder(&scene.path().join("model"));
    let options = session(&[("enable_cpu_mem_aren", "0")]);
    let model = scene.load("a name, größer", &path, options).await.unwrap();
    embed(&model, &["a secret text"]).await.unwrap();
    scene.event(|kind| matches!(kind, EventKind::Run { .. }).then_some(())).await;

    for (message, level) in [
        ("a library says hello", "WARN"),
        ("text", "WARN"),
        ("odd", "WARN"),
        ("enable_cpu_mem_aren", "WARN"),
        ("session.enable_cpu_mem_arena", "WARN"),
    ] {
        eventually(message, || told.find(message).is_some()).await;
        let line = told.find(message).unwrap();
        assert_eq!(line["fields"]["model"], "a name, größer", "{line}");
        assert_eq!(line["level"], level, "{line}");
    }
    scene.supervisor.unload("a name, größer").await.unwrap();
    assert!(told.find("a secret text").is_none(), "texts are nobody's");
}
