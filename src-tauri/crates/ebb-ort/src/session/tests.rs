use ebb_core::{Code, Failure, options::ArenaPlan};

use super::*;
use crate::scene::{
    MIB, activations, capped, growing, load, load_all, mlp, reserved, run, runtime, with_arena,
};

#[test]
fn what_the_arena_says_at_its_cap_is_read() {
    let message = "[E:onnxruntime] bfc_arena.cc: Available memory of 524288 is smaller than requested bytes of 2048000\n";
    let hit = LimitHit { available_bytes: 524_288, requested_bytes: 2_048_000 };
    assert_eq!(LimitHit::read(message), Some(hit));
    assert_eq!(LimitHit::read("Available memory of x is smaller than requested bytes of 1"), None);
    assert_eq!(LimitHit::read("something else"), None);
}

#[test]
fn inputs_and_outputs_are_described() {
    let loaded = load(mlp(), Plan::default()).unwrap();
    let wanted =
        |name: &str| TensorInfo { name: name.to_owned(), dtype: Some(DType::Float32), shape: vec![-1, 512] };
    assert_eq!(loaded.inputs(), [wanted("X")]);
    assert_eq!(loaded.outputs(), [wanted("Y")]);
}

/// C07: weights of 4 MiB pass under a cap of 2 MiB in silence, and void it.
#[test]
fn a_cap_below_the_weights_is_refused_with_the_figure_needed() {
    let error = load(mlp(), capped(2 * MIB)).unwrap_err();
    let Error::CapBelowWeights { limit_bytes, weights_bytes, needed_bytes } = error else {
        panic!("{error}")
    };
    assert_eq!(limit_bytes, 2 * MIB);
    assert!(weights_bytes >= 4 * MIB, "{weights_bytes}");
    assert!(needed_bytes > weights_bytes);
    let failure = Failure::from(Error::CapBelowWeights { limit_bytes, weights_bytes, needed_bytes });
    assert_eq!(failure.code, Code::CapBelowWeights);
    assert_eq!(failure.details["needed_bytes"], needed_bytes);
    let mut loaded = load(mlp(), capped(needed_bytes)).expect("the figure needed is enough to load");
    assert_eq!(run(&mut loaded, 1).unwrap().1, 0);
}

/// C23: the cap is the model's, not each file's.
#[test]
fn files_of_one_model_share_its_cap() {
    let alone = load(mlp(), capped(64 * MIB)).unwrap();
    let of_one = reserved(&alone);
    let both = [mlp().to_owned(), mlp().to_owned()];
    let loaded = load_all(&both, capped(64 * MIB)).unwrap();
    assert_eq!(reserved(&loaded[0]), 2 * of_one);
    assert_eq!(loaded[1].held().cpu_stats(), loaded[0].held().cpu_stats());
    let error = load_all(&both, capped(of_one + MIB)).unwrap_err();
    assert!(matches!(error, Error::CapBelowWeights { .. }), "{error}");
}

/// C08: each size leaves a region that the next cannot use; together they would pass the cap.
#[test]
fn growing_batches_under_a_cap_are_served_after_a_shrink() {
    let free = {
        let mut loaded = load(mlp(), growing(ExtendStrategy::SameAsRequested)).unwrap();
        run(&mut loaded, 4000).unwrap();
        reserved(&loaded)
    };
    let mut loaded = load(mlp(), capped(free + MIB)).unwrap();
    let retries: u32 =
        [500, 1000, 2000, 3000, 4000].map(|rows| run(&mut loaded, rows).unwrap().1).iter().sum();
    assert!(retries > 0, "the cap was never hit");
    assert!(reserved(&loaded) <= free + MIB);
}

/// C09
#[test]
fn a_request_larger_than_the_cap_is_refused_with_figures_and_the_next_is_served() {
    let mut loaded = load(mlp(), capped(8 * MIB)).unwrap();
    let want = run(&mut loaded, 16).unwrap().0;
    let error = run(&mut loaded, 16_000).unwrap_err();
    let Error::ArenaLimit { limit_bytes, requested_bytes, available_bytes } = error else {
        panic!("{error}")
    };
    assert_eq!(limit_bytes, 8 * MIB);
    assert!(requested_bytes >= 16_000 * 2048 && available_bytes < 4 * MIB + MIB / 2, "{available_bytes}");
    assert_eq!(run(&mut loaded, 16).unwrap(), (want, 0));
}

#[test]
fn a_cap_on_top_of_the_weights_needs_no_knowledge_of_them() {
    let arena = ArenaPlan { working_mem_bytes: Some(3 * MIB), ..ArenaPlan::default() };
    let mut loaded = load(mlp(), with_arena(arena)).unwrap();
    let limit_bytes = loaded.held().cpu_stats().unwrap().limit_bytes.unwrap();
    assert_eq!(limit_bytes, reserved(&loaded) + 3 * MIB);
    run(&mut loaded, 500).unwrap();
    assert!(matches!(run(&mut loaded, 5000), Err(Error::ArenaLimit { .. })));
}

/// C12: a cap and a growth of one never show in the other.
#[test]
fn two_models_have_two_arenas() {
    let mut small = load(mlp(), capped(64 * MIB)).unwrap();
    let mut large = load(mlp(), growing(ExtendStrategy::SameAsRequested)).unwrap();
    run(&mut large, 8000).unwrap();
    let (at_small, at_large) = (small.held().cpu_stats().unwrap(), large.held().cpu_stats().unwrap());
    assert_eq!((at_small.limit_bytes, at_large.limit_bytes), (Some(64 * MIB), None));
    assert!(at_small.reserved_bytes < 5 * MIB && at_large.reserved_bytes > 20 * MIB);
    run(&mut small, 100).unwrap();
    let before = reserved(&small);
    large.held().shrink_cpu().unwrap();
    assert!(reserved(&large) < 8 * MIB);
    assert_eq!(reserved(&small), before);
}

