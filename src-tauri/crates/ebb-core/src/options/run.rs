//! Run options, and the one that shrinks.

use super::{OptionLine, Requested, Scope, resolve::Meaning, translate::Understood};
use crate::{Failure, Target};

/// The run option by which ONNX Runtime shrinks arenas at the end of a run. Ebb applies it once after each whole request.
pub const SHRINK_KEY: &str = "memory.enable_memory_arena_shrinkage";

/// Says what a run option will do on a model with these arenas. Targets without an arena are dropped and said; a request is
/// served whatever is left. An empty value takes the option back.
///
/// ```
/// use ebb_core::{Target, options::{SHRINK_KEY, judge_run_option}};
/// let line = judge_run_option(SHRINK_KEY, "cpu:0;gpu:0", &[Target::cpu(0)]).unwrap();
/// assert_eq!(line.effective.as_deref(), Some("after each whole request: cpu:0"));
/// assert_eq!(line.note.as_deref(), Some("no arena here for gpu:0"));
/// ```
///
/// # Errors
/// [`crate::Code::InvalidTarget`], [`crate::Code::InvalidValue`].
pub fn judge_run_option(key: &str, value: &str, arenas: &[Target]) -> Result<OptionLine, Failure> {
    let requested = Requested { scope: Scope::Run, key: key.to_owned(), value: value.to_owned() };
    let option = Understood::read(&requested)?;
    let line = if is_shrink(&option) {
        shrink(&option, |target| arenas.contains(&target)).1
    } else {
        line(&option).1
    };
    line.log();
    Ok(line)
}

/// Whether this is the option that shrinks, in its right place.
pub(super) fn is_shrink(option: &Understood<'_>) -> bool {
    option.resolved.scope == Scope::Run && option.resolved.key == SHRINK_KEY
}

/// The targets that have an arena, and the line that tells of the others.
pub(super) fn shrink(
    option: &Understood<'_>,
    has_arena: impl Fn(Target) -> bool,
) -> (Vec<Target>, OptionLine) {
    // Reading the option has parsed them before.
    let targets = Target::parse_list(&option.value).unwrap_or_default();
    let (kept, dropped): (Vec<Target>, Vec<Target>) = targets.iter().partition(|target| has_arena(**target));
    let none = || list(&dropped, ", ");
    let line = if targets.is_empty() {
        OptionLine { effective: Some("off".to_owned()), ..option.line(None) }
    } else if kept.is_empty() {
        option.without_effect(&format!("no arena here for {}; requests are served without shrinking", none()))
    } else {
        let forwarded = option.line(Some(format!("{SHRINK_KEY}={}", list(&kept, ";"))));
        let effective = Some(format!("after each whole request: {}", list(&kept, ";")));
        let line = OptionLine { effective, ..forwarded };
        if dropped.is_empty() { line } else { line.warned(&format!("no arena here for {}", none())) }
    };
    (kept, line)
}

/// The pair that goes to every run, and the line of any other run option.
pub(super) fn line(option: &Understood<'_>) -> (Option<(String, String)>, OptionLine) {
    if option.value.trim().is_empty() {
        return (None, OptionLine { effective: Some("not set".to_owned()), ..option.line(None) });
    }
    let pair = (option.resolved.key.clone(), option.value.clone());
    let forwarded = Some(format!("{}={}", pair.0, pair.1));
    let line = match option.resolved.meaning {
        Meaning::Known(_) => option.line(forwarded),
        _ => option.not_known(forwarded, None),
    };
    (Some(pair), line)
}

fn list(targets: &[Target], between: &str) -> String {
    targets.iter().map(Target::to_string).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn check(key: &str, value: &str, arenas: &[Target], forwarded: &str, effective: &str, note: &str) {
        let line = judge_run_option(key, value, arenas).unwrap();
        let said = [&line.forwarded, &line.effective, &line.note].map(|text| text.as_deref().unwrap_or("-"));
        assert_eq!(said[..2], [forwarded, effective], "{key}={value}: {said:?}");
        assert!(said[2] == note || (note.len() > 1 && said[2].contains(note)), "{key}={value}: {said:?}");
    }

    /// C03, C04.
    #[test]
    fn targets_are_met_with_the_arenas_that_are_there() {
        let cpu = [Target::cpu(0)];
        let forwarded = "memory.enable_memory_arena_shrinkage=cpu:0";
        let after = "after each whole request: cpu:0";
        check(SHRINK_KEY, "cpu:0;gpu:0", &cpu, forwarded, after, "no arena here for gpu:0");
        check(SHRINK_KEY, "gpu:0;cpu:0", &cpu, forwarded, after, "no arena here for gpu:0");
        check(SHRINK_KEY, " CPU:0 ", &cpu, forwarded, after, "-");
        check(SHRINK_KEY, "cuda:0", &cpu, "-", "no effect", "no arena here for gpu:0");
        check(SHRINK_KEY, "cpu:0;gpu:1", &[], "-", "no effect", "no arena here for cpu:0, gpu:1");
        check(SHRINK_KEY, "", &cpu, "-", "off", "-");
        for malformed in ["disk:0", "cpu:0;;gpu:0", "cpu:x"] {
            let failure = judge_run_option(SHRINK_KEY, malformed, &cpu).unwrap_err();
            assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidTarget, Some(SHRINK_KEY)));
        }
    }

    #[test]
    fn other_run_options_are_checked_too() {
        check(
            "disable_synchronize_execution_providers",
            "true",
            &[],
            "disable_synchronize_execution_providers=1",
            "-",
            "-",
        );
        check("disable_synchronize_execution_providers", "", &[], "-", "not set", "-");
        check(
            "session.enable_mem_pattern",
            "0",
            &[],
            "session.enable_mem_pattern=0",
            "no effect",
            "an option of the session",
        );
        check(
            "enable_memory_arena_shrinkage",
            "cpu:0",
            &[],
            "enable_memory_arena_shrinkage=cpu:0",
            "no known effect",
            SHRINK_KEY,
        );
        for (key, value) in
            [("gpu_graph_id", "x"), ("", "1"), ("a", "\0"), ("disable_synchronize_execution_providers", "2")]
        {
            assert_eq!(
                judge_run_option(key, value, &[]).unwrap_err().code,
                Code::InvalidValue,
                "{key}={value}"
            );
        }
    }
}
