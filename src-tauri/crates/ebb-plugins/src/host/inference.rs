//! Inference on the models that were granted.

use std::collections::BTreeSet;

use bytes::Bytes;
use ebb_core::{Capability, GenerateFigures, Generation as Asked, Json, Message, ResponseFormat};
use serde_json::Value;
use wasmtime::component::{HasSelf, Linker, Resource};

use crate::{
    ModelSummary, TextStream,
    bindings::{
        self,
        inference::{self, GenerateOptions, Host, HostGeneration, Usage},
        types::{Error, ModelInfo, Vectors},
    },
    guest::{Guest, allowed, given},
};

/// Capabilities of inference.
const INFERENCE: [Capability; 3] =
    [Capability::InferenceEmbed, Capability::InferenceGenerate, Capability::InferenceTranscribe];

/// Most texts of one call.
const MAX_TEXTS: usize = 100_000;

/// A running generation.
pub struct Generation {
    /// None once it ended or was cancelled.
    stream: Option<Box<dyn TextStream>>,
    /// What it took, once it ended.
    figures: Option<GenerateFigures>,
    cancelled: bool,
    /// Pieces so far: what is known of its length before its end.
    pieces: u32,
}

impl Host for Guest {
    async fn models(&mut self) -> wasmtime::Result<Result<Vec<ModelInfo>, Error>> {
        self.limiter.count_host_call()?;
        let grants = &self.plugin.grants;
        if !INFERENCE.iter().any(|one| grants.may(*one, None)) {
            // Counted under the one that it most likely wants.
            given!(grants.check(Capability::InferenceEmbed, None).map_err(Error::Denied));
        }
        let granted = |model: &ModelSummary| INFERENCE.iter().any(|one| grants.may(*one, Some(&model.alias)));
        Ok(Ok(self.plugin.models.list().into_iter().filter(granted).map(info).collect()))
    }

    async fn embed(&mut self, model: String, texts: Vec<String>) -> wasmtime::Result<Result<Vectors, Error>> {
        allowed!(self, InferenceEmbed, Some(&model));
        given!(self.fit(&texts));
        if texts.is_empty() {
            return Ok(Ok(Vectors { dimensions: 0, count: 0, data: Vec::new() }));
        }
        let vectors = given!(self.plugin.models.embed(&model, texts).await.map_err(Error::from));
        let crate::Vectors { dimensions, count, data } = vectors;
        Ok(Ok(Vectors { dimensions, count, data: data.into() }))
    }

    async fn count_tokens(
        &mut self,
        model: String,
        texts: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<u32>, Error>> {
        self.limiter.count_host_call()?;
        let grants = &self.plugin.grants;
        if !INFERENCE.iter().any(|one| grants.may(*one, Some(&model))) {
            given!(grants.check(Capability::InferenceEmbed, Some(&model)).map_err(Error::Denied));
        }
        given!(self.fit(&texts));
        if texts.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        Ok(self.plugin.models.count_tokens(&model, texts).await.map_err(Error::from))
    }

    async fn transcribe(
        &mut self,
        model: String,
        samples: Vec<u8>,
        language: Option<String>,
    ) -> wasmtime::Result<Result<String, Error>> {
        allowed!(self, InferenceTranscribe, Some(&model));
        given!(self.fits(samples.len()));
        if !samples.len().is_multiple_of(size_of::<f32>()) {
            return Ok(Err(Error::Invalid("samples are f32 of four bytes each".to_owned())));
        }
        let heard = self.plugin.models.transcribe(&model, Bytes::from(samples), language).await;
        Ok(heard.map_err(Error::from))
    }
}

impl HostGeneration for Guest {
    async fn start(
        &mut self,
        model: String,
        messages: Vec<inference::Message>,
        options: GenerateOptions,
    ) -> wasmtime::Result<Result<Resource<Generation>, Error>> {
        allowed!(self, InferenceGenerate, Some(&model));
        given!(self.fits(messages.iter().map(|message| message.content.len()).sum()));
        let asked = given!(generation(messages, options));
        let stream = given!(self.plugin.models.generate(&model, asked).await.map_err(Error::from));
        let generation = Generation { stream: Some(stream), figures: None, cancelled: false, pieces: 0 };
        Ok(Ok(self.push(generation)?))
    }

    async fn next(
        &mut self,
        generation: Resource<Generation>,
    ) -> wasmtime::Result<Result<Option<String>, Error>> {
        self.limiter.count_host_call()?;
        let generation = self.table.get_mut(&generation)?;
        let Some(stream) = &mut generation.stream else {
            return Ok(if generation.cancelled { Err(Error::Cancelled) } else { Ok(None) });
        };
        let piece = stream.next().await;
        match &piece {
            Ok(Some(_)) => generation.pieces = generation.pieces.saturating_add(1),
            Ok(None) | Err(_) => {
                generation.figures = stream.figures();
                generation.stream = None;
            }
        }
        Ok(piece.map_err(Error::from))
    }

