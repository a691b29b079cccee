//! The program itself, spoken to without a host.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
};

use ebb_core::{Code, ErrorBody, Failure, Inspection, LoadOptions, ModelKind};
use ebb_ipc::{Ask, Frame, FromWorker, ToWorker, greet, hello, read_frame, write_frame};
use ebb_tests::{
    home::{program, real_model, runtime_library},
    models,
};

use crate::supervised::{rows, spec, texts, words};

/// A worker and its pipes.
struct Talk {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
}

impl Talk {
    fn new() -> Self {
        let mut child = Command::new(program("ebb-worker"))
            .env_remove("EBB_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let (to, from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, to, from }
    }

    /// Greets, and asks for a model.
    fn loading(path: &Path) -> Self {
        let mut talk = Self::new();
        greet(&mut talk.from, &mut talk.to).expect("it greets");
        talk.send(ToWorker::Load(Box::new(spec("m", path, LoadOptions::default()))));
        talk
    }

    fn loaded(path: &Path) -> Self {
        let mut talk = Self::loading(path);
        talk.until(|message| matches!(message, FromWorker::Loaded { .. }));
        talk
    }

    fn send(&mut self, message: ToWorker) {
        write_frame(&mut self.to, &Frame::new(message)).expect("it listens");
    }

    fn until(&mut self, wanted: impl Fn(&FromWorker) -> bool) {
        loop {
            let frame: Frame<FromWorker> = read_frame(&mut self.from).expect("a frame").expect("no end");
            if wanted(&frame.message) {
                return;
            }
        }
    }

    /// Closes the worker's stdin: how it ends, and what it said on stderr.
    fn hang_up(self) -> (ExitStatus, String) {
        let Self { child, to, mut from } = self;
        drop(to);
        let reader = std::thread::spawn(move || from.read_to_end(&mut Vec::new()));
        let output = child.wait_with_output().expect("it ends");
        reader.join().expect("no panic").expect("its stdout ends");
        (output.status, String::from_utf8(output.stderr).expect("its log is text"))
    }
}

#[test]
fn it_ends_when_its_stdin_does_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = models::embedder(&folder.path().join("tiny"));
    let large = models::mlp(&folder.path().join("large"), 2048, 4);

    let (status, _) = Talk::loaded(&tiny).hang_up();
    assert_eq!(status.code(), Some(0), "idle");

    let mut greeted = Talk::new();
    greet(&mut greeted.from, &mut greeted.to).unwrap();
    assert_eq!(greeted.hang_up().0.code(), Some(0), "before a model was asked for");

    let mut loading = Talk::loading(&large);
    loading.until(|message| matches!(message, FromWorker::Loading { .. }));
    let (status, _) = loading.hang_up();
    // Loading may be over before it notices.
    assert!(status.code() == Some(0) || status.signal() == Some(9), "while loading: {status}");

    let mut between = Talk::loaded(&real_model("minilm"));
    let job = Box::new(texts(&words(5_000, 20)));
    between.send(ToWorker::Run { id: 1, job, credit: 1_000 });
    between.until(|message| matches!(message, FromWorker::Chunk { .. }));
    assert_eq!(between.hang_up().0.code(), Some(0), "between the batches of a long job");
}

/// A step that takes long cannot be stopped; the process ends under it.
#[test]
fn it_ends_in_the_middle_of_a_long_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut talk = Talk::loaded(&models::mlp(folder.path(), 2048, 4));
    let (job, tail) = rows(8_000, 2048);
    let run = ToWorker::Run { id: 1, job: Box::new(job), credit: 4 };
    write_frame(&mut talk.to, &Frame { message: run, tail }).unwrap();
    // Answered at once, also while the step runs.
    talk.send(ToWorker::Ask { id: 2, ask: Ask::Sample });
    talk.until(|message| matches!(message, FromWorker::Answer { id: 2, .. }));
    let (status, _) = talk.hang_up();
    assert_eq!(status.signal(), Some(9), "it did not wait for the step: {status}");
}

