//! Policies that bring WASI, in a guest that is written out in `guest.wat`.

use std::{collections::BTreeMap, path::Path};

use ebb_core::{
    Code, Memory, PluginManifest, PluginWorld,
    operations::{Grant, PluginLogLine},
};
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::Resolve;

use super::*;
use crate::{
    Models, PluginConfig, Sandbox, SandboxConfig,
    fake::{FakeModels, grant, manifest},
};

/// What the guest uses of WASI.
const IO: &str = "package wasi:io@0.2.6; interface poll { resource pollable { block: func(); } }";
const CLOCKS: &str = "package wasi:clocks@0.2.6;
    interface monotonic-clock {
        use wasi:io/poll@0.2.6.{pollable};
        now: func() -> u64;
        subscribe-duration: func(when: u64) -> pollable;
    }";
const RANDOM: &str = "package wasi:random@0.2.6; interface random { get-random-u64: func() -> u64; }";
const WORLD: &str = "package test:policy;
    world guest {
        include ebb:plugin/shrink-policy@0.1.0;
        import wasi:clocks/monotonic-clock@0.2.6;
        import wasi:random/random@0.2.6;
    }";

struct Scene {
    _folder: tempfile::TempDir,
    plugin: Plugin,
    policy: Box<dyn Policy>,
    stats: AttachmentStats,
}

fn component() -> Vec<u8> {
    let mut resolve = Resolve::default();
    resolve.push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../wit")).unwrap();
    for (name, text) in [("io.wit", IO), ("clocks.wit", CLOCKS), ("random.wit", RANDOM)] {
        resolve.push_str(name, text).unwrap();
    }
    let package = resolve.push_str("world.wit", WORLD).unwrap();
    let world = resolve.select_world(&[package], None).unwrap();
    let mut module = wat::parse_str(include_str!("guest.wat")).unwrap();
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let component = ComponentEncoder::default().module(&module).unwrap().validate(true).encode().unwrap();
    let manifest = PluginManifest {
        world: PluginWorld::ShrinkPolicy,
        capabilities: Vec::new(),
        settings: None,
        ..manifest()
    };
    crate::manifest::embed(&component, &manifest).unwrap()
}

impl Scene {
    fn new() -> Self {
        Self::granted(vec![grant(Capability::MemoryControl, &["m"])])
    }

    fn granted(grants: Vec<Grant>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models: Arc<dyn Models> = Arc::new(FakeModels::default());
        let sandbox = Sandbox::new(SandboxConfig::default(), models).unwrap();
        let bytes = component();
        let manifest = crate::Component::read(&bytes).unwrap().manifest;
        let data_folder = folder.path().to_owned();
        let config = PluginConfig { manifest, data_folder, grants, settings: BTreeMap::new() };
        let compiled = sandbox.compile(&bytes, &mut |_| {}).unwrap();
        let plugin = Plugin::new(&sandbox, compiled, config).unwrap();
        let (policy, stats) = plugin.policy("m");
        Self { _folder: folder, plugin, policy, stats }
    }

    fn run(&mut self, items: u32) -> Result<Decision, Failure> {
        let after = Sample::new("m", 1, 1, Memory::default());
        let (model, outcome) = ("m".to_owned(), Outcome::Ok);
        self.policy.on_run(&RunReport { model, outcome, took_us: 1, items, queued: 0, after })
    }

    fn fails(&mut self, items: u32) -> Failure {
        self.run(items).unwrap_err()
    }

    fn log(&self) -> Vec<PluginLogLine> {
        self.plugin.log().tail(100)
    }
}

#[test]
fn it_decides_after_a_request_while_idle_and_under_pressure() {
    let mut scene = Scene::new();
    let now = Sample::new("m", 1, 1, Memory::default());
    assert_eq!(scene.run(0), Ok(Decision::Keep));
    assert_eq!(scene.policy.on_idle(999, &now), Ok(Decision::Keep));
    assert_eq!(scene.policy.on_idle(1_000, &now), Ok(Decision::Unload));
    assert_eq!(scene.policy.on_pressure(10, 100, &now), Ok(Decision::Keep));
    assert_eq!(scene.policy.on_pressure(9, 100, &now), Ok(Decision::Reload));
    assert_eq!((scene.stats.calls(), scene.stats.decisions(), scene.stats.failures()), (5, 2, 0));
    assert!(scene.log().is_empty(), "the host's events tell of decisions");
}

/// In a task, as the models' actors are.
#[tokio::test]
async fn a_policy_that_waits_is_stopped_and_comes_up_again() {
    let mut scene = Scene::new();
    assert_eq!(scene.run(6), Ok(Decision::Keep));
    let failure = scene.fails(1);
    assert_eq!(failure.code, Code::Timeout);
    assert_eq!(failure.message, "stopped: a policy must not wait or sleep");
    assert_eq!(
        scene.run(6),
        Ok(Decision::Keep),
        "an instance of its own, that knows nothing of earlier calls"
    );
    assert_eq!(scene.run(6), Ok(Decision::Unload));
    assert_eq!(scene.policy.given_up(), None);
}

#[test]
fn a_trap_is_told_with_the_functions_that_led_to_it() {
    let mut scene = Scene::new();
    let failure = scene.fails(2);
    assert!(failure.message.contains("unreachable"), "{failure}");
    assert!(failure.message.contains("in deep_down < after_run"), "{failure}");
    assert!(scene.log().iter().any(|line| line.from_host && line.message == failure.message));
}