    async fn usage(&mut self, generation: Resource<Generation>) -> wasmtime::Result<Result<Usage, Error>> {
        self.limiter.count_host_call()?;
        let generation = self.table.get(&generation)?;
        let cancelled = generation.cancelled.then(|| "cancelled".to_owned());
        Ok(Ok(match &generation.figures {
            Some(figures) => Usage {
                prompt_tokens: figures.prompt_tokens,
                completion_tokens: figures.completion_tokens,
                finish: cancelled.or_else(|| Some(word(&figures.finish_reason))),
            },
            None => Usage { prompt_tokens: 0, completion_tokens: generation.pieces, finish: cancelled },
        }))
    }

    async fn cancel(&mut self, generation: Resource<Generation>) -> wasmtime::Result<()> {
        self.limiter.count_host_call()?;
        let generation = self.table.get_mut(&generation)?;
        // Dropping it ends the run.
        if generation.stream.take().is_some() {
            generation.cancelled = true;
        }
        Ok(())
    }

    async fn drop(&mut self, generation: Resource<Generation>) -> wasmtime::Result<()> {
        self.table.delete(generation)?;
        Ok(())
    }
}

impl Guest {
    /// Refuses more texts, or longer ones, than one call may hand over.
    fn fit(&self, texts: &[String]) -> Result<(), Error> {
        if texts.len() > MAX_TEXTS {
            return Err(Error::Invalid(format!("{} texts at once; at most {MAX_TEXTS}", texts.len())));
        }
        self.fits(texts.iter().map(String::len).sum())
    }
}

fn info(model: ModelSummary) -> ModelInfo {
    ModelInfo {
        alias: model.alias,
        kind: word(&model.kind),
        loaded: model.loaded,
        provider: model.provider,
        context_tokens: model.context_tokens,
        dimensions: model.dimensions,
        more: Vec::new(),
    }
}

/// A name as it stands in JSON.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}

/// What is asked of the model. Further options stand under the names that they have in JSON.
fn generation(messages: Vec<inference::Message>, options: GenerateOptions) -> Result<Asked, Error> {
    let mut fields = serde_json::Map::new();
    let mut named = BTreeSet::new();
    for (name, value) in options.more {
        let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
        if ["messages", "prompt", "tools"].contains(&name.as_str()) || !named.insert(name.clone()) {
            return Err(Error::Invalid(format!("the option '{}' cannot be given here", name.escape_debug())));
        }
        fields.insert(name, value);
    }
    let mut asked: Asked = serde_json::from_value(Value::Object(fields))
        .map_err(|error| Error::Invalid(format!("a further option does not fit: {error}")))?;
    asked.messages = messages.into_iter().map(|said| Message::new(&said.role, said.content)).collect();
    asked.max_tokens = options.max_tokens.or(asked.max_tokens);
    asked.temperature = options.temperature.or(asked.temperature);
    asked.top_p = options.top_p.or(asked.top_p);
    asked.top_k = options.top_k.or(asked.top_k);
    asked.seed = options.seed.or(asked.seed);
    if !options.stop.is_empty() {
        asked.stop = options.stop;
    }
    if let Some(schema) = options.json_schema {
        let schema: Json = serde_json::from_str(&schema)
            .map_err(|error| Error::Invalid(format!("the schema is no JSON: {error}")))?;
        asked.response_format = Some(ResponseFormat::JsonSchema(schema));
    }
    Ok(asked)
}

/// Offers it.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    bindings::inference::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(more: &[(&str, &str)]) -> GenerateOptions {
        GenerateOptions {
            max_tokens: Some(5),
            temperature: None,
            top_p: None,
            top_k: None,
            seed: None,
            stop: vec!["END".to_owned()],
            json_schema: None,
            more: more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn further_options_stand_under_their_names() {
        let asked = generation(Vec::new(), options(&[("min_p", "0.1"), ("logprobs", "2")])).unwrap();
        assert_eq!((asked.max_tokens, asked.min_p, asked.logprobs), (Some(5), Some(0.1), Some(2)));
        assert_eq!(asked.stop, ["END"]);
        for more in [[("no_such", "1")], [("min_p", "much")], [("messages", "[]")]] {
            assert!(matches!(generation(Vec::new(), options(&more)), Err(Error::Invalid(_))), "{more:?}");
        }
        let schema = GenerateOptions { json_schema: Some("{".to_owned()), ..options(&[]) };
        assert!(matches!(generation(Vec::new(), schema), Err(Error::Invalid(_))));
    }
}