#[test]
fn who_does_not_speak_the_protocol_is_told_on_stderr() {
    let mut newer = hello().to_vec();
    newer[4] = 99;
    let lie = [&hello()[..], &[0xff; 64]].concat();
    let frame = [&hello()[..], &[4, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff]].concat();
    let cut_off = [&hello()[..], &[200, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]].concat();
    for (said, want) in [
        (&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], "does not speak Ebb's protocol"),
        (b"EBB", "pipe"),
        (&newer, "protocol 99"),
        (&lie, "is larger than"),
        (&frame, "does not hold a message"),
        (&cut_off, "pipe"),
    ] {
        let mut talk = Talk::new();
        // It may have hung up before it has heard all.
        let _heard = talk.to.write_all(said);
        let (status, stderr) = talk.hang_up();
        assert_eq!(status.code(), Some(1), "{said:?}: {stderr}");
        assert!(stderr.contains(want), "{want} is not in: {stderr}");
        assert!(stderr.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{stderr}");
    }
}

/// Whatever a library prints to its stdout goes where logs go, and never between frames.
#[cfg(target_os = "linux")]
#[test]
fn only_frames_go_to_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let talk = Talk::loaded(&models::embedder(folder.path()));
    let pid = talk.child.id();
    let points_to = |fd: u32| fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap();
    assert_eq!(points_to(1), points_to(2));
    let frames_to: Vec<_> = fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .filter(|place| place.to_string_lossy().starts_with("pipe:"))
        .collect();
    assert!(frames_to.iter().any(|place| *place != points_to(0) && *place != points_to(1)), "{frames_to:?}");
    assert_eq!(talk.hang_up().0.code(), Some(0));
}

/// What the program prints for these arguments.
fn printed(args: &[&std::ffi::OsStr]) -> Result<serde_json::Value, Failure> {
    let output =
        Command::new(program("ebb-worker")).args(args).env_remove("ORT_DYLIB_PATH").output().unwrap();
    let json = serde_json::from_slice(&output.stdout);
    let json: serde_json::Value = json.unwrap_or_else(|error| panic!("{args:?}: {error}: {output:?}"));
    if output.status.success() {
        return Ok(json);
    }
    assert_eq!(output.status.code(), Some(1));
    Err(serde_json::from_value::<ErrorBody>(json).expect("the one error form").into())
}

fn inspected(path: &Path, more: &[&str]) -> Result<Inspection, Failure> {
    let mut args = vec!["--inspect".as_ref(), path.as_os_str()];
    args.extend(more.iter().map(|arg| std::ffi::OsStr::new(*arg)));
    printed(&args).map(|json| serde_json::from_value(json).expect("an inspection"))
}

