//! The host over HTTP: a real server, real workers, tiny models.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use std::{fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use ebb_api::{Host, Settings};
use ebb_core::{Endpoint, Failure, Places};
use ebb_server::{Exit, ServeOptions, Server};
use ebb_tests::{
    home::{program, runtime_library},
    models,
};
use futures_util::{Stream, StreamExt as _, future::join_all};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// A server in a folder of its own, with everything that a user of it has: the endpoint.
struct Scene {
    folder: TempDir,
    endpoint: Endpoint,
    running: JoinHandle<Result<Exit, Failure>>,
    http: reqwest::Client,
}

impl Scene {
    async fn new() -> Self {
        Self::start(tempfile::tempdir().unwrap()).await
    }

    /// Starts in a folder where another server may have been.
    async fn start(folder: TempDir) -> Self {
        let settings = Settings {
            worker_program: Some(program("ebb-worker")),
            runtime_library: Some(runtime_library()),
            ..Settings::default()
        };
        let host = Host::open(places(folder.path()), settings).unwrap();
        let options = ServeOptions { port: Some(0), signals: false, ..ServeOptions::default() };
        let server = Server::bind(host, options).await.unwrap();
        let endpoint = server.endpoint().clone();
        Self { folder, endpoint, running: tokio::spawn(server.run()), http: reqwest::Client::new() }
    }

    /// A server with one embedding model, `m`, in a path that a careless program trips over.
    async fn with_embedder() -> Self {
        let scene = Self::new().await;
        let path = models::embedder(&scene.folder.path().join("Modelle für mich").join("größtes, 模型"));
        scene.ok(Method::POST, "models", json!({"path": path, "alias": "m"})).await;
        scene
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> Response {
        let request = self.http.request(method, format!("{}/ebb/v1/{path}", self.endpoint.url));
        request.bearer_auth(&self.endpoint.token).json(&body).send().await.unwrap()
    }

    async fn ok(&self, method: Method, path: &str, body: Value) -> Value {
        let response = self.send(method, path, body).await;
        let (status, body) = (response.status(), response.json::<Value>().await.unwrap());
        assert!(status.is_success(), "{path}: {status} {body}");
        body
    }

    async fn get(&self, path: &str) -> Value {
        self.ok(Method::GET, path, json!({})).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.ok(Method::POST, path, body).await
    }

    /// A request that must fail: its status and the error.
    async fn fails(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let response = self.send(method, path, body).await;
        let status = response.status().as_u16();
        assert!(status >= 400, "{path}: {status}");
        (status, response.json::<Value>().await.unwrap()["error"].take())
    }

    async fn events(&self) -> impl Stream<Item = Value> + Unpin + use<> {
        let response = self.send(Method::GET, "events?model=m", json!({})).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Box::pin(lines(response).filter_map(|line| async move {
            line.strip_prefix("data: ").map(|data| serde_json::from_str(data).unwrap())
        }))
    }

    /// Ends the server as `ebb server stop` does.
    async fn stop(self) -> TempDir {
        self.post("shutdown", json!({"drain_ms": 2000})).await;
        assert_eq!(self.running.await.unwrap().unwrap(), Exit::Requested);
        assert!(!places(self.folder.path()).endpoint_file().exists());
        self.folder
    }
}

fn places(folder: &Path) -> Places {
    let home = folder.join("Ebb für mich");
    Places { cache: home.join("cache"), home }
}

/// The lines of a body as they arrive.
fn lines(response: Response) -> impl Stream<Item = String> + Unpin {
    let bytes = Box::pin(response.bytes_stream());
    Box::pin(futures_util::stream::unfold((bytes, Vec::new()), |(mut bytes, mut read)| async move {
        loop {
            if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                let rest = read.split_off(end + 1);
                read.pop();
                return Some((String::from_utf8(read).unwrap(), (bytes, rest)));
            }
            read.extend_from_slice(&bytes.next().await?.ok()?);
        }
    }))
}

