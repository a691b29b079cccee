//! Policies that decide, fail, panic, and are asked under pressure.

use super::*;

/// Says what it is told to, in turn.
struct Script(Vec<Result<Decision, Failure>>, &'static str);

impl Policy for Script {
    fn name(&self) -> &str {
        self.1
    }

    fn on_run(&mut self, report: &RunReport) -> Result<Decision, Failure> {
        assert_eq!((report.outcome, report.after.runs > 0), (Outcome::Ok, true));
        if self.0.is_empty() { Ok(Decision::Keep) } else { self.0.remove(0) }
    }

    fn on_idle(&mut self, _idle_ms: u64, now: &Sample) -> Result<Decision, Failure> {
        Ok(if now.slack_bytes() > 100 { Decision::Unload } else { Decision::Keep })
    }
}

#[tokio::test]
async fn the_first_policy_that_decides_wins_and_a_failing_one_keeps() {
    let mut scene = Scene::new();
    let failing = Err(Failure::new(Code::Internal, "out of ideas"));
    let first = Script(vec![failing, Ok(Decision::Shrink(Vec::new()))], "first");
    let second = Script(vec![Ok(Decision::Keep), Ok(Decision::Unload)], "second");
    let model = scene.load(LoadOptions::default(), vec![Box::new(first), Box::new(second)]).await;
    let policy = |kind| match kind {
        EventKind::Policy { policy, decision, .. } => Some((policy, decision)),
        _ => None,
    };
    embed(&model, &["a"]).await.unwrap();
    assert_eq!(scene.event(policy).await, ("first".into(), "keep, because it failed: out of ideas".into()));
    embed(&model, &["a"]).await.unwrap();
    assert_eq!(scene.event(policy).await, ("first".into(), "Shrink([])".into()));
    assert_eq!(scene.event(policy).await, ("second".into(), "Unload, but another policy came first".into()));
    assert_eq!(embed(&model, &["a"]).await.unwrap(), 1, "still loaded");
}

#[tokio::test]
async fn a_decision_of_megabytes_is_told_of_in_few_words() {
    let mut scene = Scene::new();
    let long = |letter: &str| Decision::SetRuntimeOption { key: letter.repeat(1 << 20), value: "v".into() };
    let policies: Vec<Box<dyn Policy>> =
        vec![Box::new(Script(vec![Ok(long("ü"))], "first")), Box::new(Script(vec![Ok(long("k"))], "second"))];
    let model = scene.load(LoadOptions::default(), policies).await;
    embed(&model, &["a"]).await.unwrap();
    for (begin, end) in [
        ("SetRuntimeOption { key: \"üü", "ü…"),
        ("SetRuntimeOption { key: \"kk", "k…, but another policy came first"),
    ] {
        let told = scene.event(|kind| match kind {
            EventKind::Policy { decision, .. } => Some(decision),
            _ => None,
        });
        let told = told.await;
        assert!(told.starts_with(begin) && told.ends_with(end), "{told}");
        assert!(told.len() < 1_100, "{}", told.len());
    }
}

#[tokio::test]
async fn policies_reload_and_unload() {
    let mut scene = Scene::new();
    let script = Script(vec![Ok(Decision::Reload)], "script");
    let model = scene.load(LoadOptions::default(), vec![Box::new(script)]).await;
    embed(&model, &["sixsix"]).await.unwrap();
    // The first load, then the second.
    for _ in 0..2 {
        scene.event(|kind| matches!(kind, EventKind::Loaded { .. }).then_some(())).await;
    }
    assert_eq!(model.stats().await.unwrap().now.slack_bytes(), 0);
    // Idle with a large slack: unloaded, so that the next request loads it.
    embed(&model, &[&"x".repeat(101)]).await.unwrap();
    scene.event(|kind| matches!(kind, EventKind::Unloaded { .. }).then_some(())).await;
    assert!(scene.supervisor.model("m").is_none());
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    assert!(matches!(start(&model, &["a"]).await.unwrap().next().await, Some(RunItem::Chunk(_))));
}

#[tokio::test]
async fn a_reload_waits_for_what_runs_and_what_comes_waits_for_it() {
    let mut scene = Scene::new();
    let script = Script(vec![Ok(Decision::Reload)], "script");
    let model = scene.load(LoadOptions::default(), vec![Box::new(script)]).await;
    let slow = start(&model, &["x"; 50]).await.unwrap();
    embed(&model, &["a"]).await.unwrap();
    scene.event(|kind| matches!(kind, EventKind::Policy { .. }).then_some(())).await;
    while model.state() != ModelState::Restarting {
        tokio::task::yield_now().await;
    }
    let late = tokio::spawn({
        let model = model.clone();
        async move { embed(&model, &["late"]).await }
    });
    assert_eq!(rest_of(slow).await.unwrap().items(), 50, "the first worker's job is whole");
    assert_eq!(late.await.unwrap().unwrap(), 1);
    assert_eq!(scene.threads.started.load(Ordering::Relaxed), 2);
    assert_eq!(model.stats().await.unwrap().now.runs, 1, "it ran on the second worker");
}

/// Panics.
struct Panics;

impl Policy for Panics {
    fn name(&self) -> &str {
        "panics"
    }

    fn on_run(&mut self, report: &RunReport) -> Result<Decision, Failure> {
        panic!("a fault of the policy, after run {}", report.after.runs)
    }
}

#[tokio::test]
async fn a_policy_that_panics_loses_its_turn() {
    let mut scene = Scene::new();
    let model = scene.load(LoadOptions::default(), vec![Box::new(Panics)]).await;
    embed(&model, &["x"]).await.unwrap();
    let told = scene.event(|kind| match kind {
        EventKind::Policy { decision, .. } => Some(decision),
        _ => None,
    });
    assert_eq!(told.await, "keep, because it failed: it panicked");
    assert_eq!(embed(&model, &["x"]).await.unwrap(), 1);
}

/// Shrinks or unloads where the system is short of memory, and gives up after so many runs.
struct Relieves {
    name: &'static str,
    decision: Decision,
    /// What it saw of the system.
    saw: Arc<Mutex<Vec<(u64, u64)>>>,
    gives_up_after: u32,
    runs: u32,
}

impl Relieves {
    fn new(name: &'static str, decision: Decision) -> Self {
        Self { name, decision, saw: Arc::default(), gives_up_after: u32::MAX, runs: 0 }
    }
}

impl Policy for Relieves {
    fn name(&self) -> &str {
        self.name
    }

    fn on_run(&mut self, _report: &RunReport) -> Result<Decision, Failure> {
        self.runs += 1;
        Err(Failure::new(Code::Internal, "no idea"))
    }

    fn on_pressure(
        &mut self,
        available_bytes: u64,
        total_bytes: u64,
        now: &Sample,
    ) -> Result<Decision, Failure> {
        self.saw.lock().unwrap().push((available_bytes, total_bytes));
        Ok(if now.slack_bytes() > 0 { self.decision.clone() } else { Decision::Keep })
    }

    fn given_up(&self) -> Option<String> {
        (self.runs >= self.gives_up_after).then(|| format!("it failed {} times in a row", self.runs))
    }
}

#[tokio::test]
async fn under_pressure_the_policies_are_asked_once_each_time() {
    let mut scene = Scene::new();
    let relieves = Relieves::new("relieves", Decision::Shrink(Vec::new()));
    let saw = Arc::clone(&relieves.saw);
    let model = scene.load(LoadOptions::default(), vec![Box::new(relieves)]).await;
    assert!(!model.under_pressure(5, 100).await, "nothing to give back");
    embed(&model, &["sixsix"]).await.unwrap();
    // What the run left is known once the run was told.
    scene.event(|kind| matches!(kind, EventKind::Run { .. }).then_some(())).await;
    assert!(model.under_pressure(3, 100).await);
    let (decision, seen) = scene
        .event(|kind| match kind {
            EventKind::Policy { decision, saw, .. } if saw.hook == ebb_core::Hook::Pressure => {
                Some((decision, saw))
            }
            _ => None,
        })
        .await;
    assert_eq!(
        (decision.as_str(), seen.available_bytes, seen.reserved_bytes),
        ("Shrink([])", Some(3), 1_006)
    );
    assert_eq!(model.stats().await.unwrap().now.slack_bytes(), 0);
    assert_eq!(*saw.lock().unwrap(), [(5, 100), (3, 100)]);
}

#[tokio::test]
async fn under_pressure_a_policy_may_unload_and_that_is_told_apart() {
    let mut scene = Scene::new();
    let relieves = Relieves::new("relieves", Decision::Unload);
    let model = scene.load(LoadOptions::default(), vec![Box::new(relieves)]).await;
    embed(&model, &["sixsix"]).await.unwrap();
    scene.event(|kind| matches!(kind, EventKind::Run { .. }).then_some(())).await;
    assert!(!scene.supervisor.unloaded_by_policy("m"));
    assert!(model.under_pressure(3, 100).await);
    assert!(scene.supervisor.model("m").is_none() && scene.supervisor.unloaded_by_policy("m"));
    assert!(!model.under_pressure(3, 100).await, "it is gone");
    assert_eq!(scene.supervisor.unload("m").await.unwrap_err().code, Code::NotLoaded);
    assert!(!scene.supervisor.unloaded_by_policy("m"), "who asks for it as well takes note of it");
    scene.load(LoadOptions::default(), Vec::new()).await;
    scene.supervisor.unload("m").await.unwrap();
    assert!(!scene.supervisor.unloaded_by_policy("m"), "somebody asked for it");
}

#[tokio::test]
async fn a_model_without_a_worker_is_not_asked_and_takes_policies_nevertheless() {
    let mut scene = Scene::new();
    let relieves = Relieves::new("relieves", Decision::Unload);
    let saw = Arc::clone(&relieves.saw);
    let model = scene.load(LoadOptions::default(), vec![Box::new(relieves)]).await;
    scene.threads.cut();
    scene.event(|kind| matches!(kind, EventKind::Crashed { .. }).then_some(())).await;
    assert!(!model.under_pressure(3, 100).await);
    assert!(saw.lock().unwrap().is_empty());
    model.set_policies(Vec::new());
    let detached = scene.event(|kind| match kind {
        EventKind::Detached { policy, reason } => Some((policy, reason)),
        _ => None,
    });
    assert_eq!(detached.await, ("relieves".to_owned(), None));
    scene.supervisor.unload("m").await.unwrap();
}

#[tokio::test]
async fn policies_are_exchanged_while_the_model_runs() {
    let mut scene = Scene::new();
    let script = |name, decisions| Box::new(Script(decisions, name)) as Box<dyn Policy>;
    let model = scene.load(LoadOptions::default(), vec![script("a", Vec::new())]).await;
    let shrink = || vec![Ok(Decision::Shrink(Vec::new()))];
    model.set_policies(vec![script("b", shrink()), script("a", shrink())]);
    let told = |kind| match kind {
        EventKind::Attached { policy } => Some(format!("attached {policy}")),
        EventKind::Detached { policy, reason: None } => Some(format!("detached {policy}")),
        _ => None,
    };
    assert_eq!(scene.event(told).await, "attached b");
    embed(&model, &["x"]).await.unwrap();
    let decided = |kind| match kind {
        EventKind::Policy { policy, decision, .. } => Some((policy, decision)),
        _ => None,
    };
    assert_eq!(scene.event(decided).await, ("b".into(), "Shrink([])".into()));
    assert_eq!(scene.event(decided).await, ("a".into(), "Shrink([]), but another policy came first".into()));
    model.set_policies(vec![script("a", Vec::new())]);
    assert_eq!(scene.event(told).await, "detached b");
}

#[tokio::test]
async fn a_policy_that_gave_up_is_detached_with_its_reason_and_the_others_stay() {
    let mut scene = Scene::new();
    let first = Relieves { gives_up_after: 3, ..Relieves::new("first", Decision::Keep) };
    let second = Relieves::new("second", Decision::Keep);
    let saw = [Arc::clone(&first.saw), Arc::clone(&second.saw)];
    let model = scene.load(LoadOptions::default(), vec![Box::new(first), Box::new(second)]).await;
    for _ in 0..3 {
        embed(&model, &["x"]).await.unwrap();
    }
    let detached = scene.event(|kind| match kind {
        EventKind::Detached { policy, reason } => Some((policy, reason)),
        _ => None,
    });
    assert_eq!(detached.await, ("first".into(), Some("it failed 3 times in a row".into())));
    model.under_pressure(1, 2).await;
    assert_eq!(saw.map(|saw| saw.lock().unwrap().len()), [0, 1]);
    assert_eq!(embed(&model, &["x"]).await.unwrap(), 1, "the model goes on");
}

/// Decides the same whenever it is asked, and hears what was refused.
struct Insists {
    decision: Decision,
    refused: Arc<Mutex<Vec<String>>>,
}

impl Insists {
    fn new(decision: Decision) -> Self {
        Self { decision, refused: Arc::default() }
    }
}

impl Policy for Insists {
    fn name(&self) -> &str {
        "insists"
    }

    fn on_run(&mut self, _report: &RunReport) -> Result<Decision, Failure> {
        Ok(Decision::Keep)
    }

    fn on_pressure(&mut self, _available: u64, _total: u64, _now: &Sample) -> Result<Decision, Failure> {
        Ok(self.decision.clone())
    }

    fn refused(&mut self, reason: &Failure) {
        self.refused.lock().unwrap().push(reason.message.clone());
    }
}

#[tokio::test]
async fn policies_have_a_model_reloaded_once_a_minute_and_what_is_refused_is_told_once() {
    let mut scene = Scene::new();
    let insists = Insists::new(Decision::Reload);
    let refused = Arc::clone(&insists.refused);
    let shrinks = Relieves::new("relieves", Decision::Shrink(Vec::new()));
    let model = scene.load(LoadOptions::default(), vec![Box::new(insists), Box::new(shrinks)]).await;
    assert!(model.under_pressure(3, 100).await);
    for _ in 0..3 {
        assert!(!model.under_pressure(3, 100).await, "it is not done");
    }
    assert_eq!(scene.threads.started.load(Ordering::Relaxed), 2);
    let why = "a policy had it reloaded less than 60 s ago: it stays";
    assert_eq!(*refused.lock().unwrap(), [why; 3]);
    embed(&model, &["sixsix"]).await.unwrap();
    scene.event(|kind| matches!(kind, EventKind::Run { .. }).then_some(())).await;
    assert!(model.under_pressure(3, 100).await, "the next policy has its turn");

    let told = |kind| match kind {
        EventKind::Policy { policy, decision, .. } if policy == "insists" => Some(decision),
        _ => None,
    };
    scene.events = scene.events.resubscribe();
    model.under_pressure(3, 100).await;
    scene.supervisor.unload("m").await.unwrap();
    let mut after = Vec::new();
    while let Ok(event) = scene.events.try_recv() {
        after.extend(told(event.kind));
    }
    assert_eq!(after, [] as [&str; 0], "it was told once");
}

#[tokio::test]
async fn a_decision_that_is_refused_is_told_with_the_reason() {
    let mut scene = Scene::new();
    let option = Decision::SetRuntimeOption { key: SHRINK_KEY.into(), value: "banana".into() };
    let insists = Insists::new(option);
    let refused = Arc::clone(&insists.refused);
    let model = scene.load(LoadOptions::default(), vec![Box::new(insists)]).await;
    assert!(!model.under_pressure(3, 100).await, "nothing was done");
    let told = |kind| match kind {
        EventKind::Policy { policy, decision, .. } => Some((policy, decision)),
        _ => None,
    };
    let (policy, decided) = scene.event(told).await;
    assert_eq!(policy, "insists");
    let why = refused.lock().unwrap().concat();
    assert!(why.contains("banana"), "{why}");
    assert_eq!(scene.event(told).await, (policy, format!("{decided}, refused: {why}")));
    assert!(model.runtime_options().await.unwrap().is_empty());
}

#[tokio::test]
async fn run_options_are_bounded_and_one_that_is_set_can_be_changed() {
    let scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    for number in 0..64 {
        model.set_runtime_option(&format!("key.{number}"), "1").await.unwrap();
    }
    let refused = model.set_runtime_option("one.more", "1").await.unwrap_err();
    assert_eq!(
        (refused.code, &refused.message[..]),
        (Code::InvalidRequest, "'m' has 64 run options, and takes no more")
    );
    model.set_runtime_option("key.7", "2").await.unwrap();
    model.set_runtime_option("key.8", "").await.unwrap();
    model.set_runtime_option("one.more", "1").await.unwrap();
    assert_eq!(model.runtime_options().await.unwrap().len(), 64);
}