#[test]
fn it_says_what_a_folder_holds() {
    let folder = tempfile::Builder::new().prefix("größere Modelle – ").tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let file = |name: &str, contents: &str| {
        fs::create_dir_all(place(name).parent().unwrap()).unwrap();
        fs::write(place(name), contents).unwrap();
    };
    let tiny = models::embedder(&place("sentence transformers"));
    let copy = |name: &str| {
        fs::create_dir_all(place(name).parent().unwrap()).unwrap();
        fs::copy(tiny.join("model.onnx"), place(name)).unwrap();
    };
    copy("optimum/onnx/model.onnx");
    copy("optimum/onnx/model_int8.onnx");
    file("optimum/tokenizer.json", "{}");
    file("genai/genai_config.json", r#"{"model": {"type": "qwen2", "decoder": {"filename": "d.onnx"}}}"#);
    copy("genai/d.onnx");
    file(
        "genai-whisper/genai_config.json",
        r#"{"model": {"type": "whisper", "decoder": {"filename": "d.onnx"}}}"#,
    );
    copy("genai-whisper/d.onnx");
    let bare = models::mlp(&place("bare"), 8, 1);
    let external = models::mlp_external(&place("external"), 64, 2);

    for (path, variant, kind, want) in [
        (real_model("minilm"), None, ModelKind::Embeddings, "model.onnx"),
        (tiny.clone(), None, ModelKind::Embeddings, "model.onnx"),
        (place("optimum"), None, ModelKind::Embeddings, "model.onnx"),
        (place("optimum"), Some("int8"), ModelKind::Embeddings, "model_int8.onnx"),
        (place("genai"), None, ModelKind::Chat, "d.onnx"),
        (place("genai-whisper"), None, ModelKind::Audio, "d.onnx"),
        (bare.clone(), None, ModelKind::Tensors, "mlp.onnx"),
        (place("bare"), None, ModelKind::Tensors, "mlp.onnx"),
        (external.clone(), None, ModelKind::Tensors, "mlp.onnx"),
    ] {
        let more: Vec<&str> = variant.iter().flat_map(|variant| ["--variant", *variant]).collect();
        let found = inspected(&path, &more).unwrap_or_else(|failure| panic!("{}: {failure}", path.display()));
        assert_eq!((found.kind, found.file.file_name().unwrap().to_str()), (kind, Some(want)), "{path:?}");
        assert!(found.weights_bytes > 0 && !found.variants.is_empty(), "{found:?}");
    }
    assert!(inspected(&external, &[]).unwrap().weights_bytes >= 2 * 64 * 64 * 4, "external data counts");
}

#[test]
fn it_says_why_a_folder_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let tiny = models::embedder(&place("tiny"));
    let cut = models::mlp(&place("cut"), 64, 2);
    models::truncate_half(&cut);
    let lost = models::mlp_external(&place("lost"), 64, 2);
    models::remove_external_data(&lost);
    fs::create_dir(place("empty")).unwrap();
    fs::write(place("text.txt"), "text").unwrap();
    fs::create_dir(place("genai")).unwrap();
    fs::write(place("genai/genai_config.json"), "{not json").unwrap();
    let garbage = models::garbage_model(&place("garbage"));
    for path in [cut, lost, garbage, place("empty"), place("text.txt"), place("genai"), place("missing")] {
        let failure = inspected(&path, &[]).unwrap_err();
        assert_eq!(failure.code, Code::InvalidModel, "{path:?}: {failure}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(failure.message.contains(name), "{failure}");
    }
    let failure = inspected(&tiny, &["--variant", "q9"]).unwrap_err();
    assert_eq!(failure.param.as_deref(), Some("variant"), "{failure:?}");
}

#[test]
fn it_says_what_the_library_offers_and_what_it_does_not_take() {
    let library = runtime_library();
    let probe = printed(&["--probe".as_ref(), "--library".as_ref(), library.as_os_str()]).unwrap();
    assert_eq!(probe["library"], library.to_str().unwrap());
    assert!(probe["version"].as_str().unwrap().starts_with("1."), "{probe}");
    assert!(probe["providers"].as_array().unwrap().contains(&"cpu".into()), "{probe}");

    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("libonnxruntime.so");
    fs::write(&broken, "no library").unwrap();
    for path in [&broken, &folder.path().join("none.so")] {
        let args = ["--probe".as_ref(), "--library".as_ref(), path.as_os_str()];
        let failure = printed(&args).unwrap_err();
        assert_eq!(failure.code, Code::RuntimeLibrary, "{failure}");
        let whole = format!("{failure:?}");
        assert!(whole.contains(path.to_str().unwrap()) && failure.hint.is_some(), "{whole}");
    }
    for args in
        [&["--inspect"][..], &["--frobnicate"], &["--probe", "--library"], &["--probe", "--colour", "x"]]
    {
        let args: Vec<&std::ffi::OsStr> = args.iter().map(|arg| std::ffi::OsStr::new(*arg)).collect();
        assert_eq!(printed(&args).unwrap_err().code, Code::InvalidRequest, "{args:?}");
    }
}
