//! Execution providers by the names that people use for them.

/// An execution provider that Ebb knows by name. Others are forwarded under the name that was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// Ebb's name: `cuda`.
    pub name: &'static str,
    /// ONNX Runtime's name: `CUDAExecutionProvider`.
    pub ort_name: &'static str,
    /// Whether it has an arena of its own that a shrink reaches (read from ONNX Runtime's sources).
    pub has_arena: bool,
}

impl Provider {
    /// All that are known.
    pub const ALL: &'static [Self] = &[
        Self { name: "cpu", ort_name: "CPUExecutionProvider", has_arena: true },
        Self { name: "cuda", ort_name: "CUDAExecutionProvider", has_arena: true },
        Self { name: "tensorrt", ort_name: "TensorrtExecutionProvider", has_arena: true },
        Self { name: "nvtensorrtrtx", ort_name: "NvTensorRTRTXExecutionProvider", has_arena: true },
        Self { name: "migraphx", ort_name: "MIGraphXExecutionProvider", has_arena: true },
        Self { name: "webgpu", ort_name: "WebGpuExecutionProvider", has_arena: false },
        Self { name: "dml", ort_name: "DmlExecutionProvider", has_arena: false },
        Self { name: "coreml", ort_name: "CoreMLExecutionProvider", has_arena: false },
        Self { name: "openvino", ort_name: "OpenVINOExecutionProvider", has_arena: false },
        Self { name: "qnn", ort_name: "QNNExecutionProvider", has_arena: false },
        Self { name: "xnnpack", ort_name: "XnnpackExecutionProvider", has_arena: false },
    ];

    /// The provider that `name` means, in any of its spellings.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = provider_name(name);
        Self::ALL.iter().find(|provider| provider.name == name)
    }
}

/// Ebb's name for what a person typed: lower case, without `ExecutionProvider`, common synonyms resolved. A name that is
/// not known comes back lower-cased.
pub fn provider_name(typed: &str) -> String {
    let lower = typed.trim().to_lowercase();
    let short = lower.strip_suffix("executionprovider").unwrap_or(&lower);
    match short {
        "directml" => "dml",
        "trt" => "tensorrt",
        "nv_tensorrt_rtx" | "tensorrt_rtx" | "trt_rtx" => "nvtensorrtrtx",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_means_one_provider() {
        for (typed, want) in [
            ("cuda", "cuda"),
            (" CUDA ", "cuda"),
            ("CUDAExecutionProvider", "cuda"),
            ("DirectML", "dml"),
            ("WebGpuExecutionProvider", "webgpu"),
            ("trt", "tensorrt"),
            ("MyOwn", "myown"),
        ] {
            assert_eq!(provider_name(typed), want);
        }
        for provider in Provider::ALL {
            assert_eq!(Provider::named(provider.ort_name), Some(provider));
        }
    }
}
