use proptest::prelude::*;

use super::*;
use crate::Code;

fn requested(options: &[(&str, &str, &str)]) -> Vec<Requested> {
    let one = |(scope, key, value): &(&str, &str, &str)| Requested {
        scope: scope.parse().unwrap(),
        key: (*key).to_owned(),
        value: (*value).to_owned(),
    };
    options.iter().map(one).collect()
}

fn planned(options: &[(&str, &str, &str)]) -> Plan {
    plan(&requested(options), "cpu").unwrap()
}

/// The line of one option on a CPU model: forwarded, effective, note, each `-` where there is none.
fn check(option: (&str, &str, &str), forwarded: &str, effective: &str, note: &str) {
    check_on("cpu", option, forwarded, effective, note);
}

fn check_on(provider: &str, option: (&str, &str, &str), forwarded: &str, effective: &str, note: &str) {
    let plan = plan(&requested(&[option]), provider).unwrap();
    let line = &plan.lines[0];
    assert_eq!((line.key.as_str(), line.requested.as_str()), (option.1, option.2));
    let said = [&line.forwarded, &line.effective, &line.note].map(|text| text.as_deref().unwrap_or("-"));
    assert_eq!(said[..2], [forwarded, effective], "{option:?}: {said:?}");
    assert!(said[2] == note || (note.len() > 1 && said[2].contains(note)), "{option:?}: {said:?}");
}

fn refused(options: &[(&str, &str, &str)], code: Code, told: &str) {
    let failure = plan(&requested(options), "cpu").unwrap_err();
    assert_eq!(failure.code, code, "{failure}");
    let text = format!("{failure} {}", failure.hint.as_deref().unwrap_or_default());
    assert!(text.contains(told), "{options:?}: {text}");
}

/// C05.
#[test]
fn the_arena_is_turned_off_however_it_is_said() {
    for (scope, key) in [
        ("session", "enable_cpu_mem_arena"),
        ("session", "session.enable_cpu_mem_arena"),
        ("arena", "enable_cpu_mem_arena"),
        ("arena", "session.enable_cpu_mem_arena"),
        ("provider.cpu", "use_arena"),
    ] {
        for (value, on) in [("0", false), ("false", false), ("FALSE", false), ("1", true), ("true", true)] {
            assert_eq!(planned(&[(scope, key, value)]).arena.is_some(), on, "{scope} {key}={value}");
        }
        refused(&[(scope, key, "banana")], Code::InvalidValue, "0, 1, true or false");
        let failure = plan(&requested(&[(scope, key, "banana")]), "cpu").unwrap_err();
        assert_eq!(failure.param.as_deref(), Some(key));
        check((scope, key, "0"), "session.enable_cpu_mem_arena=0", "-", "-");
    }
}

/// C06.
#[test]
fn the_strategy_goes_to_the_arena() {
    for (value, want) in [
        ("kSameAsRequested", ExtendStrategy::SameAsRequested),
        ("ksameasrequested", ExtendStrategy::SameAsRequested),
        ("1", ExtendStrategy::SameAsRequested),
        ("-1", ExtendStrategy::SameAsRequested),
        ("0", ExtendStrategy::NextPowerOfTwo),
        ("kNextPowerOfTwo", ExtendStrategy::NextPowerOfTwo),
    ] {
        for scope in ["session", "arena", "provider.cpu"] {
            let plan = planned(&[(scope, "arena_extend_strategy", value)]);
            assert_eq!(plan.arena.unwrap().strategy, want, "{scope} {value}");
            assert!(plan.session.entries.is_empty() && plan.providers.is_empty());
            assert_eq!(plan.lines[0].scope, Scope::Arena);
            assert_eq!(plan.lines[0].forwarded, Some(format!("arena_extend_strategy={}", want.number())));
        }
    }
    let cuda = plan(&requested(&[("provider.cuda", "arena_extend_strategy", "1")]), "cuda").unwrap();
    assert_eq!(cuda.providers[0].options, [("arena_extend_strategy".into(), "kSameAsRequested".into())]);
    assert_eq!(cuda.arena, Some(ArenaPlan::default()));
    refused(&[("arena", "arena_extend_strategy", "2")], Code::InvalidValue, "kNextPowerOfTwo");
}

