//! A desk of its own for each test: a display, a session bus, a user's folders, and the app on it, driven as by a person.
//!
//! It needs `WebKitWebDriver`, `xvfb-run` and `dbus-run-session` (Debian: `webkit2gtk-driver xvfb xauth dbus-x11`). Tests take
//! turns: two web views that start at once on two cores are slow enough to look broken.

use std::{
    fs::{self, File},
    net::{TcpListener, TcpStream},
    os::unix::{fs::symlink, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use ebb_tests::home::{Home, real_model};
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    sync::{Mutex, MutexGuard},
    time::{sleep, timeout},
};

const APP: &str = env!("CARGO_BIN_EXE_ebb-desktop");
/// A cold start of a debug build while another build runs.
const PATIENCE: Duration = Duration::from_secs(60);
/// A driver sometimes loses the app it has just started: a new desk then does.
const TRIES: usize = 3;
const LOOK_EVERY: Duration = Duration::from_millis(20);

static TURN: Mutex<()> = Mutex::const_new(());

/// A user with Ebb installed.
pub(crate) struct User {
    pub(crate) home: Home,
    folder: TempDir,
    app: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl User {
    /// With these models, which are fakes, and no host.
    pub(crate) async fn with_models<'a>(models: impl IntoIterator<Item = &'a str>) -> Self {
        let home = Home::with_fakes(models);
        home.ok(["server", "stop"]);
        // The app takes the worker that lies beside it.
        let programs = Path::new(home.command("ebb").get_program()).parent().expect("a folder").to_owned();
        let app = programs.join("ebb-desktop");
        fs::hard_link(APP, &app).expect("a link to the app");
        Self::with(home, app).await
    }

    /// With these real models in the list, all of them at hand as demo models, and no host.
    pub(crate) async fn with_real_models<'a>(models: impl IntoIterator<Item = &'a str>) -> Self {
        let home = Home::new();
        let cache = home.path().join("cache");
        fs::create_dir(&cache).expect("a folder");
        let at_hand = real_model("minilm");
        symlink(at_hand.parent().expect("a folder"), cache.join("models")).expect("a link to the models");
        for model in models {
            let folder = cache.join("models").join(model);
            home.ok(["model".as_ref(), "add".as_ref(), folder.as_os_str()]);
        }
        if home.path().join("run/host.json").exists() {
            home.ok(["server", "stop"]);
        }
        Self::with(home, APP.into()).await
    }

    /// With what is in this home, and this app.
    pub(crate) async fn with(home: Home, app: PathBuf) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { home, folder, app, _turn: TURN.lock().await }
    }

    /// Where the desktop keeps what it knows of the user.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The user's environment, for a program that is started on no desk or on that of `bus`.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let models = self.home.command("ebb");
        command.envs(models.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env_remove("EBB_LOG").env("HOME", self.folder.path()).env("LANG", "C.UTF-8");
        for (name, place) in [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_RUNTIME_DIR", "runtime"),
        ] {
            let path = self.folder.path().join(place);
            fs::create_dir_all(&path).expect("a folder");
            command.env(name, path);
        }
        command
    }

    /// Sits down and opens the app.
    pub(crate) async fn opens(&self) -> Desk<'_> {
        self.opens_with(&[]).await
    }

    /// The same, with these variables set.
    pub(crate) async fn opens_with(&self, env: &[(&str, &str)]) -> Desk<'_> {
        let mut why = String::new();
        for _ in 0..TRIES {
            match Desk::open(self, env).await {
                Ok(desk) => return desk,
                Err(error) => why = error,
            }
        }
        panic!("the app could not be opened: {why}");
    }

    /// Starts the app where no desk is, to its end.
    pub(crate) fn starts_without_a_display(&self) -> Output {
        let mut command = self.command(&self.app);
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::null()).output().expect("the app starts")
    }

    /// Who the host says it is, once there is one.
    pub(crate) async fn host(&self) -> Value {
        let file = self.home.path().join("run/host.json");
        until("a host says where it is", || {
            fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok())
        })
        .await
    }
}

/// A desk with the app on it. All of it goes when this is dropped.
pub(crate) struct Desk<'a> {
    user: &'a User,
    _driver: Group,
    /// The display, the leave to draw on it, and the bus.
    place: [String; 3],
    pub(crate) page: Client,
}

