//! What the desktop keeps from one start to the next.

use std::fs;

use serde_json::json;

use crate::desk::User;

#[tokio::test]
async fn the_window_comes_back_in_the_size_that_it_had() {
    let user = User::with_models([]).await;
    let desk = user.opens().await;
    desk.page.set_window_size(900, 640).await.unwrap();
    let shown = "
        const isIt = () => window.innerWidth === 900 && window.innerHeight === 640;
        while (!isIt()) await new Promise((next) => setTimeout(next, 20));
        return true;";
    assert_eq!(desk.run(shown, vec![]).await, true);
    desk.quits().await;
    drop(desk);

    let desk = user.opens().await;
    assert_eq!(desk.run(shown, vec![]).await, true);
}

#[tokio::test]
async fn the_app_starts_with_the_session_only_where_it_was_asked_to() {
    let user = User::with_models([]).await;
    let desk = user.opens().await;
    let entries = || {
        let found = fs::read_dir(user.folder().join(".config/autostart"));
        found.map_or(vec![], |entries| entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>())
    };
    assert_eq!(entries().len(), 0, "{:?}", entries());
    let asked = |value: bool| json!({ "name": "autostart", "value": value });
    assert_eq!(desk.invoke("set_preference", asked(true)).await, json!(null));
    let [entry] = &entries()[..] else { panic!("one entry: {:?}", entries()) };
    let text = fs::read_to_string(entry).unwrap();
    assert!(text.lines().any(|line| line.starts_with("Exec=") && line.contains("ebb-desktop")), "{text}");
    assert_eq!(desk.invoke("set_preference", asked(false)).await, json!(null));
    assert_eq!(entries().len(), 0, "{:?}", entries());
}