#[test]
fn a_note_warns_only_of_what_does_not_do_what_it_says() {
    let shrink = super::super::SHRINK_KEY;
    for (option, warns) in [
        (("arena", "working_mem", "64MiB"), false),
        (("arena", "max_mem", "0"), false),
        (("session", "session.use_env_allocators", "1"), false),
        (("session", "session.use_env_allocators", "0"), true),
        (("session", "enable_mem_patern", "1"), true),
        (("arena", "no_such_key", "7"), true),
        (("provider.cuda", "gpu_mem_limit", "1"), true),
        (("run", shrink, "cpu:0;gpu:0"), true),
        (("run", shrink, "cpu:0"), false),
    ] {
        let line = &planned(&[option]).lines[0];
        assert_eq!(line.warning, warns, "{line:?}");
    }
    let defaults = planned(&[]).lines;
    assert!(!defaults.is_empty() && defaults.iter().all(|line| line.note.is_some() && !line.warning));
}

#[test]
fn caps_and_chunk_sizes_take_units() {
    let plan = planned(&[
        ("arena", "arena_extend_strategy", "0"),
        ("arena", "max_mem", "400MB"),
        ("session", "initial_chunk_size_bytes", "1MiB"),
        ("arena", "max_dead_bytes_per_chunk", "-1"),
        ("arena", "initial_growth_chunk_size_bytes", "0"),
        ("arena", "max_power_of_two_extend_bytes", "2GiB"),
        ("arena", "no_such_key", "7"),
        ("arena", "no_such_text", "seven"),
    ]);
    assert_eq!(
        plan.arena.unwrap(),
        ArenaPlan {
            strategy: ExtendStrategy::NextPowerOfTwo,
            max_mem_bytes: Some(400_000_000),
            initial_chunk_size_bytes: Some(1 << 20),
            initial_growth_chunk_size_bytes: Some(0),
            max_power_of_two_extend_bytes: Some(2 << 30),
            more: vec![("no_such_key".into(), 7)],
            ..ArenaPlan::default()
        }
    );
    assert_eq!(plan.lines[7].forwarded, None);
    let working = planned(&[("arena", "working_mem", "64MiB"), ("arena", "max_mem", "0")]).arena.unwrap();
    assert_eq!((working.max_mem_bytes, working.working_mem_bytes), (None, Some(64 << 20)));
    check(("arena", "max_mem", "-1"), "-", "-", "no cap");
    check(("arena", "max_dead_bytes_per_chunk", "-1"), "-", "-", "default");
    check(
        ("arena", "initial_chunk_size_bytes", "4096"),
        "initial_chunk_size_bytes=4096",
        "no effect",
        "kNextPowerOfTwo",
    );
    check(("arena", "use_cuda_mempool", "1"), "use_cuda_mempool=1", "no effect", "CUDA");
}

#[test]
fn what_contradicts_is_a_conflict() {
    refused(&[("arena", "max_mem", "1GiB"), ("arena", "working_mem", "1MiB")], Code::Conflict, "give one");
    refused(
        &[("session", "enable_cpu_mem_arena", "1"), ("arena", "enable_cpu_mem_arena", "0")],
        Code::Conflict,
        "enable_cpu_mem_arena=1 and enable_cpu_mem_arena=0 contradict",
    );
    refused(
        &[("session", "cuda.gpu_mem_limit", "1"), ("provider.cuda", "gpu_mem_limit", "2")],
        Code::Conflict,
        "give it once",
    );
    // The same said twice is no contradiction.
    planned(&[("session", "enable_cpu_mem_arena", "0"), ("arena", "enable_cpu_mem_arena", "false")]);
    planned(&[("session", "max_mem", "1KiB"), ("arena", "max_mem", "1024")]);
}

