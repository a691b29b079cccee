//! A bare model on tensors.

use std::collections::BTreeMap;

use bytes::Bytes;
use ebb_core::{Chunk, Step, TensorSpec};

use crate::{Error, session::Loaded};

/// A bare model.
#[derive(Debug)]
pub(crate) struct Tensors {
    loaded: Loaded,
}

/// A run on tensors in flight.
#[derive(Debug)]
pub(crate) struct TensorRun;

impl Tensors {
    pub(crate) fn new(loaded: Loaded) -> Self {
        Self { loaded }
    }

    pub(crate) fn begin(
        &mut self,
        _inputs: Vec<TensorSpec>,
        _outputs: Vec<String>,
        _data: Bytes,
        _run_options: &BTreeMap<String, String>,
    ) -> Result<TensorRun, Error> {
        Err(Error::Unsupported(format!("{} inputs", self.loaded.inputs().len())))
    }

    pub(crate) fn step(&mut self, _run: &mut TensorRun, _chunks: &mut Vec<Chunk>) -> Result<Step, Error> {
        Err(Error::Unsupported(String::new()))
    }
}
