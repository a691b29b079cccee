//! `POST /v1/audio/transcriptions`.

mod answer;
mod form;

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use ebb_core::{
    Failure, Transcription,
    operations::{TranscribeAnswer, TranscribeRequest},
};
use serde::Deserialize;
use utoipa::ToSchema;

use self::{
    answer::{AnyTranscript, TranscriptEvent},
    form::Form,
};
use super::{
    bad_value,
    body::{Body, Parts, parse},
    not_offered,
    wishes::Wishes,
};
use crate::{error::Rejection, routes::App};

/// How to transcribe.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct TranscriptionRequest {
    /// The model's alias.
    model: String,
    /// Language of the speech, by code (`en`).
    language: Option<String>,
    /// How the answer is written.
    response_format: Option<AudioFormat>,
    /// What `verbose_json` tells the times of: `segment` alone.
    timestamp_granularities: Option<Vec<Granularity>>,
    /// Answer as server-sent events.
    stream: Option<bool>,
}

/// How a transcription is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AudioFormat {
    /// An object with the text.
    #[default]
    Json,
    /// The text.
    Text,
    /// An object with the text and the segments.
    VerboseJson,
    /// SubRip subtitles.
    Srt,
    /// WebVTT subtitles.
    Vtt,
}

/// What the times are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Granularity {
    /// Segments.
    Segment,
    /// Words: refused.
    Word,
}

/// A form with a recording.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct TranscriptionBody {
    /// The recording: WAV, FLAC, MP3 or OGG.
    #[schema(value_type = String, format = Binary)]
    #[expect(dead_code, reason = "it describes the form; the file itself is read beside the fields")]
    file: (),
    #[serde(flatten)]
    asked: TranscriptionRequest,
    #[serde(flatten)]
    wishes: Wishes,
}

impl Body for TranscriptionBody {
    fn of(parts: &mut Parts<'_>) -> Result<Self, Failure> {
        Ok(Self { file: (), asked: parts.part()?, wishes: parts.part()? })
    }
}

/// What is asked, in Ebb's words, and how the answer is written.
#[derive(Debug)]
struct Read {
    model: String,
    request: TranscribeRequest,
    format: AudioFormat,
}

impl TranscriptionBody {
    fn read(self, extension: Option<String>) -> Result<Read, Failure> {
        let Self { asked, mut wishes, .. } = self;
        let format = asked.response_format.unwrap_or_default();
        let stream = asked.stream.unwrap_or(false);
        if asked.timestamp_granularities.iter().flatten().any(|times| *times == Granularity::Word) {
            return Err(not_offered("timestamp_granularities", "times of single words are not known")
                .hint("ask for those of segments"));
        }
        if stream && !matches!(format, AudioFormat::Json | AudioFormat::Text) {
            return Err(bad_value("response_format", "a stream is text alone")
                .hint("ask for json, or leave out stream"));
        }
        let transcription = Transcription { language: asked.language, format: extension, partial: false };
        let request = TranscribeRequest { transcription, stream, options: wishes.options()? };
        Ok(Read { model: asked.model, request, format })
    }
}

/// What is said in a recording.
#[utoipa::path(post, path = "/v1/audio/transcriptions", tag = "openai",
    request_body(content = TranscriptionBody, content_type = "multipart/form-data"),
    responses((status = 200, content((AnyTranscript = "application/json"),
        (String = "text/plain"), (TranscriptEvent = "text/event-stream")))))]
pub(crate) async fn transcribe(
    State(app): State<App>,
    Form { file, extension, fields }: Form,
) -> Result<Response, Rejection> {
    let body: TranscriptionBody = parse(fields.to_string().as_bytes())?;
    let Read { model, request, format } = body.read(extension)?;
    if request.stream {
        let pieces = app.host.transcribe_stream(&model, request, file).await?;
        return Ok(answer::events(pieces).await?);
    }
    Ok(written(app.host.transcribe(&model, request, file).await?, format))
}

fn written(answer: TranscribeAnswer, format: AudioFormat) -> Response {
    let plain = |kind: &'static str, text: String| ([(header::CONTENT_TYPE, kind)], text).into_response();
    match format {
        AudioFormat::Json => Json(AnyTranscript::Short(answer.into())).into_response(),
        AudioFormat::VerboseJson => Json(AnyTranscript::Verbose(answer.into())).into_response(),
        AudioFormat::Text => plain("text/plain; charset=utf-8", answer.text + "\n"),
        AudioFormat::Srt => plain("text/plain; charset=utf-8", ebb_audio::srt(&answer.segments)),
        AudioFormat::Vtt => plain("text/vtt; charset=utf-8", ebb_audio::vtt(&answer.segments)),
    }
}

/// Refused: speech is transcribed, not translated.
#[utoipa::path(post, path = "/v1/audio/translations", tag = "openai",
    request_body(content = Vec<u8>, content_type = "multipart/form-data"),
    responses((status = 422, body = ebb_core::ErrorBody)))]
pub(crate) async fn translate() -> Rejection {
    Failure::new(ebb_core::Code::Unsupported, "speech is not translated here")
        .hint("transcribe it with /v1/audio/transcriptions, and let a chat model translate the text")
        .into()
}

#[cfg(test)]
mod tests {
    use ebb_core::Code;
    use serde_json::{Value, json};

    use super::*;

    fn read(more: Value) -> Result<Read, Failure> {
        let mut fields = json!({"model": "m"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parse::<TranscriptionBody>(fields.to_string().as_bytes())?.read(Some("wav".into()))
    }

    #[test]
    fn fields_reach_the_request() {
        let read = read(json!({"language": "en", "response_format": "verbose_json", "temperature": "0",
            "timestamp_granularities": ["segment"], "ttl": "90s", "prompt": "names", "stream": null}))
        .unwrap();
        assert_eq!((read.model.as_str(), read.format), ("m", AudioFormat::VerboseJson));
        let Transcription { language, format, partial } = read.request.transcription;
        assert_eq!((language.as_deref(), format.as_deref(), partial), (Some("en"), Some("wav"), false));
        assert_eq!(read.request.options.keep_alive.unwrap().to_string(), "90s");
    }

    #[test]
    fn bad_fields_are_named() {
        for (more, code, param) in [
            (json!({"model": null}), Code::InvalidRequest, "model"),
            (json!({"response_format": "diarized_json"}), Code::InvalidRequest, "response_format"),
            (json!({"timestamp_granularities": ["word"]}), Code::Unsupported, "timestamp_granularities"),
            (json!({"stream": true, "response_format": "srt"}), Code::InvalidValue, "response_format"),
            (json!({"stream": "maybe"}), Code::InvalidRequest, "stream"),
            (json!({"ebb": {"shrink_after": ["disk:0"]}}), Code::InvalidTarget, "ebb.shrink_after"),
        ] {
            let failure = read(more.clone()).unwrap_err();
            assert_eq!((failure.code, failure.param.as_deref()), (code, Some(param)), "{more}: {failure}");
        }
    }
}
