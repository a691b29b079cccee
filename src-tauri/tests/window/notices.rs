//! What the desktop is told while nobody looks at the window.

use std::{
    fs::{self, File},
    process::{Child, Command, Stdio},
};

use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::desk::{Desk, User, until, worker_of};

/// Listens to what is said on the desk's bus to whoever shows notifications.
struct Listening {
    monitor: Child,
    heard: tempfile::NamedTempFile,
}

impl Listening {
    async fn on(desk: &Desk<'_>) -> Self {
        let heard = tempfile::NamedTempFile::new().expect("a file");
        let monitor = Command::new("dbus-monitor")
            .args(["--session", "interface='org.freedesktop.Notifications',member='Notify'"])
            .env("DBUS_SESSION_BUS_ADDRESS", desk.bus())
            .stdin(Stdio::null())
            .stdout(File::create(heard.path()).expect("a file"))
            .spawn()
            .expect("dbus-monitor is installed");
        let listening = Self { monitor, heard };
        // It says hello once it is connected.
        until("the monitor listens", || (!listening.heard().is_empty()).then_some(())).await;
        listening
    }

    fn heard(&self) -> String {
        fs::read_to_string(self.heard.path()).expect("a text")
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _gone_already = self.monitor.kill();
        let _waited = self.monitor.wait();
    }
}

/// Kills the worker of the one model, as the system does when memory is short; returns once another serves.
async fn crash(user: &User, desk: &Desk<'_>) {
    let app = user.host().await;
    let killed = until("there is a worker", || worker_of(&app)).await;
    kill_process(killed, Signal::KILL).expect("it can be killed");
    until("another worker is there", || worker_of(&app).filter(|worker| *worker != killed)).await;
    loop {
        let (_, model) = desk.send("GET", "/ebb/v1/models/minilm", "").await;
        if model["state"] == "loaded" {
            return;
        }
    }
}

#[tokio::test]
async fn a_crash_is_told_once_and_not_to_who_wants_no_notifications() {
    let user = User::with_models(["minilm", "other"]).await;
    let desk = user.opens().await;
    let listening = Listening::on(&desk).await;
    let (status, answer) = desk.send("POST", "/ebb/v1/models/minilm/load", r#"{"restart":true}"#).await;
    assert_eq!(status, 200, "{answer}");
    crash(&user, &desk).await;
    until("the crash is told", || listening.heard().contains("minilm crashed").then_some(())).await;
    crash(&user, &desk).await;
    assert_eq!(listening.heard().matches("minilm crashed").count(), 1, "not again within minutes");
    drop(desk);

    let desk = user.opens().await;
    let listening = Listening::on(&desk).await;
    let set = desk.invoke("set_preference", json!({ "name": "notifications", "value": false })).await;
    assert_eq!(set, json!(null));
    until("the model is back", || {
        (user.home.json(["server", "status"])["models"] == json!(["minilm"])).then_some(())
    })
    .await;
    crash(&user, &desk).await;
    assert!(!listening.heard().contains("crashed"), "{}", listening.heard());
    let info = desk.invoke("desktop_info", json!({})).await;
    assert_eq!(info["preferences"]["notifications"], false);
}
