//! What a model's weights come as.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a model is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A folder with `.onnx` or `.ort` files: loads as it is.
    Onnx,
    /// A folder of onnxruntime-genai, with `genai_config.json`: loads as it is.
    Genai,
    /// One GGUF file: is imported.
    Gguf,
    /// A folder with `config.json` and `model.safetensors`: is imported.
    Safetensors,
}

impl Format {
    /// Whether it must be imported before it can be loaded.
    pub fn needs_import(self) -> bool {
        matches!(self, Self::Gguf | Self::Safetensors)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Onnx => "onnx",
            Self::Genai => "genai",
            Self::Gguf => "gguf",
            Self::Safetensors => "safetensors",
        })
    }
}

/// Weights in safetensors of these kinds (`model_type` of their configuration) can be imported.
pub(crate) const IMPORTED_TYPES: [&str; 1] = ["bert"];

/// A GGUF file that sees pictures for another one; no model by itself.
pub(crate) fn is_projector(name: &str) -> bool {
    name.to_ascii_lowercase().starts_with("mmproj")
}

/// Whether a file's name ends so, whatever the case.
pub(crate) fn ends_in(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, found)| found.eq_ignore_ascii_case(ending))
}

/// Whether a file is an ONNX model by its name. macOS's `._` twins are none.
pub(crate) fn is_onnx(name: &str) -> bool {
    !name.starts_with('.') && (ends_in(name, "onnx") || ends_in(name, "ort"))
}

/// Whether `name` holds weights of the model file `model` beside it, as exporters call them: `model.onnx_data`,
/// `model.onnx.data`, `model.onnx_data_1`, `model.data`.
pub(crate) fn is_data_of(name: &str, model: &str) -> bool {
    let longer = name.strip_prefix(model).is_some_and(|rest| rest.starts_with(['_', '.']) && !is_onnx(name));
    let stem = model.rsplit_once('.').map_or(model, |(stem, _)| stem);
    longer || name.strip_prefix(stem).is_some_and(|rest| rest == ".data" || rest == ".weights")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_data_is_told_by_its_name() {
        for (name, model, want) in [
            ("model.onnx_data", "model.onnx", true),
            ("model.onnx_data_1", "model.onnx", true),
            ("model.onnx.data", "model.onnx", true),
            ("model.data", "model.onnx", true),
            ("model_q4.onnx_data", "model.onnx", false),
            ("model.onnx", "model.onnx", false),
            ("model.safetensors", "model.onnx", false),
            ("model.onnx_old.onnx", "model.onnx", false),
        ] {
            assert_eq!(is_data_of(name, model), want, "{name} of {model}");
        }
    }
}
