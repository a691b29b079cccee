//! Checks, recordings and replays.

use ebb_core::{
    Json, LoadOptions,
    operations::{RecordingEvent, Severity},
};
use futures_util::StreamExt as _;

use crate::canned::answer;

#[tokio::test]
async fn options_are_checked_without_loading() {
    let (client, asked) = answer(
        "200 OK",
        r#"{"model":"m","lines":[],"problems":[{"severity":"error","field":"threads","message":"x","hint":null,"nearest":null}],
        "estimate":null,"needs_reload":true,"changed":["threads"],"cli":null,"python":""}"#,
    );
    let options = LoadOptions { threads: Some(3), ..LoadOptions::default() };
    let check = client.model("m").check(&options).await.unwrap();
    assert_eq!((check.problems[0].severity, check.changed), (Severity::Error, vec!["threads".to_owned()]));
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("POST /ebb/v1/models/m/check HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains(r#""threads":3"#), "{asked}");
}

#[tokio::test]
async fn a_recording_is_read_line_by_line_to_its_end() {
    let lines = r#"{"at_ms":4,"pressure":{"available_bytes":1,"total_bytes":2}}
{"at_ms":5,"sample":{"model":"m","at_ms":1,"resident_bytes":2,"private_bytes":3,"runs":4,"arenas":[],"pools":[]}}
"#;
    let (client, asked) = answer("200 OK", lines);
    let told: Vec<_> = client.model("m").record().await.unwrap().map(Result::unwrap).collect().await;
    assert_eq!(told[0].event, RecordingEvent::Pressure { available_bytes: 1, total_bytes: 2 });
    assert_eq!(told[1].at_ms, Some(5));
    let written: Vec<String> = told.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    assert_eq!(written.join("\n"), lines.trim_end(), "what is read is written alike");
    assert!(asked.join().unwrap().starts_with("GET /ebb/v1/models/m/recording HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_recording_is_sent_as_it_is_and_settings_in_the_address() {
    let (client, asked) =
        answer("404 Not Found", r#"{"error":{"code":"not_found","message":"x","type":"x"}}"#);
    let settings = [("slack_mib".to_owned(), Json(32.into()))].into();
    client.plugin("p").replay("{\"trace\": 1}\n", &settings).await.unwrap_err();
    let asked = asked.join().unwrap();
    assert!(
        asked.starts_with("POST /ebb/v1/plugins/p/replay?settings=%7B%22slack_mib%22%3A32%7D HTTP/1.1\r\n"),
        "{asked}"
    );
    assert!(asked.ends_with("\r\n\r\n{\"trace\": 1}\n"), "{asked}");
}
