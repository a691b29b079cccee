//! A pipeline from the call to its end, with a guest that is written out in `guest.wat`.

use std::{collections::BTreeMap, path::Path};

use ebb_core::{
    Capability, PluginLimits,
    operations::{Asked, Grant, PluginLogLine},
};
use futures_util::StreamExt as _;
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::Resolve;

use super::*;
use crate::{
    Models, PluginConfig, Sandbox, SandboxConfig,
    fake::{FakeModels, grant, manifest},
};

struct Scene {
    _folder: tempfile::TempDir,
    models: Arc<FakeModels>,
    plugin: Plugin,
}

/// The guest's component, with a manifest that asks for these limits.
fn component(limits: PluginLimits) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../wit");
    let (package, _) = resolve.push_dir(wit).unwrap();
    let world = resolve.select_world(&[package], Some("rag-pipeline")).unwrap();
    let mut module = wat::parse_str(include_str!("guest.wat")).unwrap();
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let component = ComponentEncoder::default().module(&module).unwrap().validate(true).encode().unwrap();
    crate::manifest::embed(&component, &ebb_core::PluginManifest { limits, ..manifest() }).unwrap()
}

fn granted() -> Vec<Grant> {
    vec![grant(Capability::Store, &[]), grant(Capability::InferenceEmbed, &["*"])]
}

impl Scene {
    fn new(limits: PluginLimits) -> Self {
        let (folder, models) = (tempfile::tempdir().unwrap(), Arc::new(FakeModels::default()));
        let sandbox = Sandbox::new(SandboxConfig::default(), Arc::clone(&models) as Arc<dyn Models>).unwrap();
        let bytes = component(limits);
        let config = PluginConfig {
            manifest: crate::Component::read(&bytes).unwrap().manifest,
            data_folder: folder.path().to_owned(),
            grants: granted(),
            settings: BTreeMap::new(),
        };
        let plugin = Plugin::new(&sandbox, sandbox.compile(&bytes, &mut |_| {}).unwrap(), config).unwrap();
        Self { _folder: folder, models, plugin }
    }

    async fn asked(&self, question: &str) -> Vec<AskPiece> {
        let history = vec![Asked { question: "before".to_owned(), answer: "after".to_owned() }];
        let asked = AskRequest { question: question.to_owned(), history, stream: true };
        self.plugin.pipeline().ask(asked).collect().await
    }

    /// The failure that an answer ends with.
    async fn failure(&self, question: &str) -> Failure {
        match self.asked(question).await.pop() {
            Some(AskPiece::Error(error)) => ErrorBody { error }.into(),
            other => panic!("it did not fail: {other:?}"),
        }
    }

    fn last_line(&self) -> PluginLogLine {
        self.plugin.log().tail(1).remove(0)
    }

    /// Goes on until it is so: what was dropped ends with the next turn of its task.
    async fn until(&self, mut so: impl FnMut(&Self) -> bool) {
        while !so(self) {
            tokio::task::yield_now().await;
        }
    }
}

fn silent() -> Tell {
    Box::new(|_| {})
}

#[tokio::test]
async fn an_ingest_tells_how_far_it_is_and_what_it_did() {
    let scene = Scene::new(PluginLimits::default());
    let (told, mut steps) = mpsc::unbounded_channel();
    let report =
        scene.plugin.pipeline().ingest(Box::new(move |step| told.send(step).unwrap())).await.unwrap();
    assert_eq!(steps.recv().await, Some(PluginProgress { fraction: 0.5, message: "reading".to_owned() }));
    assert_eq!((report.documents, report.chunks, report.unchanged, report.removed), (1, 2, 3, 4));
    assert_eq!(report.skipped, [Skipped { document: "a.pdf".to_owned(), reason: "no text".to_owned() }]);
    assert_eq!(report.more, BTreeMap::from([("bytes".to_owned(), 7)]));
    let line = scene.last_line();
    assert_eq!((&line.message[..], line.request, line.from_host), ("reading", 1, false));
    assert!(scene.plugin.index().await.unwrap().store_bytes > 0);
    assert!(scene.plugin.cpu_us() > 0);
    assert_eq!(scene.plugin.memory_bytes(), 0, "nothing of the call stays");
}

#[tokio::test]
async fn an_answer_comes_after_its_citations() {
    let scene = Scene::new(PluginLimits::default());
    let mut pieces = scene.asked("answer").await;
    assert!(matches!(pieces.pop(), Some(AskPiece::Done { .. })));
    let citation = Citation {
        number: 1,
        document: "b.md".to_owned(),
        text: "a passage".to_owned(),
        start: 10,
        end: 19,
        // What the guest said is no number.
        score: 0.0,
    };
    let progress = PluginProgress { fraction: 0.25, message: "reading".to_owned() };
    assert_eq!(
        pieces,
        [
            AskPiece::Progress(progress),
            AskPiece::Citations(vec![citation]),
            AskPiece::Text("one ".to_owned()),
            AskPiece::Text("two".to_owned()),
        ]
    );
}