/// C04, C05: off is off: no statistics, nothing to shrink, requests served.
#[test]
fn an_arena_that_is_off_does_not_exist() {
    let mut loaded = load(mlp(), Plan::default()).unwrap();
    assert_eq!(loaded.held().cpu_stats(), None);
    assert!(loaded.held().arenas.is_empty() && loaded.held().tick.is_none());
    run(&mut loaded, 100).unwrap();
    loaded.held().shrink_cpu().unwrap();
    run(&mut loaded, 100).unwrap();
}

/// C06: only kNextPowerOfTwo keeps its first region, whatever was run first. Priming keeps that one small; without it, it
/// would hold an activation of 16 MiB.
#[test]
fn the_strategy_takes_effect_and_the_first_region_is_small() {
    let kept_by = |strategy| {
        let mut loaded = load(mlp(), growing(strategy)).unwrap();
        let at_load = reserved(&loaded);
        run(&mut loaded, 8000).unwrap();
        assert!(reserved(&loaded) > at_load + 30 * MIB);
        loaded.held().shrink_cpu().unwrap();
        reserved(&loaded)
    };
    let same = kept_by(ExtendStrategy::SameAsRequested);
    let doubled = kept_by(ExtendStrategy::NextPowerOfTwo);
    assert!(same < doubled && doubled <= same + 2 * MIB, "{same} {doubled}");
}

#[test]
fn every_key_of_the_arena_reaches_it() {
    let arena = ArenaPlan {
        initial_chunk_size_bytes: Some(16 * MIB),
        strategy: ExtendStrategy::NextPowerOfTwo,
        max_dead_bytes_per_chunk: Some(MIB),
        initial_growth_chunk_size_bytes: Some(4 * MIB),
        max_power_of_two_extend_bytes: Some(64 * MIB),
        ..ArenaPlan::default()
    };
    let mut loaded = load(mlp(), with_arena(arena)).unwrap();
    run(&mut loaded, 1).unwrap();
    assert!(reserved(&loaded) >= 20 * MIB, "the first region has the size asked for: {}", reserved(&loaded));
}

/// C10, for the arena: ONNX Runtime refuses what it does not know here; the model loads all the same.
#[test]
fn an_unknown_key_of_the_arena_does_not_stop_the_load() {
    let arena = ArenaPlan {
        max_mem_bytes: Some(64 * MIB),
        more: vec![("max_memory".to_owned(), 1)],
        ..ArenaPlan::default()
    };
    let loaded = load(mlp(), with_arena(arena)).unwrap();
    assert_eq!(loaded.held().refused, ["max_memory"]);
    assert_eq!(loaded.held().cpu_stats().unwrap().limit_bytes, Some(64 * MIB));
}

#[test]
fn a_failed_load_leaves_no_arena_registered() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = ebb_tests::models::garbage_model(folder.path());
    assert!(matches!(load(&garbage, capped(77 * MIB)), Err(Error::Model { .. })));
    let _none_is_registered = crate::arena::turn();
    // A session that asks for the environment's arena now gets one of its own, without the cap.
    let mut builder = Session::builder(&runtime().environment).unwrap().with_env_allocators().unwrap();
    let session = builder.commit_from_file(mlp()).unwrap();
    let stats = Arena::of_cpu(&session).unwrap().unwrap().stats().unwrap().unwrap();
    assert_eq!(stats.limit_bytes, None);
}

#[test]
fn what_is_no_model_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let cut = ebb_tests::models::mlp(&folder.path().join("cut"), 64, 2);
    ebb_tests::models::truncate_half(&cut);
    let lost = ebb_tests::models::mlp_external(&folder.path().join("lost"), 64, 2);
    ebb_tests::models::remove_external_data(&lost);
    let missing = folder.path().join("none.onnx");
    for file in [&cut, &lost, &missing, &folder.path().to_owned()] {
        let error = load(file, growing(ExtendStrategy::default())).unwrap_err();
        assert!(matches!(&error, Error::Model { path, .. } if path == file), "{error}");
        assert_eq!(Failure::from(error).code, Code::InvalidModel);
    }
}

#[test]
fn wrong_inputs_are_a_malformed_request() {
    let mut loaded = load(mlp(), growing(ExtendStrategy::default())).unwrap();
    let input = ort::value::Tensor::from_array(([1_usize, 3], vec![0_f32; 3])).unwrap();
    for name in ["X", "Z"] {
        let error = loaded.run(&[(name, (&input).into())], &[], &BTreeMap::new(), |_| Ok(())).unwrap_err();
        assert_eq!(Failure::from(error).code, Code::InvalidRequest, "{name}");
    }
    run(&mut loaded, 1).unwrap();
}

#[test]
fn a_refused_option_is_named() {
    let mut plan = growing(ExtendStrategy::default());
    plan.session.entries.push(("session.intra_op_thread_affinities".to_owned(), "1\0".to_owned()));
    assert!(matches!(load(mlp(), plan), Err(Error::Option { key, .. }) if key.contains("affinities")));
}

#[test]
fn weights_are_no_slack_after_load() {
    let loaded = load(activations(), growing(ExtendStrategy::SameAsRequested)).unwrap();
    let stats = loaded.held().cpu_stats().unwrap();
    assert_eq!(stats.reserved_bytes, stats.in_use_bytes);
}
