//! The profiles that ship with Ebb, each value with its reason.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::{LoadOptions, operations::Profile};

/// Name of the profile that holds where none is chosen.
pub const DEFAULT_PROFILE: &str = "balanced";

static BUILT_IN: LazyLock<Vec<Profile>> = LazyLock::new(|| vec![balanced(), low_memory(), fast()]);

/// The profiles that ship with Ebb: `balanced` (the default), `low-memory`, `fast`.
///
/// ```
/// let names: Vec<_> = ebb_core::built_in_profiles().iter().map(|profile| profile.name.as_str()).collect();
/// assert_eq!(names, ["balanced", "low-memory", "fast"]);
/// ```
pub fn built_in_profiles() -> &'static [Profile] {
    &BUILT_IN
}

fn balanced() -> Profile {
    profile(
        DEFAULT_PROFILE,
        "Full speed, and memory comes back soon after a burst. The default.",
        LoadOptions {
            arena_options: pairs(&[("arena_extend_strategy", "kSameAsRequested")]),
            shrink_every: Some(16),
            batch_tokens: Some(1024),
            ..LoadOptions::default()
        },
        &[
            (
                "arena_extend_strategy",
                "Regions are as large as what was asked for, so a shrink can give back every one that is free. Powers of \
                 two keep the first region for good.",
            ),
            (
                "shrink_every",
                "A shrink that returns 62 MiB takes 15 to 29 ms, one with nothing to return 13 µs: spread over 16 \
                 requests neither shows in their latency, and slack from a burst is gone 16 requests later.",
            ),
            (
                "batch_tokens",
                "Enough to keep the cores busy, while the activations of one batch stay at tens of MiB for a small \
                 model, whatever the number of texts in a request.",
            ),
        ],
    )
}

fn low_memory() -> Profile {
    profile(
        "low-memory",
        "Holds little more than the weights between requests, and less during them; somewhat slower.",
        LoadOptions {
            arena_options: pairs(&[("arena_extend_strategy", "kSameAsRequested")]),
            session_options: pairs(&[
                ("session.disable_prepacking", "1"),
                ("session.enable_mem_pattern", "0"),
                ("session.intra_op.allow_spinning", "0"),
            ]),
            shrink_every: Some(1),
            batch_tokens: Some(256),
            prefix_cache_bytes: Some(0),
            ..LoadOptions::default()
        },
        &[
            (
                "arena_extend_strategy",
                "Only regions as large as what was asked for can all be given back between requests.",
            ),
            (
                "session.disable_prepacking",
                "Kernels use the weights as they lie in the file instead of a copy in their own layout. With external \
                 data they stay a mapping of the file: 29 instead of 285 MiB resident after load were measured for 256 \
                 MiB of weights. Matrix products may take longer.",
            ),
            (
                "session.enable_mem_pattern",
                "Laying a shape's activations out as one block can double what its second run needs, and every shape \
                 seen keeps an entry.",
            ),
            (
                "session.intra_op.allow_spinning",
                "Nothing to do with memory: a model that runs now and then should not keep a core awake in between.",
            ),
            (
                "shrink_every",
                "After every request. With ever-changing shapes this held 27 MiB on average where a shrink every 10 \
                 requests held 33 MiB and none 89 MiB.",
            ),
            (
                "prefix_cache_bytes",
                "No cache of a conversation waits for its next turn: each turn reads all of it again.",
            ),
            (
                "batch_tokens",
                "The activations of one batch are the peak: a quarter of the tokens needs about a quarter of them, with \
                 more batches for the same texts.",
            ),
        ],
    )
}

fn fast() -> Profile {
    profile(
        "fast",
        "Never gives memory back by itself, so that no request waits for the system; shrink by hand when needed.",
        LoadOptions {
            arena_options: pairs(&[("arena_extend_strategy", "kNextPowerOfTwo")]),
            shrink_every: Some(0),
            batch_tokens: Some(2048),
            ..LoadOptions::default()
        },
        &[
            (
                "arena_extend_strategy",
                "Fewer and larger regions: the arena asks the system less often while it grows.",
            ),
            (
                "shrink_every",
                "Never: memory once taken is there for the next request. It stays at the peak of the largest one.",
            ),
            (
                "batch_tokens",
                "Larger batches mean fewer runs for the same texts, and activations about twice as large.",
            ),
        ],
    )
}

fn profile(name: &str, description: &str, options: LoadOptions, reasons: &[(&str, &str)]) -> Profile {
    Profile {
        name: name.to_owned(),
        description: description.to_owned(),
        built_in: true,
        options,
        reasons: pairs(reasons),
    }
}

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::options::{Requested, plan};

    /// Names of the values that options set, as a profile's file would show them.
    fn values(options: &LoadOptions) -> BTreeSet<String> {
        let serde_json::Value::Object(fields) = serde_json::to_value(options).unwrap() else {
            unreachable!()
        };
        let mut names = BTreeSet::new();
        for (field, value) in fields {
            match value {
                serde_json::Value::Null => {}
                serde_json::Value::Object(options) => names.extend(options.into_iter().map(|(key, _)| key)),
                _ => assert!(names.insert(field)),
            }
        }
        names
    }

    #[test]
    fn every_value_has_its_reason_and_no_reason_is_without_value() {
        for profile in built_in_profiles() {
            let reasons: BTreeSet<_> = profile.reasons.keys().cloned().collect();
            assert_eq!(values(&profile.options), reasons, "{}", profile.name);
            assert!(profile.built_in);
        }
        assert_eq!(built_in_profiles()[0].name, DEFAULT_PROFILE);
    }

    #[test]
    fn every_option_of_a_profile_does_something() {
        for profile in built_in_profiles() {
            for line in plan(&Requested::all(&profile.options), "cpu").unwrap().lines {
                assert_eq!(line.effective, None, "{}: {line:?}", profile.name);
            }
        }
    }

    /// C06: what is typed wins over the profile, in whatever spelling and place.
    #[test]
    fn what_is_typed_wins_over_a_profile() {
        let typed = LoadOptions {
            session_options: pairs(&[("arena_extend_strategy", "0"), ("enable_mem_pattern", "1")]),
            ..LoadOptions::default()
        };
        let merged = typed.over(built_in_profiles()[1].options.clone());
        let plan = plan(&Requested::all(&merged), "cpu").unwrap();
        assert_eq!(plan.arena.unwrap().strategy.name(), "kNextPowerOfTwo");
        assert_eq!(plan.session.mem_pattern, Some(true));
    }
}
