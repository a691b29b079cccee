//! Models from elsewhere: downloaded and imported by the host.

use ebb_core::{
    ErrorBody,
    operations::{DemoModelList, ImportModel, ModelEntry, PullModel, PullPiece},
};
use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde::Serialize;

use crate::{Client, Error, Pieces, client::with_body, plugin::next};

impl Client {
    /// Has the host download a model of the Hub, import it where it must be, and add it. Dropping the stream ends it; what
    /// was downloaded stays for the next time.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn pull_model(&self, model: &PullModel) -> Result<Pieces<PullPiece>, Error> {
        self.fetched("pull", model).await
    }

    /// Has the host make an ONNX model of foreign weights, and add it; what is ONNX already is added where it lies. The host
    /// reads the path: it must be absolute. Dropping the stream ends it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn import_model(&self, model: &ImportModel) -> Result<Pieces<PullPiece>, Error> {
        self.fetched("import", model).await
    }

    /// Small models to begin with: where each lies on this machine, or what to pull.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn demo_models(&self) -> Result<DemoModelList, Error> {
        self.get(&["demo-models"], &[]).await
    }

    async fn fetched(&self, verb: &str, body: &impl Serialize) -> Result<Pieces<PullPiece>, Error> {
        let request = self.request(Method::POST, &["models", verb], &[])?;
        let lines = self.lines(self.send(with_body(request, body)?).await?);
        Ok(Pieces::new(stream::try_unfold(Some(lines), |lines| {
            next(lines, |piece| match piece {
                PullPiece::Error(error) => Err(Error::Refused(ErrorBody { error }.into())),
                PullPiece::Report(_) => Ok((piece, true)),
                PullPiece::Progress(_) => Ok((piece, false)),
            })
        })))
    }
}

impl Pieces<PullPiece> {
    /// Waits for the end.
    ///
    /// # Errors
    /// The error that the stream ended with.
    pub async fn entry(mut self) -> Result<ModelEntry, Error> {
        while let Some(piece) = self.next().await {
            if let PullPiece::Report(entry) = piece? {
                return Ok(entry);
            }
        }
        Err(Error::Protocol("it ended without a report".to_owned()))
    }
}
