//! What holds for requests of every kind, whatever model they are for: time limits, models that go when nobody uses them and
//! come back with their options, a request for a model of the wrong kind.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use std::time::Duration;

use ebb_api::{Host, Settings};
use ebb_core::{
    Code, EventKind, Generation, KeepAlive, LoadOptions, Message, Places, Transcription,
    operations::{
        AddModel, EmbedRequest, GeneratePiece, GenerateRequest, ModelState, RequestOptions, TranscribeRequest,
    },
};
use ebb_tests::home::program;
use tempfile::TempDir;

/// What is bound to happen is waited for this long: the machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// A host with fake models `chat`, `speech` and `embed`.
async fn host(folder: &TempDir) -> Host {
    let places = Places { home: folder.path().to_owned(), cache: folder.path().join("cache") };
    let settings = Settings { worker_program: Some(program("fake-worker")), ..Settings::default() };
    let host = Host::open(places, settings).unwrap();
    for name in ["chat", "speech", "embed"] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        host.add_model(AddModel { path, alias: None }).await.unwrap();
    }
    host
}

fn say(text: &str, options: RequestOptions) -> GenerateRequest {
    let generation = Generation { messages: vec![Message::new("user", text)], ..Generation::default() };
    GenerateRequest { generation, options, ..GenerateRequest::default() }
}

async fn until_unloaded(host: &Host, alias: &str) {
    tokio::time::timeout(PATIENCE, async {
        while host.model(alias).await.unwrap().state != ModelState::Unloaded {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("it is unloaded");
}

/// C21
#[tokio::test]
async fn a_model_that_nobody_uses_goes_and_comes_back_with_its_options() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder).await;
    let keep_alive = Some(KeepAlive::For(Duration::from_millis(300)));
    let options = LoadOptions { keep_alive, shrink_every: Some(7), ..LoadOptions::default() };
    host.load("chat", options.clone(), false).await.unwrap();
    assert_eq!(
        host.generate("chat", say("give it back", RequestOptions::default())).await.unwrap().text,
        "give it back"
    );
    let left_ms = host.stats("chat", 0).await.unwrap().unloads_in_ms.unwrap();
    assert!(left_ms <= 300, "{left_ms}");
    until_unloaded(&host, "chat").await;
    assert_eq!(host.stats("chat", 0).await.unwrap_err().code, Code::NotLoaded);
    // The next request loads it again.
    host.generate("chat", say("here again", RequestOptions::default())).await.unwrap();
    let entry = host.model("chat").await.unwrap();
    assert_eq!((entry.state, entry.options), (ModelState::Loaded, options));
    host.close(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn a_request_says_how_long_its_model_stays_until_the_next_load() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder).await;
    let keep = |keep_alive| RequestOptions { keep_alive: Some(keep_alive), ..RequestOptions::default() };
    host.generate("chat", say("stay", RequestOptions::default())).await.unwrap();
    assert_eq!(
        host.stats("chat", 0).await.unwrap().unloads_in_ms,
        None,
        "it stays where nobody says otherwise"
    );
    host.generate("chat", say("stay", keep(KeepAlive::Forever))).await.unwrap();
    assert_eq!(host.stats("chat", 0).await.unwrap().unloads_in_ms, None);
    host.generate("chat", say("go", keep(KeepAlive::For(Duration::ZERO)))).await.unwrap();
    until_unloaded(&host, "chat").await;
    host.generate("chat", say("stay", RequestOptions::default())).await.unwrap();
    assert_eq!(
        host.stats("chat", 0).await.unwrap().unloads_in_ms,
        None,
        "what was asked of the last load is over"
    );
    host.close(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn a_model_at_work_is_not_idle() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder).await;
    let at_once =
        RequestOptions { keep_alive: Some(KeepAlive::For(Duration::ZERO)), ..RequestOptions::default() };
    // More words than may wait unread: the generation goes on for as long as it is not read to its end.
    let words = "word ".repeat(500);
    let mut pieces = host.generate_stream("chat", say(&words, at_once)).await.unwrap();
    let mut text = String::new();
    while let Some(piece) = pieces.next().await {
        if text.is_empty() {
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(host.model("chat").await.unwrap().state, ModelState::Loaded);
        }
        match piece {
            GeneratePiece::Piece(piece) => text.push_str(&piece.text),
            GeneratePiece::Error(error) => panic!("{}", error.message),
            _ => {}
        }
    }
    assert_eq!(text, words);
    until_unloaded(&host, "chat").await;
    host.close(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_given_up_and_the_model_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder).await;
    let mut events = host.events();
    let options = RequestOptions { timeout_ms: Some(300), ..RequestOptions::default() };
    host.load("chat", LoadOptions::default(), false).await.unwrap();
    let mut pieces = host.generate_stream("chat", say(&"word ".repeat(500), options)).await.unwrap();
    let mut last = None;
    // Read so slowly that it is not done in time.
    while let Some(piece) = pieces.next().await {
        last = Some(piece);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let Some(GeneratePiece::Error(error)) = last else { panic!("{last:?}") };
    assert_eq!((error.code, error.param.as_deref()), (Code::Timeout, Some("timeout_ms")));
    // The worker gave it up too: its run ends.
    tokio::time::timeout(PATIENCE, async {
        loop {
            if let EventKind::Run { outcome, .. } = events.recv().await.unwrap().kind {
                assert_eq!(outcome, ebb_core::Outcome::Cancelled);
                return;
            }
        }
    })
    .await
    .expect("the run ends");
    assert_eq!(host.generate("chat", say("on", RequestOptions::default())).await.unwrap().text, "on");
    host.close(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn a_request_for_a_model_of_another_kind_names_those_that_fit() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder).await;
    let refused = host.generate("speech", say("hello", RequestOptions::default())).await.unwrap_err();
    assert_eq!(refused.code, Code::Unsupported);
    assert_eq!(refused.hint.as_deref(), Some("models that do: chat"));
    let refused = host.transcribe("chat", TranscribeRequest::default(), vec![0].into()).await.unwrap_err();
    assert_eq!(refused.hint.as_deref(), Some("models that do: speech"));
    let states: Vec<_> = host.models().await.unwrap().models.into_iter().map(|model| model.state).collect();
    assert_eq!(states, [ModelState::Unloaded; 3], "nothing was loaded for it");
    host.close(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn speech_and_texts_go_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder).await;
    let request = TranscribeRequest {
        transcription: Transcription { language: Some("en".into()), ..Transcription::default() },
        ..TranscribeRequest::default()
    };
    let heard = host.transcribe("speech", request.clone(), vec![0; 2_500].into()).await.unwrap();
    assert_eq!((heard.text.as_str(), heard.segments.len()), ("part 0 part 1 part 2", 3));
    assert_eq!(heard.figures.audio_ms, 3_000);
    let empty = host.transcribe("speech", request, Vec::new().into()).await.unwrap_err();
    assert_eq!((empty.code, empty.param.as_deref()), (Code::InvalidRequest, Some("file")));
    let texts = vec!["four".to_owned()];
    let embedded = host.embed("embed", EmbedRequest { texts, ..EmbedRequest::default() }).await.unwrap();
    assert_eq!(embedded.vectors, [[4.0]]);
    host.close(Duration::ZERO).await.unwrap();
}
