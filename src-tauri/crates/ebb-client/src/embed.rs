//! Vectors, as they come in and all together.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ebb_core::{EmbedFigures, ErrorBody, Progress, operations::EmbedPiece};
use futures_util::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};

use crate::{Error, lines::Lines};

/// A part of the answer to an embed request.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// How far it is.
    Progress(Progress),
    /// Vectors of the texts from `first` on, in order.
    Vectors {
        /// Index of the first text.
        first: u32,
        /// Length of each vector.
        dimensions: u32,
        /// The vectors, one after the other.
        values: Vec<f32>,
    },
    /// The end, and what it took.
    Figures(EmbedFigures),
}

/// The answer to an embed request as it comes in. Its last item is [`Piece::Figures`] or an error. Dropping it earlier
/// cancels the request.
pub struct EmbedStream(BoxStream<'static, Result<Piece, Error>>);

impl EmbedStream {
    pub(crate) fn new(lines: Lines) -> Self {
        Self(stream::try_unfold(Some(lines), next_piece).boxed())
    }

    /// Waits for all of it.
    ///
    /// # Errors
    /// The error that the stream ended with.
    pub async fn all(mut self) -> Result<Embeddings, Error> {
        let mut all = Vec::new();
        while let Some(piece) = self.next().await {
            match piece? {
                Piece::Progress(_) => {}
                Piece::Vectors { values, .. } => all.extend(values),
                Piece::Figures(figures) => return Ok(Embeddings { values: all, figures }),
            }
        }
        Err(ended_early())
    }
}

impl Stream for EmbedStream {
    type Item = Result<Piece, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for EmbedStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EmbedStream").finish_non_exhaustive()
    }
}

/// One vector a text, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    values: Vec<f32>,
    figures: EmbedFigures,
}

impl Embeddings {
    /// Length of each vector.
    pub fn dimensions(&self) -> usize {
        self.figures.dimensions as usize
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.figures.texts as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vector of one text.
    ///
    /// # Panics
    /// Where there is no such text.
    pub fn vector(&self, index: usize) -> &[f32] {
        let dimensions = self.dimensions();
        &self.values[index * dimensions..][..dimensions]
    }

    /// Every vector.
    pub fn vectors(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimensions().max(1))
    }

    /// Every vector, one after the other.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// What it took.
    pub fn figures(&self) -> &EmbedFigures {
        &self.figures
    }
}

/// `None` as state: the figures were read, nothing may follow.
async fn next_piece(lines: Option<Lines>) -> Result<Option<(Piece, Option<Lines>)>, Error> {
    let Some(mut lines) = lines else { return Ok(None) };
    let piece = decoded(lines.record().await?)?;
    let more = (!matches!(piece, Piece::Figures(_))).then_some(lines);
    Ok(Some((piece, more)))
}

fn decoded(piece: EmbedPiece) -> Result<Piece, Error> {
    match piece {
        EmbedPiece::Progress(progress) => Ok(Piece::Progress(progress)),
        EmbedPiece::Figures(figures) => Ok(Piece::Figures(figures)),
        EmbedPiece::Error(error) => Err(Error::Refused(ErrorBody { error }.into())),
        EmbedPiece::Vectors { first, count, dimensions, data } => {
            let bytes =
                STANDARD.decode(data).map_err(|error| Error::Protocol(format!("vectors: {error}")))?;
            if bytes.len() as u64 != u64::from(count) * u64::from(dimensions) * 4 {
                let got = bytes.len();
                return Err(Error::Protocol(format!("{count} vectors of {dimensions} came as {got} bytes")));
            }
            let (floats, _) = bytes.as_chunks::<4>();
            let values = floats.iter().map(|float| f32::from_le_bytes(*float)).collect();
            Ok(Piece::Vectors { first, dimensions, values })
        }
    }
}

fn ended_early() -> Error {
    Error::Protocol("the answer ended before its end: the host may have been ended".into())
}
