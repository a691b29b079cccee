//! Pulls, imports, and what concerns the host as a whole.

use ebb_core::{
    Code,
    operations::{ImportModel, PullModel, PullPiece, PullStage},
};
use futures_util::StreamExt as _;

use crate::{Error, canned::answer};

const ENTRY: &str = r#"{"progress":{"stage":"downloading","file":"model.onnx","done_bytes":5,"total_bytes":9,"reason":null}}
{"report":{"alias":"m","path":"/x","kind":"chat","weights_bytes":9,"state":"unloaded","reason":null,"info":null,"options":{}}}
"#;

const REFUSED: &str = r#"{"progress":{"stage":"waiting","file":null,"done_bytes":0,"total_bytes":0,"reason":"no answer"}}
{"error":{"code":"not_found","message":"the Hub has no model x/y","hint":null,"type":"x","param":"model"}}
"#;

#[tokio::test]
async fn a_pull_ends_with_the_model_or_an_error() {
    let pull = PullModel { model: "hf:x/y".into(), ..PullModel::default() };
    let (client, asked) = answer("200 OK", ENTRY);
    let pieces: Vec<_> = client.pull_model(&pull).await.unwrap().collect().await;
    assert!(matches!(&pieces[0], Ok(PullPiece::Progress(at)) if at.stage == PullStage::Downloading));
    assert!(matches!(&pieces[1], Ok(PullPiece::Report(entry)) if entry.alias == "m"));
    assert_eq!(pieces.len(), 2);
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("POST /ebb/v1/models/pull HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains(r#""model":"hf:x/y""#), "{asked}");

    let (client, _) = answer("200 OK", REFUSED);
    let import = ImportModel { path: "/x.gguf".into(), alias: None, force: false };
    let Err(Error::Refused(failure)) = client.import_model(&import).await.unwrap().entry().await else {
        panic!("no error")
    };
    assert_eq!((failure.code, failure.param.as_deref()), (Code::NotFound, Some("model")));
}

#[tokio::test]
async fn every_model_is_shrunk_at_once() {
    let (client, asked) = answer("200 OK", r#"{"reports":[],"failed":[],"freed_bytes":7}"#);
    assert_eq!(client.shrink_all(None).await.unwrap().freed_bytes, 7);
    assert!(asked.join().unwrap().starts_with("POST /ebb/v1/models/shrink-all HTTP/1.1\r\n"));
}

#[tokio::test]
async fn events_begin_with_a_history_where_it_is_asked_for() {
    let event =
        "id: 1\nevent: loading\ndata: {\"seq\":1,\"time_ms\":2,\"model\":\"m\",\"event\":\"loading\"}\n\n";
    let (client, asked) = answer("200 OK", event);
    let mut events = client.events_from(9, Some("m")).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().seq, 1);
    assert!(asked.join().unwrap().starts_with("GET /ebb/v1/events?history=9&model=m HTTP/1.1\r\n"));
}
