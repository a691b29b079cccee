//! The host's models, as plugins reach them: the same operations that apps call.

use std::sync::Weak;

use bytes::{Bytes, BytesMut};
use ebb_core::{
    ChunkBody, Code, ErrorBody, Failure, Figures, GenerateFigures, Generation, Job, JobKind, ModelKind,
    Sample, ShrinkReport, Target, Transcription,
    operations::{
        CountTokens, GeneratePiece, GenerateRequest, ModelState, RequestOptions, SetRuntimeOption,
        ShrinkRequest, TranscribeRequest,
    },
    options::OptionLine,
};
use ebb_host::RunItem;
use ebb_plugins::{ModelSummary, Models, PluginFuture, TextStream, Vectors};

use crate::{GenerateStream, Host, host::Inner, job::Answering, load::not_loaded, models::Catalogue};

/// The models of a host, for as long as that lives: plugins do not keep it.
#[derive(Debug)]
pub(super) struct HostModels(pub(super) Weak<Inner>);

impl HostModels {
    fn host(&self) -> Result<Host, Failure> {
        let inner = self.0.upgrade().ok_or_else(|| Failure::new(Code::Cancelled, "the host is ending"))?;
        Ok(Host { inner })
    }
}

impl Models for HostModels {
    fn list(&self) -> Vec<ModelSummary> {
        let Ok(host) = self.host() else {
            return Vec::new();
        };
        host.inner
            .catalogue
            .read(Catalogue::kinds)
            .into_iter()
            .map(|(alias, kind)| summary(&host, alias, kind))
            .collect()
    }

    fn latest(&self, alias: &str) -> Result<Sample, Failure> {
        self.host()?.loaded(alias)?.newest().ok_or_else(|| not_loaded(alias))
    }

    fn history(&self, alias: &str, count: u32) -> Result<Vec<Sample>, Failure> {
        Ok(self.host()?.loaded(alias)?.history(count as usize))
    }

    fn shrink<'a>(&'a self, alias: &'a str, targets: Option<Vec<Target>>) -> PluginFuture<'a, ShrinkReport> {
        Box::pin(async move { self.host()?.shrink(alias, ShrinkRequest { targets }).await })
    }

    fn shrink_after_next_run<'a>(
        &'a self,
        alias: &'a str,
        targets: Option<Vec<Target>>,
    ) -> PluginFuture<'a, ()> {
        Box::pin(async move {
            self.host()?.shrink_after_next_run(alias, ShrinkRequest { targets }).await.map(drop)
        })
    }

    fn set_runtime_option<'a>(
        &'a self,
        alias: &'a str,
        key: &'a str,
        value: &'a str,
    ) -> PluginFuture<'a, ()> {
        let option = SetRuntimeOption { key: key.to_owned(), value: value.to_owned() };
        Box::pin(async move { self.host()?.set_runtime_option(alias, option).await.map(drop) })
    }

    fn runtime_options<'a>(&'a self, alias: &'a str) -> PluginFuture<'a, Vec<OptionLine>> {
        Box::pin(async move { Ok(self.host()?.runtime_options(alias).await?.options) })
    }

    fn embed<'a>(&'a self, alias: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vectors> {
        Box::pin(async move {
            let host = self.host()?;
            host.expect_kind(alias, ModelKind::Embeddings)?;
            let count = texts.len();
            let job = Job::new(JobKind::Embed { texts });
            let answering = host.begin(alias, job, Bytes::new(), RequestOptions::default()).await?;
            block_of(answering, count).await
        })
    }

    fn count_tokens<'a>(&'a self, alias: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vec<u32>> {
        Box::pin(async move { Ok(self.host()?.count_tokens(alias, CountTokens { texts }).await?.tokens) })
    }

    fn generate<'a>(
        &'a self,
        alias: &'a str,
        generation: Generation,
    ) -> PluginFuture<'a, Box<dyn TextStream>> {
        Box::pin(async move {
            let request = GenerateRequest { generation, ..GenerateRequest::default() };
            let pieces = self.host()?.generate_stream(alias, request).await?;
            Ok(Box::new(Text { pieces, figures: None }) as Box<dyn TextStream>)
        })
    }

    fn transcribe<'a>(
        &'a self,
        alias: &'a str,
        samples: Bytes,
        language: Option<String>,
    ) -> PluginFuture<'a, String> {
        Box::pin(async move {
            if samples.is_empty() || !samples.len().is_multiple_of(size_of::<f32>()) {
                return Err(Failure::new(
                    Code::InvalidRequest,
                    "the samples are no numbers of four bytes each",
                )
                .hint("give mono PCM at 16 kHz as little-endian f32")
                .param("samples"));
            }
            let transcription = Transcription { language, format: Some("wav".to_owned()), partial: false };
            let request = TranscribeRequest { transcription, ..TranscribeRequest::default() };
            Ok(self.host()?.transcribe(alias, request, wav(&samples)?).await?.text)
        })
    }
}