/// C04 and the conflict of a cap with an arena that is off.
#[test]
fn without_an_arena_its_options_are_said_to_do_nothing() {
    let plan = planned(&[
        ("session", "enable_cpu_mem_arena", "0"),
        ("arena", "max_mem", "1GiB"),
        ("arena", "working_mem", "1GiB"),
        ("arena", "arena_extend_strategy", "0"),
        ("run", super::super::SHRINK_KEY, "cpu:0"),
        ("session", "session.use_env_allocators", "1"),
    ]);
    assert_eq!(plan.arena, None);
    assert!(plan.shrink_after_each.is_empty());
    assert_eq!(plan.lines.len(), 6, "no defaults: {:?}", plan.lines);
    for line in &plan.lines[1..] {
        assert_eq!(
            (line.forwarded.as_deref(), line.effective.as_deref()),
            (None, Some("no effect")),
            "{line:?}"
        );
        assert!(line.note.is_some(), "{line:?}");
    }
}

#[test]
fn options_with_a_call_become_that_call() {
    let all = [
        ("intra_op_num_threads", "2", "SetIntraOpNumThreads(2)"),
        ("session.inter_op_num_threads", "0", "SetInterOpNumThreads(0)"),
        ("execution_mode", "ORT_PARALLEL", "SetSessionExecutionMode(ORT_PARALLEL)"),
        (
            "graph_optimization_level",
            "ORT_ENABLE_EXTENDED",
            "SetSessionGraphOptimizationLevel(ORT_ENABLE_EXTENDED)",
        ),
        ("enable_mem_pattern", "false", "DisableMemPattern()"),
        ("optimized_model_filepath", "a b.onnx", "SetOptimizedModelFilePath(a b.onnx)"),
        ("enable_profiling", "true", "EnableProfiling(ebb_profile)"),
        ("log_id", "x", "SetSessionLogId(x)"),
        ("log_severity_level", "3", "SetSessionLogSeverityLevel(3)"),
        ("log_verbosity_level", "1", "SetSessionLogVerbosityLevel(1)"),
        ("use_deterministic_compute", "1", "SetDeterministicCompute(true)"),
    ];
    let plan = planned(&all.map(|(key, value, _)| ("session", key, value)));
    for (line, (.., call)) in plan.lines.iter().zip(all) {
        assert_eq!(line.forwarded.as_deref(), Some(call));
    }
    assert_eq!(
        plan.session,
        SessionPlan {
            entries: Vec::new(),
            intra_threads: Some(2),
            inter_threads: Some(0),
            parallel_execution: Some(true),
            graph_optimization_level: Some(2),
            mem_pattern: Some(false),
            optimized_model_path: Some("a b.onnx".into()),
            profiling_prefix: Some("ebb_profile".into()),
            log_id: Some("x".into()),
            log_severity: Some(3),
            log_verbosity: Some(1),
            deterministic: Some(true),
        }
    );
    check(("session", "log_severity_level", "-1"), "-", "-", "default");
    check(("session", "enable_profiling", "0"), "-", "-", "default");
    check(("arena", "enable_mem_pattern", "0"), "DisableMemPattern()", "-", "option of the session");
}