#[test]
fn clocks_are_coarse_and_chance_is_the_same_each_time() {
    let mut scene = Scene::new();
    for _ in 0..100 {
        assert_eq!(scene.run(7), Ok(Decision::Keep));
    }
    let chances = || {
        let mut scene = Scene::new();
        (0..16).map(|_| scene.run(8).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(chances(), chances());
}

#[test]
fn devices_that_are_none_are_left_out_and_never_become_every_device() {
    let mut scene = Scene::new();
    assert_eq!(scene.run(3), Ok(Decision::Shrink(vec![Target::cpu(0)])));
    assert!(scene.log()[0].message.contains("'disk:0'"));
    assert_eq!(scene.run(4), Ok(Decision::Keep));
    assert_eq!(scene.run(5), Ok(Decision::Shrink(Vec::new())));
}

#[test]
fn what_was_not_granted_is_not_decided_and_errors_keep_the_instance() {
    let mut scene = Scene::granted(vec![grant(Capability::MemoryControl, &["another"])]);
    let failure = scene.fails(5);
    assert_eq!(failure.code, Code::Forbidden);
    assert!(failure.message.contains("memory.control was not granted on 'm'"), "{failure}");
    assert_eq!(scene.fails(9).message, "it failed: calls");
    assert_eq!(scene.run(0), Ok(Decision::Keep), "then two more are not three in a row");
    scene.plugin.set_grants(vec![grant(Capability::MemoryControl, &["m"])]);
    assert_eq!(scene.run(6), Ok(Decision::Unload), "it is the same instance, and the grant holds at once");
    for _ in 0..3 {
        assert_eq!(scene.policy.given_up(), None);
        scene.fails(9);
    }
    assert!(scene.policy.given_up().unwrap().ends_with("it failed: calls"));
    let calls = scene.stats.calls();
    assert_eq!(scene.run(5), Ok(Decision::Keep), "it is asked no more");
    assert_eq!(scene.stats.calls(), calls);
}

#[test]
fn only_a_success_of_the_same_hook_ends_a_row_of_failures() {
    let now = Sample::new("m", 1, 1, Memory::default());
    let mut scene = Scene::new();
    for _ in 0..3 {
        assert_eq!(scene.policy.given_up(), None);
        scene.fails(9);
        if scene.policy.given_up().is_none() {
            assert_eq!(scene.policy.on_idle(1, &now), Ok(Decision::Keep));
            assert_eq!(scene.policy.on_pressure(50, 100, &now), Ok(Decision::Keep));
        }
    }
    assert!(scene.policy.given_up().unwrap().contains("3 times in a row"));
    assert_eq!((scene.stats.calls(), scene.stats.failures()), (7, 3));

    let mut scene = Scene::new();
    for _ in 0..4 {
        scene.fails(9);
        scene.fails(2);
        assert_eq!(scene.run(0), Ok(Decision::Keep), "two, and then a success");
    }
    assert_eq!(scene.policy.given_up(), None);
}

#[test]
fn a_decision_that_is_refused_is_a_failure_and_three_in_a_row_are_too_many() {
    let mut scene = Scene::new();
    let refusal = Failure::new(Code::InvalidTarget, "'banana' is no device");
    for number in 1..=3 {
        assert_eq!(scene.policy.given_up(), None);
        assert_eq!(scene.run(5), Ok(Decision::Shrink(Vec::new())));
        scene.policy.refused(&refusal);
        scene.policy.refused(&refusal);
        assert_eq!(scene.stats.failures(), number, "each is refused once");
    }
    let why = "its decision is refused: 'banana' is no device";
    assert!(scene.policy.given_up().unwrap().ends_with(why));
    let told = scene.log().iter().filter(|line| line.from_host && line.message == why).count();
    assert_eq!(told, 3);

    let mut scene = Scene::new();
    for _ in 0..3 {
        for _ in 0..2 {
            assert_eq!(scene.run(5), Ok(Decision::Shrink(Vec::new())));
            scene.policy.refused(&refusal);
        }
        assert_eq!(
            scene.run(5),
            Ok(Decision::Shrink(Vec::new())),
            "this one is done, as the next call tells"
        );
        assert_eq!(scene.run(0), Ok(Decision::Keep));
    }
    assert_eq!(scene.policy.given_up(), None);
}

#[test]
fn what_is_refused_for_now_is_told_once_and_no_fault() {
    let mut scene = Scene::new();
    let refusal = Failure::new(Code::Busy, "it was reloaded just now");
    for _ in 0..10 {
        assert_eq!(scene.run(5), Ok(Decision::Shrink(Vec::new())));
        scene.policy.refused(&refusal);
    }
    assert_eq!((scene.policy.given_up(), scene.stats.failures()), (None, 10));
    let lines = scene.log();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].message, "its decision is refused: it was reloaded just now");
}

#[test]
fn the_call_that_brings_an_instance_up_is_not_in_the_median() {
    let stats = AttachmentStats::default();
    let count = |took_us, first| stats.count(Duration::from_micros(took_us), first, &Ok(Decision::Keep));
    count(80_000, true);
    assert_eq!((stats.calls(), stats.call_us()), (1, None));
    count(3, false);
    assert_eq!((stats.calls(), stats.call_us()), (2, Some(3)));

    let mut scene = Scene::new();
    assert_eq!((scene.run(0), scene.stats.call_us()), (Ok(Decision::Keep), None));
    scene.fails(2);
    let of_the_trap = scene.stats.call_us();
    assert!(of_the_trap.is_some());
    scene.fails(2);
    assert_eq!(scene.stats.call_us(), of_the_trap, "the next one is an instance's first again");
}
