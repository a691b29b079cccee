//! What the demo shows: a table that moves in a terminal, plain lines elsewhere, and figures at the end.

use std::{fmt::Write as _, io::Write as _, ops::Range};

use ebb_core::{Sample, format_bytes, operations::ModelEntry};
use serde::Serialize;

use super::shrunk::Shrunk;
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
    /// Of the rounds of this part that are over: all are drawn to one scale.
    highest_resident_bytes: u64,
    /// Whether a part has been shown: the next keeps its distance.
    begun: bool,
}

/// Work that is going on, as it is drawn.
pub(super) struct Progress<'a> {
    pub(super) name: &'a str,
    pub(super) about: &'a str,
    pub(super) done: usize,
    pub(super) of: usize,
    /// What is counted.
    pub(super) unit: &'static str,
    pub(super) speed: String,
    pub(super) after_load: &'a Sample,
    pub(super) now: &'a Sample,
    /// Resident bytes of each that is done, and of the one that goes on.
    pub(super) resident: &'a [u64],
}

impl<'a> Screen<'a> {
    pub(super) fn new(out: &'a mut Out, others: &[String]) -> Result<Self> {
        let mut screen = Self { out, live: None, highest_resident_bytes: 0, begun: false };
        if !others.is_empty() {
            screen.say(|_| format!("also loaded, and left alone: {}\n\n", others.join(", ")))?;
        }
        Ok(screen)
    }

    /// Says something, where a person reads it.
    pub(super) fn say(&mut self, text: impl FnOnce(Look) -> String) -> Result {
        self.live = None;
        if !self.out.json {
            let text = text(self.out.look);
            self.out.write_all(text.as_bytes())?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// A part begins.
    pub(super) fn part(&mut self, what: &str, model: &ModelEntry) -> Result {
        self.highest_resident_bytes = 0;
        let gap = if std::mem::replace(&mut self.begun, true) { "\n\n" } else { "" };
        self.say(|look| format!("{gap}{what}\n{}\n\n", look.dim(model.path.display())))
    }

    /// A part has no model: that is said, and how to give one.
    pub(super) fn left_out<T>(&mut self, part: &str, alias: &str) -> Result<Option<T>> {
        self.say(|_| {
            format!("\n{part}: left out, there is no model '{alias}'; --{part} MODEL names another\n")
        })?;
        Ok(None)
    }

    /// A request has been done.
    pub(super) fn progress(&mut self, progress: &Progress<'_>) -> Result {
        self.moves(progress)?;
        let step = progress.of.div_ceil(LINES_A_ROUND);
        let due = progress.done.is_multiple_of(step) || progress.done == progress.of;
        if due && self.live.is_none() { self.say(|_| plain(progress)) } else { Ok(()) }
    }

    /// A request goes on.
    pub(super) fn moves(&mut self, progress: &Progress<'_>) -> Result {
        if !self.out.terminal || self.out.json {
            return Ok(());
        }
        let live = self.live.get_or_insert_with(Live::new);
        Ok(live.draw(&moving(progress, self.highest_resident_bytes, self.out.look))?)
    }

    /// The end of a round.
    pub(super) fn shrunk(&mut self, end: &Shrunk, highest_resident_bytes: u64) -> Result {
        self.highest_resident_bytes = self.highest_resident_bytes.max(highest_resident_bytes);
        self.say(|look| shrunk(end, look))
    }

    pub(super) fn end(self, report: &impl Serialize) -> Result {
        self.out.show(report, |_, _| {
            "\nmeasured just now, on this machine; the models are unloaded again\n".to_owned()
        })
    }
}

fn moving(progress: &Progress<'_>, highest_before: u64, look: Look) -> String {
    let Progress { name, about, done, of, unit, speed, after_load, now, resident } = progress;
    let mut text = format!("{}  {}\n\n", look.bold(name), look.dim(about));
    let width = usize::from(look.width).clamp(40, 80) - 10;
    let _ = writeln!(text, "{}  {done} of {of} {unit}, {speed}\n", look.good(bar(*done, *of, 30)));
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
    let Progress { name, done, of, unit, .. } = progress;
    format!(
        "{name}: {done:>4} of {of} {unit}, in use {in_use}, reserved {reserved}, slack {slack}, resident {resident}\n"
    )
}

fn shrunk(end: &Shrunk, look: Look) -> String {
    let Shrunk { shrink, before_shrink, after_shrink } = end;
    let took_ms = (shrink.took_us + shrink.trim_us) as f64 / 1e3;
    let mut text = match shrink.freed_bytes {
        0 => format!("shrink: nothing was left to give back ({took_ms:.1} ms)"),
        bytes => format!("shrunk in {took_ms:.1} ms: the arena gave back {}", look.good(format_bytes(bytes))),
    };
    for pool in &shrink.pools_dropped {
        let _ = write!(text, ", {} dropped {}", pool.name, format_bytes(pool.bytes));
    }
    format!(
        "{text}, resident {} -> {}\n\n",
        format_bytes(before_shrink.resident_bytes),
        look.good(format_bytes(after_shrink.resident_bytes)),
    )
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
pub(super) mod tests {
    use ebb_core::{ArenaSample, DroppedPool, Memory, ShrinkReport, Target};

    use super::*;
    use crate::cmd::demo::embeddings::both;

    pub(crate) fn sample(resident_mib: u64) -> Sample {
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

    pub(crate) fn shrunk() -> Shrunk {
        Shrunk {
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
        }
    }

    #[test]
    fn the_moving_table() {
        let [round, _] = both();
        let progress = Progress {
            name: round.name,
            about: round.about,
            done: 75,
            of: 150,
            unit: "requests",
            speed: "100 texts/s".to_owned(),
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
    fn a_shrink_says_what_came_back() {
        let mut end = shrunk();
        insta::assert_snapshot!(super::shrunk(&end, Look::plain()), @"shrunk in 15.5 ms: the arena gave back 512.0 MiB, resident 700.0 MiB -> 190.0 MiB");
        end.shrink.freed_bytes = 0;
        end.shrink.pools_dropped = vec![DroppedPool { name: "prefix".into(), bytes: 3 << 20 }];
        insta::assert_snapshot!(super::shrunk(&end, Look::plain()), @"shrink: nothing was left to give back (15.5 ms), prefix dropped 3.0 MiB, resident 700.0 MiB -> 190.0 MiB");
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
