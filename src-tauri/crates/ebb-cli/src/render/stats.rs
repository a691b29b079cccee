//! Memory figures.

use std::fmt::Write as _;

use ebb_core::{ArenaSample, Sample, ShrinkReport, format_bytes, operations::Stats};

use super::{Look, Table, counted};

/// What a model holds, as a table.
pub(crate) fn stats(stats: &Stats, look: Look) -> String {
    let Stats { now, after_load, queued, shrink_after_run, cap_retries, shrinks, freed_bytes, .. } = stats;
    let mut text = format!(
        "{}  {}, {} waiting, {} gave back {}, {} since load\n",
        look.bold(&now.model),
        counted(now.runs, "run", "runs"),
        queued,
        counted(*shrinks, "shrink", "shrinks"),
        format_bytes(*freed_bytes),
        duration(now.at_ms),
    );
    if *cap_retries > 0 {
        let retries = counted(*cap_retries, "batch", "batches");
        let _ = writeln!(text, "{retries} hit the cap and ran again after a shrink");
    }
    if let Some(run) = shrink_after_run {
        let _ = writeln!(text, "it will shrink at the end of run {run}");
    }
    text.push('\n');
    text += &arenas(&now.arenas, look);
    text.push('\n');
    let mut table = Table::new(look, &["process", ">now", ">after load"]);
    table.row(["resident".into(), format_bytes(now.resident_bytes), format_bytes(after_load.resident_bytes)]);
    table.row(["private".into(), format_bytes(now.private_bytes), format_bytes(after_load.private_bytes)]);
    for pool in &now.pools {
        let before = after_load.pools.iter().find(|other| other.name == pool.name).map(|other| other.bytes);
        let name = format!("{}{}", pool.name, if pool.droppable { " (droppable)" } else { "" });
        table.row([name, format_bytes(pool.bytes), before.map_or_else(|| "-".into(), format_bytes)]);
    }
    text + &table.text(look)
}

fn arenas(arenas: &[ArenaSample], look: Look) -> String {
    if arenas.is_empty() {
        return "no arena: every tensor comes straight from the system and goes back to it\n".into();
    }
    let mut table =
        Table::new(look, &["arena", ">in use", ">reserved", ">slack", ">peak in use", ">limit", ">regions"]);
    for arena in arenas {
        table.row([
            arena.device.to_string(),
            format_bytes(arena.in_use_bytes),
            format_bytes(arena.reserved_bytes),
            format_bytes(arena.slack_bytes()),
            format_bytes(arena.peak_in_use_bytes),
            limit(arena.limit_bytes),
            arena.regions.to_string(),
        ]);
    }
    table.text(look)
}

/// What a model holds, on one line that other programs can cut up.
pub(crate) fn sample_line(stats: &Stats) -> String {
    let Sample { at_ms, resident_bytes, private_bytes, runs, arenas, .. } = &stats.now;
    let mut line = format!(
        "at_ms={at_ms} resident_bytes={resident_bytes} private_bytes={private_bytes} runs={runs} shrinks={}",
        stats.shrinks
    );
    for arena in arenas {
        let device = arena.device;
        let _ = write!(
            line,
            " {device}.in_use_bytes={} {device}.reserved_bytes={} {device}.slack_bytes={} \
             {device}.peak_in_use_bytes={} {device}.limit_bytes={}",
            arena.in_use_bytes,
            arena.reserved_bytes,
            arena.slack_bytes(),
            arena.peak_in_use_bytes,
            arena.limit_bytes.map_or_else(|| "none".into(), |bytes| bytes.to_string()),
        );
    }
    line.push('\n');
    line
}

/// What a shrink did.
pub(crate) fn shrink_report(report: &ShrinkReport, look: Look) -> String {
    let mut text = String::new();
    if report.targets.is_empty() {
        let why = if report.dropped.is_empty() {
            ": no arena here: every tensor comes straight from the system and goes back to it"
        } else {
            ""
        };
        let _ = writeln!(text, "{}  nothing was shrunk{why}", look.bold(&report.model));
    } else {
        let targets: Vec<_> = report.targets.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            text,
            "{}  {} gave back {} in {}{}",
            look.bold(&report.model),
            targets.join(", "),
            look.good(format_bytes(report.freed_bytes)),
            micros(report.took_us),
            if report.trim_us > 0 {
                format!(", heap trimmed in {}", micros(report.trim_us))
            } else {
                String::new()
            },
        );
        text.push('\n');
        let mut table = Table::new(look, &["", ">before", ">after"]);
        for (name, before, after) in [
            ("reserved", report.reserved_before_bytes, report.reserved_after_bytes),
            ("resident", report.resident_before_bytes, report.resident_after_bytes),
            ("private", report.private_before_bytes, report.private_after_bytes),
        ] {
            table.row([name.to_owned(), format_bytes(before), format_bytes(after)]);
        }
        text += &table.text(look);
    }
    for pool in &report.pools_dropped {
        let _ = writeln!(text, "dropped {}: {}", pool.name, format_bytes(pool.bytes));
    }
    for dropped in &report.dropped {
        let _ = writeln!(text, "{} {}: {}", look.warn("left out"), dropped.target, dropped.reason);
    }
    text
}

