//! `ebb model record`: what a model held while it was really used, for policies to be tried on. No texts are in it.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use ebb_client::{Client, EventStream, Model};
use ebb_core::{
    Code, Event, EventKind, Failure, KeepAlive, ModelKind, RunReport, Sample, ShrinkReport, operations::Stats,
};
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::interrupt::or_interrupt;
use crate::{
    error::{Error, Result, storage},
    render::{self, Out, note},
};

/// Between requests the model is sampled this often.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// Version of the format, in its first line.
const VERSION: u32 = 1;

/// What was recorded.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Recorded {
    pub(crate) model: String,
    pub(crate) file: std::path::PathBuf,
    pub(crate) runs: u64,
    pub(crate) samples: u64,
    pub(crate) shrinks: u64,
    pub(crate) took_ms: u64,
}

/// A line of a recording.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'a> {
    Trace { version: u32, kind: ModelKind, provider: &'a str, load_ms: u64, after_load: &'a Sample },
    Run(&'a RunReport),
    Sample(&'a Sample),
    Shrink { cause: &'a str, report: &'a ShrinkReport },
}

#[derive(Debug, Serialize)]
struct Timed<'a> {
    at_ms: u64,
    #[serde(flatten)]
    line: Line<'a>,
}

/// Records `alias` into `file` for so long, or until Ctrl-C, or until the model is unloaded.
pub(super) async fn run(
    client: &Client,
    alias: &str,
    file: &Path,
    time: Option<KeepAlive>,
    force: bool,
    out: &mut Out,
) -> Result {
    let model = client.model(alias);
    let info = model.info().await?;
    // First the listening, so that nothing is missed between the two.
    let events = client.events(Some(alias)).await?;
    let stats = model.runtime().stats().await?;
    let loaded = info.info.as_ref().map_or("", |info| info.provider.as_str());
    let mut recording = Recording::create(alias, file, force)?;
    let load_ms = info.info.as_ref().map_or(0, |info| info.load_ms);
    let after_load = &stats.after_load;
    recording.write(Line::Trace {
        version: VERSION,
        kind: info.kind,
        provider: loaded,
        load_ms,
        after_load,
    })?;
    if !out.json {
        note(&format!("recording '{alias}' into {}; Ctrl-C ends it\n", file.display()));
    }
    let going_on = record(&model, events, stats, &mut recording);
    let time = match time {
        Some(KeepAlive::For(time)) => time,
        // Longer than anybody waits.
        Some(KeepAlive::Forever) | None => Duration::from_secs(u64::from(u32::MAX)),
    };
    match or_interrupt(async { timeout(time, going_on).await.unwrap_or(Ok(())) }).await {
        Ok(()) | Err(Error::Interrupted) => {}
        Err(error) => return Err(error),
    }
    out.show(&recording.finish(), render::recorded)
}

async fn record(model: &Model, mut events: EventStream, first: Stats, recording: &mut Recording) -> Result {
    let mut every = interval(SAMPLE_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last = first.now;
    recording.write(Line::Sample(&last))?;
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => if !recording.event(&event?)? { return Ok(()) },
                None => return Ok(()),
            },
            _ = every.tick() => match model.runtime().stats().await {
                // While nothing changes a line a second says nothing.
                Ok(stats) if same(&stats.now, &last) => {}
                Ok(stats) => {
                    last = stats.now;
                    recording.write(Line::Sample(&last))?;
                }
                // It restarts, or was unloaded: then the event says so.
                Err(_) => {}
            },
        }
    }
}

/// Whether the two differ in nothing but their time.
fn same(one: &Sample, other: &Sample) -> bool {
    one.runs == other.runs && one.arenas == other.arenas && one.pools == other.pools
}

struct Recording {
    file: File,
    began: Instant,
    recorded: Recorded,
}

impl Recording {
    fn create(alias: &str, path: &Path, force: bool) -> Result<Self> {
        if path.exists() && !force {
            return Err(Failure::new(Code::AlreadyExists, format!("'{}' exists", path.display()))
                .hint("choose another file, or replace it: --force")
                .param("out")
                .into());
        }
        let file = File::create(path).map_err(|error| storage("write", path, &error))?;
        let recorded = Recorded { model: alias.to_owned(), file: path.to_owned(), ..Recorded::default() };
        Ok(Self { file, began: Instant::now(), recorded })
    }

    /// Writes what belongs into a recording; false once there is nothing more to come.
    fn event(&mut self, event: &Event) -> Result<bool> {
        match &event.kind {
            EventKind::Run { outcome, took_us, items, queued, after, .. } => {
                let report = RunReport {
                    model: event.model.clone(),
                    outcome: *outcome,
                    took_us: *took_us,
                    items: *items,
                    queued: *queued,
                    after: after.clone(),
                };
                self.recorded.runs += 1;
                self.write(Line::Run(&report))?;
            }
            EventKind::Shrink { cause, report } => {
                self.recorded.shrinks += 1;
                self.write(Line::Shrink { cause, report })?;
            }
            EventKind::Unloaded { .. } => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    /// Each line is whole in the file before the next begins: what is recorded so far is good whatever happens.
    fn write(&mut self, line: Line<'_>) -> Result {
        if matches!(line, Line::Sample(_)) {
            self.recorded.samples += 1;
        }
        let first = matches!(line, Line::Trace { .. });
        let at_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut text =
            if first { serde_json::to_vec(&line) } else { serde_json::to_vec(&Timed { at_ms, line }) }
                .map_err(std::io::Error::from)?;
        text.push(b'\n');
        let path = self.recorded.file.clone();
        self.file.write_all(&text).map_err(|error| storage("write", &path, &error))
    }

    fn finish(self) -> Recorded {
        let took_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Recorded { took_ms, ..self.recorded }
    }
}

#[cfg(test)]
mod tests {
    use ebb_core::{Memory, Outcome};

    use super::*;

    fn event(kind: EventKind) -> Event {
        Event { seq: 1, time_ms: 1, model: "m".into(), kind }
    }

    #[test]
    fn a_recording_is_whole_lines_without_texts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let sample = Sample::new("m", 5, 1, Memory { resident_bytes: 7, ..Memory::default() });
        let mut recording = Recording::create("m", &path, false).unwrap();
        recording
            .write(Line::Trace {
                version: VERSION,
                kind: ModelKind::Embeddings,
                provider: "cpu",
                load_ms: 9,
                after_load: &sample,
            })
            .unwrap();
        let run = EventKind::Run {
            run: 1,
            outcome: Outcome::Ok,
            took_us: 9,
            items: 2,
            cap_retries: 0,
            queued: 3,
            after: sample,
        };
        assert!(recording.event(&event(run)).unwrap());
        assert!(recording.event(&event(EventKind::Loading)).unwrap(), "not of interest, but more may come");
        let unloaded = EventKind::Unloaded { resident_before_bytes: 1, worker_gone: true };
        assert!(!recording.event(&event(unloaded)).unwrap());
        assert_eq!(recording.finish().runs, 1);

        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["trace"]["version"], &lines[0]["trace"]["load_ms"]), (&1.into(), &9.into()));
        assert_eq!(lines[0]["trace"]["after_load"]["resident_bytes"], 7);
        assert!(lines[1]["at_ms"].is_u64());
        assert_eq!(lines[1]["run"]["queued"], 3);
        assert_eq!(lines[1]["run"]["after"]["at_ms"], 5);

        let Err(Error::Failure(failure)) = Recording::create("m", &path, false) else { panic!() };
        assert_eq!(failure.code, Code::AlreadyExists);
        assert!(Recording::create("m", &path, true).is_ok());
    }
}
