//! Transcriptions, whole and as events.

use std::convert::identity;

use axum::response::{Response, sse};
use ebb_api::TranscribeStream;
use ebb_core::{
    ErrorBody, Failure, Segment, TranscribeFigures,
    operations::{TranscribeAnswer, TranscribePiece},
};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::streaming::{data, server_sent};

/// What was said.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Transcript {
    text: String,
    usage: DurationUsage,
    /// What it took, in Ebb's figures.
    ebb: TranscribeFigures,
}

/// What a transcription is counted by.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DurationUsage {
    /// `duration`.
    r#type: &'static str,
    /// Length of the recording.
    seconds: f64,
}

/// What was said, and when.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VerboseTranscript {
    /// `transcribe`.
    task: &'static str,
    /// By code, where it is known.
    language: Option<String>,
    /// Length of the recording in seconds.
    duration: f64,
    text: String,
    segments: Vec<TimedSegment>,
    usage: DurationUsage,
    /// What it took, in Ebb's figures.
    ebb: TranscribeFigures,
}

/// A stretch of speech, in seconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimedSegment {
    id: u32,
    start: f64,
    end: f64,
    text: String,
}

/// A transcription in JSON.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AnyTranscript {
    /// `json`.
    Short(Transcript),
    /// `verbose_json`.
    Verbose(VerboseTranscript),
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

impl DurationUsage {
    fn of(figures: &TranscribeFigures) -> Self {
        Self { r#type: "duration", seconds: seconds(figures.audio_ms) }
    }
}

impl From<TranscribeAnswer> for Transcript {
    fn from(answer: TranscribeAnswer) -> Self {
        Self { text: answer.text, usage: DurationUsage::of(&answer.figures), ebb: answer.figures }
    }
}

impl From<TranscribeAnswer> for VerboseTranscript {
    fn from(answer: TranscribeAnswer) -> Self {
        let TranscribeAnswer { text, segments, figures } = answer;
        let timed = |segment: Segment| TimedSegment {
            id: segment.index,
            start: seconds(segment.start_ms),
            end: seconds(segment.end_ms),
            text: segment.text,
        };
        Self {
            task: "transcribe",
            language: figures.language.clone(),
            duration: seconds(figures.audio_ms),
            text,
            segments: segments.into_iter().map(timed).collect(),
            usage: DurationUsage::of(&figures),
            ebb: figures,
        }
    }
}

/// An event of a streamed transcription.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type")]
pub(crate) enum TranscriptEvent {
    /// The next stretch.
    #[serde(rename = "transcript.text.delta")]
    Delta {
        /// Its text, with the space before it.
        delta: String,
    },
    /// The end.
    #[serde(rename = "transcript.text.done")]
    Done {
        /// All of it.
        text: String,
        /// What it took, in Ebb's figures.
        ebb: TranscribeFigures,
    },
}

/// The transcription as events. A failure before the first piece is an error answer with its own status.
pub(crate) async fn events(mut pieces: TranscribeStream) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(TranscribePiece::Error(error)) => return Err(ErrorBody { error }.into()),
        first => first,
    };
    let rest = stream::unfold(pieces, |mut pieces| async { Some((pieces.next().await?, pieces)) });
    let mut text = String::new();
    let events = stream::iter(first).chain(rest).map(move |piece| event(piece, &mut text));
    Ok(server_sent(events.filter_map(async |event| identity(event))))
}

fn event(piece: TranscribePiece, text: &mut String) -> Option<sse::Event> {
    match piece {
        TranscribePiece::Segment(segment) if !segment.partial => {
            let space = if text.is_empty() { "" } else { " " };
            let delta = format!("{space}{}", segment.text.trim());
            text.push_str(&delta);
            Some(data(&TranscriptEvent::Delta { delta }))
        }
        TranscribePiece::Progress(_) | TranscribePiece::Segment(_) => None,
        TranscribePiece::Figures(ebb) => {
            Some(data(&TranscriptEvent::Done { text: std::mem::take(text), ebb }))
        }
        TranscribePiece::Error(error) => Some(data(&ErrorBody { error })),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer() -> TranscribeAnswer {
        let segment = |index, text: &str| Segment {
            index,
            start_ms: u64::from(index) * 1_500,
            end_ms: u64::from(index + 1) * 1_500,
            text: text.into(),
            partial: false,
        };
        TranscribeAnswer {
            text: "one two".into(),
            segments: vec![segment(0, "one"), segment(1, "two")],
            figures: TranscribeFigures {
                audio_ms: 3_250,
                segments: 2,
                language: Some("en".into()),
                ..TranscribeFigures::default()
            },
        }
    }

    #[test]
    fn answers_in_json() {
        let short = serde_json::to_value(Transcript::from(answer())).unwrap();
        assert_eq!(
            (&short["text"], &short["usage"]),
            (&json!("one two"), &json!({"type": "duration", "seconds": 3.25}))
        );
        insta::assert_json_snapshot!(VerboseTranscript::from(answer()));
    }

    #[test]
    fn deltas_join_to_the_text() {
        let mut text = String::new();
        for segment in answer().segments {
            let partial = TranscribePiece::Segment(Segment { partial: true, ..segment.clone() });
            assert!(event(partial, &mut text).is_none());
            assert!(event(TranscribePiece::Segment(segment), &mut text).is_some());
        }
        assert_eq!(text, "one two");
    }
}