/// The next event of this name.
async fn event(events: &mut (impl Stream<Item = Value> + Unpin), name: &str) -> Value {
    loop {
        let event = events.next().await.expect("the event comes before the stream ends");
        if event["event"] == name {
            return event;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_added_loaded_used_shrunk_and_removed() {
    let scene = Scene::new().await;
    let path = models::embedder(&scene.folder.path().join("Modelle").join("tiny embedder"));
    let added = scene.post("models", json!({"path": path})).await;
    assert_eq!(
        (&added["alias"], &added["kind"], &added["state"]),
        (&json!("tiny-embedder"), &json!("embeddings"), &json!("unloaded"))
    );
    assert!(added["weights_bytes"].as_u64().unwrap() > 10_000);
    let again = scene.fails(Method::POST, "models", json!({"path": path})).await;
    assert_eq!((again.0, &again.1["code"]), (409, &json!("already_exists")));

    let model = "models/tiny-embedder";
    assert_eq!(scene.fails(Method::GET, &format!("{model}/stats"), json!({})).await.1["code"], "not_loaded");
    let loaded = scene.post(&format!("{model}/load"), json!({})).await;
    assert_eq!(
        (&loaded["already_loaded"], &loaded["info"]["embedding"]["dimensions"]),
        (&json!(false), &json!(32))
    );
    assert_eq!(scene.get("status").await["models"], json!(["tiny-embedder"]));

    let texts = json!({"texts": ["one", "two words", "eno"]});
    let answer = scene.post(&format!("{model}/embed"), texts).await;
    let vectors = answer["vectors"].as_array().unwrap();
    assert_eq!((vectors.len(), vectors[0].as_array().unwrap().len()), (3, 32));
    assert_eq!((&answer["figures"]["texts"], &answer["figures"]["dimensions"]), (&json!(3), &json!(32)));

    let stats = scene.get(&format!("{model}/stats?history=5")).await;
    assert_eq!(stats["now"]["runs"], 1);
    let shrunk = scene.post(&format!("{model}/shrink"), json!({"targets": ["cpu:0", "gpu:0"]})).await;
    assert_eq!((&shrunk["targets"], &shrunk["dropped"][0]["target"]), (&json!(["cpu:0"]), &json!("gpu:0")));
    let armed = scene.post(&format!("{model}/shrink-after-next-run"), json!({})).await;
    assert_eq!(armed["run"], 2);
    let estimate = scene.get(&format!("{model}/estimate")).await;
    assert_eq!((&estimate["weights_bytes"], &estimate["fits"]), (&added["weights_bytes"], &json!(true)));

    let removed = scene.ok(Method::DELETE, model, json!({})).await;
    assert_eq!(removed["alias"], "tiny-embedder");
    assert!(path.join("model.onnx").exists(), "its files stay");
    assert_eq!(scene.fails(Method::GET, model, json!({})).await.0, 404);
    assert_eq!(scene.get("status").await["models"], json!([]));
    scene.stop().await;
}

/// C19: asked for twice at the same moment, it is loaded once, and both get it.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_asked_for_twice_at_once_is_loaded_once() {
    let scene = Scene::with_embedder().await;
    let options = json!({"shrink_every": 3});
    let reports = join_all((0..4).map(|_| scene.post("models/m/load", options.clone()))).await;
    let fresh = reports.iter().filter(|report| report["already_loaded"] == false).count();
    assert_eq!(fresh, 1);
    let (status, error) = scene.fails(Method::POST, "models/m/load", json!({"shrink_every": 4})).await;
    assert_eq!((status, &error["code"]), (409, &json!("conflict")));
    assert!(error["message"].as_str().unwrap().contains("shrink_every"), "{error}");
    let forced = scene.post("models/m/load?force=true", json!({"shrink_every": 4})).await;
    assert_eq!(forced["already_loaded"], false);
    assert_eq!(scene.get("models/m").await["options"]["shrink_every"], 4);
    scene.stop().await;
}

/// A forced load that fails costs nothing: what worked before works again, run options included.
#[tokio::test(flavor = "multi_thread")]
async fn a_forced_load_that_fails_puts_the_former_one_back() {
    let scene = Scene::with_embedder().await;
    scene.post("models/m/load", json!({"shrink_every": 3})).await;
    let key = "memory.enable_memory_arena_shrinkage";
    scene.post("models/m/runtime-options", json!({"key": key, "value": "cpu:0"})).await;
    let bad = json!({"arena_options": {"max_mem": "1"}});
    let (_, error) = scene.fails(Method::POST, "models/m/load?force=true", bad).await;
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.ends_with("the model is loaded again with its former options"), "{error}");
    let model = scene.get("models/m").await;
    assert_eq!((&model["state"], &model["options"]["shrink_every"]), (&json!("loaded"), &json!(3)));
    let options = scene.get("models/m/runtime-options").await;
    assert_eq!(options["options"][0]["key"], key, "{options}");

    // Where that fails too, it says so; and nothing pretends to be loaded.
    fs::remove_dir_all(model["path"].as_str().unwrap()).unwrap();
    let (_, error) = scene.fails(Method::POST, "models/m/load?force=true", json!({})).await;
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("the model is not loaded now: with its former options it failed too"), "{error}");
    assert_eq!(scene.get("models/m").await["state"], "failed");
    scene.stop().await;
}

