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
    host::answered,
};

/// Capabilities of inference.
const INFERENCE: [Capability; 3] =
    [Capability::InferenceEmbed, Capability::InferenceGenerate, Capability::InferenceTranscribe];

/// Most texts of one call.
const MAX_TEXTS: usize = 100_000;

/// A running generation.
pub struct Generation {
    /// The model's alias.
    model: String,
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
        given!(self.allow(self.any_inference(None), None)?);
        let grants = &self.plugin.grants;
        let granted = |model: &ModelSummary| INFERENCE.iter().any(|one| grants.may(*one, Some(&model.alias)));
        Ok(Ok(self.plugin.models.list().into_iter().filter(granted).map(info).collect()))
    }

    async fn embed(&mut self, model: String, texts: Vec<String>) -> wasmtime::Result<Result<Vectors, Error>> {
        allowed!(self, InferenceEmbed, Some(&model));
        given!(self.fit(&texts));
        if texts.is_empty() {
            return Ok(Ok(Vectors { dimensions: 0, count: 0, data: Vec::new() }));
        }
        let vectors = given!(answered(self.plugin.models.embed(&model, texts)).await);
        given!(self.fits(vectors.data.len()));
        let crate::Vectors { dimensions, count, data } = vectors;
        Ok(Ok(Vectors { dimensions, count, data: data.into() }))
    }

    async fn count_tokens(
        &mut self,
        model: String,
        texts: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<u32>, Error>> {
        given!(self.allow(self.any_inference(Some(&model)), Some(&model))?);
        given!(self.fit(&texts));
        if texts.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        Ok(answered(self.plugin.models.count_tokens(&model, texts)).await)
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
        Ok(answered(self.plugin.models.transcribe(&model, Bytes::from(samples), language)).await)
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
        let stream = given!(answered(self.plugin.models.generate(&model, asked)).await);
        let generation =
            Generation { model, stream: Some(stream), figures: None, cancelled: false, pieces: 0 };
        Ok(Ok(self.push(generation)?))
    }

    async fn next(
        &mut self,
        generation: Resource<Generation>,
    ) -> wasmtime::Result<Result<Option<String>, Error>> {
        let model = self.table.get(&generation)?.model.clone();
        let allowed = self.allow(Capability::InferenceGenerate, Some(&model))?;
        let generation = self.table.get_mut(&generation)?;
        if let Err(denied) = allowed {
            // Taken back meanwhile: it does not go on unheard.
            generation.end();
            return Ok(Err(denied));
        }
        let Some(stream) = &mut generation.stream else {
            return Ok(if generation.cancelled { Err(Error::Cancelled) } else { Ok(None) });
        };
        let piece = answered(stream.next()).await;
        match &piece {
            Ok(Some(_)) => generation.pieces = generation.pieces.saturating_add(1),
            Ok(None) | Err(_) => {
                generation.figures = stream.figures();
                generation.stream = None;
            }
        }
        Ok(piece)
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
        self.table.get_mut(&generation)?.end();
        Ok(())
    }

    async fn drop(&mut self, generation: Resource<Generation>) -> wasmtime::Result<()> {
        self.table.delete(generation)?;
        Ok(())
    }
}

impl Generation {
    /// Ends it, if it still runs: dropping the stream ends the run.
    fn end(&mut self) {
        if self.stream.take().is_some() {
            self.cancelled = true;
        }
    }
}

impl Guest {
    /// The capability that a call counts for which any of them allows: one that is granted, else the likeliest.
    fn any_inference(&self, model: Option<&str>) -> Capability {
        let granted = INFERENCE.into_iter().find(|one| self.plugin.grants.may(*one, model));
        granted.unwrap_or(Capability::InferenceEmbed)
    }

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
    use crate::fake::{Scene, grant};

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
    fn said(content: &str) -> Vec<inference::Message> {
        vec![inference::Message { role: "user".to_owned(), content: content.to_owned() }]
    }

    async fn start(guest: &mut Guest, content: &str) -> Resource<Generation> {
        guest.start("chat".to_owned(), said(content), options(&[])).await.unwrap().unwrap()
    }

    /// The handle once more, as a guest has it.
    fn same(generation: &Resource<Generation>) -> Resource<Generation> {
        Resource::new_own(generation.rep())
    }

    fn scene() -> Scene {
        Scene::new(vec![
            grant(Capability::InferenceEmbed, &["m"]),
            grant(Capability::InferenceGenerate, &["chat"]),
        ])
    }

    #[tokio::test]
    async fn a_guest_sees_the_models_that_it_was_granted() {
        let scene = scene();
        let mut guest = scene.guest();
        let models = guest.models().await.unwrap().unwrap();
        let told: Vec<_> = models.iter().map(|model| (&model.alias[..], &model.kind[..])).collect();
        assert_eq!(told, [("m", "embeddings"), ("chat", "chat")]);
        scene.plugin.grants.set(Vec::new());
        assert!(matches!(guest.models().await.unwrap(), Err(Error::Denied(_))));
    }

