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

use desk::{Desk, User};
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

/// The median; 0 where there is none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
