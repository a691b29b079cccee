//! One plugin of the host.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use ebb_core::{
    ErrorBody,
    operations::{
        AskAnswer, AskPiece, AskRequest, AttachPlugin, DetachPlugin, Grant, Grants, IngestPiece,
        IngestReport, PluginEntry, PluginIndex, PluginLog, PluginLogLine, PluginSettings,
    },
};
use futures_util::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};
use reqwest::Method;
use serde::{Serialize, de::DeserializeOwned};

use crate::{Client, Error, client::with_body, lines::Lines};

/// A plugin, by its id.
#[derive(Debug, Clone)]
pub struct Plugin {
    client: Client,
    id: String,
}

impl Plugin {
    pub(crate) fn new(client: Client, id: String) -> Self {
        Self { client, id }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is known of it: what it asked for, was granted and really used; where it is attached.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn info(&self) -> Result<PluginEntry, Error> {
        self.client.get(&["plugins", &self.id], &[]).await
    }

    /// Removes it with all that it kept; answers with what it was.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove(&self) -> Result<PluginEntry, Error> {
        self.client.delete(&["plugins", &self.id]).await
    }

    /// Grants this besides what was granted before.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn grant(&self, grants: Vec<Grant>) -> Result<PluginEntry, Error> {
        self.post("grant", &Grants { grants }).await
    }

    /// Takes this back: named models and paths alone, or the whole capability where none is named.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn revoke(&self, grants: Vec<Grant>) -> Result<PluginEntry, Error> {
        self.post("revoke", &Grants { grants }).await
    }

    /// Has it decide for a model.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn attach(&self, attach: &AttachPlugin) -> Result<PluginEntry, Error> {
        self.post("attach", attach).await
    }

    /// Has it decide for a model no longer.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn detach(&self, model: &str) -> Result<PluginEntry, Error> {
        self.post("detach", &DetachPlugin { model: model.to_owned() }).await
    }

    /// Changes settings; those not named stay.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_settings(&self, settings: &PluginSettings) -> Result<PluginEntry, Error> {
        self.post("settings", settings).await
    }

    /// The last lines of its log.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn log(&self, lines: u32) -> Result<PluginLog, Error> {
        self.client.get(&["plugins", &self.id, "log"], &[("lines", &lines.to_string())]).await
    }

    /// The last lines of its log, and those that come from now on, until the host ends.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn follow_log(&self, lines: u32) -> Result<Pieces<PluginLogLine>, Error> {
        let query = [("lines", &*lines.to_string()), ("follow", "true")];
        let request = self.client.request(Method::GET, &["plugins", &self.id, "log"], &query)?;
        let response = self.client.send(request).await?;
        Ok(Pieces::new(stream::try_unfold(self.client.lines(response), next_line)))
    }

    /// Brings a pipeline's index up to date. Dropping the stream cancels it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ingest(&self) -> Result<Pieces<IngestPiece>, Error> {
        let lines = self.streamed("ingest", &serde_json::json!({})).await?;
        Ok(Pieces::new(stream::try_unfold(Some(lines), |lines| {
            next(lines, |piece| match piece {
                IngestPiece::Error(error) => Err(Error::Refused(ErrorBody { error }.into())),
                IngestPiece::Report(_) => Ok((piece, true)),
                IngestPiece::Progress(_) => Ok((piece, false)),
            })
        })))
    }

    /// Asks a pipeline, and waits for all of its answer.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ask(&self, request: &AskRequest) -> Result<AskAnswer, Error> {
        self.post("ask", &AskRequest { stream: false, ..request.clone() }).await
    }

    /// Asks a pipeline; the answer comes as it is written. Dropping the stream cancels it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ask_stream(&self, request: &AskRequest) -> Result<Pieces<AskPiece>, Error> {
        let lines = self.streamed("ask", &AskRequest { stream: true, ..request.clone() }).await?;
        Ok(Pieces::new(stream::try_unfold(Some(lines), |lines| {
            next(lines, |piece| match piece {
                AskPiece::Error(error) => Err(Error::Refused(ErrorBody { error }.into())),
                AskPiece::Done { .. } => Ok((piece, true)),
                _ => Ok((piece, false)),
            })
        })))
    }

    /// What a pipeline's index holds.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn index(&self) -> Result<PluginIndex, Error> {
        self.client.get(&["plugins", &self.id, "index"], &[]).await
    }

    async fn post<T: DeserializeOwned>(&self, verb: &str, body: &impl Serialize) -> Result<T, Error> {
        self.client.post(&["plugins", &self.id, verb], body).await
    }

    async fn streamed(&self, verb: &str, body: &impl Serialize) -> Result<Lines, Error> {
        let request = self.client.request(Method::POST, &["plugins", &self.id, verb], &[])?;
        let response = self.client.send(with_body(request, body)?).await?;
        Ok(self.client.lines(response))
    }
}

/// An answer as it comes in, piece by piece. An error is its last item.
pub struct Pieces<T>(BoxStream<'static, Result<T, Error>>);

impl<T> Pieces<T> {
    pub(crate) fn new(pieces: impl Stream<Item = Result<T, Error>> + Send + 'static) -> Self {
        Self(pieces.boxed())
    }
}

impl Pieces<IngestPiece> {
    /// Waits for the end.
    ///
    /// # Errors
    /// The error that the stream ended with.
    pub async fn report(mut self) -> Result<IngestReport, Error> {
        while let Some(piece) = self.next().await {
            if let IngestPiece::Report(report) = piece? {
                return Ok(report);
            }
        }
        Err(Error::Protocol("the ingest ended without a report".to_owned()))
    }
}

impl<T> Stream for Pieces<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl<T> fmt::Debug for Pieces<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pieces").finish_non_exhaustive()
    }
}

/// `None` as state: the last piece was read, nothing may follow. `sort` says of a piece whether it is the last.
pub(crate) async fn next<T: DeserializeOwned>(
    lines: Option<Lines>,
    sort: impl FnOnce(T) -> Result<(T, bool), Error>,
) -> Result<Option<(T, Option<Lines>)>, Error> {
    let Some(mut lines) = lines else { return Ok(None) };
    let (piece, last) = sort(lines.record().await?)?;
    Ok(Some((piece, (!last).then_some(lines))))
}

/// A line of a stream that has no end of its own.
pub(crate) async fn next_line<T: DeserializeOwned>(mut lines: Lines) -> Result<Option<(T, Lines)>, Error> {
    while let Some(line) = lines.next().await? {
        if !line.is_empty() {
            let piece = serde_json::from_slice(&line)
                .map_err(|error| Error::Protocol(format!("a line of a streamed answer: {error}")))?;
            return Ok(Some((piece, lines)));
        }
    }
    Ok(None)
}
