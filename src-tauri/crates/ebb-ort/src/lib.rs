//! The only crate that knows ONNX Runtime: sessions, arenas, devices, embeddings, text, speech, tensors.
//!
//! It must not know processes, sockets, or where Ebb keeps its files: a [`LoadSpec`](ebb_core::LoadSpec) says all that a
//! model needs. ONNX Runtime's library is loaded at run time, once for each process.
//!
//! - [`open`] loads a model; the [`OrtSession`] runs jobs, and its controls measure and give memory back meanwhile.
//! - [`prepare_process`] is the first thing that a program calls which will do so.
//! - [`inspect`] says what a folder holds, [`probe`] what library and devices there are.
//!
//! ```no_run
//! use ebb_core::{LoadOptions, LoadSpec, Session};
//!
//! ebb_ort::prepare_process();
//! let spec = LoadSpec {
//!     alias: "minilm".to_owned(),
//!     path: "models/minilm".into(),
//!     options: LoadOptions::default(),
//!     runtime_library: None,
//!     runtime_folders: vec!["runtimes".into()],
//! };
//! let session = ebb_ort::open(&spec, &mut |doing| println!("{doing}"))?;
//! println!("{} bytes came back", session.control().shrink(None)?.freed_bytes);
//! # Ok::<(), ebb_core::Failure>(())
//! ```

mod arena;
mod batch;
mod control;
mod embed;
mod environment;
mod error;
mod folder;
mod generate;
mod held;
mod library;
mod model;
mod probe;
mod process;
mod provider;
#[cfg(test)]
mod scene;
mod session;
mod settings;
mod sys;
mod tensors;
mod tick;
mod tokens;
mod transcribe;

pub use error::Error;
pub use folder::inspect;
pub use library::Attempt;
pub use model::{OrtRun, OrtSession, open};
pub use probe::probe;

/// Prepares the process for ONNX Runtime: no telemetry files, and a heap that gives large blocks back. The first thing in
/// `main`, before any thread is started.
pub fn prepare_process() {
    sys::disable_telemetry();
    sys::fix_heap_thresholds();
}
