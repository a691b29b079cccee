//! `ebb transcribe`

use std::{
    io::{self, IsTerminal as _, Read as _, Write as _},
    path::Path,
};

use ebb_client::{Heard, Model};
use ebb_core::{
    Code, Failure, Places, Progress, Segment, Transcription,
    operations::{MAX_AUDIO_BYTES, TranscribeAnswer, TranscribePiece, TranscribeRequest},
};
use futures_util::StreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{interrupt::or_interrupt, named::Named};
use crate::{
    args::{TranscribeArgs, TranscriptFormat},
    error::{Result, storage},
    host,
    render::{self, Out, note},
};

pub(super) async fn run(args: TranscribeArgs, places: &Places, out: &mut Out) -> Result {
    let file = args.file.clone();
    let audio = or_interrupt(async {
        // Stdin may keep one waiting for long: not on the thread that listens for Ctrl-C.
        tokio::task::spawn_blocking(move || read(&file)).await.map_err(io::Error::from)?
    })
    .await?;
    let transcription = Transcription {
        language: args.language,
        format: args.file.extension().map(|end| end.to_string_lossy().to_lowercase()),
        partial: args.partial,
    };
    let request =
        TranscribeRequest { transcription, options: args.request.into(), ..TranscribeRequest::default() };
    let client = host::connect(places).await?;
    let named = Named::find(&client, &args.model).await?;
    let how = Written::of(args.format, args.partial, out);
    let done = or_interrupt(transcribe(&named.model, request, audio, how, out)).await;
    // Where both fail, the first failure is the cause.
    let left = named.done().await;
    done.and(left)
}

/// All of the file; one byte more than a host takes is enough to be refused.
fn read(path: &Path) -> Result<Vec<u8>> {
    let most = MAX_AUDIO_BYTES as u64 + 1;
    let mut audio = Vec::new();
    let stdin = path == Path::new("-");
    let read = if stdin {
        io::stdin().take(most).read_to_end(&mut audio)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut audio))
    };
    read.map_err(|error| storage("read", path, &error))?;
    if audio.is_empty() {
        let name = if stdin { "stdin".to_owned() } else { format!("'{}'", path.display()) };
        let failure = Failure::new(Code::InvalidRequest, format!("{name} is empty"))
            .hint("give a recording as WAV, FLAC, MP3 or OGG");
        return Err(failure.into());
    }
    Ok(audio)
}

/// How the transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// A line of text for each segment, as it comes.
    Lines,
    /// The parts of the streamed answer, one a line, as they come.
    Pieces,
    /// The operation's answer, at the end.
    Answer,
    /// In this format, at the end.
    Whole(TranscriptFormat),
}

impl Written {
    fn of(format: Option<TranscriptFormat>, partial: bool, out: &Out) -> Self {
        match format {
            Some(TranscriptFormat::Text) => Self::Lines,
            Some(format) => Self::Whole(format),
            None if out.json && partial => Self::Pieces,
            None if out.json => Self::Answer,
            None => Self::Lines,
        }
    }
}

async fn transcribe(
    model: &Model,
    request: TranscribeRequest,
    audio: Vec<u8>,
    how: Written,
    out: &mut Out,
) -> Result {
    let bar = bar(out);
    let mut answer = TranscribeAnswer::default();
    let mut parts = model.transcribe_stream(request, audio).await?;
    while let Some(part) = parts.next().await {
        match part? {
            Heard::Progress(Progress { done, total }) => {
                bar.set_length(total);
                bar.set_position(done);
            }
            Heard::Segment(segment) => {
                if how == Written::Pieces {
                    out.line(&TranscribePiece::Segment(segment.clone()), |_| String::new())?;
                }
                if segment.partial {
                    bar.set_message(segment.text.trim().to_owned());
                    continue;
                }
                bar.set_message("");
                if how == Written::Lines {
                    bar.suspend(|| line(&segment, out))?;
                }
                take(&mut answer, segment);
            }
            Heard::Figures(figures) => answer.figures = figures,
        }
    }
    bar.finish_and_clear();
    match how {
        Written::Lines => {}
        Written::Pieces => out.line(&TranscribePiece::Figures(answer.figures.clone()), |_| String::new())?,
        Written::Answer => out.show(&answer, |_, _| String::new())?,
        Written::Whole(format) => out.write_all(render::transcript(&answer, format).as_bytes())?,
    }
    if !out.json {
        out.flush()?;
        note(&render::transcribe_summary(&answer.figures));
    }
    Ok(())
}

fn line(segment: &Segment, out: &mut Out) -> Result {
    let text = segment.text.trim();
    if !text.is_empty() {
        writeln!(out, "{}", out.printable(text))?;
    }
    Ok(out.flush()?)
}

fn take(answer: &mut TranscribeAnswer, segment: Segment) {
    if !answer.text.is_empty() {
        answer.text.push(' ');
    }
    answer.text.push_str(segment.text.trim());
    answer.segments.push(segment);
}

fn bar(out: &Out) -> ProgressBar {
    let shown = !out.json && io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    // Its positions are milliseconds of audio.
    match ProgressStyle::with_template("{bar:30} {percent}% heard  {wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
