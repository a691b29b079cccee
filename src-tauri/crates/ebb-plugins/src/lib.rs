//! The sandbox for plugins: Wasm components on wasmtime, what they may do, and what they are held to.
//!
//! It is the only crate that knows wasmtime. It must not know models, workers or files of Ebb: what plugins may ask of models
//! comes through the trait [`Models`].
//!
//! - [`Component`] is a plugin that was checked without running it; [`manifest`] is what it says of itself.
//! - [`Sandbox`] compiles it, [`Plugin`] is what all its instances share: grants, settings, limits, log, store. Another version
//!   of it shares what lasts: [`Plugin::renewed`].
//! - [`Plugin::policy`] gives it to a model as an [`ebb_core::Policy`], [`Plugin::pipeline`] asks it.

mod bindings;
mod cache;
mod component;
mod engine;
mod error;
pub mod fake;
mod grants;
mod guest;
mod host;
mod instance;
mod limits;
mod log;
pub mod manifest;
mod meter;
mod models;
mod own_store;
mod pipeline;
mod plugin;
mod policy;
mod sandbox;
mod settings;
mod shape;
mod stdio;
mod sys;
mod ticker;
mod wasi;

pub use component::{Component, Fit};
pub use ebb_core::PluginWorld;
pub use error::{Error, Stop};
pub use grants::Usage;
pub use limits::Limits;
pub use log::Log;
pub use models::{ModelSummary, Models, PluginFuture, TextStream, Vectors};
pub use pipeline::{AskStream, Pipeline, Tell};
pub use plugin::{Index, Plugin, PluginConfig, PluginVersion};
pub use policy::AttachmentStats;
pub use sandbox::{Compiled, Sandbox, SandboxConfig};
pub use settings::{check as check_setting, that_hold as settings_that_hold};
pub use shape::Shape;

/// The version of `ebb:plugin` that this host speaks.
pub const CONTRACT: &str = "0.1.0";

/// The version of wasmtime, which does not tell it.
pub const WASMTIME: &str = "48.0.8";

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_of_wasmtime_is_the_one_that_is_built_with() {
        let locked = include_str!("../../../../Cargo.lock");
        let wasmtime = format!("name = \"wasmtime\"\nversion = \"{}\"\n", super::WASMTIME);
        assert!(locked.contains(&wasmtime), "{wasmtime}");
    }
}
