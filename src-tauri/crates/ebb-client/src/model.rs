//! One model of the host.

use bytes::Bytes;
use ebb_core::{
    Generation, LoadOptions, Message,
    operations::{
        CountTokens, EmbedRequest, Estimate, GenerateAnswer, GenerateRequest, LoadReport, MAX_AUDIO_BYTES,
        ModelEntry, RunAnswer, RunRequest, RuntimeOptions, TokenCounts, TranscribeAnswer, TranscribeRequest,
        UnloadReport,
    },
};
use reqwest::{Method, header::CONTENT_TYPE};

use crate::{
    Client, EmbedStream, Embeddings, Error, GenerateStream, Runtime, TranscribeStream,
    client::{check_length, with_body},
};

/// A model, by its alias.
#[derive(Debug, Clone)]
pub struct Model {
    client: Client,
    alias: String,
}

impl Model {
    pub(crate) fn new(client: Client, alias: String) -> Self {
        Self { client, alias }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Its alias.
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// What is known of it; whether it is in memory.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn info(&self) -> Result<ModelEntry, Error> {
        self.client.get(&["models", &self.alias], &[]).await
    }

    /// Loads it. Loaded already with the same options, it stays as it is; with others, that is a conflict.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn load(&self, options: &LoadOptions) -> Result<LoadReport, Error> {
        self.client.post(&["models", &self.alias, "load"], options).await
    }

    /// Loads it with these options, unloading it first where it is loaded with others.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn load_again(&self, options: &LoadOptions) -> Result<LoadReport, Error> {
        let path = ["models", &self.alias, "load"];
        let request = self.client.request(Method::POST, &path, &[("force", "true")])?;
        let response = self.client.send(with_body(request, options)?).await?;
        self.client.json(response).await
    }

    /// Ends its worker: everything it held comes back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn unload(&self) -> Result<UnloadReport, Error> {
        self.client.post(&["models", &self.alias, "unload"], &serde_json::json!({})).await
    }

    /// Takes it out of the catalogue, unloading it first. Its files stay.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove(&self) -> Result<ModelEntry, Error> {
        self.client.delete(&["models", &self.alias]).await
    }

    /// Tokens that its own tokenizer makes of each text, special ones not counted.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn count_tokens<T: Into<String>>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Vec<u32>, Error> {
        let body = CountTokens { texts: texts.into_iter().map(Into::into).collect() };
        let counts: TokenCounts = self.client.post(&["models", &self.alias, "count-tokens"], &body).await?;
        Ok(counts.tokens)
    }

    /// What it will need.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn estimate(&self) -> Result<Estimate, Error> {
        self.client.get(&["models", &self.alias, "estimate"], &[]).await
    }

    /// One vector a text, in order. It is loaded first where it is not.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn embed(
        &self,
        texts: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Embeddings, Error> {
        let texts = texts.into_iter().map(Into::into).collect();
        self.embed_stream(EmbedRequest { texts, ..EmbedRequest::default() }).await?.all().await
    }

    /// As [`Model::embed`], with everything a request may say, and with its vectors as they are made.
    ///
    /// # Errors
    /// See [`Error`]; one that happens later is an item of the stream.
    pub async fn embed_stream(&self, mut request: EmbedRequest) -> Result<EmbedStream, Error> {
        request.stream = true;
        let post = self.client.request(Method::POST, &["models", &self.alias, "embed"], &[])?;
        let post = with_body(post, &request)?;
        drop(request);
        let response = self.client.send(post).await?;
        Ok(EmbedStream::new(self.client.lines(response)))
    }

    /// What it answers to these messages. It is loaded first where it is not.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn chat(&self, messages: impl Into<Vec<Message>>) -> Result<GenerateAnswer, Error> {
        let generation = Generation { messages: messages.into(), ..Generation::default() };
        self.generate(GenerateRequest { generation, ..GenerateRequest::default() }).await
    }

    /// As [`Model::chat`], with everything that a request may say.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn generate(&self, request: GenerateRequest) -> Result<GenerateAnswer, Error> {
        self.generate_stream(request).await?.all().await
    }

    /// As [`Model::generate`], with the text as it is made.
    ///
    /// # Errors
    /// See [`Error`]; one that happens later is an item of the stream.
    pub async fn generate_stream(&self, mut request: GenerateRequest) -> Result<GenerateStream, Error> {
        request.stream = true;
        let post = self.client.request(Method::POST, &["models", &self.alias, "generate"], &[])?;
        let response = self.client.send(with_body(post, &request)?).await?;
        Ok(GenerateStream::new(self.client.lines(response)))
    }

    /// What is said in an audio file. It is loaded first where it is not.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn transcribe(
        &self,
        request: TranscribeRequest,
        audio: impl Into<Bytes>,
    ) -> Result<TranscribeAnswer, Error> {
        self.transcribe_stream(request, audio).await?.all().await
    }

    /// As [`Model::transcribe`], stretch by stretch. The file travels as the body, the request in the address.
    ///
    /// # Errors
    /// See [`Error`]; one that happens later is an item of the stream.
    pub async fn transcribe_stream(
        &self,
        mut request: TranscribeRequest,
        audio: impl Into<Bytes>,
    ) -> Result<TranscribeStream, Error> {
        request.stream = true;
        let audio = audio.into();
        check_length(
            audio.len(),
            MAX_AUDIO_BYTES,
            "send a shorter file, or one of a format that takes less: FLAC, MP3",
        )?;
        let text = serde_json::to_string(&request).map_err(|error| Error::Protocol(error.to_string()))?;
        let path = ["models", &self.alias, "transcribe"];
        let post = self.client.request(Method::POST, &path, &[("request", &text)])?;
        let post = post.header(CONTENT_TYPE, "application/octet-stream").body(audio);
        let response = self.client.send(post).await?;
        Ok(TranscribeStream::new(self.client.lines(response)))
    }

    /// Runs it on tensors. It is loaded first where it is not.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn run(&self, request: &RunRequest) -> Result<RunAnswer, Error> {
        self.client.post(&["models", &self.alias, "run"], request).await
    }

    /// What can be done to it while it is loaded.
    pub fn runtime(&self) -> Runtime {
        Runtime::new(self.client.clone(), self.alias.clone())
    }

    /// Short for [`Runtime::set_option`].
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_runtime_option(&self, key: &str, value: &str) -> Result<RuntimeOptions, Error> {
        self.runtime().set_option(key, value).await
    }
}
