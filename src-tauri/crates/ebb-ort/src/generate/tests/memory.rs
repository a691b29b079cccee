//! What a chat model holds, and how it comes back.

use std::sync::atomic::{AtomicBool, Ordering};

use ebb_core::{DroppedPool, Target, options::ExtendStrategy};

use super::*;
use crate::{generate::Generator, scene};

const MIB: u64 = 1 << 20;

fn prefix_bytes(bytes: u64) -> LoadOptions {
    LoadOptions { prefix_cache_bytes: Some(bytes), ..LoadOptions::default() }
}

#[test]
fn a_cache_is_in_the_arena_while_it_runs_kept_after_and_dropped_by_a_shrink() {
    for model in every_layout() {
        let mut chat = Chat::new(model);
        let idle = chat.in_use();
        let mut run = chat.begin(after(&letters(300), 20)).unwrap();
        let mut text = String::new();
        while text.is_empty() {
            chat.step(&mut run, &mut text).unwrap();
        }
        let kv_bytes = chat.pool("kv");
        assert!(kv_bytes >= 300 * model.kv_bytes_per_token(), "{model:?}: {kv_bytes}");
        assert!(chat.in_use() >= idle + kv_bytes, "it is of the model's arena");
        assert_eq!(chat.pool("prefix"), 0);
        while chat.step(&mut run, &mut text).unwrap().is_none() {}
        drop(run);
        assert_eq!(chat.pool("kv"), 0);
        let kept = chat.pool("prefix");
        assert!(kept >= 319 * model.kv_bytes_per_token());

        // A standing rule leaves the next turn its cache, one that asks for all of it does not.
        let slack = chat.session.control().shrink_slack(None).unwrap();
        assert_eq!((slack.pools_dropped.len(), chat.pool("prefix")), (0, kept));
        let report = chat.session.control().shrink(None).unwrap();
        assert_eq!(report.pools_dropped, [DroppedPool { name: "prefix".to_owned(), bytes: kept }]);
        assert!(report.freed_bytes >= kept, "{report:?}");
        assert_eq!((chat.pool("prefix"), chat.in_use()), (0, idle));
        let again = chat.session.control().shrink(Some(&[Target::cpu(0)])).unwrap();
        assert!(again.pools_dropped.is_empty());
        let (_, figures) = chat.answer(after(&letters(300), 1)).unwrap();
        assert_eq!(figures.cached_tokens, 0);
    }
}

#[test]
fn a_shrink_of_what_is_not_there_drops_nothing() {
    let mut chat = Chat::new(ChatModel::default());
    chat.answer(after(&letters(50), 5)).unwrap();
    let report = chat.session.control().shrink(Some(&[Target::gpu(0)])).unwrap();
    assert_eq!((report.pools_dropped.len(), report.dropped.len()), (0, 1));
    assert!(chat.pool("prefix") > 0);
}

#[test]
fn a_cancelled_generation_gives_its_cache_back_at_once() {
    for model in every_layout() {
        let mut chat = Chat::new(model);
        let idle = chat.in_use();
        let options = LoadOptions { prefill_tokens: Some(64), ..LoadOptions::default() };
        let mut slow = Chat::with(model, options);
        for chat in [&mut chat, &mut slow] {
            let mut run = chat.begin(after(&letters(300), 100)).unwrap();
            let mut text = String::new();
            for _ in 0..3 {
                chat.step(&mut run, &mut text).unwrap();
            }
            assert!(chat.in_use() > idle);
            drop(run);
            assert_eq!((chat.in_use(), chat.pool("kv"), chat.pool("prefix")), (idle, 0, 0), "{model:?}");
        }
    }
}

#[test]
fn the_last_conversations_that_fit_are_kept() {
    let model = ChatModel::default();
    let cache_bytes = 128 * model.kv_bytes_per_token();
    let mut chat = Chat::with(model, prefix_bytes(2 * cache_bytes));
    let prompts = ["1234", "5678", "wxyz"].map(|text| text.repeat(20));
    for prompt in &prompts {
        chat.answer(after(prompt, 20)).unwrap();
    }
    assert_eq!(chat.pool("prefix"), 2 * cache_bytes);
    let mut cached = |prompt: &str| chat.answer(after(prompt, 20)).unwrap().1.cached_tokens;
    assert_eq!(cached(&prompts[2]), 78);
    assert_eq!(cached(&prompts[1]), 78);
    assert_eq!(cached(&prompts[0]), 0, "the first went when the third came");
    let mut none = Chat::with(model, prefix_bytes(0));
    none.answer(after("abcd", 5)).unwrap();
    assert_eq!(none.pool("prefix"), 0);
}

