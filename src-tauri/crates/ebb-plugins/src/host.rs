//! What the host offers to plugins: one file an interface of `wit/`.

#![allow(unreachable_pub, reason = "the generated bindings export the types of resources again")]

use ebb_core::{Code, Failure};
use wasmtime::component::Linker;

use crate::{bindings::types, guest::Guest};

pub(crate) mod documents;
pub(crate) mod inference;
pub(crate) mod memory_control;
pub(crate) mod memory_stats;
pub(crate) mod plugin_host;
pub(crate) mod store;

/// What policies may import. None of it waits.
pub(crate) fn add_policy(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    plugin_host::add_to_linker(linker)?;
    memory_stats::add_to_linker(linker)
}

/// What pipelines may import.
pub(crate) fn add_pipeline(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    plugin_host::add_to_linker(linker)?;
    memory_stats::add_to_linker(linker)?;
    memory_control::add_to_linker(linker)?;
    inference::add_to_linker(linker)?;
    store::add_to_linker(linker)?;
    documents::add_to_linker(linker)
}

/// What a guest is told of a failure.
impl From<Failure> for types::Error {
    fn from(failure: Failure) -> Self {
        let Failure { code, message, .. } = failure;
        match code {
            Code::NotFound | Code::NotLoaded => Self::NotFound(message),
            Code::InvalidRequest | Code::InvalidValue | Code::InvalidTarget | Code::TooLarge => {
                Self::Invalid(message)
            }
            Code::Busy | Code::OutOfMemory | Code::ArenaLimit => Self::Busy(message),
            Code::Cancelled => Self::Cancelled,
            _ => Self::Failed(message),
        }
    }
}
