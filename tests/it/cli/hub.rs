//! Models from elsewhere: of a Hub that runs here, and of other programs' caches.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Output,
    sync::Arc,
    thread,
};

use ebb_client::Client;
use ebb_core::{
    Code, ModelKind, Places,
    operations::{PullModel, PullPiece},
};
use ebb_tests::{home::Home, models};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::{err, out};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A Hub with models, each a folder. Its address.
fn hub<const N: usize>(repos: [(&str, &Path); N]) -> String {
    let mut files = BTreeMap::new();
    for (repo, folder) in repos {
        read_into(&mut files, repo, folder, folder);
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let files = Arc::new(files);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = files.clone();
            thread::spawn(move || answer(stream, &files));
        }
    });
    url
}

fn read_into(files: &mut BTreeMap<String, Vec<u8>>, repo: &str, root: &Path, folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_into(files, repo, root, &path);
        } else {
            let below = path.strip_prefix(root).unwrap().display().to_string().replace('\\', "/");
            files.insert(format!("{repo}/{below}"), fs::read(path).unwrap());
        }
    }
}

/// One request, one answer: in the Hub's words, as far as a download needs them.
fn answer(mut stream: TcpStream, files: &BTreeMap<String, Vec<u8>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
    let path = first.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let (status, body) = match content(path, files) {
        Some(body) => ("200 OK", body),
        None => ("401 Unauthorized\r\nx-error-code: RepoNotFound", Vec::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _gone = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

fn content(path: &str, files: &BTreeMap<String, Vec<u8>>) -> Option<Vec<u8>> {
    if let Some((repo, file)) = path.trim_start_matches('/').split_once(&format!("/resolve/{COMMIT}/")) {
        return files.get(&format!("{repo}/{file}")).cloned();
    }
    let asked = path.strip_prefix("/api/models/")?;
    let repo = asked.splitn(3, '/').take(2).collect::<Vec<_>>().join("/") + "/";
    let of_repo: Vec<_> =
        files.iter().filter_map(|(name, body)| Some((name.strip_prefix(&repo)?, body))).collect();
    let answer = match asked.strip_prefix(&repo)? {
        _ if of_repo.is_empty() => return None,
        "revision/main" => json!({"sha": COMMIT}),
        _ => of_repo
            .iter()
            .map(|(path, body)| json!({"type": "file", "path": path, "size": body.len()}))
            .collect(),
    };
    Some(answer.to_string().into_bytes())
}

/// `ebb --json ARGS` with that Hub, for a user who has nothing of other programs but what `hub_cache` holds.
fn ebb(home: &Home, hub: &str, args: &[&str]) -> Output {
    let user = home.path().join("user");
    let mut command = home.command("ebb");
    for name in
        ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "HF_HOME", "OLLAMA_MODELS", "XDG_CACHE_HOME"]
    {
        command.env_remove(name);
    }
    command
        .env("HF_ENDPOINT", hub)
        .env("HOME", &user)
        .env("USERPROFILE", &user)
        .env("HF_HUB_CACHE", user.join("hub"));
    command.arg("--json").args(args).output().unwrap()
}

fn read(output: &Output) -> Value {
    assert!(output.status.success(), "{}{}", out(output), err(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_model_is_pulled_and_used() {
    let home = Home::new();
    let hub = hub([("org/Tiny-Embedder", &models::embedder(&home.path().join("source")))]);
    let pull = ["model", "pull", "hf:org/Tiny-Embedder"];
    let report = read(&ebb(&home, &hub, &pull));
    assert_eq!(
        (&report["model"]["alias"], &report["model"]["kind"]),
        (&json!("tiny-embedder"), &json!("embeddings"))
    );
    assert_eq!(report["pulled"]["commit"], COMMIT);
    assert!(home.path().join("models/org--Tiny-Embedder/tokenizer.json").is_file());
    home.ok(["embed", "tiny-embedder", "a text"]);

    let again = read(&ebb(&home, &hub, &pull));
    assert_eq!(again["pulled"]["already_there"], true);
    assert_eq!(again["model"]["alias"], "tiny-embedder");
}

/// A client of a host that was started with that Hub.
fn client(home: &Home, hub: &str) -> Client {
    read(&ebb(home, hub, &["server", "start"]));
    Client::connect_in(&Places { home: home.path().to_owned(), cache: home.path().join("cache") }).unwrap()
}

#[tokio::test]
async fn a_host_pulls_by_itself_and_tells_how_far_it_is() {
    let home = Home::new();
    let hub = hub([("org/Tiny-Embedder", &models::embedder(&home.path().join("source")))]);
    let client = client(&home, &hub);
    let pull = |model: &str| PullModel { model: model.to_owned(), ..PullModel::default() };
    let pieces: Vec<_> = client.pull_model(&pull("hf:org/Tiny-Embedder")).await.unwrap().collect().await;
    let pieces: Vec<PullPiece> = pieces.into_iter().map(Result::unwrap).collect();
    let (last, before) = pieces.split_last().unwrap();
    let PullPiece::Report(entry) = last else { panic!("{last:?}") };
    assert_eq!((entry.alias.as_str(), entry.kind), ("tiny-embedder", ModelKind::Embeddings));
    assert!(before.iter().all(|piece| matches!(piece, PullPiece::Progress(_))), "{before:?}");
    assert!(home.path().join("models/org--Tiny-Embedder/tokenizer.json").is_file());
    let again = client.pull_model(&pull("hf:org/Tiny-Embedder")).await.unwrap().entry().await.unwrap();
    assert_eq!(again.alias, "tiny-embedder");

    let error = client.pull_model(&pull("hf:org/Other")).await.unwrap().entry().await.unwrap_err();
    assert_eq!(error.failure().code, Code::NotFound, "{error}");
    for (model, alias) in [("org/Name", None), ("hf:../Name", None), ("hf:org/Name", Some("shrink-all"))] {
        let asked = PullModel { alias: alias.map(str::to_owned), ..pull(model) };
        let error = client.pull_model(&asked).await.unwrap_err();
        let field = if alias.is_some() { "alias" } else { "model" };
        assert_eq!(error.failure().param.as_deref(), Some(field), "{error}");
    }
}

#[test]
fn a_pulled_gguf_file_becomes_a_chat_model() {
    let home = Home::new();
    let source = home.path().join("source");
    fs::rename(models::gguf(&source), source.join("tiny-q4_0.gguf")).unwrap();
    let hub = hub([("org/Tiny-GGUF", &source)]);
    let pull = ["model", "pull", "hf:org/Tiny-GGUF:q4_0", "--alias", "tiny"];
    let report = read(&ebb(&home, &hub, &pull));
    assert_eq!((&report["model"]["alias"], &report["model"]["kind"]), (&json!("tiny"), &json!("chat")));
    assert_eq!(report["pulled"]["format"], "gguf");
    assert!(home.path().join("models/org--Tiny-GGUF--q4_0--onnx/genai_config.json").is_file());
    // The model is there: what it was made of need not be.
    fs::remove_dir_all(home.path().join("models/org--Tiny-GGUF--q4_0")).unwrap();
    assert_eq!(read(&ebb(&home, &hub, &pull))["pulled"], Value::Null);
}

#[test]
fn what_cannot_be_pulled_is_told_before_anything_comes() {
    let home = Home::new();
    let source = models::embedder(&home.path().join("source"));
    let hub = hub([("org/Name", &source)]);
    let missing = ebb(&home, &hub, &["model", "pull", "hf:org/Other"]);
    assert_eq!(missing.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&missing.stderr).unwrap();
    assert_eq!(error["error"]["code"], "not_found");
    assert!(error["error"]["hint"].as_str().unwrap().contains("HF_TOKEN"));

    home.ok(["model".as_ref(), "add".as_ref(), source.as_os_str(), "--alias".as_ref(), "name".as_ref()]);
    let taken = ebb(&home, &hub, &["model", "pull", "hf:org/Name"]);
    assert!(err(&taken).contains("already_exists"), "{}", err(&taken));
    assert!(!home.path().join("models").exists());

    for reference in ["org/Name", "hf:../Name", "hf:org/Name:"] {
        assert_eq!(ebb(&home, &hub, &["model", "pull", reference]).status.code(), Some(2), "{reference}");
    }
}

#[test]
fn a_model_of_another_programs_cache_is_found_and_added_as_it_says() {
    let home = Home::new();
    let snapshot = home.path().join("user/hub/models--org--Tiny/snapshots").join(COMMIT);
    models::embedder(&snapshot);
    let blobs = home.path().join("user/.ollama/models/blobs");
    let digest = "a".repeat(64);
    fs::rename(models::gguf(&blobs), blobs.join(format!("sha256-{digest}"))).unwrap();
    let manifest = home.path().join("user/.ollama/models/manifests/registry.example/library/tiny/latest");
    fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    let layer =
        json!({"mediaType": "application/vnd.ollama.image.model", "digest": format!("sha256:{digest}")});
    fs::write(&manifest, json!({"layers": [layer]}).to_string()).unwrap();

    let found = read(&ebb(&home, "http://127.0.0.1:1", &["model", "find"]));
    let [of_hub, of_ollama] = &found["models"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&of_hub["source"], &of_hub["kind"]), (&json!("hugging_face"), &json!("onnx")));
    assert_eq!((&of_ollama["name"], &of_ollama["kind"]), (&json!("tiny:latest"), &json!("gguf")));
    for model in [of_hub, of_ollama] {
        home.ok(model["how"].as_str().unwrap().split(' ').skip(1));
    }
    assert!(
        home.path().join("models/tiny/genai_config.json").is_file(),
        "imported from a file without an ending"
    );
    let found = read(&ebb(&home, "http://127.0.0.1:1", &["model", "find"]));
    assert_eq!(
        (&found["models"][0]["already_added"], &found["models"][0]["how"]),
        (&json!("tiny"), &Value::Null)
    );
}
