//! The model file of a chat model: which of its inputs is what, where its scores come out, and how its cache is laid out.

use std::path::Path;

use ebb_core::{DType, TensorInfo};

use super::config::{Config, Said, encoder_decoder};
use crate::{Error, folder::cache_in_place};

/// The most numbers that one token may have in one tensor of the cache: far beyond any model, and small enough that sizes do
/// not overflow.
const MOST_NUMBERS: u64 = 1 << 20;

/// What an input besides the cache wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The tokens.
    Ids,
    /// A 1 for each token there is, those in the cache included.
    Mask,
    /// Each token's place.
    Positions,
    /// Whether there is a cache to go on from.
    UseCache,
    /// For how many of the last tokens scores are wanted.
    LastScores,
}

/// An input besides the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Feed {
    pub(super) name: String,
    pub(super) role: Role,
    /// Whether its numbers have 64 bits, or 32.
    pub(super) wide: bool,
}

/// Keys or values of a layer: an input with those of the tokens before, an output with those of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kv {
    pub(super) past: String,
    pub(super) present: String,
    pub(super) dtype: DType,
    pub(super) heads: usize,
    pub(super) head_size: usize,
}

/// The output with a score for every token of the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Logits {
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) vocab_size: usize,
    /// Whether they are given for the last token alone, however many are read.
    pub(super) last_only: bool,
    /// Dimensions of the output.
    pub(super) rank: usize,
}

/// Inputs and outputs of a chat model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    pub(super) feeds: Vec<Feed>,
    pub(super) logits: Logits,
    /// Keys and values of each layer.
    pub(super) kv: Vec<Kv>,
    /// Whether the cache is read and written in place.
    pub(super) in_place: bool,
}

impl Graph {
    /// Finds out what the inputs and outputs are, as the folder's configuration names them.
    ///
    /// # Errors
    /// Where the two do not fit, naming the field; where there is an input that Ebb cannot fill.
    pub(super) fn read(
        file: &Path,
        config: &Config,
        inputs: &[TensorInfo],
        outputs: &[TensorInfo],
    ) -> Result<Self, Error> {
        let reading = Reading { file, config, inputs, outputs };
        let kv = reading.cache()?;
        let taken = |name: &str| kv.iter().any(|kv| kv.past == name);
        let others = inputs.iter().filter(|input| !taken(&input.name));
        let feeds: Vec<Feed> = others.map(|input| reading.feed(input)).collect::<Result<_, _>>()?;
        if !feeds.iter().any(|feed| feed.role == Role::Ids) {
            let why =
                format!("a chat model takes '{}'; this one takes {}", config.names.ids, names_of(inputs));
            return Err(Error::invalid_model(file, why));
        }
        let last_scores = feeds.iter().any(|feed| feed.role == Role::LastScores);
        let logits = reading.logits(last_scores)?;
        let pairs = kv.iter().map(|kv| (kv.past.as_str(), kv.present.as_str())).collect();
        let in_place = cache_in_place(file, &pairs)?.unwrap_or(config.in_place == Some(true));
        Ok(Self { feeds, logits, kv, in_place })
    }

    /// Bytes of cache that one token takes.
    pub(super) fn bytes_per_token(&self) -> u64 {
        self.kv.iter().map(|kv| (kv.heads * kv.head_size * kv.dtype.size_bytes()) as u64).sum()
    }
}

/// A model file and what its folder says of it.
struct Reading<'a> {
    file: &'a Path,
    config: &'a Config,
    inputs: &'a [TensorInfo],
    outputs: &'a [TensorInfo],
}

