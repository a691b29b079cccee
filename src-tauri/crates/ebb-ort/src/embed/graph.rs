//! The model file of an embedding model: which of its inputs is what, and which output holds the vectors.

use std::path::Path;

use ebb_core::{DType, TensorInfo};
use ort::{
    session::SessionInputValue,
    value::{PrimitiveTensorElementType, Tensor},
};

use super::config::Config;
use crate::{Error, session::Input};

/// What an input wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Ids,
    Mask,
    Types,
    Positions,
}

#[derive(Debug)]
struct Feed {
    name: String,
    role: Role,
    wide: bool,
}

/// Inputs and output of an embedding model.
#[derive(Debug)]
pub(super) struct Graph {
    feeds: Vec<Feed>,
    /// The output that is used.
    pub(super) output: String,
    /// Whether it has a vector for each token, or one for each text.
    pub(super) per_token: bool,
}

impl Graph {
    /// Finds out what the inputs and outputs are, by their names and ranks.
    ///
    /// # Errors
    /// Where there is an input that Ebb cannot fill, or no output that holds vectors.
    pub(super) fn read(folder: &Path, inputs: &[TensorInfo], outputs: &[TensorInfo]) -> Result<Self, Error> {
        let feeds = inputs.iter().map(|input| feed(folder, input)).collect::<Result<Vec<_>, _>>()?;
        for (role, name) in [(Role::Ids, "input_ids"), (Role::Mask, "attention_mask")] {
            if !feeds.iter().any(|feed| feed.role == role) {
                let why = format!("an embedding model takes '{name}'; this one takes {}", names(inputs));
                return Err(Error::invalid_model(folder, why));
            }
        }
        let (output, per_token) = vectors(outputs).ok_or_else(|| {
            let why = format!(
                "an embedding model gives vectors for tokens (last_hidden_state) or for texts (sentence_embedding); this \
                 one gives {}",
                names(outputs)
            );
            Error::invalid_model(folder, why).hint("name the model file itself to run it on tensors")
        })?;
        Ok(Self { feeds, output, per_token })
    }

    /// The inputs for texts of these token ids, each padded to `len`.
    ///
    /// # Errors
    /// Where ONNX Runtime cannot make a tensor.
    pub(super) fn inputs(
        &self,
        rows: &[&[u32]],
        len: usize,
        config: &Config,
        pad_id: u32,
    ) -> Result<Vec<Input<'_, 'static>>, Error> {
        self.feeds
            .iter()
            .map(|feed| {
                let number = |row: &[u32], at: usize| match feed.role {
                    Role::Ids => row.get(at).copied().unwrap_or(pad_id),
                    Role::Mask => u32::from(at < row.len()),
                    Role::Types => 0,
                    Role::Positions => config.first_position + at as u32,
                };
                let numbers = rows.iter().flat_map(|row| (0..len).map(move |at| number(row, at)));
                let shape = [rows.len(), len];
                let value = if feed.wide {
                    tensor(shape, numbers.map(i64::from).collect())
                } else {
                    tensor(shape, numbers.map(|number| number as i32).collect())
                };
                Ok((feed.name.as_str(), value?))
            })
            .collect()
    }
}

fn tensor<T>(shape: [usize; 2], numbers: Vec<T>) -> Result<SessionInputValue<'static>, Error>
where
    T: PrimitiveTensorElementType + Clone + std::fmt::Debug + 'static,
{
    Ok(Tensor::from_array((shape, numbers)).map_err(Error::runtime("make an input"))?.into())
}

