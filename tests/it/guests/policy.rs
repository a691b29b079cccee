//! Policies that misbehave: each counts as keep, and the next call finds a policy that works.

use ebb_core::{Code, Decision, Failure, Outcome, RunReport, Target};

use super::{GUESTS, Scene, sample};

include!("../../guests/policy/behaviours.rs");

/// A behaviour without a test of its name does not compile.
macro_rules! exists {
    ($($name:ident)*) => { const _: &[fn()] = &[$($name),*]; };
}
policy_behaviours!(exists);

fn run(model: &str) -> RunReport {
    RunReport {
        model: model.to_owned(),
        outcome: Outcome::Ok,
        took_us: 1,
        items: 1,
        queued: 0,
        after: sample(model),
    }
}

/// What the policy on the model of this name decides, and the messages of its log.
fn decided(behaviour: &str) -> (Result<Decision, Failure>, Vec<String>) {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.policy, &[behaviour, "good"], Vec::new());
    let (mut policy, stats) = plugin.policy(behaviour);
    let decided = policy.on_run(&run(behaviour));
    assert_eq!(stats.calls(), 1);
    assert_eq!(stats.failures(), u64::from(decided.is_err()));
    // The other model's goes on.
    let (mut good, _) = plugin.policy("good");
    assert_eq!(good.on_run(&run("good")).unwrap(), Decision::Shrink(Vec::new()));
    let messages = plugin.log().tail(2_000).into_iter().map(|line| line.message).collect();
    (decided, messages)
}

/// That it fails so, told in its log too.
fn fails_with(behaviour: &str, code: Code, why: &str) {
    let (decided, log) = decided(behaviour);
    let failure = decided.unwrap_err();
    assert_eq!(failure.code, code, "{failure}");
    assert!(failure.message.contains(why), "{failure}");
    assert!(log.iter().any(|message| message.contains(why)), "{log:?}");
}

#[test]
fn loops_forever() {
    fails_with("loops_forever", Code::Timeout, "stopped after 5 ms of processor time");
}

#[test]
fn recurses() {
    // Either its own stack in its memory ends first, or that of the machine.
    let (decided, log) = decided("recurses");
    let failure = decided.unwrap_err();
    assert!(matches!(failure.code, Code::Timeout | Code::Internal), "{failure}");
    let told = |message: &String| message.contains("nest too deeply") || message.contains("out of bounds");
    assert!(told(&failure.message) && log.iter().any(told), "{failure}: {log:?}");
}

#[test]
fn allocates() {
    fails_with("allocates", Code::OutOfMemory, "its limit of 16.0 MiB of memory");
}

#[test]
fn traps() {
    fails_with("traps", Code::Internal, "it trapped");
}

#[test]
fn panics() {
    let (decided, log) = decided("panics");
    assert_eq!(decided.unwrap_err().code, Code::Internal);
    assert!(log.iter().any(|message| message.contains("it was asked to panic")), "{log:?}");
}

#[test]
fn fails() {
    fails_with("fails", Code::Internal, "it was asked to fail");
}

#[test]
fn fails_hugely() {
    let (decided, log) = decided("fails_hugely");
    assert!(decided.unwrap_err().message.len() < 2_000);
    assert!(log.iter().all(|message| message.len() < 5_000));
}

#[test]
fn floods_the_log() {
    let (decided, log) = decided("floods_the_log");
    assert_eq!(decided.unwrap(), Decision::Keep);
    assert!(log.len() <= 201, "{}", log.len());
}

#[test]
fn logs_a_huge_line() {
    let (decided, log) = decided("logs_a_huge_line");
    assert_eq!(decided.unwrap(), Decision::Keep);
    assert!(log[0].len() < 5_000 && log[0].ends_with("bytes were cut off"));
}

#[test]
fn logs_no_utf8() {
    fails_with("logs_no_utf8", Code::Internal, "utf-8");
}

#[test]
fn names_unknown_targets() {
    let (decided, log) = decided("names_unknown_targets");
    assert_eq!(decided.unwrap(), Decision::Shrink(vec![Target::cpu(0)]));
    assert!(log.iter().any(|message| message.contains("disk:9")), "{log:?}");
    assert!(log.iter().all(|message| !message.contains('\u{1b}')), "{log:?}");
}

#[test]
fn decides_something_new() {
    fails_with("decides_something_new", Code::Internal, "it decided 'hibernate'");
}

#[test]
fn sets_an_option() {
    let key = "memory.enable_memory_arena_shrinkage".to_owned();
    let (decided, _) = decided("sets_an_option");
    assert_eq!(decided.unwrap(), Decision::SetRuntimeOption { key, value: "cpu:0".to_owned() });
}

#[test]
fn reads_another_model() {
    fails_with("reads_another_model", Code::Internal, "memory.read was not granted on 'somebody_elses'");
}

#[test]
fn a_decision_without_its_grant_is_refused_by_name() {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.policy, &["another"], Vec::new());
    let (mut policy, _) = plugin.policy("good");
    let failure = policy.on_run(&run("good")).unwrap_err();
    assert_eq!(failure.code, Code::Forbidden);
    assert!(failure.message.starts_with("memory.control was not granted on 'good'"), "{failure}");
    // Granted now, it decides at once.
    plugin.set_grants(vec![ebb_core::operations::Grant {
        capability: ebb_core::Capability::MemoryControl,
        models: vec!["*".to_owned()],
        paths: Vec::new(),
    }]);
    assert_eq!(policy.on_run(&run("good")).unwrap(), Decision::Shrink(Vec::new()));
    let used = plugin.usage();
    let control = used.iter().find(|used| used.capability == ebb_core::Capability::MemoryControl).unwrap();
    assert_eq!((control.calls, control.refused), (2, 1));
}

#[test]
fn three_failures_in_a_row_are_the_last() {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.policy, &["*"], Vec::new());
    let (mut policy, stats) = plugin.policy("traps");
    for _ in 0..3 {
        assert_eq!(policy.given_up(), None);
        policy.on_run(&run("traps")).unwrap_err();
    }
    let why = policy.given_up().unwrap();
    assert!(why.contains("3 times in a row"), "{why}");
    assert_eq!(policy.on_run(&run("traps")).unwrap(), Decision::Keep, "it is asked no more");
    assert_eq!((stats.calls(), stats.failures()), (3, 3));
    assert_eq!(stats.call_us(), None, "each call was an instance's first");
}

#[test]
fn what_instances_hold_is_counted_and_given_back() {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.policy, &["*"], Vec::new());
    let (mut policy, _) = plugin.policy("good");
    policy.on_run(&run("good")).unwrap();
    assert!(plugin.memory_bytes() >= 64 << 10, "{}", plugin.memory_bytes());
    drop(policy);
    assert_eq!(plugin.memory_bytes(), 0);
}

#[test]
fn a_hundred_policies_live_beside_each_other() {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.policy, &["*"], Vec::new());
    let mut policies: Vec<_> = (0..120).map(|number| plugin.policy(&format!("m{number}")).0).collect();
    for policy in &mut policies {
        assert_eq!(policy.on_run(&run("any")).unwrap(), Decision::Shrink(Vec::new()));
    }
}
