//! Shrink targets: the devices whose arenas can give memory back.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{Code, Failure};

/// A device that may own an arena, named as ONNX Runtime's shrink option names it: `cpu:0`, `gpu:1`.
///
/// ONNX Runtime wants lower case without spaces and knows only `cpu` and `gpu`; people also type `cuda:0`. Parsing accepts
/// what people type, [`fmt::Display`] writes what ONNX Runtime takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The arena in main memory.
    Cpu(u32),
    /// The arena of a GPU provider (CUDA, TensorRT, MIGraphX).
    Gpu(u32),
}

impl Target {
    /// `cpu:N`.
    pub const fn cpu(index: u32) -> Self {
        Self::Cpu(index)
    }

    /// `gpu:N`.
    pub const fn gpu(index: u32) -> Self {
        Self::Gpu(index)
    }

    /// Reads one target: trimmed, case ignored, `cuda:N` meaning `gpu:N`, the index 0 where none is given.
    ///
    /// # Errors
    /// [`Code::InvalidTarget`] where it is neither a CPU nor a GPU target.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let lower = text.trim().to_lowercase();
        let (device, index) = lower.split_once(':').unwrap_or((&lower, "0"));
        let index = index.trim().parse().map_err(|_| Self::malformed(text))?;
        match device.trim() {
            "cpu" => Ok(Self::Cpu(index)),
            "gpu" | "cuda" => Ok(Self::Gpu(index)),
            _ => Err(Self::malformed(text)),
        }
    }

    /// Reads a list as the run option takes it: targets joined by `;` (a comma is taken too), order kept, doubles dropped.
    /// An empty text is an empty list.
    ///
    /// # Errors
    /// [`Code::InvalidTarget`] for the first entry that is malformed.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Failure> {
        let mut targets = Vec::new();
        if text.trim().is_empty() {
            return Ok(targets);
        }
        for entry in text.split([';', ',']) {
            let target = Self::parse(entry)?;
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        Ok(targets)
    }

    fn malformed(text: &str) -> Failure {
        Failure::new(Code::InvalidTarget, format!("'{}' is not a shrink target", text.trim()))
            .hint("name devices as cpu:0 or gpu:0, several joined by ';' (cuda:0 means gpu:0)")
            .param("targets")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(index) => write!(f, "cpu:{index}"),
            Self::Gpu(index) => write!(f, "gpu:{index}"),
        }
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C03: what people type.
    #[test]
    fn what_people_type_is_read() {
        for (text, want) in [
            ("cpu:0;gpu:0", vec![Target::cpu(0), Target::gpu(0)]),
            ("gpu:0;cpu:0", vec![Target::gpu(0), Target::cpu(0)]),
            (" CPU:0 ", vec![Target::cpu(0)]),
            ("cuda:1", vec![Target::gpu(1)]),
            ("cpu", vec![Target::cpu(0)]),
            ("cpu:0,cpu:0", vec![Target::cpu(0)]),
            ("  ", vec![]),
        ] {
            assert_eq!(Target::parse_list(text).unwrap(), want, "{text:?}");
        }
    }

    #[test]
    fn what_is_malformed_is_refused_by_name() {
        for text in ["disk:0", "cpu:x", "cpu:-1", "cpu:0;;gpu:0", "cpu:0;", ":0", "cpu:99999999999"] {
            let failure = Target::parse_list(text).unwrap_err();
            assert_eq!(failure.code, Code::InvalidTarget, "{text:?}");
        }
        assert!(Target::parse("npu:0").unwrap_err().message.contains("npu:0"));
    }
}