fn summary(host: &Host, alias: String, kind: ModelKind) -> ModelSummary {
    let (state, _, info) = host.in_memory(&alias);
    let info = info.filter(|_| state == ModelState::Loaded);
    let embedding = info.as_ref().and_then(|info| info.embedding.as_ref());
    let chat = info.as_ref().and_then(|info| info.chat.as_ref());
    ModelSummary {
        alias,
        kind,
        loaded: info.is_some(),
        context_tokens: chat
            .map(|chat| chat.context_tokens)
            .or(embedding.map(|embedding| embedding.max_tokens)),
        dimensions: embedding.map(|embedding| embedding.dimensions),
        provider: info.map(|info| info.provider),
    }
}

/// The vectors of an embed job, whatever pieces they come in.
async fn block_of(mut answering: Answering, texts: usize) -> Result<Vectors, Failure> {
    let (mut data, mut count, mut length) = (BytesMut::new(), 0_u32, 0_u32);
    loop {
        match answering.next().await {
            RunItem::Progress(_) => {}
            RunItem::Chunk(chunk) => {
                let ChunkBody::Vectors { count: more, dimensions, .. } = chunk.body else {
                    return Err(answering.no_answer());
                };
                let fits = (count == 0 || dimensions == length)
                    && chunk.data.len() == more as usize * dimensions as usize * size_of::<f32>();
                if !fits {
                    return Err(answering.no_answer());
                }
                (count, length) = (count.saturating_add(more), dimensions);
                data.extend_from_slice(&chunk.data);
            }
            RunItem::Done(Figures::Embed(_)) if count as usize == texts => {
                return Ok(Vectors { dimensions: length, count, data: data.freeze() });
            }
            RunItem::Done(_) => return Err(answering.no_answer()),
            RunItem::Failed(failure) => return Err(failure),
        }
    }
}

/// A generation that runs.
struct Text {
    pieces: GenerateStream,
    figures: Option<GenerateFigures>,
}

impl TextStream for Text {
    fn next<'a>(&'a mut self) -> PluginFuture<'a, Option<String>> {
        Box::pin(async move {
            while let Some(piece) = self.pieces.next().await {
                match piece {
                    GeneratePiece::Piece(piece) => return Ok(Some(piece.text)),
                    GeneratePiece::Figures(figures) => self.figures = Some(figures),
                    GeneratePiece::Error(error) => return Err(ErrorBody { error }.into()),
                    GeneratePiece::Progress(_) | GeneratePiece::ToolCall(_) => {}
                }
            }
            Ok(None)
        })
    }

    fn figures(&self) -> Option<GenerateFigures> {
        self.figures.clone()
    }
}

/// The samples as a file that speech models read: a WAV with one channel of 32-bit floats at 16 kHz.
fn wav(samples: &Bytes) -> Result<Bytes, Failure> {
    const HEADER_BYTES: usize = 44;
    const RATE_HZ: u32 = 16_000;
    const FRAME_BYTES: u16 = 4;
    let too_long = |_| Failure::new(Code::TooLarge, "the sound is too long").param("samples");
    let all = u32::try_from(samples.len() + HEADER_BYTES - 8).map_err(too_long)?;
    let mut file = BytesMut::with_capacity(HEADER_BYTES + samples.len());
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&all.to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    // Floats; one channel.
    for number in [3_u16, 1] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    for number in [RATE_HZ, RATE_HZ * u32::from(FRAME_BYTES)] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    for number in [FRAME_BYTES, 8 * FRAME_BYTES] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    file.extend_from_slice(b"data");
    file.extend_from_slice(&(all + 8 - HEADER_BYTES as u32).to_le_bytes());
    file.extend_from_slice(samples);
    Ok(file.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_is_a_file_with_its_length_said() {
        let file = wav(&Bytes::from_static(&[0; 8])).unwrap();
        assert_eq!(file.len(), 52);
        assert_eq!((&file[..4], &file[8..16], &file[36..40]), (&b"RIFF"[..], &b"WAVEfmt "[..], &b"data"[..]));
        assert_eq!((&file[4..8], &file[40..44]), (&44_u32.to_le_bytes()[..], &8_u32.to_le_bytes()[..]));
    }
}