/// Run options that were set since hold under other load options, too, but for those that these name.
#[tokio::test(flavor = "multi_thread")]
async fn run_options_outlive_a_forced_load() {
    let scene = Scene::with_embedder().await;
    scene.post("models/m/load", json!({})).await;
    let key = "memory.enable_memory_arena_shrinkage";
    scene.post("models/m/runtime-options", json!({"key": key, "value": "cpu:0"})).await;
    let standing = async || scene.get("models/m/runtime-options").await["options"][0]["requested"].clone();

    scene.post("models/m/load?force=true", json!({"shrink_every": 4})).await;
    assert_eq!(standing().await, "cpu:0");
    scene.post("models/m/load?force=true", json!({"runtime_options": {key: "cpu:0;gpu:0"}})).await;
    assert_eq!(standing().await, "cpu:0;gpu:0");
    scene.post("models/m/load?force=true", json!({})).await;
    assert_eq!(standing().await, json!(null));
    scene.stop().await;
}

/// C20, and the half of C21 that is the host's: what was loaded comes back with its options, after a restart and on demand.
#[tokio::test(flavor = "multi_thread")]
async fn models_come_back_with_their_options() {
    let scene = Scene::with_embedder().await;
    scene.post("models/m/load", json!({"profile": "low-memory", "shrink_every": 3})).await;
    let key = "memory.enable_memory_arena_shrinkage";
    scene.post("models/m/runtime-options", json!({"key": key, "value": "cpu:0"})).await;

    let scene = Scene::start(scene.stop().await).await;
    // A request does not have to wait for the model to be back by itself: it takes its turn.
    let answer = scene.post("models/m/embed", json!({"texts": ["a"]})).await;
    assert_eq!(answer["vectors"].as_array().unwrap().len(), 1);
    let entry = scene.get("models/m").await;
    assert_eq!((&entry["state"], &entry["options"]["shrink_every"]), (&json!("loaded"), &json!(3)));
    assert_eq!(entry["options"]["profile"], "low-memory");
    let options = scene.get("models/m/runtime-options").await;
    assert!(options["options"].as_array().unwrap().iter().any(|line| line["key"] == key), "{options}");
    let same = scene.post("models/m/load", json!({"profile": "low-memory", "shrink_every": 3})).await;
    assert_eq!(same["already_loaded"], true);

    let unloaded = scene.post("models/m/unload", json!({})).await;
    assert_eq!(unloaded["worker_gone"], true);
    assert_eq!(scene.fails(Method::POST, "models/m/unload", json!({})).await.1["code"], "not_loaded");
    let scene = Scene::start(scene.stop().await).await;
    assert_eq!(scene.get("models/m").await["state"], "unloaded", "unloaded by the user, so it stays out");
    scene.post("models/m/embed", json!({"texts": ["a"]})).await;
    assert_eq!(scene.get("models/m").await["options"]["shrink_every"], 3);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_stream_as_lines_in_order_and_equal_the_whole_answer() {
    let scene = Scene::with_embedder().await;
    let texts: Vec<String> = (0..700).map(|index| "x".repeat(1 + index % 90)).collect();
    let whole = scene.post("models/m/embed", json!({"texts": texts})).await;
    let response = scene.send(Method::POST, "models/m/embed", json!({"texts": texts, "stream": true})).await;
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let pieces: Vec<Value> = lines(response).map(|line| serde_json::from_str(&line).unwrap()).collect().await;
    let mut streamed = Vec::new();
    for vectors in pieces.iter().filter_map(|piece| piece.get("vectors")) {
        assert_eq!(vectors["first"].as_u64().unwrap() as usize * 32, streamed.len());
        let data = BASE64.decode(vectors["data"].as_str().unwrap()).unwrap();
        streamed.extend(data.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)));
    }
    let whole_vectors: Vec<f32> =
        serde_json::from_value::<Vec<Vec<f32>>>(whole["vectors"].clone()).unwrap().concat();
    assert_eq!(streamed.len(), whole_vectors.len());
    assert!(streamed.iter().zip(&whole_vectors).all(|(one, other)| (one - other).abs() < 1e-6));
    assert_eq!(pieces.last().unwrap()["figures"]["texts"], 700);

    // What is wrong with a request is an error answer, not a stream that breaks.
    let streamed = json!({"texts": ["a"], "stream": true, "run_options": {"memory.enable_memory_arena_shrinkage": "disk:0"}});
    let (status, error) = scene.fails(Method::POST, "models/m/embed", streamed).await;
    assert_eq!((status, &error["code"]), (400, &json!("invalid_target")));
    scene.stop().await;
}

