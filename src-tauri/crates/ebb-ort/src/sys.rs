//! Calls that no safe crate wraps: into the C library's heap and the process environment, and into what ONNX Runtime's C
//! interface offers beyond the crate `ort`.
#![expect(unsafe_code, reason = "each call is argued where it stands")]

mod options;
mod process;
mod run;
mod tensor;
mod version;

pub(crate) use options::{append_provider, available_providers, config_entry};
pub(crate) use process::{disable_telemetry, fix_heap_thresholds, page_bytes, trim_heap};
pub(crate) use run::run_bound;
pub(crate) use tensor::{bytes, bytes_mut, contents, len_bytes, tensor};
pub(crate) use version::library_version;
