use std::{ops::ControlFlow, path::Path};

use super::{OnProgress, Progress, Stage};
use crate::{
    Error,
    onnx::{Model, Sink, Storage, verify},
};

/// Tells how far an import is, and hears whether it is still wanted.
pub(super) struct Steps<'a, 'b> {
    report: &'a mut OnProgress<'b>,
    done_bytes: u64,
    total_bytes: u64,
}

impl<'a, 'b> Steps<'a, 'b> {
    pub(super) fn new(report: &'a mut OnProgress<'b>) -> Self {
        Self { report, done_bytes: 0, total_bytes: 0 }
    }

    /// What there is to do: weights are written and read back, files only written.
    pub(super) fn plan(&mut self, weights_bytes: u64, files_bytes: u64) {
        self.total_bytes = 2 * weights_bytes + files_bytes;
    }

    /// Says what begins. Fails if nobody wants it any longer.
    pub(super) fn enter(&mut self, stage: Stage) -> Result<(), Error> {
        let Self { done_bytes, total_bytes, .. } = *self;
        match (self.report)(Progress { stage, done_bytes, total_bytes }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }

    /// So many bytes more are done.
    pub(super) fn advance(&mut self, stage: Stage, bytes: u64) -> Result<(), Error> {
        self.done_bytes += bytes;
        self.enter(stage)
    }

    /// Writes a model, then reads it back and compares. Gives the bytes of its files.
    pub(super) fn write_model(
        &mut self,
        model: Model,
        path: &Path,
        mut fill: impl FnMut(usize, &mut Sink) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let storage = Storage::for_weights(model.weights_bytes());
        let written = model.write_recorded(path, storage, |index, weight, sink| {
            self.enter(Stage::Weights)?;
            fill(index, sink)?;
            self.done_bytes += weight.size_bytes;
            Ok(())
        })?;
        verify(path, &written, |weight| self.advance(Stage::Verifying, weight.size_bytes))?;
        Ok(written.size_bytes)
    }

    /// Everything is in its place: too late to be given up.
    pub(super) fn finish(&mut self) {
        self.done_bytes = self.total_bytes;
        let _ = self.enter(Stage::Done);
    }
}