fn limit(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "none".into(), format_bytes)
}

pub(crate) fn micros(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms / 1_000 % 60),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use ebb_core::{DroppedTarget, Memory, Pool, Target};

    use super::*;

    /// A model that holds 512 MiB of slack.
    pub(crate) fn sample() -> Sample {
        let arena = ArenaSample {
            device: Target::cpu(0),
            in_use_bytes: 87 << 20,
            reserved_bytes: 599 << 20,
            peak_in_use_bytes: 590 << 20,
            limit_bytes: None,
            regions: 7,
            shrinkages: 2,
        };
        let pools = vec![Pool { name: "weights".into(), bytes: 90 << 20, droppable: false }];
        let memory =
            Memory { resident_bytes: 706 << 20, private_bytes: 690 << 20, arenas: vec![arena], pools };
        Sample::new("minilm", 83_000, 150, memory)
    }

    fn some_stats() -> Stats {
        let mut after_load = sample();
        after_load.resident_bytes = 183 << 20;
        after_load.private_bytes = 160 << 20;
        Stats {
            now: sample(),
            after_load,
            history: Vec::new(),
            unloads_in_ms: None,
            shrink_after_run: Some(151),
            queued: 3,
            cap_retries: 1,
            shrinks: 2,
            freed_bytes: 1 << 30,
        }
    }

    #[test]
    fn figures_of_a_model() {
        insta::assert_snapshot!(stats(&some_stats(), Look::plain()), @r"
        minilm  150 runs, 3 waiting, 2 shrinks gave back 1.0 GiB, 1 min 23 s since load
        1 batch hit the cap and ran again after a shrink
        it will shrink at the end of run 151

        arena    in use   reserved      slack  peak in use  limit  regions
        cpu:0  87.0 MiB  599.0 MiB  512.0 MiB    590.0 MiB   none        7

        process         now  after load
        resident  706.0 MiB   183.0 MiB
        private   690.0 MiB   160.0 MiB
        weights    90.0 MiB    90.0 MiB
        ");
        insta::assert_snapshot!(sample_line(&some_stats()), @"at_ms=83000 resident_bytes=740294656 private_bytes=723517440 runs=150 shrinks=2 cpu:0.in_use_bytes=91226112 cpu:0.reserved_bytes=628097024 cpu:0.slack_bytes=536870912 cpu:0.peak_in_use_bytes=618659840 cpu:0.limit_bytes=none");
    }

    #[test]
    fn a_model_without_an_arena_says_so() {
        let mut figures = some_stats();
        figures.now.arenas.clear();
        assert!(stats(&figures, Look::plain()).contains("no arena"));
    }

    #[test]
    fn what_a_shrink_did() {
        let mut report = ShrinkReport {
            model: "minilm".into(),
            freed_bytes: 512 << 20,
            reserved_before_bytes: 599 << 20,
            reserved_after_bytes: 87 << 20,
            resident_before_bytes: 706 << 20,
            resident_after_bytes: 190 << 20,
            private_before_bytes: 690 << 20,
            private_after_bytes: 174 << 20,
            took_us: 15_300,
            trim_us: 900,
            targets: vec![Target::cpu(0)],
            dropped: vec![DroppedTarget { target: Target::gpu(0), reason: "no arena here".into() }],
            pools_dropped: Vec::new(),
        };
        insta::assert_snapshot!(shrink_report(&report, Look::plain()), @r"
        minilm  cpu:0 gave back 512.0 MiB in 15.3 ms, heap trimmed in 900 µs

                     before      after
        reserved  599.0 MiB   87.0 MiB
        resident  706.0 MiB  190.0 MiB
        private   690.0 MiB  174.0 MiB
        left out gpu:0: no arena here
        ");
        report.targets.clear();
        insta::assert_snapshot!(shrink_report(&report, Look::plain()), @r"
        minilm  nothing was shrunk
        left out gpu:0: no arena here
        ");
        report.dropped.clear();
        insta::assert_snapshot!(shrink_report(&report, Look::plain()), @"minilm  nothing was shrunk: no arena here: every tensor comes straight from the system and goes back to it");
        report.dropped.push(DroppedTarget { target: Target::gpu(0), reason: "no arena here".into() });
        assert!(shrink_report(&report, Look::colored()).contains("\u{1b}["));
    }
}
