//! Recordings of what models hold, and what a policy would have made of one.

use std::collections::BTreeMap;

use bytes::Bytes;
use ebb_core::{
    Json, LoadOptions,
    operations::{MAX_BODY_BYTES, OptionsCheck, RecordingLine, ReplayReport},
};
use futures_util::stream;
use reqwest::{Method, header::CONTENT_TYPE};

use crate::{Error, Model, Pieces, Plugin, client::check_length, plugin::next_line};

impl Model {
    /// What load options would come to: each option's line, every problem, what the model would need. Nothing is loaded.
    ///
    /// # Errors
    /// See [`Error`]; whatever is wrong with the options stands in the answer.
    pub async fn check(&self, options: &LoadOptions) -> Result<OptionsCheck, Error> {
        self.client().post(&["models", self.alias(), "check"], options).await
    }

    /// Records what it holds from now on, until it is unloaded, the host ends or the stream is dropped. Each line, written as
    /// JSON, is one of a recording that policies can be tried on.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn record(&self) -> Result<Pieces<RecordingLine>, Error> {
        let request = self.client().request(Method::GET, &["models", self.alias(), "recording"], &[])?;
        let response = self.client().send(request).await?;
        Ok(Pieces::new(stream::try_unfold(self.client().lines(response), next_line)))
    }
}

impl Plugin {
    /// What it would have made of a recording, if it is a policy; these settings lie over those that the user chose. Nothing
    /// that it keeps changes.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn replay(
        &self,
        recording: impl Into<Bytes>,
        settings: &BTreeMap<String, Json>,
    ) -> Result<ReplayReport, Error> {
        let recording = recording.into();
        check_length(recording.len(), MAX_BODY_BYTES, "record for a shorter time")?;
        let settings = serde_json::to_string(settings).map_err(|error| Error::Protocol(error.to_string()))?;
        let path = ["plugins", self.id(), "replay"];
        let request = self.client().request(Method::POST, &path, &[("settings", &settings)])?;
        let request = request.header(CONTENT_TYPE, "application/x-ndjson").body(recording);
        self.client().json(self.client().send(request).await?).await
    }
}