impl Reading<'_> {
    fn cache(&self) -> Result<Vec<Kv>, Error> {
        let Config { names, layers, .. } = self.config;
        if let Some(input) = self.inputs.iter().find(|input| is_of_encoder(&input.name)) {
            tracing::debug!(input = input.name, "an input of an encoder");
            return Err(encoder_decoder(self.file));
        }
        let of_layer = |pattern: &str, layer: usize| pattern.replace("%d", &layer.to_string());
        let there = (0..self.inputs.len())
            .take_while(|&layer| self.input(&of_layer(&names.past_key, layer)).is_some())
            .count();
        if there == 0 {
            let first = of_layer(&names.past_key, 0);
            let why = format!(
                "a chat model keeps a cache, as the input '{first}' and its like; this one takes {}",
                names_of(self.inputs)
            );
            return Err(
                Error::invalid_model(self.file, why).hint("export the model with its cache (`with past`)")
            );
        }
        if let Some(Said { field, number }) = layers
            && *number != there as u64
        {
            return Err(self
                .config
                .wrong(field, format!("is {number}, and the model's cache has {there} layers")));
        }
        let mut kv = Vec::with_capacity(there * 2);
        for layer in 0..there {
            kv.push(self.kv(of_layer(&names.past_key, layer), of_layer(&names.present_key, layer))?);
            kv.push(self.kv(of_layer(&names.past_value, layer), of_layer(&names.present_value, layer))?);
        }
        Ok(kv)
    }

    fn kv(&self, past: String, present: String) -> Result<Kv, Error> {
        let missing = |name: &str, what: &str| {
            let why = format!("its cache has no {what} '{name}'");
            Error::invalid_model(self.file, why)
        };
        let input = self.input(&past).ok_or_else(|| missing(&past, "input"))?;
        let output = self.output(&present).ok_or_else(|| missing(&present, "output"))?;
        let dtype = match input.dtype {
            Some(dtype @ (DType::Float32 | DType::Float16 | DType::BFloat16)) => dtype,
            _ => {
                let why = format!("its cache '{past}' is neither float32 nor float16 nor bfloat16");
                return Err(Error::invalid_model(self.file, why));
            }
        };
        let fits = |one: i64, other: i64| one < 0 || other < 0 || one == other;
        let same_shape = input.shape.len() == 4
            && output.shape.len() == 4
            && [0, 1, 3].iter().all(|&at| fits(input.shape[at], output.shape[at]));
        if !same_shape || output.dtype != Some(dtype) || !fits(input.shape[0], 1) {
            let why = format!(
                "its cache does not fit: the input '{past}' is {}, the output '{present}' is {}; both are [1, heads, tokens, \
                 head size] of one type",
                shown(input),
                shown(output)
            );
            return Err(Error::invalid_model(self.file, why));
        }
        let heads = self.dimension(
            input,
            input.shape[1].max(output.shape[1]),
            self.config.kv_heads.as_ref(),
            "heads",
        )?;
        let head_size = self.dimension(
            input,
            input.shape[3].max(output.shape[3]),
            self.config.head_size.as_ref(),
            "head size",
        )?;
        if heads.saturating_mul(head_size) > MOST_NUMBERS {
            let why = format!("its cache '{past}' has {heads} heads of {head_size}, which no model has");
            return Err(Error::invalid_model(self.file, why));
        }
        Ok(Kv { past, present, dtype, heads: heads as usize, head_size: head_size as usize })
    }

    /// A dimension of the cache: as the model file declares it, else as the folder says; both must agree.
    fn dimension(
        &self,
        input: &TensorInfo,
        declared: i64,
        said: Option<&Said>,
        what: &str,
    ) -> Result<u64, Error> {
        match (u64::try_from(declared).ok().filter(|&size| size > 0), said) {
            (Some(size), Some(Said { field, number })) if size != *number && self.says_of_cache(field) => {
                Err(self
                    .config
                    .wrong(field, format!("is {number}, and the model's input '{}' has {size}", input.name)))
            }
            (Some(size), _) => Ok(size),
            (None, Some(said)) => Ok(said.number),
            (None, None) => {
                let why = format!(
                    "neither the model's input '{}' nor {} says its {what}",
                    input.name,
                    self.config.file.display()
                );
                Err(Error::invalid_model(self.file, why))
            }
        }
    }

    /// Whether a field speaks of the cache; numbers of attention heads are only stood in for it.
    fn says_of_cache(&self, field: &str) -> bool {
        field.starts_with("model.decoder.") && !field.ends_with("num_attention_heads")
    }

    fn feed(&self, input: &TensorInfo) -> Result<Feed, Error> {
        let names = &self.config.names;
        let role = match input.name.as_str() {
            name if name == names.ids => Role::Ids,
            name if name == names.mask => Role::Mask,
            name if name == names.positions => Role::Positions,
            "use_cache_branch" => Role::UseCache,
            "num_logits_to_keep" => Role::LastScores,
            other => {
                let why = format!("it has an input '{other}', which is none that Ebb fills for a chat model");
                return Err(Error::invalid_model(self.file, why));
            }
        };
        let wide = match (role, input.dtype) {
            (Role::UseCache, Some(DType::Bool)) => false,
            (Role::UseCache, _) => {
                return Err(Error::invalid_model(
                    self.file,
                    format!("its input '{}' is not bool", input.name),
                ));
            }
            (_, Some(DType::Int64)) => true,
            (_, Some(DType::Int32)) => false,
            _ => {
                let why = format!("its input '{}' takes neither int64 nor int32", input.name);
                return Err(Error::invalid_model(self.file, why));
            }
        };
        Ok(Feed { name: input.name.clone(), role, wide })
    }

    fn logits(&self, last_scores: bool) -> Result<Logits, Error> {
        let name = &self.config.names.logits;
        let output = self.output(name).ok_or_else(|| {
            let why = format!("a chat model gives '{name}'; this one gives {}", names_of(self.outputs));
            Error::invalid_model(self.file, why)
        })?;
        let dtype = match output.dtype {
            Some(dtype @ (DType::Float32 | DType::Float16 | DType::BFloat16)) => dtype,
            _ => {
                let why = format!("its output '{name}' is neither float32 nor float16 nor bfloat16");
                return Err(Error::invalid_model(self.file, why));
            }
        };
        let rank = output.shape.len();
        if !(2..=3).contains(&rank) {
            let why = format!("its output '{name}' is {}; scores are [1, tokens, vocabulary]", shown(output));
            return Err(Error::invalid_model(self.file, why));
        }
        let declared = output.shape.last().copied().unwrap_or(-1);
        let vocab_size =
            match (u64::try_from(declared).ok().filter(|&size| size > 0), &self.config.vocab_size) {
                (Some(size), _) => size,
                (None, Some(said)) => said.number,
                (None, None) => {
                    let why = format!(
                        "neither it nor {} says how many tokens it knows",
                        self.config.file.display()
                    );
                    return Err(Error::invalid_model(self.file, why));
                }
            };
        let last_only = rank == 2 || last_scores || output.shape[1] == 1;
        Ok(Logits { name: name.clone(), dtype, vocab_size: vocab_size as usize, last_only, rank })
    }

    fn input(&self, name: &str) -> Option<&TensorInfo> {
        self.inputs.iter().find(|input| input.name == name)
    }

    fn output(&self, name: &str) -> Option<&TensorInfo> {
        self.outputs.iter().find(|output| output.name == name)
    }
}

fn is_of_encoder(name: &str) -> bool {
    name.starts_with("encoder_") || name.contains(".encoder.") || name.contains("cross_")
}

/// The first few names, quoted.
fn names_of(infos: &[TensorInfo]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<String> = infos.iter().take(SHOWN).map(|info| format!("'{}'", info.name)).collect();
    let more = infos.len().saturating_sub(SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

fn shown(info: &TensorInfo) -> String {
    let dtype =
        info.dtype.map_or_else(|| "of no known type".to_owned(), |dtype| format!("{dtype:?}").to_lowercase());
    format!("{dtype} {:?}", info.shape)
}
