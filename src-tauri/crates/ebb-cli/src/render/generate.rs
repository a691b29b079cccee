//! Texts and transcripts.

use ebb_core::{
    FinishReason, GenerateFigures, TranscribeFigures, format_bytes, operations::TranscribeAnswer,
};
use serde_json::json;

use super::{
    counted,
    stats::{duration, micros},
};
use crate::args::TranscriptFormat;

/// What an answer took, for stderr.
pub(crate) fn generate_summary(figures: &GenerateFigures) -> String {
    let cached = match figures.cached_tokens {
        0 => String::new(),
        tokens => format!(" ({tokens} cached)"),
    };
    // There is no speed of one token.
    let speed = match figures.completion_tokens {
        0 | 1 => String::new(),
        _ => format!("{:.1} tokens/s, ", figures.tokens_per_second),
    };
    let mut text = format!(
        "prompt {}{cached}, answer {}, first after {}, {speed}KV cache {}, peak arena {}\n",
        counted(figures.prompt_tokens, "token", "tokens"),
        counted(figures.completion_tokens, "token", "tokens"),
        micros(figures.first_token_us),
        format_bytes(figures.kv_bytes),
        format_bytes(figures.peak_arena_bytes),
    );
    if figures.finish_reason == FinishReason::Length {
        text += "it ended where the most tokens, or the context, were full\n";
    }
    if figures.cap_retries > 0 {
        text += &format!(
            "{} hit the cap and ran again after a shrink\n",
            counted(figures.cap_retries, "step", "steps")
        );
    }
    text
}

/// A transcript in a format of OpenAI's interface.
pub(crate) fn transcript(answer: &TranscribeAnswer, format: TranscriptFormat) -> String {
    let pretty = |value: serde_json::Value| format!("{value:#}\n");
    match format {
        TranscriptFormat::Text => format!("{}\n", answer.text),
        TranscriptFormat::Json => pretty(json!({ "text": answer.text })),
        TranscriptFormat::VerboseJson => {
            let segments: Vec<_> = answer
                .segments
                .iter()
                .map(|segment| {
                    json!({
                        "id": segment.index,
                        "start": seconds(segment.start_ms),
                        "end": seconds(segment.end_ms),
                        "text": segment.text,
                    })
                })
                .collect();
            pretty(json!({
                "task": "transcribe",
                "language": answer.figures.language,
                "duration": seconds(answer.figures.audio_ms),
                "text": answer.text,
                "segments": segments,
            }))
        }
        TranscriptFormat::Srt => ebb_audio::srt(&answer.segments),
        TranscriptFormat::Vtt => ebb_audio::vtt(&answer.segments),
    }
}

/// What a transcription took, for stderr.
pub(crate) fn transcribe_summary(figures: &TranscribeFigures) -> String {
    let faster = figures.audio_ms as f64 * 1e3 / figures.took_us.max(1) as f64;
    format!(
        "{} of audio, {} of speech in {}, {}, {}, {faster:.1} times as fast as it was said, peak arena {}\n",
        duration(figures.audio_ms),
        duration(figures.speech_ms),
        counted(figures.segments, "segment", "segments"),
        counted(figures.tokens, "token", "tokens"),
        micros(figures.took_us),
        format_bytes(figures.peak_arena_bytes),
    )
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use ebb_core::Segment;

    use super::*;

    #[test]
    fn what_an_answer_took() {
        let mut figures = GenerateFigures {
            prompt_tokens: 120,
            cached_tokens: 100,
            completion_tokens: 40,
            first_token_us: 81_000,
            tokens_per_second: 51.26,
            kv_bytes: 3 << 20,
            peak_arena_bytes: 130 << 20,
            ..GenerateFigures::default()
        };
        insta::assert_snapshot!(generate_summary(&figures), @"prompt 120 tokens (100 cached), answer 40 tokens, first after 81.0 ms, 51.3 tokens/s, KV cache 3.0 MiB, peak arena 130.0 MiB");
        figures.finish_reason = FinishReason::Length;
        figures.cached_tokens = 0;
        figures.completion_tokens = 1;
        figures.cap_retries = 1;
        insta::assert_snapshot!(generate_summary(&figures), @r"
        prompt 120 tokens, answer 1 token, first after 81.0 ms, KV cache 3.0 MiB, peak arena 130.0 MiB
        it ended where the most tokens, or the context, were full
        1 step hit the cap and ran again after a shrink
        ");
    }

    #[test]
    fn a_transcript_in_each_format() {
        let segment =
            Segment { index: 0, start_ms: 500, end_ms: 2_000, text: " It was".into(), partial: false };
        let figures = TranscribeFigures {
            audio_ms: 12_000,
            speech_ms: 9_000,
            segments: 1,
            tokens: 20,
            language: Some("en".into()),
            took_us: 600_000,
            peak_arena_bytes: 50 << 20,
            ..TranscribeFigures::default()
        };
        insta::assert_snapshot!(transcribe_summary(&figures), @"12.0 s of audio, 9.0 s of speech in 1 segment, 20 tokens, 600.0 ms, 20.0 times as fast as it was said, peak arena 50.0 MiB");
        let answer = TranscribeAnswer { text: "It was".into(), segments: vec![segment], figures };
        assert_eq!(transcript(&answer, TranscriptFormat::Text), "It was\n");
        insta::assert_snapshot!(transcript(&answer, TranscriptFormat::Json), @r#"
        {
          "text": "It was"
        }
        "#);
        insta::assert_snapshot!(transcript(&answer, TranscriptFormat::VerboseJson), @r#"
        {
          "task": "transcribe",
          "language": "en",
          "duration": 12.0,
          "text": "It was",
          "segments": [
            {
              "id": 0,
              "start": 0.5,
              "end": 2.0,
              "text": " It was"
            }
          ]
        }
        "#);
        insta::assert_snapshot!(transcript(&answer, TranscriptFormat::Srt), @r"
        1
        00:00:00,500 --> 00:00:02,000
        It was
        ");
        assert!(transcript(&answer, TranscriptFormat::Vtt).starts_with("WEBVTT\n"));
    }
}
