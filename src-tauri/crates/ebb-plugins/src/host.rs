//! What the host offers to plugins: one file an interface of `wit/`.

#![allow(unreachable_pub, reason = "the generated bindings export the types of resources again")]

use std::{future::Future, time::Duration};

use ebb_core::{Code, Failure};
use wasmtime::component::Linker;

use crate::{PluginFuture, bindings::types, guest::Guest};

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

/// Longest that one call of the host waits: for a model that is being loaded, that others keep busy, or that hangs. No tick
/// of the clock ends a guest that waits.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// What comes of something that is waited for, no longer than one call of the host may.
///
/// # Errors
/// The guest's: it took too long. Dropping the work has ended it, where it can be ended.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> Result<T, types::Error> {
    let too_long = |_| types::Error::Failed(format!("no answer within {} s", LONGEST_WAIT.as_secs()));
    tokio::time::timeout(LONGEST_WAIT, work).await.map_err(too_long)
}

/// What a model answers.
///
/// # Errors
/// The guest's.
pub(crate) async fn answered<T>(call: PluginFuture<'_, T>) -> Result<T, types::Error> {
    within(call).await?.map_err(types::Error::from)
}

/// What a guest is told of a failure.
impl From<Failure> for types::Error {
    fn from(failure: Failure) -> Self {
        let Failure { code, message, .. } = failure;
        match code {
            Code::NotFound | Code::NotLoaded => Self::NotFound(message),
            Code::InvalidRequest
            | Code::InvalidValue
            | Code::InvalidTarget
            | Code::Conflict
            | Code::Unsupported
            | Code::TooLarge => Self::Invalid(message),
            Code::Busy | Code::OutOfMemory | Code::ArenaLimit => Self::Busy(message),
            Code::Cancelled => Self::Cancelled,
            // These name files, whose places are not the guest's to know.
            Code::Storage
            | Code::InvalidModel
            | Code::InvalidTokenizer
            | Code::RuntimeLibrary
            | Code::ProviderUnavailable => {
                tracing::warn!(%code, message, "a plugin's call failed");
                Self::Failed(format!("the model cannot be used ({code}): the log of Ebb says why"))
            }
            _ => Self::Failed(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_names_files_does_not_name_them_to_guests() {
        let told = |code| types::Error::from(Failure::new(code, "/srv/models/m is broken"));
        for code in [Code::Storage, Code::InvalidModel, Code::InvalidTokenizer, Code::RuntimeLibrary] {
            let told = told(code);
            assert!(
                matches!(&told, types::Error::Failed(why) if !why.contains("/srv") && why.contains(code.as_str())),
                "{told:?}"
            );
        }
        assert!(matches!(told(Code::NotFound), types::Error::NotFound(_)));
        assert!(matches!(told(Code::Conflict), types::Error::Invalid(_)));
        assert!(matches!(told(Code::Busy), types::Error::Busy(_)));
        assert!(matches!(told(Code::Cancelled), types::Error::Cancelled));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_waited_for_without_end() {
        let told = answered::<()>(Box::pin(std::future::pending())).await;
        assert!(
            matches!(&told, Err(types::Error::Failed(why)) if why == "no answer within 300 s"),
            "{told:?}"
        );
    }
}
