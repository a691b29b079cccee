//! A user's Ebb in a temporary folder, and the real programs run in it.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

/// A user's Ebb: programs that run in it see nothing of the machine's own. Its host, where one was started, is stopped
/// when this is dropped.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    /// Programs of its own, where it has some.
    programs: Option<TempDir>,
}

impl Home {
    /// An empty one.
    ///
    /// # Panics
    /// Where no temporary folder can be made.
    #[expect(clippy::new_without_default, reason = "it makes a folder")]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("ebb-test-").tempdir().expect("a temporary folder");
        Self { folder, programs: None }
    }

    /// One whose workers are fakes, for tests of what lies around models: what a model is for follows from its folder's
    /// name, see `fake-worker`. Each of these models is there, as an empty folder.
    ///
    /// # Panics
    /// Where the folders or programs cannot be made.
    pub fn with_fakes<'a>(models: impl IntoIterator<Item = &'a str>) -> Self {
        // `ebb` takes the worker that lies beside it. On the same disk no program need be copied.
        let beside = program("ebb");
        let beside = beside.parent().expect("a folder");
        let programs =
            tempfile::Builder::new().prefix("fakes-").tempdir_in(beside).expect("a temporary folder");
        for (name, real) in [("ebb", "ebb"), ("ebb-worker", "fake-worker")] {
            let path = programs.path().join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            std::fs::hard_link(program(real), path).expect("a link to a program");
        }
        let mut home = Self::new();
        home.programs = Some(programs);
        for model in models {
            let folder = home.path().join("models").join(model);
            std::fs::create_dir_all(&folder).expect("a folder");
            home.ok(["model".as_ref(), "add".as_ref(), folder.as_os_str()]);
        }
        home
    }

    /// Its `EBB_HOME`.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A program of Ebb, in this home. Arguments are yours to add.
    pub fn command(&self, name: &str) -> Command {
        let own = self.programs.as_ref().map(|folder| folder.path().join(name)).filter(|path| path.exists());
        let mut command = Command::new(own.unwrap_or_else(|| program(name)));
        command
            .env("EBB_HOME", self.path())
            .env("EBB_WORKER", program("ebb-worker"))
            .env("ORT_DYLIB_PATH", runtime_library())
            .env_remove("EBB_LOG")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// `ebb ARGS`, to its end.
    ///
    /// # Panics
    /// Where it cannot be started.
    pub fn ebb<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.command("ebb").args(args).output().expect("ebb starts")
    }

    /// `ebb ARGS`, which must succeed; what it printed.
    ///
    /// # Panics
    /// Where it fails, with what it said.
    pub fn ok<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let output = self.ebb(args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "ebb failed with {}:\n{out}\n{err}", output.status);
        out.into_owned()
    }

    /// `ebb --json ARGS`, which must succeed; what it printed, read.
    ///
    /// # Panics
    /// Where it fails, or prints something else than JSON.
    pub fn json<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> serde_json::Value {
        let all = std::iter::once(OsStr::new("--json").to_owned());
        let out = self.ok(all.chain(args.into_iter().map(|arg| arg.as_ref().to_owned())));
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} in: {out}"))
    }

    /// `ebb ARGS`, which must fail; its exit code and what it said on stderr.
    ///
    /// # Panics
    /// Where it succeeds, or ends by a signal.
    pub fn fails<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> (i32, String) {
        let output = self.ebb(args);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success(),
            "ebb should have failed: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        (output.status.code().expect("an exit code"), err)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.path().join("run").join("host.json").exists() {
            let _stopped = self.command("ebb").args(["server", "stop"]).output();
        }
    }
}

/// A program of Ebb: in `EBB_BIN_DIR`, else where cargo put it beside the test.
///
/// # Panics
/// Where it was not built.
pub fn program(name: &str) -> PathBuf {
    let folder = std::env::var_os("EBB_BIN_DIR").map(PathBuf::from).unwrap_or_else(|| {
        let test = std::env::current_exe().expect("this test has a path");
        test.ancestors().nth(2).expect("target/debug/deps/test").to_owned()
    });
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "{} is missing: run the tests with `cargo xtask test`", program.display());
    program
}

/// The ONNX Runtime library that tests use: `ORT_DYLIB_PATH`, else the one that `cargo xtask setup` put into the cache.
///
/// # Panics
/// Where there is none.
pub fn runtime_library() -> PathBuf {
    if let Some(path) = std::env::var_os("ORT_DYLIB_PATH") {
        return path.into();
    }
    let folder = cache().join("runtimes").join("onnxruntime-1.31.1");
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.contains("onnxruntime") && !name.contains("providers")
    };
    let found = std::fs::read_dir(&folder)
        .ok()
        .and_then(|entries| entries.filter_map(Result::ok).map(|entry| entry.path()).find(is_library));
    found.unwrap_or_else(|| panic!("no ONNX Runtime in {}: run `cargo xtask setup`", folder.display()))
}

/// A real model, by its folder's name: below `EBB_TEST_MODELS`, else below the cache's `models`.
///
/// # Panics
/// Where it is missing.
pub fn real_model(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("EBB_TEST_MODELS").map_or_else(|| cache().join("models"), PathBuf::from).join(name);
    assert!(folder.exists(), "{} is missing: run the tests with `cargo xtask test`", folder.display());
    folder
}

fn cache() -> PathBuf {
    directories::BaseDirs::new().expect("a home folder").cache_dir().join("ebb")
}
