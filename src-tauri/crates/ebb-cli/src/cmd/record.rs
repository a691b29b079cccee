//! `ebb model record`: what a model held while it was really used, for policies to be tried on. No texts are in it.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use ebb_client::{Client, Pieces};
use ebb_core::{
    Code, Failure, KeepAlive,
    operations::{RecordingEvent, RecordingLine},
};
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::time::timeout;

use super::interrupt::or_interrupt;
use crate::{
    error::{Error, Result, storage},
    render::{self, Out, note},
};

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

/// Records `alias` into `file` for so long, or until Ctrl-C, or until the model is unloaded.
pub(super) async fn run(
    client: &Client,
    alias: &str,
    file: &Path,
    time: Option<KeepAlive>,
    force: bool,
    out: &mut Out,
) -> Result {
    let lines = client.model(alias).record().await?;
    let mut recording = Recording::create(alias, file, force)?;
    if !out.json {
        note(&format!("recording '{alias}' into {}; Ctrl-C ends it\n", file.display()));
    }
    let going_on = copy(lines, &mut recording);
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

async fn copy(mut lines: Pieces<RecordingLine>, recording: &mut Recording) -> Result {
    while let Some(line) = lines.next().await {
        recording.write(&line?)?;
    }
    Ok(())
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

    /// Each line is whole in the file before the next begins: what is recorded so far is good whatever happens.
    fn write(&mut self, line: &RecordingLine) -> Result {
        match line.event {
            RecordingEvent::Run(_) => self.recorded.runs += 1,
            RecordingEvent::Sample(_) => self.recorded.samples += 1,
            RecordingEvent::Shrink { .. } => self.recorded.shrinks += 1,
            RecordingEvent::Trace(_) | RecordingEvent::Pressure { .. } => {}
        }
        let mut text = serde_json::to_vec(line).map_err(std::io::Error::from)?;
        text.push(b'\n');
        let path = &self.recorded.file;
        self.file.write_all(&text).map_err(|error| storage("write", path, &error))
    }

    fn finish(self) -> Recorded {
        let took_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Recorded { took_ms, ..self.recorded }
    }
}

#[cfg(test)]
mod tests {
    use ebb_core::{Memory, ModelKind, Outcome, RunReport, Sample, operations::RecordingHead};

    use super::*;

    #[test]
    fn a_recording_is_whole_lines_without_texts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let sample = Sample::new("m", 5, 1, Memory { resident_bytes: 7, ..Memory::default() });
        let mut recording = Recording::create("m", &path, false).unwrap();
        let head = RecordingHead {
            version: 1,
            kind: ModelKind::Embeddings,
            provider: "cpu".into(),
            load_ms: 9,
            after_load: sample.clone(),
        };
        let run = RunReport {
            model: "m".into(),
            outcome: Outcome::Ok,
            took_us: 9,
            items: 2,
            queued: 3,
            after: sample,
        };
        let pressure = RecordingEvent::Pressure { available_bytes: 1, total_bytes: 2 };
        for (at_ms, event) in
            [(None, RecordingEvent::Trace(head)), (Some(4), RecordingEvent::Run(run)), (Some(5), pressure)]
        {
            recording.write(&RecordingLine { at_ms, event }).unwrap();
        }
        assert_eq!(recording.finish().runs, 1);

        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!((&lines[0]["trace"]["version"], &lines[0]["trace"]["load_ms"]), (&1.into(), &9.into()));
        assert_eq!(lines[0]["trace"]["after_load"]["resident_bytes"], 7);
        assert_eq!(lines[0].get("at_ms"), None);
        assert_eq!((&lines[1]["at_ms"], &lines[1]["run"]["queued"]), (&4.into(), &3.into()));
        assert_eq!(lines[1]["run"]["after"]["at_ms"], 5);
        let trace = ebb_trace::Trace::read(text.as_bytes()).unwrap();
        assert_eq!(trace.entries.len(), 2, "what replays a recording reads it");

        let Err(Error::Failure(failure)) = Recording::create("m", &path, false) else { panic!() };
        assert_eq!(failure.code, Code::AlreadyExists);
        assert!(Recording::create("m", &path, true).is_ok());
    }
}
