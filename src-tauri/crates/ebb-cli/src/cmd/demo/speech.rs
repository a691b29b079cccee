//! A recording is written down, and then one shrink.

use std::path::{Path, PathBuf};

use ebb_client::{LoadOptions, Model};
use ebb_core::{ModelKind, Sample, format_bytes, operations::TranscribeRequest};
use serde::Serialize;

use super::{other_kind, picture::Screen, shrunk::Shrunk};
use crate::{
    error::{Result, storage},
    render::{Look, wrapped},
};

/// What was heard and measured.
#[derive(Debug, Serialize)]
pub(super) struct Heard {
    recording: PathBuf,
    text: String,
    audio_ms: u64,
    took_ms: u64,
    after_load: Sample,
    #[serde(flatten)]
    end: Shrunk,
}

/// A recording that lies beside the model: the first by name.
pub(super) fn recording_in(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    files.filter(|path| path.extension().is_some_and(|end| end == "wav")).min()
}

pub(super) async fn run(
    model: &Model,
    recording: Option<PathBuf>,
    screen: &mut Screen<'_>,
) -> Result<Option<Heard>> {
    let entry = model.info().await?;
    if entry.kind != ModelKind::Audio {
        return Err(other_kind(&entry, "a speech model"));
    }
    let Some(recording) = recording else {
        screen.say(|_| "speech: left out, there is no recording; --audio FILE gives one\n".to_owned())?;
        return Ok(None);
    };
    let audio = std::fs::read(&recording).map_err(|error| storage("read", &recording, &error))?;
    screen.part(&format!("what is said in {}, by", recording.display()), &entry)?;
    let options = LoadOptions { shrink_every: Some(0), ..LoadOptions::default() };
    let after_load = model.load_again(&options).await?.sample;
    let answer = model.transcribe(TranscribeRequest::default(), audio).await?;
    let (audio_ms, took_ms) = (answer.figures.audio_ms, answer.figures.took_us / 1_000);
    screen.say(|look| said(&answer.text, audio_ms, took_ms, after_load.resident_bytes, look))?;
    let end = Shrunk::now(model).await?;
    let heard = Heard { recording, text: answer.text, audio_ms, took_ms, after_load, end };
    screen.shrunk(&heard.end, heard.end.before_shrink.resident_bytes)?;
    Ok(Some(heard))
}

fn said(text: &str, audio_ms: u64, took_ms: u64, after_load_bytes: u64, look: Look) -> String {
    let lines = wrapped(text, usize::from(look.width.min(100)));
    format!(
        "{}\n\n{:.1} s of speech in {:.1} s, resident {} after load\n",
        lines.join("\n"),
        audio_ms as f64 / 1e3,
        took_ms as f64 / 1e3,
        format_bytes(after_load_bytes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_beside_the_model_is_found() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(recording_in(folder.path()), None);
        for name in ["model.onnx", "two.wav", "one.wav"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(recording_in(folder.path()), Some(folder.path().join("one.wav")));
        assert_eq!(recording_in(&folder.path().join("nowhere")), None);
    }

    #[test]
    fn what_was_said() {
        insta::assert_snapshot!(said("It was the best of times, it was the worst of times.", 11_000, 210, 112 << 20, Look::plain()), @r"
        It was the best of times, it was the worst of times.

        11.0 s of speech in 0.2 s, resident 112.0 MiB after load
        ");
    }
}
