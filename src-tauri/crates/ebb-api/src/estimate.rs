//! What a model will need. The weights are known; the working memory of an encoder follows from its shape and the token
//! budget of a batch. It is a guess, so it warns and never blocks.

use std::{fs, path::Path};

use ebb_core::{Failure, LoadOptions, ModelInfo, format_bytes, operations::Estimate};
use serde::Deserialize;

use crate::{Host, available::system_memory, models::Added};

/// Resident memory of a worker with the library and no model in it.
const EMPTY_WORKER_BYTES: u64 = 32 << 20;

/// Tokens of a batch where nothing is said. The worker's own default.
const BATCH_TOKENS: u64 = 4_096;

/// Tokens that a text is cut to where the model does not say.
const LONGEST_TEXT: u64 = 512;

/// The part of a transformer's `config.json` that its working memory follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Shape {
    hidden_size: u64,
    #[serde(default)]
    intermediate_size: u64,
    num_attention_heads: u64,
    #[serde(default)]
    max_position_embeddings: u64,
}

impl Host {
    /// What a model will need, and what is free.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotFound`]; [`ebb_core::Code::Unsupported`] where the system does not tell its memory.
    pub async fn estimate(&self, alias: &str) -> Result<Estimate, Failure> {
        let added = self.added(alias)?;
        let options = self.inner.profiles.resolve(self.inner.state.of(alias).options).unwrap_or_default();
        let info = self.inner.supervisor.model(alias).map(|model| model.info());
        estimate(alias, &added, &options, info.as_ref())
    }
}

/// The estimate for a model that would be loaded with `options`, or that is loaded as `info` says.
pub(crate) fn estimate(
    alias: &str,
    added: &Added,
    options: &LoadOptions,
    info: Option<&ModelInfo>,
) -> Result<Estimate, Failure> {
    let embedding = info.and_then(|info| info.embedding.as_ref());
    let batch_tokens = embedding.map_or_else(
        || options.batch_tokens.map_or(BATCH_TOKENS, u64::from),
        |embedding| u64::from(embedding.batch_tokens),
    );
    let (working_bytes, basis) = match read_shape(&added.path) {
        Some(shape) => {
            let basis = format!(
                "weights on disk, and activations of a batch of {batch_tokens} tokens by config.json"
            );
            (working_bytes(shape, batch_tokens), basis)
        }
        None => {
            (0, "weights on disk; the working memory follows from the inputs and is not counted".to_owned())
        }
    };
    let total_bytes = added.weights_bytes.saturating_add(working_bytes).saturating_add(EMPTY_WORKER_BYTES);
    let (available_bytes, machine_bytes) = system_memory()?;
    let is_there = added.path.is_file() || holds_model(&added.path, 1);
    let basis = if is_there {
        basis
    } else {
        format!(
            "{} holds no model any more, so it cannot be loaded; {basis}, as they were when it was added",
            added.path.display()
        )
    };
    Ok(Estimate {
        model: alias.to_owned(),
        weights_bytes: added.weights_bytes,
        working_bytes,
        total_bytes,
        available_bytes,
        machine_bytes,
        fits: is_there && total_bytes <= available_bytes,
        basis,
    })
}

/// What a person should know before the model is loaded, if anything.
pub(crate) fn warning(estimate: &Estimate) -> Option<String> {
    // Where it does not fit for another reason, loading says it.
    (!estimate.fits && estimate.total_bytes > estimate.available_bytes).then(|| {
        format!(
            "it may need {}, and {} are free now; it is loaded all the same",
            format_bytes(estimate.total_bytes),
            format_bytes(estimate.available_bytes)
        )
    })
}

/// Activations that live at once in one layer: about six of the hidden size and two of the inner size a token, and the
/// attention scores, twice, of each token to those of its text.
fn working_bytes(shape: Shape, batch_tokens: u64) -> u64 {
    const F32: u64 = 4;
    let inner = if shape.intermediate_size > 0 { shape.intermediate_size } else { 4 * shape.hidden_size };
    let longest = match shape.max_position_embeddings {
        0 => LONGEST_TEXT,
        // A long context is not filled by a text of a batch: the budget bounds it.
        tokens => tokens.min(LONGEST_TEXT).min(batch_tokens.max(1)),
    };
    let scores = shape.num_attention_heads.saturating_mul(longest).saturating_mul(2);
    let a_token =
        shape.hidden_size.saturating_mul(6).saturating_add(inner.saturating_mul(2)).saturating_add(scores);
    batch_tokens.saturating_mul(a_token).saturating_mul(F32)
}

