//! What pipelines are asked: to ingest documents, and to answer questions about them.

use ebb_core::{
    Capability, Code, ErrorBody, Failure, PluginWorld,
    operations::{AskAnswer, AskPiece, AskRequest, IngestPiece, PluginIndex},
};
use futures_util::StreamExt as _;

use super::calls::{OfCall as _, Pieces};
use crate::Host;

impl Host {
    /// Has a pipeline bring its index up to date with the documents that it was granted. One at a time; dropping the stream
    /// ends it, and what was committed stays.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Unsupported`] for a plugin that is no pipeline; [`Code::Busy`] while it does so already; why
    /// it cannot be used. What happens once it runs comes as [`IngestPiece::Error`].
    pub async fn ingest(&self, id: &str) -> Result<IngestStream, Failure> {
        self.expect_pipeline(id)?;
        let live = self.live_plugin(id).await?;
        let running = self.inner.plugins.calls.begin(id, "ingest", true).ok_or_else(|| {
            Failure::new(Code::Busy, format!("'{id}' is ingesting already"))
                .hint("wait for its end: `ebb rag status` shows how far it is")
        })?;
        let pieces = Pieces::begin(id, running, |running, pieces| async move {
            let progress = pieces.clone();
            let tell = move |now: ebb_core::operations::PluginProgress| {
                running.note(now.clone());
                // A reader that is slow misses some; the end it does not miss.
                let _room = progress.try_send(IngestPiece::Progress(now));
            };
            let piece = match live.plugin.pipeline().ingest(Box::new(tell)).await {
                Ok(report) => IngestPiece::Report(report),
                Err(failure) => IngestPiece::error(failure),
            };
            // Whoever asked may have left.
            let _heard = pieces.send(piece).await;
        });
        Ok(IngestStream(pieces))
    }

    /// Asks a pipeline a question. Dropping the stream ends it, generation included.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Unsupported`] for a plugin that is no pipeline; [`Code::InvalidRequest`] without a question; why
    /// it cannot be used. What happens once it runs comes as [`AskPiece::Error`].
    pub async fn ask(&self, id: &str, request: AskRequest) -> Result<AskStream, Failure> {
        self.expect_pipeline(id)?;
        if request.question.trim().is_empty() {
            return Err(Failure::new(Code::InvalidRequest, "there is no question").param("question"));
        }
        let live = self.live_plugin(id).await?;
        let calls = &self.inner.plugins.calls;
        let running =
            calls.begin(id, "ask", false).ok_or_else(|| Failure::new(Code::Busy, "it is asked already"))?;
        let pieces = Pieces::begin(id, running, |running, pieces| async move {
            let mut answer = live.plugin.pipeline().ask(request);
            while let Some(piece) = answer.next().await {
                if let AskPiece::Progress(now) = &piece {
                    running.note(now.clone());
                }
                if piece.is_last() {
                    // Over before whoever asked hears of its end.
                    drop(running);
                    let _heard = pieces.send(piece).await;
                    return;
                }
                if pieces.send(piece).await.is_err() {
                    return;
                }
            }
        });
        Ok(AskStream(pieces))
    }

    /// What a pipeline's index holds, what it was granted to read, and what it is doing.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Unsupported`] for a plugin that is no pipeline; [`Code::Storage`] where its store cannot be read.
    pub async fn plugin_index(&self, id: &str) -> Result<PluginIndex, Failure> {
        self.expect_pipeline(id)?;
        let live = self.live_plugin(id).await?;
        let plugins = &self.inner.plugins;
        let documents =
            plugins.kept(id)?.grants.into_iter().find(|grant| grant.capability == Capability::Documents);
        let index = live.plugin.index().await?;
        Ok(PluginIndex {
            plugin: id.to_owned(),
            collections: index.collections,
            store_bytes: index.store_bytes,
            index_memory_bytes: index.index_memory_bytes,
            paths: documents.map(|grant| grant.paths).unwrap_or_default(),
            running: plugins.calls.running(id),
        })
    }

    fn expect_pipeline(&self, id: &str) -> Result<(), Failure> {
        let world = self.inner.plugins.kept(id)?.component.manifest.world;
        if world == PluginWorld::RagPipeline {
            return Ok(());
        }
        Err(Failure::new(
            Code::Unsupported,
            format!("'{id}' is a plugin of the world {world}: it has no documents"),
        )
        .hint("plugins of the world rag-pipeline can be asked; a policy is attached to a model")
        .param("plugin"))
    }
}

/// The pieces of an ingest. `None` once the last piece was given.
#[derive(Debug)]
pub struct IngestStream(Pieces<IngestPiece>);

impl IngestStream {
    /// The next piece; `None` after [`IngestPiece::Report`] or [`IngestPiece::Error`].
    pub async fn next(&mut self) -> Option<IngestPiece> {
        self.0.next().await
    }
}

/// The pieces of an answer. It is pulled: a reader that waits makes the pipeline wait. `None` once the last piece was given.
#[derive(Debug)]
pub struct AskStream(Pieces<AskPiece>);

impl AskStream {
    /// The next piece; `None` after [`AskPiece::Done`] or [`AskPiece::Error`].
    pub async fn next(&mut self) -> Option<AskPiece> {
        self.0.next().await
    }

    /// The whole answer, once it is complete.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn whole(mut self) -> Result<AskAnswer, Failure> {
        let mut whole = AskAnswer::default();
        while let Some(piece) = self.next().await {
            match piece {
                AskPiece::Progress(_) => {}
                AskPiece::Citations(citations) => whole.citations = citations,
                AskPiece::Text(text) => whole.answer.push_str(&text),
                AskPiece::Done { took_ms } => whole.took_ms = took_ms,
                AskPiece::Error(error) => return Err(ErrorBody { error }.into()),
            }
        }
        Ok(whole)
    }
}
