//! The tray, as a panel sees it: a menu on the session bus. And what its last entry asks before anything is cut off.

use std::process::Command;

use serde_json::json;

use crate::desk::{Desk, User, alive, until};

const BUS: [&str; 3] = ["--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"];
const MENU: &str = "/org/ayatana/NotificationItem/tray_icon_tray_app_ebb/Menu";
const LAYOUT: [&str; 4] = ["com.canonical.dbusmenu.GetLayout", "int32:0", "int32:-1", "array:string:label"];

/// The menu of the app's icon.
struct Tray<'a> {
    desk: &'a Desk<'a>,
    owner: String,
}

impl<'a> Tray<'a> {
    async fn on(desk: &'a Desk<'a>) -> Self {
        let owner = until("the icon is in the tray", || {
            let names = asked(desk, &BUS).unwrap_or_default();
            let names =
                names.lines().filter_map(|line| line.trim().strip_prefix("string \"")?.strip_suffix('"'));
            let has_menu = |name: &&str| entries(desk, name).is_some();
            names.filter(|name| name.starts_with(':')).find(has_menu).map(str::to_owned)
        })
        .await;
        Self { desk, owner }
    }

    fn labels(&self) -> Vec<String> {
        entries(self.desk, &self.owner).unwrap_or_default().into_iter().map(|(_, label)| label).collect()
    }

    fn choose(&self, wanted: &str) {
        let entries = entries(self.desk, &self.owner).unwrap_or_default();
        let (id, _) = entries.iter().find(|(_, label)| label == wanted).expect("the entry is there");
        let (destination, id) = (format!("--dest={}", self.owner), format!("int32:{id}"));
        let event = ["com.canonical.dbusmenu.Event", &id, "string:clicked", "variant:string:", "uint32:0"];
        let chosen = asked(self.desk, &[&[destination.as_str(), MENU][..], &event].concat());
        assert!(chosen.is_some(), "{wanted} can be chosen");
    }
}

/// The entries of a menu: number and label. `None` where `owner` has none.
fn entries(desk: &Desk<'_>, owner: &str) -> Option<Vec<(i64, String)>> {
    let destination = format!("--dest={owner}");
    let layout = asked(desk, &[&[destination.as_str(), MENU][..], &LAYOUT].concat())?;
    let (mut entries, mut number) = (Vec::new(), 0);
    for line in layout.lines().map(str::trim) {
        if let Some(id) = line.strip_prefix("int32 ") {
            number = id.parse().ok()?;
        } else if let Some((_, label)) = line.split_once("variant").filter(|(before, _)| before.is_empty()) {
            let label = label.trim().strip_prefix("string \"").and_then(|label| label.strip_suffix('"'));
            // The menu itself is number 0.
            entries.extend(label.filter(|_| number != 0).map(|label| (number, label.to_owned())));
        }
    }
    (!entries.is_empty()).then_some(entries)
}

/// What a call on the desk's bus answers.
fn asked(desk: &Desk<'_>, words: &[&str]) -> Option<String> {
    let mut ask = Command::new("dbus-send");
    ask.args(["--session", "--print-reply", "--reply-timeout=5000"]).args(words);
    let output = ask.env("DBUS_SESSION_BUS_ADDRESS", desk.bus()).output().expect("dbus-send is installed");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[tokio::test]
async fn the_tray_says_what_models_hold_and_gives_it_back() {
    let user = User::with_models(["minilm"]).await;
    let desk = user.opens().await;
    let tray = Tray::on(&desk).await;
    assert_eq!(tray.labels(), ["No model in memory", "Shrink all", "Show Ebb", "Quit"]);

    desk.send("POST", "/ebb/v1/models/minilm/load", "{}").await;
    until("the tray shows the model", || {
        tray.labels().first().is_some_and(|label| label.starts_with("1 model holds ")).then_some(())
    })
    .await;
    tray.choose("Shrink all");
    loop {
        let (_, stats) = desk.send("GET", "/ebb/v1/models/minilm/stats", "").await;
        if stats["shrinks"] == 1 {
            break;
        }
    }
}

#[tokio::test]
async fn what_runs_is_named_before_it_is_cut_off() {
    let user = User::with_models(["minilm"]).await;
    let desk = user.opens().await;
    let tray = Tray::on(&desk).await;
    desk.send("POST", "/ebb/v1/models/minilm/load", "{}").await;
    // Nobody reads the answer, so it goes on.
    let texts = json!({ "texts": vec!["x"; 200], "stream": true }).to_string();
    let begin = "
        const head = await invoke('send', new TextEncoder().encode(given[0]), {
            headers: {
                'ebb-method': 'POST', 'ebb-path': '/ebb/v1/models/minilm/embed', 'ebb-content-type': 'application/json',
            },
        });
        return head.status;";
    assert_eq!(desk.run(begin, vec![texts.into()]).await, 200);

    let pid = user.host().await["pid"].as_u64().unwrap();
    tray.choose("Quit");
    desk.says("minilm: 1 request").await;
    assert!(alive(pid), "it waits for an answer");
    desk.quits().await;
}

#[tokio::test]
async fn quitting_from_the_tray_asks_nothing_where_nothing_runs() {
    let user = User::with_models(["minilm"]).await;
    let desk = user.opens().await;
    let tray = Tray::on(&desk).await;
    desk.send("POST", "/ebb/v1/models/minilm/load", "{}").await;
    let pid = user.host().await["pid"].as_u64().unwrap();
    tray.choose("Quit");
    until("the app is gone", || (!alive(pid)).then_some(())).await;
}
