//! The page in the window, and what it reaches.

use serde_json::json;

use crate::desk::User;

#[tokio::test]
async fn the_window_shows_the_page_and_the_page_reaches_the_host() {
    let user = User::with_models(["minilm"]).await;
    let desk = user.opens().await;
    assert_eq!(desk.page.title().await.unwrap(), "Ebb");
    // The desk's locale names none; without one nothing would draw numbers.
    let number = desk.run("return new Intl.NumberFormat(navigator.language).format(1.5);", vec![]).await;
    assert_eq!(number, "1.5");

    let (status, host) = desk.send("GET", "/ebb/v1/status", "").await;
    assert_eq!(status, 200);
    let endpoint = user.host().await;
    assert_eq!((&host["pid"], &host["url"]), (&endpoint["pid"], &endpoint["url"]));
    let seen = user.home.json(["server", "status"]);
    assert_eq!(seen["pid"], host["pid"], "the command line reaches the same host");

    let (status, report) = desk.send("POST", "/ebb/v1/models/minilm/load", "{}").await;
    assert_eq!(status, 200, "{report}");
    assert_eq!(user.home.json(["server", "status"])["models"], json!(["minilm"]));

    let info = desk.invoke("desktop_info", json!({})).await;
    assert_eq!(info["server_url"], endpoint["url"]);
    assert_eq!(info["startup_error"], json!(null));
}

#[tokio::test]
async fn the_page_can_call_nothing_but_ebbs_commands() {
    let user = User::with_models([]).await;
    let desk = user.opens().await;
    for command in
        ["plugin:event|emit", "plugin:dialog|open", "plugin:opener|open_url", "plugin:window|close"]
    {
        let answer = desk.invoke(command, json!({})).await;
        assert!(
            answer["thrown"].as_str().is_some_and(|why| why.contains("not allowed")),
            "{command}: {answer}"
        );
    }
    let left = desk.run("location.href = 'https://example.org/'; return location.href;", vec![]).await;
    assert!(left.as_str().unwrap().starts_with("tauri://localhost"), "{left}");
    let loaded = desk
        .run(
            "try { await fetch('http://127.0.0.1:9/'); return 'sent'; } catch (error) { return `${error}`; }",
            vec![],
        )
        .await;
    assert_ne!(loaded, "sent");
    let evaluated = desk.run("try { return eval('1'); } catch (error) { return error.name; }", vec![]).await;
    assert_eq!(evaluated, "EvalError", "the policy holds");
}

#[tokio::test]
async fn a_page_that_is_loaded_anew_leaves_nothing_open() {
    let user = User::with_models([]).await;
    let desk = user.opens().await;
    let open = "
        const head = await invoke('send', new Uint8Array(), {
            headers: { 'ebb-method': 'GET', 'ebb-path': '/ebb/v1/events', 'ebb-content-type': '' },
        });
        return head.body;";
    let body = desk.run(open, vec![]).await;
    desk.page.refresh().await.unwrap();
    let gone = desk
        .run("return await invoke('read', { body: given[0] }).catch((error) => error);", vec![body])
        .await;
    assert_eq!(gone["error"]["code"], "not_found", "{gone}");
}
