//! `ebb embed`

use std::{
    io::{IsTerminal as _, Write as _},
    time::Instant,
};

use ebb_client::{Model, Piece};
use ebb_core::{
    Code, EmbedFigures, Failure, Places,
    operations::{EmbedRequest, RequestOptions},
};
use futures_util::StreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{interrupt::or_interrupt, named::Named, texts::Texts};
use crate::{
    args::EmbedArgs,
    error::{Result, storage},
    host,
    npy::VectorsFile,
    render::{self, Out, note},
};

pub(super) async fn run(args: EmbedArgs, places: &Places, out: &mut Out) -> Result {
    let texts = match &args.file {
        Some(path) => Texts::of_file(path)?,
        None if args.texts.is_empty() || args.texts == ["-"] => Texts::of_file("-".as_ref())?,
        None => Texts::typed(args.texts),
    };
    let client = host::connect(places).await?;
    let named = Named::find(&client, &args.model).await?;
    let sink = match &args.out {
        Some(path) => {
            let file = VectorsFile::create(path).map_err(|error| storage("write", path, &error))?;
            Sink::File(Box::new(file), path.clone())
        }
        None if out.json => Sink::Json { first: true },
        None if out.terminal => Sink::Preview,
        None => Sink::Lines,
    };
    let done = or_interrupt(embed(&named.model, texts, args.request.into(), sink, out)).await;
    // Where both fail, the first failure is the cause.
    let left = named.done().await;
    done.and(left)
}

async fn embed(
    model: &Model,
    mut texts: Texts,
    options: RequestOptions,
    mut sink: Sink,
    out: &mut Out,
) -> Result {
    let begun = Instant::now();
    let mut all = EmbedFigures::default();
    let bar = bar(out);
    loop {
        let portion;
        (texts, portion) = read(texts).await?;
        if portion.is_empty() {
            break;
        }
        bar.inc_length(portion.len() as u64);
        let mut pieces = model.embed_stream(request(portion, options.clone())).await?;
        while let Some(piece) = pieces.next().await {
            match piece? {
                Piece::Progress(progress) => bar.set_position(u64::from(all.texts) + progress.done),
                Piece::Vectors { dimensions, values, .. } => sink.take(&values, dimensions, out)?,
                Piece::Figures(figures) => add(&mut all, figures),
            }
        }
        bar.set_position(u64::from(all.texts));
    }
    bar.finish_and_clear();
    if all.texts == 0 {
        let failure = Failure::new(Code::InvalidRequest, "there are no texts to embed")
            .hint("give texts, or a file that holds one a line");
        return Err(failure.into());
    }
    sink.finish(&all, out)?;
    if !out.json {
        note(&render::embed_summary(&all, begun.elapsed()));
    }
    Ok(())
}

fn request(texts: Vec<String>, options: RequestOptions) -> EmbedRequest {
    let RequestOptions { shrink_after, run_options, timeout_ms, keep_alive } = options;
    EmbedRequest { texts, shrink_after, run_options, timeout_ms, keep_alive, ..EmbedRequest::default() }
}

/// Stdin may keep one waiting for long: not on the thread that listens for Ctrl-C.
async fn read(mut texts: Texts) -> Result<(Texts, Vec<String>)> {
    let reading = tokio::task::spawn_blocking(move || texts.portion().map(|portion| (texts, portion)));
    reading.await.map_err(std::io::Error::from)?
}

/// Adds the figures of a portion to those of the portions before it.
fn add(all: &mut EmbedFigures, figures: EmbedFigures) {
    let before = all.texts;
    all.texts += figures.texts;
    all.dimensions = figures.dimensions;
    all.tokens += figures.tokens;
    all.padding_tokens += figures.padding_tokens;
    all.batches += figures.batches;
    all.cap_retries += figures.cap_retries;
    let moved = figures.truncated.into_iter().map(|mut cut| {
        cut.index += before;
        cut
    });
    all.truncated.extend(moved);
}

fn bar(out: &Out) -> ProgressBar {
    let shown = !out.json && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    match ProgressStyle::with_template("{bar:40} {pos}/{len} texts, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Where vectors go, as they come in.
enum Sink {
    File(Box<VectorsFile>, std::path::PathBuf),
    /// The operation's answer, written as it is made: `{"vectors": [...], "figures": {...}}`.
    Json {
        first: bool,
    },
    Lines,
    Preview,
}

impl Sink {
    fn take(&mut self, values: &[f32], dimensions: u32, out: &mut Out) -> Result {
        if let Self::File(file, path) = self {
            return file.push(values, dimensions).map_err(|error| storage("write", path, &error));
        }
        for vector in values.chunks_exact(dimensions.max(1) as usize) {
            match self {
                Self::Json { first } => {
                    out.write_all(if std::mem::take(first) { b"{\"vectors\": [\n" } else { b",\n" })?;
                    serde_json::to_writer(&mut *out, vector).map_err(std::io::Error::from)?;
                }
                Self::Preview => {
                    let line = render::preview(vector, out.look);
                    out.write_all(line.as_bytes())?;
                }
                Self::Lines | Self::File(..) => {
                    serde_json::to_writer(&mut *out, vector).map_err(std::io::Error::from)?;
                    out.write_all(b"\n")?;
                }
            }
        }
        Ok(())
    }

    fn finish(self, figures: &EmbedFigures, out: &mut Out) -> Result {
        match self {
            Self::File(file, path) => {
                file.finish().map_err(|error| storage("write", &path, &error))?;
                if out.json {
                    out.line(figures, |_| String::new())?;
                } else {
                    let shape = format!("{} x {}", figures.texts, figures.dimensions);
                    note(&format!("{shape} float32 written to {}\n", path.display()));
                }
            }
            Self::Json { .. } => {
                out.write_all(b"\n], \"figures\": ")?;
                serde_json::to_writer(&mut *out, figures).map_err(std::io::Error::from)?;
                out.write_all(b"}\n")?;
            }
            Self::Lines | Self::Preview => {}
        }
        Ok(out.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use ebb_core::Truncation;

    use super::*;

    #[test]
    fn a_cut_text_keeps_its_number_over_portions() {
        let cut = |index| Truncation { index, tokens: 300, exact: true, used: 256 };
        let figures =
            |texts, truncated| EmbedFigures { texts, truncated, tokens: 5, ..EmbedFigures::default() };
        let mut all = EmbedFigures::default();
        add(&mut all, figures(10, vec![cut(3)]));
        add(&mut all, figures(5, vec![cut(0)]));
        assert_eq!((all.texts, all.tokens, all.truncated), (15, 10, vec![cut(3), cut(10)]));
    }
}
