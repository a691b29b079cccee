//! Plugins in the making.

use std::fmt::Write as _;

use ebb_author::{BuildReport, CheckReport, NewReport, Promised, Remark, ReplayReport};
use ebb_core::{PromiseFigure, format_bytes};
use ebb_trace::{Decided, Decision, Figures};

use super::{Look, Table, counted, stats::duration};

/// Decisions of a replay that are shown; with --json all are.
const SHOWN: usize = 20;

/// A plugin that was begun, and how to go on.
pub(crate) fn new_plugin(made: &NewReport, look: Look) -> String {
    let NewReport { id, world, lang, folder, files, next } = made;
    let mut text = format!("{}  a {world} in {lang}, in {}\n", look.bold(id), folder.display());
    let _ = writeln!(text, "yours to change: {}\n", files.join(", "));
    for command in next {
        let _ = writeln!(text, "  {command}");
    }
    text
}

/// A component that was built.
pub(crate) fn built_plugin(built: &BuildReport, look: Look) -> String {
    let BuildReport { manifest, lang, path, size_bytes, imports, took_ms, warnings } = built;
    let mut text = format!(
        "{} {}  {}, {}, built from {lang} in {}\n",
        look.bold(&manifest.id),
        manifest.version,
        path.display(),
        format_bytes(*size_bytes),
        duration(*took_ms)
    );
    text += &imported(imports);
    text + &remarks(&[], warnings, look)
}

/// What was found of a plugin.
pub(crate) fn checked_plugin(checked: &CheckReport, look: Look) -> String {
    let CheckReport { path, manifest, size_bytes, imports, problems, warnings } = checked;
    let mut text = match manifest {
        Some(manifest) => format!(
            "{} {}  a {} for ebb:plugin {}",
            look.bold(&manifest.id),
            manifest.version,
            manifest.world,
            manifest.contract
        ),
        None => look.bold(path.display()),
    };
    if let Some(bytes) = size_bytes {
        let _ = write!(text, ", {}", format_bytes(*bytes));
    }
    text.push('\n');
    if size_bytes.is_some() {
        text += &imported(imports);
    }
    for request in manifest.iter().flat_map(|manifest| &manifest.capabilities) {
        let _ = writeln!(text, "asks for {}: {}", request.capability, request.reason);
    }
    text += &remarks(problems, warnings, look);
    if problems.is_empty() {
        let _ = writeln!(text, "{}", look.good("nothing is wrong with it"));
    }
    text
}

fn imported(imports: &[String]) -> String {
    if imports.is_empty() { "imports nothing\n".into() } else { format!("imports {}\n", imports.join(", ")) }
}

fn remarks(problems: &[Remark], warnings: &[Remark], look: Look) -> String {
    let problems = problems.iter().map(|remark| (look.bad("problem:"), remark));
    let warnings = warnings.iter().map(|remark| (look.warn("warning:"), remark));
    let mut text = String::new();
    for (kind, Remark { message, hint, .. }) in problems.chain(warnings) {
        let _ = writeln!(text, "{kind} {message}");
        if let Some(hint) = hint {
            let _ = writeln!(text, "  {}", look.dim(hint));
        }
    }
    text
}

/// What a policy decided over a trace, and what came of it.
pub(crate) fn replayed_policy(report: &ReplayReport, look: Look) -> String {
    let ReplayReport { plugin, kind, provider, replay, call_us, given_up, promise } = report;
    let mut text = format!(
        "{}  {} over {} of {kind} on {provider}\n\n",
        look.bold(plugin),
        counted(replay.runs, "request", "requests"),
        duration(replay.without.duration_ms)
    );
    text += &decisions(&replay.decisions, replay.decided, look);
    for (at_ms, reason) in replay.failures.iter().take(SHOWN) {
        let _ = writeln!(text, "{} after {}: {reason}", look.bad("failed"), duration(*at_ms));
    }
    if let Some(why) = given_up {
        let _ = writeln!(text, "{} {why}", look.bad("a host would detach it:"));
    }
    let _ = writeln!(text, "\n{}", effect(&replay.without, &replay.with, look));
    let each = call_us.map_or_else(String::new, |us| format!(", {us} µs each at the median"));
    let _ = writeln!(text, "asked {}{each}", counted(replay.asked, "time", "times"));
    if replay.estimated_runs > 0 {
        let some = counted(replay.estimated_runs, "request is", "requests are");
        let _ = writeln!(text, "what {some} estimated to need: the recording does not show it");
    }
    if let Some(promise) = promise {
        text += &promised(promise, look);
    }
    text
}

fn decisions(decisions: &[Decided], all: u64, look: Look) -> String {
    if decisions.is_empty() {
        return "it decided nothing but keep\n".into();
    }
    let mut table = Table::new(look, &[">after", "asked on", "decided", ">in use", ">reserved", ">then"]);
    for one in decisions.iter().take(SHOWN) {
        table.row([
            duration(one.at_ms),
            one.hook.to_owned(),
            decided(&one.decision),
            format_bytes(one.in_use_bytes),
            format_bytes(one.reserved_bytes),
            format_bytes(one.reserved_after_bytes),
        ]);
    }
    let mut text = table.text(look);
    let more = all.saturating_sub(SHOWN as u64);
    if more > 0 {
        let _ = writeln!(text, "and {more} more");
    }
    text
}

