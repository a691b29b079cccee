//! The figures, one after the other, on one desk of one user.

mod charts;
#[path = "../../tests/window/desk.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod desk;
mod idle;
mod processes;
mod shrink;
mod sizes;
mod start;

use desk::{Desk, User, alive, until};
use ebb_tests::home::{Home, program, real_model};

pub(crate) fn print() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let user = User::with(Home::new(), program("ebb-desktop")).await;
        let loaded = start::print(&user).await;
        idle::print(&user).await;
        charts::print(&user).await;
        shrink::print(&user).await;
        sizes::print(&loaded);
    });
}

/// Puts MiniLM into the list under this name.
fn add(user: &User, alias: &str) {
    let folder = real_model("minilm");
    user.home.ok(["model", "add", folder.to_str().expect("a path in UTF-8"), "--alias", alias]);
}

/// Ends the app as its user does.
async fn quit(user: &User, desk: Desk<'_>) {
    let pid = user.host().await["pid"].as_u64().expect("a process");
    // The page goes with the app, and may not get to answer.
    let _cut_off = desk.page.execute("window.__TAURI_INTERNALS__.invoke('quit');", vec![]).await;
    until("the app is gone", || (!alive(pid)).then_some(())).await;
}

/// The median; 0 where there is none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
