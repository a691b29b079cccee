//! Inference on the models that the user granted: capabilities `inference.embed`, `inference.generate`,
//! `inference.transcribe`. A model that is not in memory is loaded first.

pub use crate::bindings::{
    inference::{GenerateOptions, Message, Usage},
    types::{ModelInfo, Vectors},
};
use crate::{Error, backend};

/// The models that this plugin was granted for any kind of inference.
///
/// # Errors
/// [`Error::Denied`] where no capability of inference was granted at all.
pub fn models() -> Result<Vec<ModelInfo>, Error> {
    backend::models()
}

/// One vector a text, in order, L2-normalised.
///
/// # Errors
/// [`Error::Denied`] without `inference.embed` on the model; [`Error::Invalid`] where a text or the batch is too large.
pub fn embed(model: &str, texts: &[String]) -> Result<Vectors, Error> {
    backend::embed(model, texts)
}

/// Tokens that the model's own tokenizer makes of each text, special tokens not counted.
///
/// # Errors
/// [`Error::Denied`] without any capability of inference on the model.
pub fn count_tokens(model: &str, texts: &[String]) -> Result<Vec<u32>, Error> {
    backend::count_tokens(model, texts)
}

/// Writes down speech: mono PCM at 16 kHz, -1 to 1.
///
/// # Errors
/// [`Error::Denied`] without `inference.transcribe` on the model.
pub fn transcribe(model: &str, samples: &[f32], language: Option<&str>) -> Result<String, Error> {
    backend::transcribe(model, &to_bytes(samples), language)
}

/// Begins to generate the model's answer to `messages`.
///
/// # Errors
/// [`Error::Denied`] without `inference.generate` on the model; [`Error::Invalid`] where the prompt exceeds its context.
pub fn generate(model: &str, messages: &[Message], options: &GenerateOptions) -> Result<Generation, Error> {
    backend::Generation::start(model, messages, options).map(|inner| Generation { inner, over: false })
}

/// A running generation: an iterator over pieces of text, which ends after the first error. Dropping it ends the run and
/// frees its cache.
#[derive(Debug)]
pub struct Generation {
    inner: backend::Generation,
    over: bool,
}

impl Generation {
    /// Tokens so far, and why it ended once it has.
    ///
    /// # Errors
    /// Where the host knows the run no more.
    pub fn usage(&self) -> Result<Usage, Error> {
        self.inner.usage()
    }

    /// Ends it now.
    pub fn cancel(&mut self) {
        self.over = true;
        self.inner.cancel();
    }

    /// All that is left of the text.
    ///
    /// # Errors
    /// Where the model fails.
    pub fn text(self) -> Result<String, Error> {
        self.collect()
    }
}

impl Iterator for Generation {
    type Item = Result<String, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let piece = self.inner.next().transpose();
        self.over = !matches!(piece, Some(Ok(_)));
        piece
    }
}

impl Message {
    /// A message of a `role`: `system`, `user`, `assistant`, `tool`.
    pub fn new(role: &str, content: impl Into<String>) -> Self {
        Self { role: role.to_owned(), content: content.into() }
    }

    /// How the model is to behave.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new("system", content)
    }

    /// What the user said.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new("user", content)
    }

    /// What the model said.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new("assistant", content)
    }
}

/// The model's own defaults.
impl Default for GenerateOptions {
    fn default() -> Self {
        Self {
            max_tokens: None,
            temperature: None,
            top_p: None,
            top_k: None,
            seed: None,
            stop: Vec::new(),
            json_schema: None,
            more: Vec::new(),
        }
    }
}

impl Vectors {
    /// Vectors of one length, in one block.
    ///
    /// # Errors
    /// [`Error::Invalid`] where they are not of one length.
    pub fn new<V: AsRef<[f32]>>(vectors: &[V]) -> Result<Self, Error> {
        let dimensions = vectors.first().map_or(0, |first| first.as_ref().len());
        if vectors.iter().any(|vector| vector.as_ref().len() != dimensions) {
            return Err(Error::Invalid("the vectors are of different lengths".into()));
        }
        let data = vectors.iter().flat_map(|vector| to_bytes(vector.as_ref())).collect();
        let whole = |number: usize| {
            u32::try_from(number).map_err(|_| Error::Invalid("that is too many numbers".into()))
        };
        Ok(Self { dimensions: whole(dimensions)?, count: whole(vectors.len())?, data })
    }

    /// One vector.
    pub fn get(&self, index: u32) -> Option<Vec<f32>> {
        (index < self.count).then_some(())?;
        self.bytes(index).map(floats)
    }

    /// One vector as vectors, for [`Query::vector`](crate::store::Query::vector).
    pub fn single(&self, index: u32) -> Option<Self> {
        let data = self.bytes(index)?.to_vec();
        Some(Self { dimensions: self.dimensions, count: 1, data })
    }

    /// Those from `start` until before `end`, for staging a document's part of a larger batch.
    pub fn slice(&self, start: u32, end: u32) -> Option<Self> {
        let width = self.dimensions as usize * 4;
        let count = end.checked_sub(start)?;
        let data = self.data.get(width * start as usize..width * end as usize)?.to_vec();
        Some(Self { dimensions: self.dimensions, count, data })
    }

    /// Every vector, in order.
    pub fn iter(&self) -> impl Iterator<Item = Vec<f32>> + '_ {
        (0..self.count).map_while(|index| self.get(index))
    }

    fn bytes(&self, index: u32) -> Option<&[u8]> {
        let width = self.dimensions as usize * 4;
        let start = width.checked_mul(index as usize)?;
        self.data.get(start..start.checked_add(width)?)
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|one| f32::from_le_bytes(*one)).collect()
}

fn to_bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|one| one.to_le_bytes()).collect()
}
