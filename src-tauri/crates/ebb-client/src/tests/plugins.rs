//! Plugins: verbs, and answers that come in lines.

use ebb_core::{
    Code,
    operations::{AskPiece, AskRequest, AttachPlugin, IngestPiece},
};
use futures_util::StreamExt as _;

use crate::{Error, canned::answer};

#[tokio::test]
async fn an_ingest_ends_with_its_report() {
    let (client, asked) = answer(
        "200 OK",
        r#"{"progress":{"fraction":0.5,"message":"reading"}}
{"report":{"documents":2,"chunks":7,"unchanged":1,"removed":0,"skipped":[],"more":{"freed_bytes":9},"took_ms":5}}
"#,
    );
    let pieces: Vec<_> = client.plugin("rag").ingest().await.unwrap().collect().await;
    assert!(matches!(&pieces[0], Ok(IngestPiece::Progress(progress)) if progress.message == "reading"));
    assert!(matches!(&pieces[1], Ok(IngestPiece::Report(report)) if report.chunks == 7), "{pieces:?}");
    assert_eq!(pieces.len(), 2);
    assert!(asked.join().unwrap().starts_with("POST /ebb/v1/plugins/rag/ingest "));
}

#[tokio::test]
async fn an_answer_that_fails_midway_ends_with_the_failure() {
    let (client, asked) = answer(
        "200 OK",
        r#"{"citations":[{"number":1,"document":"a.md","text":"t","start":0,"end":1,"score":0.5}]}
{"text":"It "}
{"error":{"code":"cancelled","message":"the plugin was removed","hint":null,"type":"server_error","param":null}}
"#,
    );
    let request = AskRequest { question: "why?".into(), ..AskRequest::default() };
    let pieces: Vec<_> = client.plugin("rag").ask_stream(&request).await.unwrap().collect().await;
    assert!(matches!(&pieces[0], Ok(AskPiece::Citations(citations)) if citations[0].document == "a.md"));
    assert!(matches!(&pieces[1], Ok(AskPiece::Text(text)) if text == "It "));
    let Err(Error::Refused(failure)) = &pieces[2] else { panic!("{pieces:?}") };
    assert_eq!((failure.code, pieces.len()), (Code::Cancelled, 3));
    assert!(asked.join().unwrap().contains(r#""stream":true"#));
}

#[tokio::test]
async fn an_answer_without_its_end_is_an_error() {
    let (client, _asked) = answer("200 OK", "{\"text\":\"It \"}\n");
    let pieces: Vec<_> =
        client.plugin("rag").ask_stream(&AskRequest::default()).await.unwrap().collect().await;
    assert!(matches!(&pieces[1], Err(Error::Protocol(_))), "{pieces:?}");
    let (client, _asked) = answer("200 OK", "");
    let error = client.plugin("rag").ingest().await.unwrap().report().await.unwrap_err();
    assert!(matches!(error, Error::Protocol(_)), "{error:?}");
}

#[tokio::test]
async fn a_policy_is_attached_by_its_id() {
    let (client, asked) = answer(
        "404 Not Found",
        r#"{"error": {"code": "not_found", "message": "no", "hint": null,
        "type": "not_found_error", "param": null}}"#,
    );
    let attach = AttachPlugin { model: "m".into(), position: None, grant: true };
    assert!(client.plugin("slack").attach(&attach).await.is_err());
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("POST /ebb/v1/plugins/slack/attach "), "{asked}");
    assert!(asked.ends_with(r#"{"model":"m","position":null,"grant":true}"#), "{asked}");
}