    #[tokio::test]
    async fn texts_are_embedded_and_counted_where_that_was_granted() {
        let scene = scene();
        let mut guest = scene.guest();
        let texts = || vec!["one two".to_owned(), "three".to_owned()];
        let vectors = guest.embed("m".to_owned(), texts()).await.unwrap().unwrap();
        assert_eq!((vectors.dimensions, vectors.count, vectors.data.len()), (2, 2, 16));
        assert!(matches!(guest.embed("chat".to_owned(), texts()).await.unwrap(), Err(Error::Denied(_))));
        // Any capability on the model will do.
        for model in ["m", "chat"] {
            let tokens = guest.count_tokens(model.to_owned(), texts()).await.unwrap().unwrap();
            assert_eq!(tokens, [2, 1]);
        }
        let other = guest.count_tokens("ears".to_owned(), texts()).await.unwrap();
        assert!(matches!(&other, Err(Error::Denied(why)) if why.contains("'ears'")), "{other:?}");
        let heard = guest.transcribe("ears".to_owned(), vec![0; 8], None).await.unwrap();
        assert!(matches!(heard, Err(Error::Denied(_))), "{heard:?}");
        scene.plugin.grants.set(vec![grant(Capability::InferenceTranscribe, &["ears"])]);
        let heard = guest.transcribe("ears".to_owned(), vec![0; 8], None).await.unwrap();
        assert_eq!(heard.unwrap(), "2 samples");
        let odd = guest.transcribe("ears".to_owned(), vec![0; 7], None).await.unwrap();
        assert!(matches!(odd, Err(Error::Invalid(_))), "{odd:?}");
        let huge = vec!["x".repeat(17 << 20)];
        let huge = guest.count_tokens("ears".to_owned(), huge).await.unwrap();
        assert!(matches!(&huge, Err(Error::Invalid(why)) if why.contains("16.0 MiB")), "{huge:?}");
    }

    #[tokio::test]
    async fn a_generation_streams_and_ends_with_its_handle() {
        let scene = scene();
        let mut guest = scene.guest();
        let generation = start(&mut guest, "one two").await;
        assert_eq!(guest.next(same(&generation)).await.unwrap().unwrap().as_deref(), Some("one "));
        let usage = guest.usage(same(&generation)).await.unwrap().unwrap();
        assert_eq!((usage.completion_tokens, usage.finish), (1, None));
        assert_eq!(guest.next(same(&generation)).await.unwrap().unwrap().as_deref(), Some("two "));
        assert_eq!(guest.next(same(&generation)).await.unwrap().unwrap(), None);
        assert_eq!(scene.models.generating(), 0, "at the end the run is over");
        let usage = guest.usage(same(&generation)).await.unwrap().unwrap();
        assert_eq!((usage.completion_tokens, usage.finish.as_deref()), (2, Some("stop")));
        let dropped = start(&mut guest, "one two").await;
        let _kept = start(&mut guest, "one two").await;
        assert_eq!(scene.models.generating(), 2);
        HostGeneration::drop(&mut guest, dropped).await.unwrap();
        assert_eq!(scene.models.generating(), 1);
        drop(guest);
        assert_eq!(scene.models.generating(), 0, "the end of the call frees what the guest kept");
    }

    #[tokio::test]
    async fn a_generation_that_was_cancelled_or_denied_runs_no_more() {
        let scene = scene();
        let mut guest = scene.guest();
        let cancelled = start(&mut guest, "one two").await;
        guest.cancel(same(&cancelled)).await.unwrap();
        assert_eq!(scene.models.generating(), 0);
        assert!(matches!(guest.next(same(&cancelled)).await.unwrap(), Err(Error::Cancelled)));
        let usage = guest.usage(cancelled).await.unwrap().unwrap();
        assert_eq!(usage.finish.as_deref(), Some("cancelled"));
        let denied = start(&mut guest, "one two").await;
        scene.plugin.grants.set(Vec::new());
        assert!(matches!(guest.next(denied).await.unwrap(), Err(Error::Denied(_))));
        assert_eq!(scene.models.generating(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_hangs_is_given_up() {
        let scene = scene();
        scene.models.hang(true);
        let mut guest = scene.guest();
        let embedded = guest.embed("m".to_owned(), vec!["text".to_owned()]).await.unwrap();
        assert!(matches!(&embedded, Err(Error::Failed(why)) if why.contains("no answer")), "{embedded:?}");
        assert_eq!(scene.models.waiting(), 0, "the job was given up");
    }
}
