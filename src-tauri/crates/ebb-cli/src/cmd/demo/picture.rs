//! What the demo shows: a table that moves in a terminal, plain lines elsewhere, and figures at the end.

use std::{fmt::Write as _, io::Write as _, ops::Range};

use ebb_core::{Sample, format_bytes, operations::ModelEntry};
use serde::Serialize;

use super::{
    round::{Measured, Progress, lowest_cosine},
    workload::Workload,
};
use crate::{
    error::Result,
    render::{Live, Look, Out, Table},
};

/// Where lines are printed, so many a round.
const LINES_A_ROUND: usize = 10;

/// Where the demo shows what it does.
pub(super) struct Screen<'a> {
    out: &'a mut Out,
    live: Option<Live>,
    /// Of the rounds that are over: all are drawn to one scale.
    highest_resident_bytes: u64,
}

/// The demo as JSON.
#[derive(Serialize)]
struct Report<'a> {
    rounds: &'a [Measured],
    /// Between the vectors of the same text in both rounds.
    lowest_cosine: Option<f64>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(
        out: &'a mut Out,
        model: &ModelEntry,
        workload: &Workload,
        others: &[ModelEntry],
    ) -> Result<Self> {
        if !out.json {
            let look = out.look;
            writeln!(
                out,
                "{} requests of 1 to 32 texts of 6 to 300 words ({} texts), twice, on\n{}\n",
                workload.requests.len(),
                workload.texts(),
                look.dim(model.path.display()),
            )?;
            if !others.is_empty() {
                let names: Vec<_> = others.iter().map(|entry| entry.alias.as_str()).collect();
                writeln!(out, "also loaded, and left alone: {}\n", names.join(", "))?;
            }
            out.flush()?;
        }
        let live = (out.terminal && !out.json).then(Live::new);
        Ok(Self { out, live, highest_resident_bytes: 0 })
    }

    pub(super) fn progress(&mut self, progress: &Progress<'_>) -> Result {
        if let Some(live) = &mut self.live {
            return Ok(live.draw(&moving(progress, self.highest_resident_bytes, self.out.look))?);
        }
        let step = progress.of.div_ceil(LINES_A_ROUND);
        if !self.out.json && (progress.requests.is_multiple_of(step) || progress.requests == progress.of) {
            let line = plain(progress);
            self.out.write_all(line.as_bytes())?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// The end of a round.
    pub(super) fn shrunk(&mut self, measured: &Measured) -> Result {
        self.highest_resident_bytes = self.highest_resident_bytes.max(measured.highest_resident_bytes);
        if let Some(live) = &mut self.live {
            live.keep();
        }
        if !self.out.json {
            let text = shrunk(measured, self.out.look);
            self.out.write_all(text.as_bytes())?;
            self.out.flush()?;
        }
        Ok(())
    }

    pub(super) fn end(self, rounds: &[Measured]) -> Result {
        let cosine = match rounds {
            [one, other] => lowest_cosine(one, other),
            _ => None,
        };
        self.out.show(&Report { rounds, lowest_cosine: cosine }, |_, look| comparison(rounds, cosine, look))
    }
}

fn moving(progress: &Progress<'_>, highest_before: u64, look: Look) -> String {
    let Progress { round, requests, of, texts, took, after_load, now, resident } = progress;
    let mut text = format!("{}  {}\n\n", look.bold(round.name), look.dim(round.about));
    let width = usize::from(look.width).clamp(40, 80) - 10;
    let _ = writeln!(
        text,
        "{}  {requests} of {of} requests, {:.0} texts/s\n",
        look.good(bar(*requests, *of, 30)),
        *texts as f64 / took.as_secs_f64().max(1e-6),
    );
    let mut table = Table::new(look, &["", ">in use", ">reserved", ">slack", ">resident"]);
    for (name, sample) in [("after load", *after_load), ("now", *now)] {
        table.row(cells(name, sample));
    }
    text += &table.text(look);
    let _ = writeln!(
        text,
        "\nresident  {}",
        look.warn(sparkline(resident, *of, after_load.resident_bytes..highest_before, width))
    );
    text
}

fn cells(name: &str, sample: &Sample) -> [String; 5] {
    let in_use = sample.arenas.iter().map(|arena| arena.in_use_bytes).sum();
    [
        name.to_owned(),
        format_bytes(in_use),
        format_bytes(sample.reserved_bytes()),
        format_bytes(sample.slack_bytes()),
        format_bytes(sample.resident_bytes),
    ]
}

fn plain(progress: &Progress<'_>) -> String {
    let [_, in_use, reserved, slack, resident] = cells("", progress.now);
    format!(
        "{}: {:>4} of {} requests, in use {in_use}, reserved {reserved}, slack {slack}, resident {resident}\n",
        progress.round.name, progress.requests, progress.of,
    )
}

fn shrunk(measured: &Measured, look: Look) -> String {
    let Measured { shrink, before_shrink, after_shrink, .. } = measured;
    let took_ms = (shrink.took_us + shrink.trim_us) as f64 / 1e3;
    let what = match shrink.freed_bytes {
        0 => format!("shrink: nothing was left to give back ({took_ms:.1} ms)"),
        bytes => format!("shrunk in {took_ms:.1} ms: the arena gave back {}", look.good(format_bytes(bytes))),
    };
    format!(
        "{what}, resident {} -> {}\n\n",
        format_bytes(before_shrink.resident_bytes),
        look.good(format_bytes(after_shrink.resident_bytes)),
    )
}

fn comparison(rounds: &[Measured], cosine: Option<f64>, look: Look) -> String {
    let heads = ["resident memory", ">after load", ">highest", ">at the end", ">after shrink", ">texts/s"];
    let mut table = Table::new(look, &heads);
    for round in rounds {
        table.row([
            round.name.to_owned(),
            format_bytes(round.after_load.resident_bytes),
            format_bytes(round.highest_resident_bytes),
            format_bytes(round.before_shrink.resident_bytes),
            format_bytes(round.after_shrink.resident_bytes),
            format!("{:.0}", round.texts as f64 * 1e3 / round.took_ms.max(1) as f64),
        ]);
    }
    let mut text = table.text(look);
    if let Some(cosine) = cosine {
        let _ = writeln!(text, "\nthe vectors of both rounds agree: lowest cosine of a text {cosine:.7}");
    }
    text + "measured just now, on this machine, with this model, which is unloaded again\n"
}

fn bar(done: usize, of: usize, width: usize) -> String {
    let full = width * done / of.max(1);
    format!("{}{}", "█".repeat(full), "░".repeat(width - full))
}

/// Heights over `scale`, which the highest of the values so far extends, of `of` in all; where a column stands for
/// several, the highest of them.
fn sparkline(values: &[u64], of: usize, scale: Range<u64>, width: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let floor = scale.start;
    let most = values.iter().copied().fold(scale.end, u64::max).saturating_sub(floor).max(1);
    let columns = of.min(width).max(1);
    let column = |index: usize| {
        let from = index * of / columns;
        let until = ((index + 1) * of / columns).min(values.len());
        let highest = values.get(from..until)?.iter().copied().max()?.saturating_sub(floor);
        Some(HEIGHTS[(u128::from(highest) * 7 / u128::from(most)) as usize])
    };
    (0..columns).map_while(column).collect()
}

#[cfg(test)]
mod tests {
    use ebb_client::LoadOptions;
    use ebb_core::{ArenaSample, Memory, ShrinkReport, Target};

    use super::*;

    fn sample(resident_mib: u64) -> Sample {
        let arena = ArenaSample {
            device: Target::cpu(0),
            in_use_bytes: 87 << 20,
            reserved_bytes: resident_mib << 19,
            peak_in_use_bytes: 0,
            limit_bytes: None,
            regions: 1,
            shrinkages: 0,
        };
        let memory = Memory {
            resident_bytes: resident_mib << 20,
            private_bytes: 0,
            arenas: vec![arena],
            pools: Vec::new(),
        };
        Sample::new("m", 0, 0, memory)
    }

    fn measured(name: &'static str) -> Measured {
        Measured {
            name,
            options: LoadOptions::default(),
            texts: 1_000,
            took_ms: 10_000,
            after_load: sample(183),
            highest_resident_bytes: 706 << 20,
            before_shrink: sample(700),
            shrink: ShrinkReport {
                model: "m".into(),
                freed_bytes: 512 << 20,
                reserved_before_bytes: 0,
                reserved_after_bytes: 0,
                resident_before_bytes: 0,
                resident_after_bytes: 0,
                private_before_bytes: 0,
                private_after_bytes: 0,
                took_us: 15_000,
                trim_us: 500,
                targets: vec![],
                dropped: vec![],
                pools_dropped: vec![],
            },
            after_shrink: sample(190),
            vectors: vec![1.0, 0.0],
            dimensions: 2,
        }
    }

    #[test]
    fn the_moving_table() {
        let round = super::super::rounds().into_iter().next().unwrap();
        let progress = Progress {
            round: &round,
            requests: 75,
            of: 150,
            texts: 500,
            took: std::time::Duration::from_secs(5),
            after_load: &sample(183),
            now: &sample(600),
            resident: &[183 << 20, 200 << 20, 500 << 20, 600 << 20],
        };
        insta::assert_snapshot!(moving(&progress, 0, Look::plain()), @r"
        ONNX Runtime's defaults  the arena doubles as it grows and keeps what it took

        ███████████████░░░░░░░░░░░░░░░  75 of 150 requests, 100 texts/s

                      in use   reserved      slack   resident
        after load  87.0 MiB   91.5 MiB    4.5 MiB  183.0 MiB
        now         87.0 MiB  300.0 MiB  213.0 MiB  600.0 MiB

        resident  ▁█
        ");
        insta::assert_snapshot!(plain(&progress), @"ONNX Runtime's defaults:   75 of 150 requests, in use 87.0 MiB, reserved 300.0 MiB, slack 213.0 MiB, resident 600.0 MiB");
    }

    #[test]
    fn the_end() {
        let rounds = [measured("one way"), measured("another")];
        let cosine = lowest_cosine(&rounds[0], &rounds[1]);
        insta::assert_snapshot!(shrunk(&rounds[0], Look::plain()), @"shrunk in 15.5 ms: the arena gave back 512.0 MiB, resident 700.0 MiB -> 190.0 MiB");
        insta::assert_snapshot!(comparison(&rounds, cosine, Look::plain()), @r"
        resident memory  after load    highest  at the end  after shrink  texts/s
        one way           183.0 MiB  706.0 MiB   700.0 MiB     190.0 MiB      100
        another           183.0 MiB  706.0 MiB   700.0 MiB     190.0 MiB      100

        the vectors of both rounds agree: lowest cosine of a text 1.0000000
        measured just now, on this machine, with this model, which is unloaded again
        ");
    }

    #[test]
    fn a_sparkline_keeps_its_peaks() {
        assert_eq!(sparkline(&[0, 7, 14], 3, 0..0, 10), "▁▄█");
        let mut many = vec![0; 1000];
        many[500] = 9;
        assert_eq!(sparkline(&many, 1000, 0..0, 10), "▁▁▁▁▁█▁▁▁▁");
        assert_eq!(sparkline(&many[..550], 1000, 0..0, 10), "▁▁▁▁▁█");
        assert_eq!(sparkline(&[], 5, 0..0, 10), "");
        assert_eq!(sparkline(&[3, 7], 2, 0..14, 10), "▂▄", "to the scale of another round");
    }
}
