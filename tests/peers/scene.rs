//! A host with the real models, and programs in other languages that find it.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use ebb_tests::home::{Home, real_model};
use serde_json::{Value, json};

/// A running host in a home of its own.
pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) url: String,
    /// What programs call it with.
    pub(crate) key: String,
}

impl Scene {
    /// A host that knows these models. Programs get a key that may only use them.
    pub(crate) fn new(models: &[&str]) -> Self {
        Self::with_scopes(models, &["infer"])
    }

    /// As [`Scene::new`], with another key.
    pub(crate) fn with_scopes(models: &[&str], scopes: &[&str]) -> Self {
        let home = Home::new();
        let started = home.json(["server", "start"]);
        for alias in models {
            let folder = real_model(alias);
            home.ok([
                "model".as_ref(),
                "add".as_ref(),
                folder.as_os_str(),
                "--alias".as_ref(),
                alias.as_ref(),
            ]);
        }
        let mut add = vec!["key", "add", "peers"];
        for scope in scopes {
            add.extend(["--scope", scope]);
        }
        let key = home.json(add)["key"].as_str().unwrap().to_owned();
        Self { home, url: started["url"].as_str().unwrap().to_owned(), key }
    }

    /// A Python program of this folder, to its end; the JSON that it printed.
    pub(crate) fn python(&self, script: &str, args: &[&str]) -> Value {
        let mut python = python(&["python"]);
        said(self.told(python.arg(here(script)).args(args)))
    }

    /// A Node program of this folder, to its end; the JSON that it printed.
    pub(crate) fn node(&self, script: &str, args: &[&str]) -> Value {
        // Node looks for packages in folders above the program.
        fs::copy(here(script), self.home.path().join(script)).unwrap();
        let packages = self.home.path().join("node_modules");
        if !packages.exists() {
            std::os::unix::fs::symlink(peers("node/node_modules"), packages).unwrap();
        }
        let mut node = Command::new("node");
        said(self.told(node.arg(self.home.path().join(script)).args(args)))
    }

    /// A file in the home, for a program to read.
    pub(crate) fn file(&self, name: &str, content: &Value) -> String {
        let path = self.home.path().join(name);
        fs::write(&path, content.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// What the host answers to its own token, by `GET /ebb/v1/PATH` or `POST` where there is a body.
    pub(crate) fn host(&self, path: &str, body: Option<Value>) -> Value {
        let endpoint = fs::read(self.home.path().join("run").join("host.json")).unwrap();
        let endpoint: Value = serde_json::from_slice(&endpoint).unwrap();
        let url = format!("{}/ebb/v1/{path}", self.url);
        let http = reqwest::Client::new();
        let request = match &body {
            None => http.get(url),
            Some(body) => http.post(url).json(body),
        };
        let request = request.bearer_auth(endpoint["token"].as_str().unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let (status, answer) = (answer.status(), answer.json::<Value>().await.unwrap());
            assert!(status.is_success(), "{path}: {status} {answer}");
            answer
        })
    }

    /// Ebb's greedy continuation of a text by so many tokens, with their ids: the model's own end ends it, if it may.
    pub(crate) fn greedy(&self, prompt: &str, tokens: u32, may_end: bool) -> Value {
        let bias = if may_end { json!({}) } else { json!({ END_TOKEN.to_string(): -100.0 }) };
        let generation = json!({
            "prompt": prompt, "max_tokens": tokens, "temperature": 0.0, "logprobs": 0, "logit_bias": bias
        });
        self.host("models/smollm2/generate", Some(json!({"generation": generation})))
    }

    fn told<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env("EBB_HOME", self.home.path())
            .env("EBB_URL", &self.url)
            .env("EBB_KEY", &self.key)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // Nothing here needs the net; what asks for it all the same is refused at once.
            .env("HTTPS_PROXY", "http://127.0.0.1:9")
            .env("NO_PROXY", "127.0.0.1")
    }
}

/// A file of this folder.
pub(crate) fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

/// What `cargo xtask peers` got.
fn peers(name: &str) -> PathBuf {
    let folder = std::env::var_os("EBB_PEERS").expect("run this as `cargo xtask peers`");
    PathBuf::from(folder).join(name)
}

/// Python with these folders of packages, and Ebb's own client.
pub(crate) fn python(packages: &[&str]) -> Command {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/ebb-client/python");
    let mut folders = vec![own];
    folders.extend(packages.iter().map(|name| peers(name)));
    let program = std::env::var_os("EBB_PYTHON").unwrap_or_else(|| OsString::from("python3"));
    let mut python = Command::new(program);
    python.env("PYTHONPATH", std::env::join_paths(folders).unwrap());
    python
}

/// The JSON that a program printed; it must have succeeded.
pub(crate) fn said(command: &mut Command) -> Value {
    let output = command.output().expect("the program starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?} ended with {}:\n{out}\n{err}", command.get_args(), output.status);
    let last = out.trim().lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error} in: {out}\n{err}"))
}

/// Something to transcribe.
pub(crate) fn two_cities() -> String {
    real_model("moonshine").join("two_cities.wav").to_str().unwrap().to_owned()
}

/// Ten prompts, long and short.
pub(crate) const PROMPTS: [&str; 10] = [
    "Name three colours.",
    "Write one sentence about the sea.",
    "What is a computer?",
    "Tell me a short story about a dog and a cat.",
    "List five animals.",
    "Explain why the sky is blue.",
    "Write a haiku.",
    "How do I boil an egg?",
    "Translate 'good morning' to French.",
    "Give me advice for learning to play the piano, step by step, with a plan for the first four weeks.",
];

/// The token `<|im_end|>` of the chat model.
const END_TOKEN: u32 = 2;

/// A prompt as the chat model's template writes it, without its default system message.
pub(crate) fn templated(prompt: &str) -> String {
    format!("<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n")
}
