//! What the sandbox costs: a policy's decision, attaching one, an ingest, and what the policies that ship are worth over a long
//! workload.

mod ingest;

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Instant};

use ebb_core::{
    ArenaSample, Capability, Decision, Failure, Memory, Outcome, Pool, RunReport, Sample, Target,
    format_bytes, operations::Grant,
};
use ebb_plugins::{Component, Plugin, PluginConfig, Sandbox, SandboxConfig};
use ebb_tests::plugins::{FakeModels, shipped};

use crate::paired;

const CALLS: usize = 20_000;
const ATTACHMENTS: usize = 50;

pub(crate) fn print() {
    let folder = tempfile::tempdir().expect("a folder");
    let component = std::fs::read(shipped().join("slack.wasm")).expect("slack was built");
    decision(&component, folder.path());
    attach(&component, folder.path());
    for name in ["slack", "idle", "pressure"] {
        promise(name, folder.path());
    }
    ingest::print();
}

fn sandbox(folder: &Path) -> Sandbox {
    let config = SandboxConfig { compiled_folder: folder.join("compiled") };
    Sandbox::new(config, Arc::new(FakeModels::default())).expect("a sandbox")
}

fn plugin(sandbox: &Sandbox, component: &[u8], folder: &Path) -> Plugin {
    let manifest = Component::read(component).expect("it is a plugin").manifest;
    let models = vec!["*".to_owned()];
    let grant = Grant { capability: Capability::MemoryControl, models, paths: Vec::new() };
    let config = PluginConfig {
        manifest,
        data_folder: folder.join("data"),
        grants: vec![grant],
        settings: BTreeMap::new(),
    };
    let compiled = sandbox.compile(component, &mut |_| {}).expect("it compiles");
    Plugin::new(sandbox, compiled, config).expect("a plugin")
}

/// A sample with all that there can be in one, and nothing to give back.
fn report() -> RunReport {
    let arena = |device| ArenaSample {
        device,
        in_use_bytes: 90 << 20,
        reserved_bytes: 96 << 20,
        peak_in_use_bytes: 200 << 20,
        limit_bytes: Some(1 << 30),
        regions: 3,
        shrinkages: 7,
    };
    let pool = |name: &str| Pool { name: name.to_owned(), bytes: 1 << 20, droppable: true };
    let memory = Memory {
        resident_bytes: 400 << 20,
        private_bytes: 300 << 20,
        arenas: vec![arena(Target::cpu(0)), arena(Target::gpu(0))],
        pools: ["weights", "kv", "prefix", "mapped"].map(pool).into(),
    };
    RunReport {
        model: "m".to_owned(),
        outcome: Outcome::Ok,
        took_us: 1_234,
        items: 5,
        queued: 0,
        after: Sample::new("m", 1_000, 1, memory),
    }
}

fn decision(component: &[u8], folder: &Path) {
    let sandbox = sandbox(folder);
    let (mut policy, _) = plugin(&sandbox, component, folder).policy("m");
    let mut report = report();
    let mut times_us = Vec::with_capacity(CALLS);
    for call in 0..CALLS as u64 + 500 {
        report.after.at_ms = 1_000 + call;
        let began = Instant::now();
        let decided: Result<Decision, Failure> = policy.on_run(&report);
        let took = began.elapsed();
        assert_eq!(decided.expect("it decides"), Decision::Keep);
        // The first ones warm up.
        if call >= 500 {
            times_us.push(took.as_secs_f64() * 1e6);
        }
    }
    println!(
        "a decision with a full sample: {:.1} us at the median, {:.1} us at p99   (at most 3 and 20)",
        paired::median(&times_us),
        paired::quantile(&times_us, 0.99)
    );
}

fn attach(component: &[u8], folder: &Path) {
    let fresh = tempfile::tempdir().expect("a folder");
    let began = Instant::now();
    sandbox(fresh.path()).compile(component, &mut |_| {}).expect("it compiles");
    let first_ms = began.elapsed().as_secs_f64() * 1e3;
    let sandbox = sandbox(folder);
    let now = report().after;
    let mut times_ms = Vec::new();
    for _ in 0..ATTACHMENTS {
        let began = Instant::now();
        let (mut policy, _) = plugin(&sandbox, component, folder).policy("m");
        policy.on_idle(10, &now).expect("it decides");
        times_ms.push(began.elapsed().as_secs_f64() * 1e3);
    }
    println!(
        "attached from cached code and asked once: {:.2} ms at the median   (at most 5); compiled first: {first_ms:.0} ms",
        paired::median(&times_ms)
    );
}

fn promise(name: &str, folder: &Path) {
    let trace = folder.join("trace.jsonl");
    if !trace.exists() {
        let file = std::fs::File::create(&trace).expect("a file");
        ebb_trace::Workload::LONG.trace().write(std::io::BufWriter::new(file)).expect("it is written");
    }
    let replayed = ebb_author::test(&shipped().join(format!("{name}.wasm")), &trace).expect("it is replayed");
    let (without, with) = (&replayed.replay.without, &replayed.replay.with);
    let promise = replayed.promise.as_ref().expect("a shipped policy promises something");
    println!(
        "{name}: {} ({:.3}, at most {}) {}",
        promise.words,
        promise.value.unwrap_or_default(),
        promise.at_most,
        if promise.kept { "kept" } else { "BROKEN" }
    );
    println!(
        "  {} requests in 24 h: peak {} / {}, mean {} / {} without / with; gave back {} in {} shrinks ({} ms) and {} reloads \
         ({} ms); {} us a call",
        replayed.replay.runs,
        format_bytes(without.peak_bytes),
        format_bytes(with.peak_bytes),
        format_bytes(without.mean_bytes),
        format_bytes(with.mean_bytes),
        format_bytes(with.freed_bytes),
        with.shrinks,
        with.shrink_ms,
        with.reloads,
        with.reload_ms,
        replayed.call_us.unwrap_or_default()
    );
}
