//! Requests and answers against a server of one canned answer.

mod fetched;
mod plugins;
mod recorded;

use ebb_core::{
    Code, DType, EventKind, Places, TensorSpec,
    operations::{MAX_BODY_BYTES, RunRequest, TensorValue},
};
use futures_util::StreamExt as _;

use crate::{Client, Error, Piece, Tensor, canned::answer};

const NOT_LOADED: &str = r#"{"error": {"code": "not_loaded", "message": "m is not loaded", "hint": "load it",
    "type": "not_found_error", "param": null}}"#;

/// Two vectors of two f32: [1, 2] and [3, 4].
const STREAM: &str = r#"{"progress":{"done":0,"total":2}}
{"vectors":{"first":0,"count":1,"dimensions":2,"data":"AACAPwAAAEA="}}

{"vectors":{"first":1,"count":1,"dimensions":2,"data":"AABAQAAAgEA="}}
{"figures":{"texts":2,"dimensions":2,"tokens":6,"padding_tokens":0,"batches":1,"truncated":[],"cap_retries":0}}"#;

#[tokio::test]
async fn a_request_carries_the_token_and_an_alias_is_encoded() {
    let (client, asked) = answer("404 Not Found", NOT_LOADED);
    let error = client.model("a b/ü").runtime().stats_with_history(3).await.unwrap_err();
    let Error::Refused(failure) = &error else { panic!("{error:?}") };
    assert_eq!((failure.code, failure.hint.as_deref()), (Code::NotLoaded, Some("load it")));
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("GET /ebb/v1/models/a%20b%2F%C3%BC/stats?history=3 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.to_lowercase().contains("authorization: bearer secret\r\n"), "{asked}");
}

#[tokio::test]
async fn a_link_to_the_page_is_asked_for() {
    let (client, asked) =
        answer("200 OK", r#"{"url": "http://127.0.0.1:4770/login?once=1", "expires_in_ms": 300000}"#);
    let link = client.login_link().await.unwrap();
    assert_eq!((link.url.as_str(), link.expires_in_ms), ("http://127.0.0.1:4770/login?once=1", 300_000));
    assert!(asked.join().unwrap().starts_with("POST /ebb/v1/login-link HTTP/1.1\r\n"));
}

#[tokio::test]
async fn an_alias_that_an_address_would_swallow_is_not_sent() {
    let (client, _) = answer("200 OK", "{}");
    for alias in ["", ".", ".."] {
        let Err(Error::Refused(failure)) = client.model(alias).unload().await else { panic!("{alias}") };
        assert_eq!(failure.code, Code::NotFound);
    }
}

#[tokio::test]
async fn a_body_that_the_host_would_not_take_is_not_sent() {
    let (client, asked) = answer("200 OK", "{}");
    let model = client.model("m");
    let text = "x".repeat(MAX_BODY_BYTES);
    let spec = TensorSpec { name: "x".into(), dtype: DType::Int8, shape: vec![1] };
    let tensor = TensorValue { spec, data: text.clone() };
    let errors = [
        model.embed([text]).await.unwrap_err(),
        model.run(&RunRequest { inputs: vec![tensor], ..RunRequest::default() }).await.unwrap_err(),
    ];
    for error in errors {
        let Error::Refused(failure) = &error else { panic!("{error:?}") };
        assert_eq!(failure.code, Code::TooLarge);
        assert!(failure.message.contains("64.0 MiB"), "{failure}");
        assert!(!failure.hint.as_ref().unwrap().contains("several requests"));
    }
    assert!(!asked.is_finished());
}

#[tokio::test]
async fn vectors_are_put_together_in_order() {
    let (client, asked) = answer("200 OK", STREAM);
    let found = client.model("m").embed(["x", "y"]).await.unwrap();
    assert_eq!(found.vectors().collect::<Vec<_>>(), [[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!((found.vector(1), found.len(), found.figures().tokens), (&[3.0, 4.0][..], 2, 6));
    let asked = asked.join().unwrap();
    assert!(asked.contains(r#""texts":["x","y"],"stream":true"#), "{asked}");
}

#[tokio::test]
async fn a_stream_ends_with_its_figures_or_an_error() {
    let (client, _asked) = answer("200 OK", STREAM);
    let pieces: Vec<_> = client.model("m").embed_stream(Default::default()).await.unwrap().collect().await;
    assert_eq!(pieces.len(), 4);
    assert!(matches!(pieces[3], Ok(Piece::Figures(_))));

    for (body, want) in [
        (r#"{"progress":{"done":0,"total":2}}"#, "ended before its end"),
        (r#"{"vectors":{"first":0,"count":2,"dimensions":2,"data":"AACAPwAAAEA="}}"#, "came as 8 bytes"),
        (r#"{"vectors":{"first":0,"count":1,"dimensions":2,"data":"?"}}"#, "vectors:"),
        (r#"{"something":1}"#, "a line of a streamed answer"),
        (
            r#"{"error":{"code":"busy","message":"queue full","hint":null,"type":"","param":null}}"#,
            "queue full",
        ),
    ] {
        let (client, _asked) = answer("200 OK", body);
        let error = client.model("m").embed(["x"]).await.unwrap_err();
        assert!(error.to_string().contains(want), "{body}: {error}");
    }
}

#[tokio::test]
async fn events_come_one_by_one() {
    let body = ": hello\n\nevent: lagged\ndata: {\"missed\":6}\n\nid: 7\nevent: loading\n\
        data: {\"seq\":7,\"time_ms\":1,\"model\":\"m\",\"event\":\"loading\"}\n\n\
        id: 8\r\nevent: load_failed\r\n\
        data: {\"seq\":8,\"time_ms\":2,\"model\":\"m\",\ndata:\"event\":\"load_failed\",\"reason\":\"why\"}\r\n\r\n";
    let (client, asked) = answer("200 OK", body);
    let events: Vec<_> = client.events(Some("m")).await.unwrap().map(Result::unwrap).collect().await;
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [7, 8]);
    assert_eq!(events[1].kind, EventKind::LoadFailed { reason: "why".into() });
    assert!(asked.join().unwrap().starts_with("GET /ebb/v1/events?model=m "));
}

#[tokio::test]
async fn what_does_not_speak_as_ebb_does_is_said() {
    for (status, body) in [("200 OK", "<html>"), ("502 Bad Gateway", "oops"), ("200 OK", "{\"running\":1}")] {
        let (client, _asked) = answer(status, body);
        let error = client.status().await.unwrap_err();
        assert!(matches!(error, Error::Protocol(_)), "{error:?}");
    }
}

#[tokio::test]
async fn no_host_is_told_apart_from_a_broken_endpoint_file() {
    let home = tempfile::tempdir().unwrap();
    let places = Places { home: home.path().into(), cache: home.path().into() };
    let missing = Client::connect_in(&places).unwrap_err();
    assert!(
        matches!(&missing, Error::NotRunning { endpoint_file } if *endpoint_file == places.endpoint_file())
    );
    assert!(missing.failure().hint.unwrap().contains("ebb server start"));

    std::fs::create_dir_all(home.path().join("run")).unwrap();
    std::fs::write(places.endpoint_file(), "{").unwrap();
    assert!(matches!(Client::connect_in(&places), Err(Error::Endpoint { .. })));

    // Left behind by a host that was killed: nothing listens there any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let stale = format!(r#"{{"url": "http://127.0.0.1:{port}", "pid": 1, "token": "t", "version": "0"}}"#);
    std::fs::write(places.endpoint_file(), stale).unwrap();
    let error = Client::connect_in(&places).unwrap().status().await.unwrap_err();
    assert!(matches!(error, Error::NotRunning { .. }), "{error:?}");
}

#[test]
fn a_tensor_survives_json_and_a_short_one_is_refused() {
    let spec = TensorSpec { name: "x".into(), dtype: DType::Int16, shape: vec![2] };
    let tensor = Tensor { spec, data: vec![1, 0, 2, 0] };
    let value = TensorValue::from(&tensor);
    assert_eq!(Tensor::try_from(value.clone()).unwrap(), tensor);
    let short = TensorValue { data: "AQA=".into(), ..value };
    assert!(Tensor::try_from(short).unwrap_err().to_string().contains("'x'"));
}
