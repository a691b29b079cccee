//! Texts to vectors.

use std::{collections::BTreeMap, path::Path};

use ebb_core::{Chunk, EmbeddingInfo, LoadOptions, Step};

use crate::{Error, session::Loaded};

/// An embedding model.
#[derive(Debug)]
pub(crate) struct Embedder {
    loaded: Loaded,
    info: EmbeddingInfo,
}

/// An embed job in flight.
#[derive(Debug)]
pub(crate) struct EmbedRun;

impl Embedder {
    pub(crate) fn open(_folder: &Path, loaded: Loaded, _options: &LoadOptions) -> Result<Self, Error> {
        Err(Error::Unsupported(format!("{} inputs", loaded.inputs().len())))
    }

    pub(crate) fn info(&self) -> &EmbeddingInfo {
        &self.info
    }

    pub(crate) fn begin(
        &mut self,
        _texts: Vec<String>,
        _run_options: &BTreeMap<String, String>,
    ) -> Result<EmbedRun, Error> {
        Err(Error::Unsupported(format!("{} inputs", self.loaded.inputs().len())))
    }

    pub(crate) fn step(&mut self, _run: &mut EmbedRun, _chunks: &mut Vec<Chunk>) -> Result<Step, Error> {
        Err(Error::Unsupported(String::new()))
    }
}
