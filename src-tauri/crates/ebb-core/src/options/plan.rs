//! As meant: options translated, checked against the catalogue, ready for ONNX Runtime.

use super::{OptionLine, Requested, Scope, arena, provider_name, translate::Understood};
use crate::{Failure, Target};

/// How an arena grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExtendStrategy {
    /// Powers of two (0).
    NextPowerOfTwo,
    /// Just what was asked for (1): everything free can be given back. Ebb's default.
    #[default]
    SameAsRequested,
}

impl ExtendStrategy {
    /// ONNX Runtime's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NextPowerOfTwo => "kNextPowerOfTwo",
            Self::SameAsRequested => "kSameAsRequested",
        }
    }

    /// Its number, as text.
    pub(super) const fn number(self) -> &'static str {
        match self {
            Self::NextPowerOfTwo => "0",
            Self::SameAsRequested => "1",
        }
    }
}

/// The model's own CPU arena.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArenaPlan {
    /// How it grows.
    pub strategy: ExtendStrategy,
    /// Absolute cap, ONNX Runtime's `max_mem`.
    pub max_mem_bytes: Option<u64>,
    /// Cap on top of the weights (`working_mem`).
    pub working_mem_bytes: Option<u64>,
    /// First region.
    pub initial_chunk_size_bytes: Option<u64>,
    /// Dead bytes tolerated in a chunk before it is split.
    pub max_dead_bytes_per_chunk: Option<u64>,
    /// First region after a shrink.
    pub initial_growth_chunk_size_bytes: Option<u64>,
    /// Largest step of doubling.
    pub max_power_of_two_extend_bytes: Option<u64>,
    /// Keys that Ebb does not know, for `CreateArenaCfgV2` as they are.
    pub more: Vec<(String, u64)>,
}

/// Options of the session: typed calls where ONNX Runtime ignores the string, entries for the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionPlan {
    /// `AddSessionConfigEntry`, in order.
    pub entries: Vec<(String, String)>,
    /// Threads of the intra-op pool; `None`: Ebb's default.
    pub intra_threads: Option<u32>,
    /// Threads of the inter-op pool.
    pub inter_threads: Option<u32>,
    /// Whether independent nodes run in parallel.
    pub parallel_execution: Option<bool>,
    /// 0 off, 1 basic, 2 extended, 3 layout, 99 all.
    pub graph_optimization_level: Option<u32>,
    /// Whether activations are laid out as one block a shape.
    pub mem_pattern: Option<bool>,
    /// `SetOptimizedModelFilePath`.
    pub optimized_model_path: Option<String>,
    /// `EnableProfiling` with this prefix.
    pub profiling_prefix: Option<String>,
    /// `SetSessionLogId`.
    pub log_id: Option<String>,
    /// `SetSessionLogSeverityLevel`.
    pub log_severity: Option<u32>,
    /// `SetSessionLogVerbosityLevel`.
    pub log_verbosity: Option<i32>,
    /// `SetDeterministicCompute`.
    pub deterministic: Option<bool>,
}

/// Options of one execution provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderPlan {
    /// Ebb's name for it.
    pub name: String,
    /// Key and value, as forwarded.
    pub options: Vec<(String, String)>,
}

/// Everything that loading a model will do with its options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The session.
    pub session: SessionPlan,
    /// The CPU arena; `None`: off, every tensor straight from the system.
    pub arena: Option<ArenaPlan>,
    /// Options by provider, whether or not it will be used.
    pub providers: Vec<ProviderPlan>,
    /// Run options for every run, without [`super::SHRINK_KEY`].
    pub run: Vec<(String, String)>,
    /// Targets of [`super::SHRINK_KEY`], to be applied after each whole request.
    pub shrink_after_each: Vec<Target>,
    /// One line for each option, `effective` still empty.
    pub lines: Vec<OptionLine>,
}

/// Says what a load's options mean on the provider that will run it (`cpu`, `cuda`, in any spelling; `auto` where that is
/// still open). Lines come in the order of the requests, one each; lines for what Ebb sets by itself follow, their
/// `requested` empty. A line's `effective` is filled in only where the option is known to do nothing, which is logged too.
///
/// ```
/// use ebb_core::options::{ExtendStrategy, Requested, Scope, plan};
/// let typed = Requested { scope: Scope::Session, key: "arena_extend_strategy".into(), value: "0".into() };
/// let plan = plan(&[typed], "cpu").unwrap();
/// assert_eq!(plan.arena.unwrap().strategy, ExtendStrategy::NextPowerOfTwo);
/// ```
///
/// # Errors
/// [`crate::Code::InvalidValue`] for a value that does not fit a known key's type, [`crate::Code::InvalidTarget`] for a
/// malformed shrink target, [`crate::Code::Conflict`] where two cannot both hold.
pub fn plan(requested: &[Requested], provider: &str) -> Result<Plan, Failure> {
    let provider = provider_name(provider);
    let options = requested.iter().map(Understood::read).collect::<Result<Vec<_>, _>>()?;
    refuse_contradictions(&options)?;
    let plan = planned(&options, &provider)?;
    plan.lines.iter().for_each(OptionLine::log);
    Ok(plan)
}

/// The plan of options that do not contradict each other.
pub(super) fn planned(options: &[Understood<'_>], provider: &str) -> Result<Plan, Failure> {
    let mut plan = Plan { arena: arena::planned(options)?, ..Plan::default() };
    for option in options {
        let line = option.carry_out(&mut plan, provider);
        plan.lines.push(line);
    }
    let defaults = defaults(&plan, options);
    plan.lines.extend(defaults);
    Ok(plan)
}

/// The same option twice, in whatever spelling, with two values.
fn refuse_contradictions(options: &[Understood<'_>]) -> Result<(), Failure> {
    for (index, second) in options.iter().enumerate() {
        if let Some(failure) = options[..index].iter().find_map(|first| second.contradicts(first)) {
            return Err(failure);
        }
    }
    Ok(())
}

/// Lines for what Ebb sets where nothing was asked for.
fn defaults(plan: &Plan, options: &[Understood<'_>]) -> Vec<OptionLine> {
    let Some(arena) = &plan.arena else { return Vec::new() };
    let ours = [
        (
            Scope::Arena,
            "arena_extend_strategy",
            arena.strategy.number(),
            "Ebb's default: a shrink can then give all free memory back",
        ),
        (
            Scope::Session,
            "session.use_env_allocators",
            "1",
            "set by Ebb: it gives the model an arena of its own",
        ),
    ];
    ours.into_iter()
        .filter(|(scope, key, ..)| !options.iter().any(|option| option.place() == (scope, *key)))
        .map(|(scope, key, value, note)| OptionLine {
            scope,
            key: key.to_owned(),
            requested: String::new(),
            forwarded: Some(format!("{key}={value}")),
            effective: None,
            note: Some(note.to_owned()),
            warning: false,
        })
        .collect()
}

#[cfg(test)]
mod tests;