impl<'a> Desk<'a> {
    async fn open(user: &'a User, env: &[(&str, &str)]) -> Result<Self, String> {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let (told, log) = (user.folder.path().join("place"), user.folder.path().join("driver.log"));
        let _earlier = fs::remove_file(&told);
        // A pipe that somebody keeps open would keep the test open.
        let log_file = File::create(&log).expect("a log");
        let script = r#"printf '%s\n' "$DISPLAY" "$XAUTHORITY" "$DBUS_SESSION_BUS_ADDRESS" >"$0" && exec WebKitWebDriver --port="$1""#;
        let mut command = user.command("dbus-run-session");
        command.args(["--", "xvfb-run", "-a", "-s", "-screen 0 1280x900x24", "sh", "-c", script]);
        command.arg(&told).arg(port.to_string());
        command.env("TAURI_WEBVIEW_AUTOMATION", "true").envs(env.iter().copied());
        command.stdin(Stdio::null()).stdout(log_file.try_clone().expect("a log")).stderr(log_file);
        let driver = command.process_group(0).spawn();
        let driver = Group(driver.expect("dbus-run-session, xvfb-run and WebKitWebDriver are installed"));
        let said = |error: String| {
            format!("{error}; the driver said: {}", fs::read_to_string(&log).unwrap_or_default())
        };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > PATIENCE {
                return Err(said("the driver does not listen".into()));
            }
            sleep(LOOK_EVERY).await;
        }
        let wanted = json!({ "webkitgtk:browserOptions": { "binary": user.app, "args": [] } });
        let Value::Object(wanted) = wanted else { unreachable!("an object was written") };
        let mut client = ClientBuilder::new(HttpConnector::new());
        client.capabilities(wanted);
        let url = format!("http://127.0.0.1:{port}");
        let page = match timeout(PATIENCE, client.connect(&url)).await {
            Ok(Ok(page)) => page,
            Ok(Err(error)) => return Err(said(error.to_string())),
            Err(_) => return Err(said("the app does not open".into())),
        };
        let place = fs::read_to_string(&told).expect("the place");
        let lines: Vec<String> = place.lines().map(str::to_owned).collect();
        let place = lines.try_into().expect("three lines");
        Ok(Self { user, _driver: driver, place, page })
    }

    /// Runs JavaScript in the page; `done` is what it calls with the answer, arguments are `given`.
    pub(crate) async fn run(&self, script: &str, given: Vec<Value>) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1]; const given = [...arguments].slice(0, -1);
            const invoke = window.__TAURI_INTERNALS__.invoke;
            (async () => {{ {script} }})().then(done, (error) => done({{ thrown: error?.message ?? error }}));"
        );
        let ran = timeout(PATIENCE, self.page.execute_async(&script, given)).await;
        ran.expect("the page answers in time").expect("the page answers")
    }

    /// Calls a command of the app.
    pub(crate) async fn invoke(&self, command: &str, arguments: Value) -> Value {
        self.run("return (await invoke(given[0], given[1])) ?? null;", vec![command.into(), arguments]).await
    }

    /// Sends a request as the page does: its status, and its body as JSON.
    pub(crate) async fn send(&self, method: &str, path: &str, content: &str) -> (u64, Value) {
        let script = "
            const [method, path, content] = given;
            const head = await invoke('send', new TextEncoder().encode(content), {
                headers: { 'ebb-method': method, 'ebb-path': path, 'ebb-content-type': 'application/json' },
            });
            let text = '';
            for (;;) {
                const piece = await invoke('read', { body: head.body });
                if (piece.byteLength === 0) return { status: head.status, text };
                text += new TextDecoder().decode(piece);
            }";
        let answer = self.run(script, vec![method.into(), path.into(), content.into()]).await;
        let text = answer["text"].as_str().unwrap_or_else(|| panic!("{method} {path}: {answer}"));
        (answer["status"].as_u64().expect("a status"), serde_json::from_str(text).expect("JSON"))
    }

    /// The text of the page.
    pub(crate) async fn text(&self) -> String {
        let text = self.run("return document.body.innerText;", vec![]).await;
        text.as_str().expect("a text").to_owned()
    }

    /// Waits until the page says something.
    pub(crate) async fn says(&self, what: &str) {
        let begun = Instant::now();
        loop {
            let text = self.text().await;
            if text.contains(what) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "the page does not say {what:?} but: {text}");
            sleep(LOOK_EVERY).await;
        }
    }

    /// Ends the app, as its page does once its user wants that.
    pub(crate) async fn quits(&self) {
        let pid = self.user.host().await["pid"].as_u64().expect("a process");
        // The page goes with the app, and may not get to answer.
        let _cut_off = self.page.execute("window.__TAURI_INTERNALS__.invoke('quit');", vec![]).await;
        until("the app is gone", || (!alive(pid)).then_some(())).await;
    }

    /// The address of the session's bus.
    pub(crate) fn bus(&self) -> &str {
        &self.place[2]
    }

    /// Starts the app once more on the same desk, to its end.
    pub(crate) fn starts_again(&self, arguments: &[&Path]) -> Output {
        let mut command = self.user.command(&self.user.app);
        let [display, leave, bus] = &self.place;
        command.env("DISPLAY", display).env("XAUTHORITY", leave).env("DBUS_SESSION_BUS_ADDRESS", bus);
        command.args(arguments).stdin(Stdio::null()).output().expect("the app starts")
    }
}

/// The driver, and all that it and the session started. The app's workers are in groups of their own: they end when the app
/// does.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).expect("a process");
        let _gone_already = kill_process_group(group, Signal::KILL);
        let _waited = self.0.wait();
    }
}

/// What `look` finds, once it does.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited too long until {what}");
        sleep(LOOK_EVERY).await;
    }
}

/// A worker of a host, by what the host said of itself; `None` while it has none.
pub(crate) fn worker_of(host: &Value) -> Option<Pid> {
    let threads = fs::read_dir(format!("/proc/{}/task", host["pid"])).ok()?;
    let children =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<i32> = children
        .flat_map(|ids| ids.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    let is_worker = |id: &i32| {
        fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.trim() == "ebb-worker")
    };
    children.into_iter().find(is_worker).and_then(Pid::from_raw)
}

/// Whether a process is there, and no zombie.
pub(crate) fn alive(pid: u64) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}
