//! The decoder of a speech model, token by token.

use std::{collections::BTreeMap, path::Path};

use ebb_core::DType;
use ort::{
    session::{SessionInputValue, SessionOutputs},
    value::DynTensor,
};

use super::{
    graph::{Feed, Graph, Slot},
    numbers::values_of,
    parts::Parts,
};
use crate::{
    Error,
    session::{Input, Loaded, Ran},
    sys,
};

/// A decoder: one file that does all, or one for the first tokens and one for those after.
#[derive(Debug)]
pub(super) struct Decoder {
    first: (Loaded, Graph),
    with_past: Option<(Loaded, Graph)>,
}

/// What has been decoded of a stretch: tensors of its own, in main memory. They go with it.
#[derive(Debug)]
pub(super) struct Decoding {
    /// What the encoder made of the audio.
    audio: DynTensor,
    /// Which of its samples count: all of them.
    audio_mask: DynTensor,
    /// Keys and values, by the input that they go into.
    caches: BTreeMap<String, DynTensor>,
    /// All tokens so far, those of the prompt too.
    ids: Vec<u32>,
    /// How many of them the caches hold.
    fed: usize,
}

impl Decoding {
    /// # Errors
    /// Where ONNX Runtime cannot make a tensor.
    pub(super) fn new(audio: DynTensor, samples: usize, prompt: Vec<u32>) -> Result<Self, Error> {
        let ones = 1_i64.to_le_bytes().repeat(samples);
        let audio_mask = sys::tensor("encoder_attention_mask", DType::Int64, &[1, samples as u64], &ones)?;
        Ok(Self { audio, audio_mask, caches: BTreeMap::new(), ids: prompt, fed: 0 })
    }

    /// Adds the token that was chosen.
    pub(super) fn push(&mut self, id: u32) {
        self.ids.push(id);
    }

    /// Starts anew with another prompt, on the same audio.
    pub(super) fn restart(&mut self, prompt: Vec<u32>) {
        (self.ids, self.fed) = (prompt, 0);
        self.caches.clear();
    }
}

impl Decoder {
    /// # Errors
    /// Where its inputs and outputs are not those of a decoder.
    pub(super) fn new(parts: &Parts, decoder: Loaded, with_past: Option<Loaded>) -> Result<Self, Error> {
        let of = |file: &Path, loaded: Loaded| {
            let graph = Graph::read(file, loaded.inputs(), loaded.outputs())?;
            Ok::<_, Error>((loaded, graph))
        };
        let with_past = parts.with_past.as_deref().zip(with_past).map(|(file, loaded)| of(file, loaded));
        Ok(Self { first: of(&parts.decoder, decoder)?, with_past: with_past.transpose()? })
    }

    /// Feeds the tokens that the caches do not hold yet; gives how likely each token is to come next, and how often the cap
    /// was hit.
    ///
    /// # Errors
    /// Where the model fails.
    pub(super) fn next(
        &mut self,
        decoding: &mut Decoding,
        run_options: &BTreeMap<String, String>,
    ) -> Result<Ran<Vec<f32>>, Error> {
        let keeps = self.with_past.is_some() || self.first.1.slots().next().is_some();
        let (loaded, graph) = match &mut self.with_past {
            Some((loaded, graph)) if decoding.fed > 0 => (loaded, &*graph),
            _ => (&mut self.first.0, &self.first.1),
        };
        let begins = decoding.fed == 0;
        let small = Small::new(decoding, keeps, graph)?;
        let inputs: Vec<Input<'_, '_>> = graph
            .feeds
            .iter()
            .map(|(name, feed)| Ok((name.as_str(), small.value(feed, decoding)?)))
            .collect::<Result<_, Error>>()?;
        // Those of the audio are made once and stay as they are.
        let gives = |name: &&(String, String)| keeps && (begins || !name.0.contains(".encoder."));
        let gives: Vec<&(String, String)> = graph.gives.iter().filter(gives).collect();
        let wanted: Vec<&str> =
            ["logits"].into_iter().chain(gives.iter().map(|(name, _)| name.as_str())).collect();
        let ran = loaded.run(&inputs, &wanted, run_options, |outputs| {
            let caches = gives.iter().map(|(name, past)| Ok((past.clone(), copied(outputs, name)?)));
            Ok((last_row(outputs)?, caches.collect::<Result<Vec<_>, Error>>()?))
        })?;
        drop(inputs);
        let (logits, caches) = ran.value;
        decoding.caches.extend(caches);
        if keeps {
            decoding.fed = decoding.ids.len();
        }
        Ok(Ran { value: logits, cap_retries: ran.cap_retries })
    }
}