fn feed(folder: &Path, input: &TensorInfo) -> Result<Feed, Error> {
    let role = match input.name.as_str() {
        "input_ids" => Role::Ids,
        "attention_mask" => Role::Mask,
        "token_type_ids" => Role::Types,
        "position_ids" => Role::Positions,
        other => {
            let why = format!("it has an input '{other}', which is none that an embedding model takes");
            return Err(
                Error::invalid_model(folder, why).hint("name the model file itself to run it on tensors")
            );
        }
    };
    let wide = match input.dtype {
        Some(DType::Int64) => true,
        Some(DType::Int32) => false,
        _ => {
            let why = format!("its input '{}' takes neither int64 nor int32", input.name);
            return Err(Error::invalid_model(folder, why));
        }
    };
    if input.shape.iter().any(|&dim| dim >= 0) {
        let why = format!("its input '{}' has the fixed shape {:?}", input.name, input.shape);
        return Err(Error::invalid_model(folder, why).hint("export it with a free batch size and length"));
    }
    Ok(Feed { name: input.name.clone(), role, wide })
}

/// The output that holds vectors, and whether it has one for each token. A pooled output counts only where it is named as
/// one or is all there is: `pooler_output` beside `last_hidden_state` is not what sentence-transformers uses.
fn vectors(outputs: &[TensorInfo]) -> Option<(String, bool)> {
    let usable = |output: &&TensorInfo| {
        matches!(output.dtype, Some(DType::Float32 | DType::Float16)) && output.name != "logits"
    };
    let usable: Vec<&TensorInfo> = outputs.iter().filter(usable).collect();
    let named = |name: &str| usable.iter().find(|output| output.name == name);
    let ranked = |rank: usize| usable.iter().find(|output| output.shape.len() == rank);
    let pooled = |output: &&TensorInfo| (output.name.clone(), false);
    let tokens = |output: &&TensorInfo| (output.name.clone(), true);
    named("sentence_embedding")
        .map(pooled)
        .or_else(|| named("last_hidden_state").or_else(|| named("token_embeddings")).map(tokens))
        .or_else(|| ranked(3).map(tokens))
        .or_else(|| ranked(2).map(pooled))
}

fn names(tensors: &[TensorInfo]) -> String {
    let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, dtype: DType, rank: usize) -> TensorInfo {
        TensorInfo { name: name.to_owned(), dtype: Some(dtype), shape: vec![-1; rank] }
    }

    fn bert() -> Vec<TensorInfo> {
        vec![info("input_ids", DType::Int64, 2), info("attention_mask", DType::Int64, 2)]
    }

    #[test]
    fn the_output_with_vectors_is_found() {
        let float = |name: &str, rank| info(name, DType::Float32, rank);
        for (outputs, want) in [
            (
                vec![float("pooler_output", 2), float("last_hidden_state", 3)],
                Some(("last_hidden_state", true)),
            ),
            (
                vec![float("token_embeddings", 3), float("sentence_embedding", 2)],
                Some(("sentence_embedding", false)),
            ),
            (vec![float("1234", 2)], Some(("1234", false))),
            (vec![info("hidden", DType::Float16, 3)], Some(("hidden", true))),
            (vec![float("logits", 2)], None),
            (vec![info("labels", DType::Int64, 2)], None),
        ] {
            let want = want.map(|(name, per_token): (&str, bool)| (name.to_owned(), per_token));
            assert_eq!(vectors(&outputs), want, "{outputs:?}");
        }
    }

    #[test]
    fn inputs_that_cannot_be_filled_are_named() {
        let outputs = [info("last_hidden_state", DType::Float32, 3)];
        let read = |inputs: &[TensorInfo]| Graph::read(Path::new("m"), inputs, &outputs);
        assert!(read(&bert()).is_ok());
        let with = |extra: TensorInfo| read(&[bert(), vec![extra]].concat()).unwrap_err().to_string();
        assert!(with(info("pixel_values", DType::Float32, 4)).contains("'pixel_values'"));
        assert!(with(info("token_type_ids", DType::Float32, 2)).contains("int64"));
        assert!(read(&bert()[..1]).unwrap_err().to_string().contains("'attention_mask'"));
        let fixed = TensorInfo { shape: vec![1, 128], ..bert().remove(0) };
        assert!(read(&[fixed]).unwrap_err().to_string().contains("[1, 128]"));
    }
}
