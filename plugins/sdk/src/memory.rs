//! What loaded models hold, and the controls of their memory: capabilities `memory.read` and `memory.control`.

pub use crate::bindings::{
    memory_control::{DroppedTarget, ShrinkReport},
    memory_stats::{Arena, Pool, Sample},
};
use crate::{Error, backend};

/// The newest sample of a loaded model.
///
/// # Errors
/// [`Error::Denied`], [`Error::NotFound`].
pub fn latest(model: &str) -> Result<Sample, Error> {
    backend::latest(model)
}

/// Up to `count` samples, oldest first.
///
/// # Errors
/// As [`latest`].
pub fn history(model: &str, count: u32) -> Result<Vec<Sample>, Error> {
    backend::history(model, count)
}

impl Arena {
    /// Reserved but not in use: what a shrink may give back.
    pub fn slack_bytes(&self) -> u64 {
        self.reserved_bytes.saturating_sub(self.in_use_bytes)
    }
}

impl Sample {
    /// Handed out to live tensors, all arenas together.
    pub fn in_use_bytes(&self) -> u64 {
        self.arenas.iter().fold(0, |sum, arena| sum.saturating_add(arena.in_use_bytes))
    }

    /// Taken from the system, all arenas together.
    pub fn reserved_bytes(&self) -> u64 {
        self.arenas.iter().fold(0, |sum, arena| sum.saturating_add(arena.reserved_bytes))
    }

    /// Reserved but not in use, all arenas together: what a shrink may give back.
    pub fn slack_bytes(&self) -> u64 {
        self.arenas.iter().fold(0, |sum, arena| sum.saturating_add(arena.slack_bytes()))
    }

    /// The arena of a device, as ONNX Runtime names it: `cpu:0`, `gpu:0`.
    pub fn arena(&self, device: &str) -> Option<&Arena> {
        self.arenas.iter().find(|arena| arena.device == device)
    }

    /// A cache by its name.
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    /// A further counter by its name.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.more.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

/// The controls of one loaded model. Dropping it closes it.
#[derive(Debug)]
pub struct Runtime(backend::Runtime);

impl Runtime {
    /// Opens the controls of a loaded model.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::NotFound`].
    pub fn open(model: &str) -> Result<Self, Error> {
        backend::Runtime::open(model).map(Self)
    }

    /// Gives wholly free arena regions back now. No device named: every arena that the model has.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::Failed`].
    pub fn shrink_arena(&self, devices: &[String]) -> Result<ShrinkReport, Error> {
        self.0.shrink_arena(devices)
    }

    /// The same, once, at the end of the next request: a whole generation counts as one.
    ///
    /// # Errors
    /// As [`Self::shrink_arena`].
    pub fn shrink_after_next_run(&self, devices: &[String]) -> Result<(), Error> {
        self.0.shrink_after_next_run(devices)
    }

    /// Forwards any run option of ONNX Runtime to the requests that follow; `None` removes it.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the value does not fit the key.
    pub fn set_runtime_option(&self, key: &str, value: Option<&str>) -> Result<(), Error> {
        self.0.set_runtime_option(key, value)
    }

    /// The run options that hold.
    ///
    /// # Errors
    /// As [`Self::shrink_arena`].
    pub fn runtime_options(&self) -> Result<Vec<(String, String)>, Error> {
        self.0.runtime_options()
    }
}
