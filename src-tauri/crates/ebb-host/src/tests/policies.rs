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
