//! The page for browsers: `--ui` and `ebb ui`.

use std::{path::Path, process::Output};

use ebb_tests::home::Home;
use reqwest::{StatusCode, header, redirect};
use serde_json::Value;

/// A page that needs no Node to be built.
fn page() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "<!doctype html><title>A page</title>").unwrap();
    folder
}

fn with_page(home: &Home, page: &Path, args: &[&str]) -> Output {
    home.command("ebb").env("EBB_UI", page).arg("--json").args(args).output().unwrap()
}

fn link(output: &Output) -> String {
    let said: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    said["url"].as_str().unwrap_or_else(|| panic!("no link: {said}")).to_owned()
}

#[tokio::test]
async fn a_link_opens_the_page_and_its_routes() {
    let (home, page) = (Home::new(), page());
    let first = link(&with_page(&home, page.path(), &["server", "start", "--ui"]));
    let second = link(&with_page(&home, page.path(), &["ui"]));
    assert_ne!(first, second);

    let browser = reqwest::Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let answer = browser.get(&second).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let base = second.split("/login").next().unwrap();
    let get = |path: &str| browser.get(format!("{base}{path}")).header(header::COOKIE, &cookie).send();
    assert!(get("/").await.unwrap().text().await.unwrap().contains("A page"));
    let status: Value = get("/ebb/v1/status").await.unwrap().json().await.unwrap();
    assert_eq!((&status["running"], &status["url"]), (&true.into(), &base.into()));
    assert_eq!(browser.get(&second).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);

    // A link is no secret for long, but it has no place in a log.
    let log = home.ok(["server", "logs", "-n", "1000"]);
    assert!(!log.contains("once="), "{log}");
}

#[test]
fn a_page_that_is_not_there_is_said_before_a_host_starts() {
    let home = Home::new();
    let empty = tempfile::tempdir().unwrap();
    for args in [&["server", "start", "--ui"][..], &["ui"], &["server", "run", "--ui"]] {
        let output = with_page(&home, empty.path(), args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("holds no built page"), "{args:?}: {said}");
    }
    assert_eq!(home.ebb(["server", "status"]).status.code(), Some(3));
}

#[test]
fn a_host_without_its_page_says_how_to_get_it() {
    let (home, page) = (Home::new(), page());
    home.ok(["server", "start"]);
    for args in [&["ui"][..], &["server", "start", "--ui"]] {
        let (code, error) = home.fails(args);
        assert!(code == 1 && error.contains("ebb server restart --ui"), "{error}");
    }
    link(&with_page(&home, page.path(), &["server", "restart", "--ui"]));
}

#[test]
fn the_routes_are_described_without_a_host() {
    let home = Home::new();
    let described = home.json(["server", "openapi"]);
    assert!(described["paths"]["/ebb/v1/login-link"]["post"].is_object());
    assert_eq!(home.ebb(["server", "status"]).status.code(), Some(3));
}
