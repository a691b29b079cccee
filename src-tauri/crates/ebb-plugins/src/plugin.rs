//! One installed plugin, and everything that its instances share.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, RwLock},
};

use ebb_core::{Json, PluginManifest};

use crate::{
    Models,
    limits::{Consumption, Limits},
};

/// What the instances of one plugin share.
pub(crate) struct Shared {
    manifest: PluginManifest,
    /// The models that there are.
    pub(crate) models: Arc<dyn Models>,
    /// What it is held to.
    pub(crate) limits: Arc<Limits>,
    /// What its instances take.
    pub(crate) consumption: Arc<Consumption>,
    /// Its settings as they hold, by name.
    pub(crate) settings: RwLock<BTreeMap<String, Json>>,
    /// Where its store and its log lie.
    pub(crate) data_folder: PathBuf,
}

impl Shared {
    /// What it says of itself.
    pub(crate) fn manifest(&self) -> &PluginManifest {
        &self.manifest
    }
}