#[test]
fn entries_are_forwarded_under_their_full_name_as_onnx_runtime_reads_them() {
    check(("session", "disable_prepacking", "true"), "session.disable_prepacking=1", "-", "-");
    check(
        ("session", "optimization.constant_folding_max_output_size_in_bytes", "1MiB"),
        "optimization.constant_folding_max_output_size_in_bytes=1048576",
        "-",
        "-",
    );
    check(("session", "use_env_allocators", "1"), "session.use_env_allocators=1", "-", "Ebb sets this");
    check(
        ("session", "use_env_allocators", "0"),
        "session.use_env_allocators=1",
        "no effect",
        "Ebb sets this",
    );
    check(
        ("session", "ep.dynamic.workload_type", "Efficient"),
        "ep.dynamic.workload_type=Efficient",
        "no effect",
        "SetEpDynamicOptions",
    );
    let entries = planned(&[("session", "disable_prepacking", "true")]).session.entries;
    assert_eq!(entries, [("session.disable_prepacking".to_owned(), "1".to_owned())]);
}

/// C10 and its siblings: misspelt, in the wrong place.
#[test]
fn what_does_nothing_is_forwarded_and_said() {
    let session = "enable_cpu_mem_aren=0";
    check(
        ("session", "enable_cpu_mem_aren", "0"),
        session,
        "no known effect",
        "unknown to Ebb's catalogue; forwarded as typed; no known effect; nearest known key: session.enable_cpu_mem_arena",
    );
    check(
        ("run", "memory.enable_memory_arena_shrinkge", " cpu:0"),
        "memory.enable_memory_arena_shrinkge= cpu:0",
        "no known effect",
        "nearest known key: memory.enable_memory_arena_shrinkage",
    );
    check(("session", "colour", "red"), "colour=red", "no known effect", "no known effect");
    check(("arena", "max_memm", "1GiB"), "max_memm=1073741824", "-", "nearest known key: max_mem");
    check(("provider.cuda", "gpu_mem_limt", "1"), "-", "no effect", "this model runs on cpu");
    check(("provider.cpu", "threads", "1"), "-", "no known effect", "CPU provider takes no options");
    check(
        ("run", "session.enable_mem_pattern", "0"),
        "session.enable_mem_pattern=0",
        "no effect",
        "an option of the session",
    );
    check(
        ("run", "enable_cpu_mem_arena", "0"),
        "enable_cpu_mem_arena=0",
        "no effect",
        "session.enable_cpu_mem_arena",
    );
    check(("run", "max_mem", "1"), "max_mem=1", "no effect", "an option of the arena");
    check(
        ("session", super::super::SHRINK_KEY, "cpu:0"),
        "memory.enable_memory_arena_shrinkage=cpu:0",
        "no effect",
        "a run option",
    );
    check(("environment", "allow_virtual_devices", "1"), "-", "no effect", "whole process");
    let plan = planned(&[("session", "a.b", " as typed "), ("run", "c", "d"), ("run", "e", "")]);
    assert_eq!(plan.session.entries, [("a.b".to_owned(), " as typed ".to_owned())]);
    assert_eq!(plan.run, [("c".to_owned(), "d".to_owned())]);
}

/// C18.
#[test]
fn options_of_a_provider_work_on_that_provider_only() {
    let limit = ("session", "cuda.gpu_mem_limit", "2147483648");
    check(limit, "-", "no effect", "this model runs on cpu, not on cuda");
    check_on("CUDAExecutionProvider", limit, "gpu_mem_limit=2147483648", "-", "-");
    check_on("cuda", ("provider.cuda", "gpu_mem_limit", "2GiB"), "gpu_mem_limit=2147483648", "-", "-");
    check_on("auto", ("provider.cuda", "gpu_mem_limit", "2GiB"), "gpu_mem_limit=2147483648", "-", "-");
    check(
        ("session", "gpu_mem_limit", "1"),
        "gpu_mem_limit=1",
        "no effect",
        "provider option cuda.gpu_mem_limit",
    );
    check_on("cuda", ("provider.cuda", "no_such", "x"), "no_such=x", "no known effect", "forwarded as typed");
    check_on(
        "openvino",
        ("provider.openvino", "precision", "FP8"),
        "precision=FP8",
        "-",
        "not a value that Ebb knows",
    );
    check_on(
        "migraphx",
        ("provider.migraphx", "migraphx_mem_limit", "1"),
        "migraphx_mem_limit=1",
        "no effect",
        "not applied",
    );
    let plan = plan(&requested(&[limit, ("provider.cuda", "device_id", "1")]), "cpu").unwrap();
    assert_eq!(plan.providers.len(), 1);
    assert_eq!(plan.providers[0].options.len(), 2);
}

