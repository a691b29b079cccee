//! What plugins may ask of models. The host of the models implements it; grants are checked before it is called.

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use ebb_core::{
    Failure, GenerateFigures, Generation, ModelKind, Sample, ShrinkReport, Target, options::OptionLine,
};

/// What an asynchronous call of [`Models`] gives.
pub type PluginFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// The models that there are. Calls that need a model in memory load it first; calls about its memory do not.
pub trait Models: Send + Sync + 'static {
    /// Every model of the catalogue, by alias.
    fn list(&self) -> Vec<ModelSummary>;

    /// The newest sample of a loaded model. It waits for nobody.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotFound`], [`ebb_core::Code::NotLoaded`].
    fn latest(&self, alias: &str) -> Result<Sample, Failure>;

    /// Up to `count` samples of a loaded model, oldest first. It waits for nobody.
    ///
    /// # Errors
    /// As [`Self::latest`].
    fn history(&self, alias: &str, count: u32) -> Result<Vec<Sample>, Failure>;

    /// Gives memory back now. `None`: every arena.
    fn shrink<'a>(&'a self, alias: &'a str, targets: Option<Vec<Target>>) -> PluginFuture<'a, ShrinkReport>;

    /// Gives memory back at the end of the next run. `None`: every arena.
    fn shrink_after_next_run<'a>(
        &'a self,
        alias: &'a str,
        targets: Option<Vec<Target>>,
    ) -> PluginFuture<'a, ()>;

    /// Sets a run option; an empty value removes it.
    fn set_runtime_option<'a>(&'a self, alias: &'a str, key: &'a str, value: &'a str)
    -> PluginFuture<'a, ()>;

    /// The run options that hold.
    fn runtime_options<'a>(&'a self, alias: &'a str) -> PluginFuture<'a, Vec<OptionLine>>;

    /// One vector a text, in order. Dropping the future gives the job up.
    fn embed<'a>(&'a self, alias: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vectors>;

    /// Tokens of each text, special ones not counted.
    fn count_tokens<'a>(&'a self, alias: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vec<u32>>;

    /// Begins to generate.
    fn generate<'a>(
        &'a self,
        alias: &'a str,
        generation: Generation,
    ) -> PluginFuture<'a, Box<dyn TextStream>>;

    /// Writes down speech: `samples` are mono PCM at 16 kHz, little-endian f32.
    fn transcribe<'a>(
        &'a self,
        alias: &'a str,
        samples: Bytes,
        language: Option<String>,
    ) -> PluginFuture<'a, String>;
}

/// Text in the making. Dropping it ends the run.
pub trait TextStream: Send {
    /// The next piece of text; `None` at the end.
    fn next<'a>(&'a mut self) -> PluginFuture<'a, Option<String>>;

    /// What it took, once the end was reached.
    fn figures(&self) -> Option<GenerateFigures>;
}

/// Vectors in one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vectors {
    /// Length of each.
    pub dimensions: u32,
    /// How many.
    pub count: u32,
    /// `count` × `dimensions` little-endian f32.
    pub data: Bytes,
}

/// A model of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSummary {
    /// Its unique name.
    pub alias: String,
    /// What it is for.
    pub kind: ModelKind,
    /// Whether it is in memory.
    pub loaded: bool,
    /// Where it runs, while it is loaded.
    pub provider: Option<String>,
    /// Most tokens of a prompt and its answer (chat), or of one text (embeddings), while it is loaded.
    pub context_tokens: Option<u32>,
    /// Length of a vector, while it is loaded.
    pub dimensions: Option<u32>,
}