fn decided(decision: &Decision) -> String {
    let on = |devices: &[String]| match devices {
        [] => String::new(),
        some => format!(" {}", some.join(" ")),
    };
    match decision {
        Decision::Keep => "keep".into(),
        Decision::Shrink(devices) => format!("shrink{}", on(devices)),
        Decision::ShrinkAfterNextRun(devices) => format!("shrink after next run{}", on(devices)),
        Decision::SetRuntimeOption { key, value: Some(value) } => format!("set {key}={value}"),
        Decision::SetRuntimeOption { key, value: None } => format!("remove {key}"),
        Decision::Reload => "reload".into(),
        Decision::Unload => "unload".into(),
        Decision::Other(name) => format!("{name} (unknown)"),
    }
}

fn effect(without: &Figures, with: &Figures, look: Look) -> String {
    type Of = fn(&Figures) -> String;
    let rows: [(&str, Of); 9] = [
        ("reserved at most", |of| format_bytes(of.peak_bytes)),
        ("reserved on average", |of| format_bytes(of.mean_bytes)),
        ("reserved at the end", |of| format_bytes(of.end_bytes)),
        ("given back", |of| format_bytes(of.freed_bytes)),
        ("shrinks", |of| format!("{} in {}", of.shrinks, duration(of.shrink_ms))),
        ("loaded again", |of| format!("{} in {}", of.reloads, duration(of.reload_ms))),
        ("idle with slack, longest", |of| duration(of.idle_slack_ms)),
        ("over twice what is in use", |of| format!("{:.1} % of the time", of.over_twice_in_use * 100.0)),
        ("short of memory, longest", |of| duration(of.relief_ms)),
    ];
    let mut table = Table::new(look, &["", ">without", ">with"]);
    for (name, of) in rows {
        table.row([name.to_owned(), of(without), of(with)]);
    }
    table.text(look)
}

fn promised(promise: &Promised, look: Look) -> String {
    let Promised { words, figure, at_most, value, kept } = promise;
    let number = |value: f64| match figure {
        PromiseFigure::IdleSlackMs | PromiseFigure::ReliefMs => format!("{value:.0} ms"),
        _ => format!("{value:.2}"),
    };
    let found = value.map_or_else(|| "no figure".to_owned(), &number);
    let mark = if *kept { look.good("kept:") } else { look.bad("broken:") };
    format!("promise {mark} {words} ({found}, at most {})\n", number(*at_most))
}

#[cfg(test)]
mod tests {
    use ebb_author::RemarkCode;
    use ebb_trace::Report;

    use super::*;

    #[test]
    fn what_is_wrong_stands_with_what_to_do() {
        let remark = |code, message: &str, hint: Option<&str>| Remark {
            code,
            message: message.into(),
            hint: hint.map(Into::into),
        };
        let mut checked = CheckReport {
            path: "x.wasm".into(),
            manifest: None,
            size_bytes: Some(2048),
            imports: vec!["ebb:plugin/store@0.1.0".into()],
            problems: vec![remark(RemarkCode::Manifest, "the component has no manifest", Some("build it"))],
            warnings: vec![remark(RemarkCode::Wasi, "it brings WASI", None)],
        };
        insta::assert_snapshot!(checked_plugin(&checked, Look::plain()), @r"
        x.wasm, 2.0 KiB
        imports ebb:plugin/store@0.1.0
        problem: the component has no manifest
          build it
        warning: it brings WASI
        ");
        checked.problems.clear();
        assert!(checked_plugin(&checked, Look::plain()).ends_with("nothing is wrong with it\n"));
    }

    #[test]
    fn a_replay_shows_decisions_their_effect_and_the_promise() {
        let without = Figures {
            duration_ms: 60_000,
            peak_bytes: 300 << 20,
            mean_bytes: 200 << 20,
            end_bytes: 300 << 20,
            idle_slack_ms: 40_000,
            over_twice_in_use: 0.5,
            ..Figures::default()
        };
        let with = Figures {
            mean_bytes: 110 << 20,
            end_bytes: 100 << 20,
            freed_bytes: 200 << 20,
            shrinks: 1,
            shrink_ms: 70,
            over_twice_in_use: 0.05,
            ..without.clone()
        };
        let decision = Decided {
            at_ms: 1_500,
            hook: "run",
            decision: Decision::Shrink(Vec::new()),
            in_use_bytes: 90 << 20,
            reserved_bytes: 300 << 20,
            reserved_after_bytes: 100 << 20,
        };
        let replay = Report {
            without,
            with,
            runs: 20,
            estimated_runs: 1,
            asked: 60,
            decided: 1,
            failed: 1,
            decisions: vec![decision],
            failures: vec![(2_000, "it failed: oh".into())],
        };
        let promise = Promised {
            words: "Little is idle.".into(),
            figure: PromiseFigure::IdleSlackMs,
            at_most: 1_000.0,
            value: Some(40_000.0),
            kept: false,
        };
        let report = ReplayReport {
            plugin: "p".into(),
            kind: "embeddings".into(),
            provider: "cpu".into(),
            replay,
            call_us: Some(3),
            given_up: None,
            promise: Some(promise),
        };
        insta::assert_snapshot!(replayed_policy(&report, Look::plain()));
    }
}
