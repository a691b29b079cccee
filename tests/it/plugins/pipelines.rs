//! Pipelines: asked, cancelled, removed while they run.

use ebb_core::{
    Capability, Code, ErrorBody, Failure,
    operations::{AskRequest, Grant, Grants, IngestPiece, InstallPlugin},
};
use ebb_tests::plugins::hostile;

use super::Scene;

async fn installed() -> Scene {
    let scene = Scene::new();
    scene.host.install_plugin(InstallPlugin { path: hostile("pipeline"), replace: false }).await.unwrap();
    scene
}

async fn with_store() -> Scene {
    let scene = installed().await;
    let store = Grant { capability: Capability::Store, models: Vec::new(), paths: Vec::new() };
    scene.host.grant_plugin("hostile-pipeline", Grants { grants: vec![store] }).await.unwrap();
    scene
}

fn question(question: &str) -> AskRequest {
    AskRequest { question: question.to_owned(), ..AskRequest::default() }
}

async fn ask(scene: &Scene, asked: &str) -> Result<String, Failure> {
    let answer = scene.host.ask("hostile-pipeline", question(asked)).await?;
    answer.whole().await.map(|answer| answer.answer)
}

#[tokio::test]
async fn a_question_is_answered_and_its_failure_is_told() {
    let scene = installed().await;
    assert_eq!(ask(&scene, "how are you?").await.unwrap(), "it behaves");
    assert_eq!(ask(&scene, " ").await.unwrap_err().code, Code::InvalidRequest);
    assert!(ask(&scene, "traps").await.is_err());
    assert_eq!(ask(&scene, "how are you?").await.unwrap(), "it behaves", "the next call is a new one");
    let policy = scene.host.ask("slack", question("well?")).await.unwrap_err();
    assert_eq!(policy.code, Code::Unsupported);
    let log = scene.host.plugin_log("hostile-pipeline", 100).await.unwrap();
    assert!(log.lines.iter().any(|line| line.from_host), "the trap is in its log: {log:?}");
}

#[tokio::test]
async fn an_ingest_reports_what_it_does_and_did() {
    let scene = with_store().await;
    let mut pieces = scene.host.ingest("hostile-pipeline").await.unwrap();
    let again = scene.host.ingest("hostile-pipeline").await.unwrap_err();
    assert_eq!(again.code, Code::Busy);
    let mut last = 0.0;
    let report = loop {
        match pieces.next().await.unwrap() {
            IngestPiece::Progress(progress) => {
                assert!(progress.fraction >= last, "{progress:?}");
                last = progress.fraction;
            }
            IngestPiece::Report(report) => break report,
            IngestPiece::Error(error) => panic!("{}", error.message),
        }
    };
    assert_eq!((report.documents, report.chunks), (200, 400));
    assert!(pieces.next().await.is_none());
    let index = scene.host.plugin_index("hostile-pipeline").await.unwrap();
    let numbers = &index.collections[0];
    assert_eq!(
        (numbers.name.as_str(), numbers.dimensions, numbers.documents, numbers.chunks),
        ("numbers", 2, 200, 400)
    );
    assert!(index.store_bytes > 0);
    let entry = scene.entry("hostile-pipeline").await;
    assert!(entry.store_bytes > 0 && entry.cpu_us > 0, "{entry:?}");
    let used = entry.capabilities.iter().find(|one| one.capability == Capability::Store).unwrap();
    assert!(used.calls >= 400 && used.refused == 0, "{used:?}");
}

#[tokio::test]
async fn without_a_grant_the_pipeline_is_refused_by_name() {
    let scene = installed().await;
    let mut pieces = scene.host.ingest("hostile-pipeline").await.unwrap();
    let error = loop {
        match pieces.next().await.unwrap() {
            IngestPiece::Error(error) => break error,
            IngestPiece::Progress(_) => {}
            IngestPiece::Report(report) => panic!("{report:?}"),
        }
    };
    assert!(Failure::from(ErrorBody { error }).message.contains("store"));
}

#[tokio::test]
async fn whoever_leaves_ends_an_ingest_and_what_was_committed_stays() {
    let scene = with_store().await;
    let mut pieces = scene.host.ingest("hostile-pipeline").await.unwrap();
    assert!(matches!(pieces.next().await, Some(IngestPiece::Progress(_))));
    drop(pieces);
    scene.until(async |host| host.plugin_index("hostile-pipeline").await.unwrap().running.is_none()).await;
    let documents =
        async || scene.host.plugin_index("hostile-pipeline").await.unwrap().collections[0].documents;
    assert!(documents().await >= 1);
    let mut pieces = scene.host.ingest("hostile-pipeline").await.unwrap();
    while pieces.next().await.is_some() {}
    assert_eq!(documents().await, 200, "nothing is lost and nothing is twice");
}

#[tokio::test]
async fn a_plugin_that_is_removed_while_it_runs_lets_go() {
    let scene = with_store().await;
    let folder = scene.entry("hostile-pipeline").await.path.parent().unwrap().to_owned();
    let mut pieces = scene.host.ingest("hostile-pipeline").await.unwrap();
    assert!(matches!(pieces.next().await, Some(IngestPiece::Progress(_))));
    scene.host.remove_plugin("hostile-pipeline").await.unwrap();
    let error = loop {
        match pieces.next().await.unwrap() {
            IngestPiece::Error(error) => break error,
            IngestPiece::Progress(_) => {}
            IngestPiece::Report(report) => panic!("{report:?}"),
        }
    };
    assert_eq!(error.code, Code::Cancelled);
    assert!(!folder.exists());
    assert_eq!(scene.host.ingest("hostile-pipeline").await.unwrap_err().code, Code::NotFound);
}
