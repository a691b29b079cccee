//! The inputs and outputs of a decoder.

use std::path::Path;

use ebb_core::{DType, TensorInfo};

use crate::Error;

/// A cache of keys or values: what goes in, and what comes out to go in next time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) past: String,
    pub(super) present: String,
    pub(super) dtype: DType,
    /// Its shape with nothing in it.
    pub(super) empty: [u64; 4],
    /// Whether it is of the audio, made once, rather than of the tokens.
    pub(super) of_audio: bool,
}

/// What an input wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Feed {
    /// Tokens.
    Ids,
    /// What the encoder made of the audio.
    Audio,
    /// Which of the audio's samples count: all.
    AudioMask,
    /// Whether there is a cache.
    HasCache,
    /// Places of the tokens.
    Positions,
    /// A cache.
    Past(Slot),
}

/// A decoder's inputs, by name, and the caches that it gives.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) feeds: Vec<(String, Feed)>,
    /// Outputs with caches: name of the output, and of the input that it becomes.
    pub(super) gives: Vec<(String, String)>,
}

impl Graph {
    /// Finds out what the inputs and outputs are, by their names.
    ///
    /// # Errors
    /// Where there is an input that Ebb cannot fill, or no logits.
    pub(super) fn read(file: &Path, inputs: &[TensorInfo], outputs: &[TensorInfo]) -> Result<Self, Error> {
        let feeds: Vec<(String, Feed)> = inputs
            .iter()
            .map(|input| Ok((input.name.clone(), feed(file, input)?)))
            .collect::<Result<_, Error>>()?;
        let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
        if !names.contains(&"logits") || !feeds.iter().any(|(_, feed)| *feed == Feed::Ids) {
            let why =
                format!("a decoder takes input_ids and gives logits; this one gives {}", names.join(", "));
            return Err(Error::invalid_model(file, why));
        }
        let gives = names.iter().filter_map(|name| {
            Some(((*name).to_owned(), format!("past_key_values.{}", name.strip_prefix("present.")?)))
        });
        Ok(Self { feeds, gives: gives.collect() })
    }

    /// Caches that go in.
    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.feeds.iter().filter_map(|(_, feed)| match feed {
            Feed::Past(slot) => Some(slot),
            _ => None,
        })
    }
}

fn feed(file: &Path, input: &TensorInfo) -> Result<Feed, Error> {
    let wrong =
        |why: String| Error::invalid_model(file, why).hint("export it with Optimum, or take its float file");
    Ok(match input.name.as_str() {
        "input_ids" => Feed::Ids,
        "encoder_hidden_states" => Feed::Audio,
        "encoder_attention_mask" => Feed::AudioMask,
        "use_cache_branch" => Feed::HasCache,
        "cache_position" => Feed::Positions,
        name => {
            let Some(which) = name.strip_prefix("past_key_values.") else {
                return Err(wrong(format!("its decoder has an input '{name}', which Ebb cannot fill")));
            };
            let (Some(dtype @ (DType::Float32 | DType::Float16)), &[_, heads @ (1..), _, width @ (1..)]) =
                (input.dtype, &input.shape[..])
            else {
                let why = format!(
                    "its cache '{name}' has the shape {:?}, where [batch, heads, length, width] is due",
                    input.shape
                );
                return Err(wrong(why));
            };
            Feed::Past(Slot {
                past: name.to_owned(),
                present: format!("present.{which}"),
                dtype,
                empty: [1, heads.unsigned_abs(), 0, width.unsigned_abs()],
                of_audio: which.contains(".encoder."),
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, dtype: DType, shape: &[i64]) -> TensorInfo {
        TensorInfo { name: name.to_owned(), dtype: Some(dtype), shape: shape.to_vec() }
    }

    #[test]
    fn caches_are_told_by_their_names() {
        let cache = |name: &str| info(name, DType::Float32, &[-1, 8, -1, 36]);
        let inputs = [
            info("input_ids", DType::Int64, &[-1, -1]),
            cache("past_key_values.0.decoder.key"),
            cache("past_key_values.0.encoder.value"),
        ];
        let outputs = [info("logits", DType::Float32, &[-1, -1, 9]), cache("present.0.decoder.key")];
        let graph = Graph::read(Path::new("d.onnx"), &inputs, &outputs).unwrap();
        let slots: Vec<&Slot> = graph.slots().collect();
        assert_eq!((slots[0].of_audio, slots[1].of_audio), (false, true));
        assert_eq!((slots[0].present.as_str(), slots[0].empty), ("present.0.decoder.key", [1, 8, 0, 36]));
        let gives = ("present.0.decoder.key".to_owned(), "past_key_values.0.decoder.key".to_owned());
        assert_eq!(graph.gives, [gives]);
    }

    #[test]
    fn what_cannot_be_filled_is_named() {
        let ids = info("input_ids", DType::Int64, &[-1, -1]);
        let logits = [info("logits", DType::Float32, &[-1, -1, 9])];
        let refused = |extra: TensorInfo| {
            Graph::read(Path::new("d.onnx"), &[ids.clone(), extra], &logits).unwrap_err().to_string()
        };
        assert!(refused(info("pixel_values", DType::Float32, &[-1])).contains("pixel_values"));
        assert!(refused(info("past_key_values.0.key", DType::Float32, &[-1, -1, -1, 64])).contains("shape"));
        assert!(refused(info("past_key_values.0.key", DType::Int64, &[-1, 8, -1, 64])).contains("shape"));
        assert!(Graph::read(Path::new("d.onnx"), &logits, &logits).is_err());
    }
}