#[tokio::test]
async fn a_failure_says_whose_it_is_and_the_next_call_works() {
    let scene = Scene::new(PluginLimits { cpu_ms: Some(20), ..PluginLimits::default() });
    let failure = scene.failure("error").await;
    assert_eq!(
        (failure.code, &failure.message[..]),
        (Code::NotFound, "the plugin 'p': nothing was indexed (call 1)")
    );
    assert!(failure.hint.unwrap().contains("ebb plugin logs p"));
    let failure = scene.failure("trap").await;
    assert_eq!(failure.code, Code::Internal);
    assert!(failure.message.contains("it trapped: ") && failure.message.ends_with("(call 2)"), "{failure}");
    let failure = scene.failure("loop").await;
    assert_eq!(failure.code, Code::Timeout);
    assert!(failure.message.contains("stopped after 20 ms of processor time"), "{failure}");
    let line = scene.last_line();
    assert_eq!(line.message, "ask failed: stopped after 20 ms of processor time");
    assert!(line.from_host && line.request == 3, "{line:?}");
    let failure = scene.failure("break").await;
    assert!(failure.message.ends_with("(call 4, at 'reading')"), "what it last told: {failure}");
    assert!(scene.last_line().message.starts_with("ask failed, at 'reading': it trapped"));
    scene.plugin.set_grants(Vec::new());
    let failure = scene.plugin.pipeline().ingest(silent()).await.unwrap_err();
    assert_eq!(failure.code, Code::Forbidden);
    assert!(failure.message.contains("`ebb plugin grant p store`"), "{failure}");
    assert_eq!(scene.asked("answer").await.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_is_ended_by_the_clock_on_the_wall() {
    let scene = Scene::new(PluginLimits { call_ms: Some(60_000), ..PluginLimits::default() });
    scene.models.hang(true);
    let failure = scene.failure("wait").await;
    assert_eq!(failure.code, Code::Timeout);
    assert!(failure.message.contains("stopped after 60 s"), "{failure}");
    assert_eq!((scene.models.waiting(), scene.plugin.memory_bytes()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_costs_one_call_of_the_host_and_not_the_ingest() {
    let scene = Scene::new(PluginLimits::default());
    scene.models.hang(true);
    let report = scene.plugin.pipeline().ingest(silent()).await.unwrap();
    assert_eq!(report.documents, 1);
}

#[tokio::test]
async fn whoever_leaves_frees_what_the_call_held() {
    let scene = Scene::new(PluginLimits::default());
    scene.models.hang(true);
    let asked = AskRequest { question: "wait".to_owned(), ..AskRequest::default() };
    let answer = scene.plugin.pipeline().ask(asked);
    scene.until(|scene| scene.models.waiting() == 1).await;
    assert!(scene.plugin.memory_bytes() > 0);
    drop(answer);
    scene.until(|scene| scene.plugin.memory_bytes() == 0).await;
    assert_eq!(scene.models.waiting(), 0);
    assert_eq!(scene.last_line().message, "ask was given up");
    // One that never waits is interrupted where it is.
    let looping = AskRequest { question: "loop".to_owned(), ..AskRequest::default() };
    let answer = scene.plugin.pipeline().ask(looping);
    scene.until(|scene| scene.plugin.memory_bytes() > 0).await;
    drop(answer);
    scene.until(|scene| scene.plugin.memory_bytes() == 0).await;
}

#[tokio::test]
async fn one_ingest_goes_on_at_a_time_and_questions_beside_it() {
    let scene = Scene::new(PluginLimits::default());
    scene.models.hang(true);
    let pipeline = scene.plugin.pipeline();
    let ingesting = tokio::spawn({
        let pipeline = pipeline.clone();
        async move { pipeline.ingest(silent()).await }
    });
    scene.until(|scene| scene.models.waiting() == 1).await;
    let failure = pipeline.ingest(silent()).await.unwrap_err();
    assert_eq!(failure.code, Code::Busy);
    assert!(failure.message.contains("'p' is ingesting already"), "{failure}");
    assert_eq!(scene.asked("answer").await.len(), 5);
    ingesting.abort();
    assert!(ingesting.await.unwrap_err().is_cancelled());
    scene.models.hang(false);
    assert_eq!(pipeline.ingest(silent()).await.unwrap().documents, 1);
}

#[tokio::test]
async fn too_many_questions_at_once_are_refused() {
    let scene = Scene::new(PluginLimits::default());
    scene.models.hang(true);
    let ask =
        || scene.plugin.pipeline().ask(AskRequest { question: "wait".to_owned(), ..AskRequest::default() });
    let answers: Vec<_> = (0..16).map(|_| ask()).collect();
    scene.until(|scene| scene.models.waiting() == 16).await;
    assert_eq!(scene.failure("answer").await.code, Code::Busy);
    drop(answers);
    scene.until(|scene| scene.models.waiting() == 0).await;
    assert_eq!(scene.asked("answer").await.len(), 5);
}