#[test]
fn what_a_long_prompt_takes_besides_its_cache_stays_flat() {
    for model in
        [ChatModel::default(), ChatModel { all_scores: true, in_place: false, ..ChatModel::default() }]
    {
        let besides = |tokens: usize| {
            let mut chat = Chat::with(ChatModel { layers: 1, ..model }, prefix_bytes(0));
            let (text, figures) = chat.answer(after(&letters(tokens), 2)).unwrap();
            assert_eq!(text, "ab");
            figures.peak_arena_bytes - figures.kv_bytes
        };
        let (short, long) = (besides(400), besides(2000));
        assert!(long < short + 4 * MIB, "{short} and {long}: {model:?}");
    }
}

/// At the cap: kept caches go first, then the run is tried again; what is too much is told with its figures.
#[test]
fn at_the_cap_kept_caches_make_room_and_what_is_too_long_is_told() {
    for model in every_layout() {
        let arena_options = [
            ("working_mem".to_owned(), (16 * MIB).to_string()),
            ("arena_extend_strategy".to_owned(), "kSameAsRequested".to_owned()),
        ]
        .into();
        let model = ChatModel { context_tokens: 12_800, ..model };
        let mut chat = Chat::with(model, LoadOptions { arena_options, ..LoadOptions::default() });
        // One fits under the cap, two do not. Where the old cache and the new are there at once, one is two.
        let wide = ChatModel { half: false, ..model }.kv_bytes_per_token();
        let tokens = (if model.in_place { 9 * MIB } else { 5 * MIB }) / wide;
        let mut retries = 0;
        for letters in ["abcd", "1234", "abcd"] {
            let prompt = letters.repeat(tokens as usize / 4);
            let answer = chat.answer(after(&prompt, 3));
            let (text, figures) = answer.unwrap_or_else(|failure| panic!("{model:?}, {letters}: {failure}"));
            assert_eq!((text.as_str(), figures.cached_tokens), (&letters[..3], 0), "{model:?}");
            retries += figures.cap_retries;
        }
        assert!(retries > 0, "{model:?}");
        let failure = chat.answer(after(&letters(12_000), 3)).unwrap_err();
        assert_eq!(failure.code, Code::ArenaLimit, "{model:?}: {failure}");
        assert!(failure.details.contains_key("requested_bytes"));
        assert_eq!(chat.pool("kv"), 0);
        assert_eq!(chat.answer(after(&letters(40), 3)).unwrap().0, "abc", "the model goes on");
    }
}

#[test]
fn controls_measure_and_shrink_while_a_generation_runs() {
    let mut chat = Chat::new(ChatModel::default());
    let control = chat.session.control();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let controls = scope.spawn(|| {
            let mut dropped = 0;
            while !done.load(Ordering::Relaxed) {
                dropped += control.shrink(None).unwrap().pools_dropped.len();
                control.memory().unwrap();
            }
            dropped
        });
        for _ in 0..20 {
            assert_eq!(chat.answer(after(&letters(40), 200)).unwrap().0, letters(200));
        }
        done.store(true, Ordering::Relaxed);
        assert!(controls.join().unwrap() > 0);
    });
}

/// What only a run of the model's own session can shrink, as a GPU's arena, waits for the end of the whole generation.
#[test]
fn what_waits_for_a_run_is_shrunk_once_after_a_generation_with_its_cache_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = ChatModel::default().write(folder.path()).join("model.onnx");
    let loaded = scene::load(&file, scene::growing(ExtendStrategy::SameAsRequested)).unwrap();
    let idle = loaded.held().cpu_stats().unwrap();
    let options = LoadOptions::default();
    let mut generator = Generator::open(folder.path(), &file, loaded, &scene::cpu(), &options).unwrap();
    let mut run = generator.begin(&after(&letters(300), 20), &BTreeMap::new()).unwrap();
    generator.loaded.held().shrink_on_next_run(Target::cpu(0));
    let mut ended = false;
    while !ended {
        assert_eq!(generator.loaded.shrinks_waiting(), [Target::cpu(0)], "not by a token");
        ended = matches!(generator.step(&mut run, &mut Vec::new()).unwrap(), Step::Done(_));
    }
    assert!(generator.loaded.shrinks_waiting().is_empty());
    let stats = generator.loaded.held().cpu_stats().unwrap();
    assert_eq!(stats.in_use_bytes, idle.in_use_bytes);
    assert!(stats.shrinkages > idle.shrinkages);
    let left_bytes = stats.reserved_bytes - idle.reserved_bytes;
    assert!(left_bytes < MIB, "only what the run itself took: {stats:?}");
}

/// Every token asks for something a little larger where a cache is not taken in place; the arena must not fill with what
/// the tokens before left behind.
#[test]
fn a_long_answer_leaves_little_slack_behind() {
    for model in every_layout() {
        let mut chat = Chat::with(model, prefix_bytes(0));
        let reserved = |chat: &Chat| chat.session.control().memory().unwrap().arenas[0].reserved_bytes;
        let before = reserved(&chat);
        let (_, figures) = chat.answer(after(&letters(8), 800)).unwrap();
        let left_bytes = reserved(&chat) - before;
        assert!(left_bytes < figures.kv_bytes + 32 * MIB, "{left_bytes}, {}: {model:?}", figures.kv_bytes);
    }
}
