//! Every model shrunk at once.

use std::fmt::Write as _;

use ebb_core::{format_bytes, operations::ShrinkAllReport};

use super::{Look, Table, counted, stats::micros};

/// One line for each model, and what all gave back together.
pub(crate) fn shrink_all_report(all: &ShrinkAllReport, look: Look) -> String {
    if all.reports.is_empty() && all.failed.is_empty() {
        return "no model is in memory\n".to_owned();
    }
    let mut text = String::new();
    if !all.reports.is_empty() {
        let mut table = Table::new(look, &["model", ">gave back", ">took", ">reserved", ">resident"]);
        for report in &all.reports {
            table.row([
                report.model.clone(),
                format_bytes(report.freed_bytes),
                micros(report.took_us + report.trim_us),
                format_bytes(report.reserved_after_bytes),
                format_bytes(report.resident_after_bytes),
            ]);
        }
        text += &table.text(look);
        let models = counted(all.reports.len() as u64, "model", "models");
        let _ = writeln!(text, "\n{models} gave back {}", look.good(format_bytes(all.freed_bytes)));
    }
    for failed in &all.failed {
        let _ = writeln!(text, "{} {}: {}", look.warn("not shrunk"), failed.model, failed.error.message);
    }
    text
}

#[cfg(test)]
mod tests {
    use ebb_core::{Code, ErrorBody, Failure, ShrinkReport, operations::ShrinkFailure};

    use super::*;

    #[test]
    fn each_model_is_told_and_what_all_gave_back() {
        let shrunk = |model: &str, freed_bytes: u64| ShrinkReport {
            model: model.into(),
            freed_bytes,
            reserved_before_bytes: 90 << 20,
            reserved_after_bytes: (90 << 20) - freed_bytes,
            resident_before_bytes: 200 << 20,
            resident_after_bytes: 140 << 20,
            private_before_bytes: 0,
            private_after_bytes: 0,
            took_us: 12_000,
            trim_us: 0,
            targets: vec![ebb_core::Target::cpu(0)],
            dropped: Vec::new(),
            pools_dropped: Vec::new(),
        };
        let failure = Failure::new(Code::WorkerCrashed, "its worker ended");
        let failed = ShrinkFailure { model: "c".into(), error: ErrorBody::from(failure).error };
        let all = ShrinkAllReport {
            reports: vec![shrunk("a", 62 << 20), shrunk("b", 0)],
            failed: vec![failed],
            freed_bytes: 62 << 20,
        };
        insta::assert_snapshot!(shrink_all_report(&all, Look::plain()), @r"
        model  gave back     took  reserved   resident
        a       62.0 MiB  12.0 ms  28.0 MiB  140.0 MiB
        b            0 B  12.0 ms  90.0 MiB  140.0 MiB

        2 models gave back 62.0 MiB
        not shrunk c: its worker ended
        ");
        let none = ShrinkAllReport::default();
        insta::assert_snapshot!(shrink_all_report(&none, Look::plain()), @"no model is in memory");
    }
}
