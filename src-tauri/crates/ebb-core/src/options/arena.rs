//! Options of the model's own CPU arena.

use super::{
    ArenaPlan, ExtendStrategy, OptionLine, Scope,
    check::{strategy, truth},
    resolve::{ARENA_SWITCH, Meaning},
    translate::Understood,
};
use crate::{Code, Failure, parse_bytes};

/// Read by ONNX Runtime only where regions grow in powers of two.
const POWERS_OF_TWO_ONLY: &[&str] =
    &["initial_chunk_size_bytes", "initial_growth_chunk_size_bytes", "max_power_of_two_extend_bytes"];

/// Read by ONNX Runtime only for an arena on CUDA.
const CUDA_ONLY: &[&str] =
    &["use_cuda_mempool", "cuda_mempool_release_threshold", "cuda_mempool_bytes_to_keep_on_shrink"];

/// The arena that the options ask for; `None` where they turn it off.
pub(super) fn planned<'o, 'r: 'o>(
    options: impl IntoIterator<Item = &'o Understood<'r>> + Clone,
) -> Result<Option<ArenaPlan>, Failure> {
    let off = |option: &Understood<'_>| {
        option.resolved.key == ARENA_SWITCH && option.is_known() && option.value == "0"
    };
    if options.clone().into_iter().any(off) {
        return Ok(None);
    }
    let mut plan = ArenaPlan::default();
    for option in options.into_iter().filter(|option| option.resolved.scope == Scope::Arena) {
        set(&mut plan, option);
    }
    if plan.max_mem_bytes.is_some() && plan.working_mem_bytes.is_some() {
        return Err(Failure::new(Code::Conflict, "max_mem and working_mem cannot both cap the arena")
            .hint("max_mem caps the whole arena, working_mem what lies on top of the weights: give one")
            .param("working_mem"));
    }
    Ok(Some(plan))
}

fn set(plan: &mut ArenaPlan, option: &Understood<'_>) {
    let key = option.resolved.key.as_str();
    let bytes = given_bytes(&option.value);
    match key {
        "arena_extend_strategy" if option.is_known() => {
            plan.strategy = strategy(&option.value).unwrap_or_default();
        }
        // ONNX Runtime reads 0 as no cap.
        "max_mem" => plan.max_mem_bytes = bytes.filter(|&bytes| bytes > 0),
        "working_mem" => plan.working_mem_bytes = bytes.filter(|&bytes| bytes > 0),
        "initial_chunk_size_bytes" => plan.initial_chunk_size_bytes = bytes,
        "max_dead_bytes_per_chunk" => plan.max_dead_bytes_per_chunk = bytes,
        "initial_growth_chunk_size_bytes" => plan.initial_growth_chunk_size_bytes = bytes,
        "max_power_of_two_extend_bytes" => plan.max_power_of_two_extend_bytes = bytes,
        _ => plan.more.extend(bytes.map(|bytes| (key.to_owned(), bytes))),
    }
}

/// A number as an arena takes it; `None` for -1, its default, and for what is no number.
fn given_bytes(value: &str) -> Option<u64> {
    truth(value).map(u64::from).or_else(|| parse_bytes(value).ok())
}

/// The line of an option of the arena.
pub(super) fn line(option: &Understood<'_>, arena: Option<&ArenaPlan>) -> OptionLine {
    let Some(arena) = arena else {
        return option.without_effect(
            "the arena is off (enable_cpu_mem_arena=0): nothing grows and nothing is capped",
        );
    };
    let key = option.resolved.key.as_str();
    let number = given_bytes(&option.value);
    let forwarded = number.map(|number| format!("{key}={number}"));
    match option.resolved.meaning {
        Meaning::Known(_) => {}
        _ if number.is_none() => {
            let note = "not forwarded: ONNX Runtime takes only numbers for its arena";
            return option.not_known(None, Some(note));
        }
        // Whether ONNX Runtime took it shows when the arena is made, so `effective` stays open.
        _ => return OptionLine { effective: None, ..option.not_known(forwarded, None) },
    }
    if CUDA_ONLY.contains(&key) {
        return OptionLine {
            forwarded,
            ..option.without_effect("for CUDA only: the CPU arena does not read it")
        };
    }
    if POWERS_OF_TWO_ONLY.contains(&key)
        && arena.strategy == ExtendStrategy::SameAsRequested
        && number.is_some()
    {
        let note = "read only with arena_extend_strategy=kNextPowerOfTwo; here the arena grows as requested";
        return OptionLine { forwarded, ..option.without_effect(note) };
    }
    match key {
        "arena_extend_strategy" => option.line(Some(format!("{key}={}", arena.strategy.number()))),
        "max_mem" | "working_mem" if number.unwrap_or(0) == 0 => option.line(None).noted("no cap"),
        "working_mem" => option
            .line(Some(format!("max_mem=<arena after load>+{}", number.unwrap_or(0))))
            .noted("on top of what the arena holds after load"),
        _ if number.is_none() => option.line(None).noted("ONNX Runtime's default"),
        _ => option.line(forwarded),
    }
}