/// Whether it is a model file that is there, or a folder with one in it or in a folder so many levels below.
fn holds_model(path: &Path, levels: u32) -> bool {
    if path.is_file() {
        return path.extension().is_some_and(|ending| ending == "onnx" || ending == "ort");
    }
    fs::read_dir(path).is_ok_and(|mut entries| {
        entries.any(|entry| {
            entry.is_ok_and(|entry| {
                let path = entry.path();
                (path.is_file() || levels > 0) && holds_model(&path, levels.saturating_sub(1))
            })
        })
    })
}

/// The shape from the `config.json` beside the model, or above its `onnx` folder.
fn read_shape(model: &Path) -> Option<Shape> {
    let near = if model.is_dir() { model } else { model.parent()? };
    [Some(near), near.parent()]
        .into_iter()
        .flatten()
        .find_map(|folder| serde_json::from_slice(&fs::read(folder.join("config.json")).ok()?).ok())
}

#[cfg(test)]
mod tests {
    use ebb_core::ModelKind;

    use super::*;

    const MINILM: &str = r#"{"model_type": "bert", "hidden_size": 384, "intermediate_size": 1536,
        "num_attention_heads": 12, "max_position_embeddings": 512}"#;

    fn added(path: &Path, weights_bytes: u64) -> Added {
        Added { path: path.to_owned(), kind: ModelKind::Embeddings, weights_bytes }
    }

    #[test]
    fn an_encoder_is_guessed_from_its_config() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.json"), MINILM).unwrap();
        let options = LoadOptions { batch_tokens: Some(1_000), ..LoadOptions::default() };
        let small = estimate("m", &added(folder.path(), 90_000_000), &options, None).unwrap();
        assert_eq!(small.working_bytes, 1_000 * 4 * (6 * 384 + 2 * 1536 + 2 * 12 * 512));
        assert_eq!(small.total_bytes, 90_000_000 + small.working_bytes + EMPTY_WORKER_BYTES);
        assert!(small.available_bytes > 0 && small.available_bytes <= small.machine_bytes);
        let file = folder.path().join("onnx").join("model.onnx");
        fs::create_dir(folder.path().join("onnx")).unwrap();
        fs::write(&file, "").unwrap();
        assert_eq!(
            estimate("m", &added(&file, 90_000_000), &options, None).unwrap().working_bytes,
            small.working_bytes
        );
    }

    /// C22: a config that claims a long context does not make the estimate a fantasy.
    #[test]
    fn a_long_context_is_bounded_by_the_batch() {
        let long = Shape {
            hidden_size: 384,
            intermediate_size: 0,
            num_attention_heads: 12,
            max_position_embeddings: 131_072,
        };
        let usual = Shape { max_position_embeddings: 512, ..long };
        assert_eq!(working_bytes(long, 8_192), working_bytes(usual, 8_192));
    }

    #[test]
    fn what_is_gone_does_not_fit() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("onnx")).unwrap();
        let file = folder.path().join("onnx").join("model.onnx");
        let of = |path: &Path| estimate("m", &added(path, 1), &LoadOptions::default(), None).unwrap();
        fs::write(&file, "").unwrap();
        assert!(of(&file).fits && of(folder.path()).fits);
        fs::remove_file(&file).unwrap();
        assert!(!of(&file).fits);
        let estimate = of(folder.path());
        assert!(!estimate.fits && estimate.basis.contains("holds no model any more"), "{estimate:?}");
        assert_eq!(warning(&estimate), None, "its memory is not what keeps it from loading");
    }

    /// C24: whatever it says, it only warns.
    #[test]
    fn what_does_not_fit_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let huge = estimate("m", &added(folder.path(), u64::MAX), &LoadOptions::default(), None).unwrap();
        assert!(!huge.fits);
        assert!(warning(&huge).unwrap().contains("loaded all the same"));
        fs::write(folder.path().join("model.onnx"), "").unwrap();
        let small = estimate("m", &added(folder.path(), 1), &LoadOptions::default(), None).unwrap();
        assert_eq!((small.working_bytes, small.fits), (0, true));
        assert_eq!(warning(&small), None);
    }
}
