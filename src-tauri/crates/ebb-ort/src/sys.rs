//! Calls that no safe crate wraps: into the C library's heap and the process environment, and into what ONNX Runtime's C
//! interface offers beyond the crate `ort`.
#![expect(unsafe_code, reason = "each call is argued where it stands")]

mod binding;
mod options;
mod process;
mod tensor;
mod version;

pub(crate) use binding::{Binding, Side};
pub(crate) use options::{append_provider, available_providers, config_entry};
pub(crate) use process::{disable_telemetry, fix_heap_thresholds, page_bytes, trim_heap};
pub(crate) use tensor::{bytes, bytes_mut, contents, len_bytes, tensor};
pub(crate) use version::library_version;