/// C03 and C04, at load.
#[test]
fn shrink_targets_without_an_arena_are_dropped_and_said() {
    let key = super::super::SHRINK_KEY;
    let shrink = |provider, value| {
        let plan = plan(&requested(&[("run", key, value)]), provider).unwrap();
        assert!(plan.run.is_empty());
        plan.shrink_after_each
    };
    assert_eq!(shrink("cpu", "gpu:0;cpu:0"), [Target::cpu(0)]);
    assert_eq!(shrink("cpu", " CPU:0 "), [Target::cpu(0)]);
    assert_eq!(shrink("cuda", "cuda:1;cpu:0"), [Target::gpu(1), Target::cpu(0)]);
    assert_eq!(shrink("webgpu", "gpu:0"), []);
    assert_eq!(shrink("cpu", ""), []);
    check(("run", key, ""), "-", "off", "-");
    check(("run", key, "gpu:0"), "-", "no effect", "no arena here for gpu:0");
    refused(&[("run", key, "cpu:0; disk:0")], Code::InvalidTarget, "disk:0");
}

#[test]
fn what_ebb_sets_by_itself_is_said() {
    let lines = planned(&[]).lines;
    let said: Vec<_> =
        lines.iter().map(|line| (line.forwarded.as_deref().unwrap(), &*line.requested)).collect();
    assert_eq!(said, [("arena_extend_strategy=1", ""), ("session.use_env_allocators=1", "")]);
    assert_eq!(planned(&[("session", "arena_extend_strategy", "1")]).lines.len(), 2);
}

fn any_option() -> impl Strategy<Value = Requested> {
    let known = prop::sample::select(super::super::catalogue());
    let scope = prop_oneof![
        Just(Scope::Session),
        Just(Scope::Arena),
        Just(Scope::Run),
        Just(Scope::Environment),
        "[a-z]{0,4}".prop_map(Scope::Provider),
        known.clone().prop_map(|entry| entry.scope.clone()),
    ];
    let key = prop_oneof![
        known.clone().prop_map(|entry| entry.key.clone()),
        known.prop_map(|entry| entry.key.trim_start_matches("session.").to_owned()),
        "(session|cuda|cpu|ep)?\\.?\\PC{0,12}",
    ];
    let value =
        prop_oneof!["[01]", "-?[0-9]{1,20}", "(cpu|gpu):[0-9];?", "\\PC{0,12}", "[a-zA-Z]{1,8}", ".{0,5}"];
    (scope, key, value).prop_map(|(scope, key, value)| Requested { scope, key, value })
}

proptest! {
    #[test]
    fn every_option_gets_one_line_or_an_error(options in prop::collection::vec(any_option(), 0..4)) {
        for provider in ["cpu", "cuda", "auto"] {
            let Ok(plan) = plan(&options, provider) else { continue };
            for (line, option) in plan.lines.iter().zip(&options) {
                prop_assert_eq!((&line.key, &line.requested), (&option.key, &option.value));
                prop_assert!(line.forwarded.is_some() || line.effective.is_some() || line.note.is_some());
            }
            let ours = plan.lines.len() - options.len();
            prop_assert!(ours <= 2 && (plan.arena.is_some() || ours == 0));
        }
    }

    #[test]
    fn an_option_by_itself_is_judged_without_panic(key in "\\PC{0,30}", value in ".{0,20}") {
        if let Ok(line) = super::super::judge_run_option(&key, &value, &[Target::cpu(0)]) {
            prop_assert_eq!((line.key, line.requested), (key, value));
        }
    }
}