/// C17: a caller that leaves takes its job with it, whether or not it wanted a stream.
#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_leaves_cancels_its_job() {
    let scene = Scene::with_embedder().await;
    scene.post("models/m/load", json!({"batch_tokens": 64})).await;
    let mut events = scene.events().await;
    let texts: Vec<String> = (0..40_000).map(|index| format!("a text, the one of number {index}")).collect();

    let response = scene.send(Method::POST, "models/m/embed", json!({"texts": texts, "stream": true})).await;
    let mut pieces = lines(response);
    pieces.next().await.expect("a first line");
    drop(pieces);
    assert_eq!(event(&mut events, "run").await["outcome"], "cancelled");

    // A caller of a whole answer that does not wait for it. On a slow machine it may leave before its job has begun: then only
    // the marker's run ends, and the caller tries again with more patience.
    for patience in [100, 200, 400, 800, 1600, 3200].map(std::time::Duration::from_millis) {
        let request =
            scene.http.post(format!("{}/ebb/v1/models/m/embed", scene.endpoint.url)).timeout(patience);
        let left = request.bearer_auth(&scene.endpoint.token).json(&json!({"texts": texts})).send().await;
        assert!(left.expect_err("the job takes longer than that").is_timeout());
        scene.post("models/m/embed", json!({"texts": ["marker"]})).await;
        if event(&mut events, "run").await["outcome"] == "cancelled" {
            return drop(scene.stop().await);
        }
    }
    panic!("no job was cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_tell_what_happens_to_a_model() {
    let scene = Scene::with_embedder().await;
    let mut events = scene.events().await;
    scene.post("models/m/load", json!({"shrink_every": 1})).await;
    scene.post("models/m/embed", json!({"texts": ["a"]})).await;
    let mut seqs = Vec::new();
    for name in ["loading", "loaded", "run", "shrink"] {
        let event = event(&mut events, name).await;
        assert_eq!(event["model"], "m");
        seqs.push(event["seq"].as_u64().unwrap());
    }
    assert!(seqs.is_sorted(), "{seqs:?}");
    scene.post("models/m/unload", json!({})).await;
    assert_eq!(event(&mut events, "unloaded").await["worker_gone"], true);
    scene.stop().await;
}

/// C05 over HTTP: off is truly off, and what is no truth value is refused with the allowed ones.
#[tokio::test(flavor = "multi_thread")]
async fn the_arena_is_turned_off_over_http() {
    let scene = Scene::with_embedder().await;
    let banana = json!({"session_options": {"enable_cpu_mem_arena": "banana"}});
    let (status, error) = scene.fails(Method::POST, "models/m/load", banana).await;
    assert_eq!((status, &error["code"]), (400, &json!("invalid_value")));
    assert!(format!("{error}").contains("true"), "{error}");
    let entry = scene.get("models/m").await;
    assert_eq!((&entry["state"], &entry["reason"]), (&json!("failed"), &error["message"]));
    scene.post("models/m/load", json!({"session_options": {"enable_cpu_mem_arena": "false"}})).await;
    assert_eq!(scene.get("models/m/stats").await["now"]["arenas"], json!([]));
    assert_eq!(scene.get("models/m").await["reason"], Value::Null);
    scene.stop().await;
}

