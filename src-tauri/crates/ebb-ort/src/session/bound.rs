//! Runs whose inputs and outputs stay bound from one to the next, as those of a decoder do.

use ebb_core::Target;
use ort::{
    memory::{Allocator, MemoryInfo},
    session::RunOptions,
};

use super::{Loaded, retry};
use crate::{Error, sys::Binding};

impl Loaded {
    /// What inputs and outputs can be bound to.
    ///
    /// # Errors
    /// Where ONNX Runtime fails.
    pub(crate) fn binding(&self) -> Result<Binding, Error> {
        Binding::new(&self.session).map_err(Error::runtime("bind inputs and outputs"))
    }

    /// The session's own allocator of this memory.
    ///
    /// # Errors
    /// Where it has none.
    pub(crate) fn allocator(&self, memory: MemoryInfo<'_>) -> Result<Allocator, Error> {
        Allocator::new(&self.session, memory).map_err(Error::runtime("find the session's allocator"))
    }

    /// Runs the model on what is bound. Says how often it ran into the cap.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub(crate) fn run_bound(&mut self, binding: &Binding, options: &RunOptions) -> Result<u32, Error> {
        let mut cap_retries = 0;
        loop {
            match binding.run(&mut self.session, options) {
                Ok(()) => return Ok(cap_retries),
                Err(error) => retry(&self.held, error, &mut cap_retries)?,
            }
        }
    }

    /// GPU arenas that are to be shrunk by a run of this session.
    pub(crate) fn shrinks_waiting(&self) -> Vec<Target> {
        self.held.waiting(self.index)
    }

    /// Says that a run of this session has shrunk these.
    pub(crate) fn shrunk(&self, targets: &[Target]) {
        self.held.shrunk(self.index, targets);
    }
}