/// Inputs that are made for one run.
struct Small {
    ids: DynTensor,
    positions: DynTensor,
    has_cache: DynTensor,
    empty: BTreeMap<String, DynTensor>,
}

impl Small {
    fn new(decoding: &Decoding, keeps: bool, graph: &Graph) -> Result<Self, Error> {
        let from = if keeps { decoding.fed } else { 0 };
        let new = &decoding.ids[from..];
        let wide =
            |numbers: &mut dyn Iterator<Item = i64>| numbers.flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
        let ids = wide(&mut new.iter().map(|&id| i64::from(id)));
        let positions = wide(&mut (from..decoding.ids.len()).map(|at| at as i64));
        let len = new.len() as u64;
        let missing = graph.slots().filter(|slot| !decoding.caches.contains_key(&slot.past));
        let empty = missing.map(|Slot { past, dtype, empty, .. }| {
            Ok((past.clone(), sys::tensor(past, *dtype, empty, &[])?))
        });
        Ok(Self {
            ids: sys::tensor("input_ids", DType::Int64, &[1, len], &ids)?,
            positions: sys::tensor("cache_position", DType::Int64, &[len], &positions)?,
            has_cache: sys::tensor("use_cache_branch", DType::Bool, &[1], &[u8::from(decoding.fed > 0)])?,
            empty: empty.collect::<Result<_, Error>>()?,
        })
    }

    fn value<'v>(&'v self, feed: &Feed, decoding: &'v Decoding) -> Result<SessionInputValue<'v>, Error> {
        Ok(match feed {
            Feed::Ids => (&self.ids).into(),
            Feed::Audio => (&decoding.audio).into(),
            Feed::AudioMask => (&decoding.audio_mask).into(),
            Feed::HasCache => (&self.has_cache).into(),
            Feed::Positions => (&self.positions).into(),
            Feed::Past(slot) => {
                let cache = decoding.caches.get(&slot.past).or_else(|| self.empty.get(&slot.past));
                cache
                    .ok_or_else(|| Error::Unsupported(format!("the decoder gives no '{}'", slot.present)))?
                    .into()
            }
        })
    }
}

/// An output as a tensor of its own, outside the arena.
pub(super) fn copied(outputs: &SessionOutputs<'_>, name: &str) -> Result<DynTensor, Error> {
    let value =
        outputs.get(name).ok_or_else(|| Error::Unsupported(format!("the model left '{name}' out")))?;
    let (dtype, shape, data) = sys::contents(name, value)?;
    sys::tensor(name, dtype, &shape, data)
}

/// The logits after the last token.
fn last_row(outputs: &SessionOutputs<'_>) -> Result<Vec<f32>, Error> {
    let wrong = || Error::Unsupported("the decoder's logits are not [batch, tokens, vocabulary]".to_owned());
    let (dtype, shape, data) = sys::contents("logits", outputs.get("logits").ok_or_else(wrong)?)?;
    let &[1, (1..), vocabulary @ (1..)] = &shape[..] else { return Err(wrong()) };
    if !matches!(dtype, DType::Float32 | DType::Float16) {
        return Err(wrong());
    }
    let row_bytes = usize::try_from(vocabulary).unwrap_or(usize::MAX).saturating_mul(dtype.size_bytes());
    Ok(values_of(dtype, data.len().checked_sub(row_bytes).map_or(&[][..], |from| &data[from..])))
}