/// C24: an estimate above what is free warns, and the model is loaded.
#[tokio::test(flavor = "multi_thread")]
async fn an_estimate_never_blocks() {
    let scene = Scene::with_embedder().await;
    let folder = scene.stop().await;
    let file = places(folder.path()).models_file();
    let mut catalogue: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    catalogue["models"]["m"]["weights_bytes"] = json!(1_u64 << 60);
    fs::write(&file, catalogue.to_string()).unwrap();
    let scene = Scene::start(folder).await;
    assert_eq!(scene.get("models/m/estimate").await["fits"], false);
    let report = scene.post("models/m/load", json!({})).await;
    assert!(report["warnings"][0].as_str().unwrap().contains("free now"), "{report}");
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tensors_run_over_http() {
    let scene = Scene::new().await;
    let path = models::mlp(&scene.folder.path().join("tensors"), 8, 1);
    scene.post("models", json!({"path": path, "alias": "mlp"})).await;
    let data: Vec<u8> = (0..8).flat_map(|index| (index as f32).to_le_bytes()).collect();
    let input = json!({"name": "X", "dtype": "float32", "shape": [1, 8], "data": BASE64.encode(&data)});
    let answer = scene.post("models/mlp/run", json!({"inputs": [input]})).await;
    let output = &answer["outputs"][0];
    assert_eq!(
        (&output["name"], &output["shape"], &output["dtype"]),
        (&json!("Y"), &json!([1, 8]), &json!("float32"))
    );
    assert_eq!(BASE64.decode(output["data"].as_str().unwrap()).unwrap().len(), 32);
    let mut short = input.clone();
    short["data"] = json!(BASE64.encode(&data[1..]));
    let (status, error) = scene.fails(Method::POST, "models/mlp/run", json!({"inputs": [short]})).await;
    assert_eq!((status, &error["param"]), (400, &json!("inputs")));
    let wrong = json!({"name": "Z", "dtype": "float32", "shape": [1, 8], "data": BASE64.encode(&data)});
    let (status, error) = scene.fails(Method::POST, "models/mlp/run", json!({"inputs": [wrong]})).await;
    assert_eq!((status, &error["code"]), (400, &json!("invalid_request")));
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_model_is_refused_and_nothing_is_lost() {
    let scene = Scene::with_embedder().await;
    let folder = scene.folder.path();
    let empty = folder.join("empty");
    fs::create_dir(&empty).unwrap();
    for path in [empty, folder.join("missing")] {
        let (status, error) = scene.fails(Method::POST, "models", json!({"path": path})).await;
        assert!((400..500).contains(&status), "{status} {error}");
        assert!(error["message"].as_str().unwrap().contains(&path.display().to_string()), "{error}");
    }
    let garbage = models::garbage_model(&folder.join("garbage"));
    let added = scene.send(Method::POST, "models", json!({"path": garbage, "alias": "g"})).await;
    if added.status().is_success() {
        let (status, error) = scene.fails(Method::POST, "models/g/load", json!({})).await;
        assert_eq!((status, &error["code"]), (422, &json!("invalid_model")));
    } else {
        assert_eq!(added.json::<Value>().await.unwrap()["error"]["code"], "invalid_model");
    }
    scene.post("models/m/embed", json!({"texts": ["a"]})).await;
    let profile = json!({"profile": "no-such"});
    assert_eq!(scene.fails(Method::POST, "models/m/load", profile).await.1["code"], "not_found");
    scene.stop().await;
}

/// No write permission (root ignores permission bits, so the file's place is taken by a folder): unloading and loading still
/// work, and what a restart will do otherwise is said; adding is refused, and what was there stays.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_written_lose_nothing() {
    let scene = Scene::with_embedder().await;
    let places = places(scene.folder.path());
    scene.post("models/m/load", json!({})).await;
    fs::remove_file(places.state_file()).unwrap();
    fs::create_dir(places.state_file()).unwrap();
    let unloaded = scene.post("models/m/unload", json!({})).await;
    assert_eq!(unloaded["worker_gone"], true);
    let warning = unloaded["warnings"][0].as_str().unwrap();
    assert!(warning.contains("a restart will load it again") && warning.contains("state.json"), "{unloaded}");
    let report = scene.post("models/m/load", json!({"shrink_every": 5})).await;
    let warning = report["warnings"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(warning.contains("state.json"), "{report}");
    scene.post("models/m/embed", json!({"texts": ["a"]})).await;

    fs::rename(places.models_file(), places.home.join("aside")).unwrap();
    fs::create_dir(places.models_file()).unwrap();
    let path = models::embedder(&scene.folder.path().join("second"));
    let (status, error) = scene.fails(Method::POST, "models", json!({"path": path})).await;
    assert_eq!((status, &error["code"]), (500, &json!("storage")));
    assert!(error["message"].as_str().unwrap().contains("models.json"), "{error}");
    let models = scene.get("models").await;
    assert_eq!(models["models"].as_array().unwrap().len(), 1, "the refused one is not there");
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_finds_the_library() {
    let scene = Scene::new().await;
    let doctor = scene.get("doctor").await;
    let checks = doctor["checks"].as_array().unwrap();
    for name in ["worker", "library", "provider.cpu", "home"] {
        let check = checks.iter().find(|check| check["name"] == name).expect(name);
        assert_eq!(check["state"], "ok", "{check}");
    }
    scene.stop().await;
}
