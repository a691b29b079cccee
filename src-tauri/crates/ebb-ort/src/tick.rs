//! Shrinking an arena without running the model: a model of one node that shares the arena, run with the shrink option.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use ebb_core::options::SHRINK_KEY;
use ort::{
    environment::Environment,
    session::{HasSelectedOutputs, OutputSelector, RunOptions, Session, builder::AutoDevicePolicy},
    value::Tensor,
};

use crate::Error;

/// The session that shrinks. It may run while the model's own session runs on another thread.
pub(crate) struct Tick(Mutex<Inner>);

impl fmt::Debug for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tick").finish_non_exhaustive()
    }
}

struct Inner {
    session: Session,
    input: Tensor<f32>,
    shrink: RunOptions<HasSelectedOutputs>,
}

impl Tick {
    /// Makes one on the arena that is registered with the environment now.
    ///
    /// # Errors
    /// Where ONNX Runtime fails.
    pub(crate) fn new(environment: &Environment) -> Result<Self, Error> {
        Inner::new(environment).map(Mutex::new).map(Self).map_err(Error::runtime("prepare shrinking"))
    }

    /// Makes the arena take its first region now, for a few bytes. Under kNextPowerOfTwo the first region is never given
    /// back, and it is as large as the first allocation wants; without this that would be an activation.
    ///
    /// # Errors
    /// Where ONNX Runtime fails, as at a cap smaller than the region.
    pub(crate) fn prime(&self) -> Result<(), Error> {
        let Inner { session, input, .. } = &mut *self.inner();
        let primed = session.run(ort::inputs![&*input]).map(drop);
        primed.map_err(Error::runtime("prime the arena"))
    }

    /// Gives the arena's wholly free regions back.
    ///
    /// # Errors
    /// Where ONNX Runtime refuses.
    pub(crate) fn shrink(&self) -> Result<(), Error> {
        let Inner { session, input, shrink } = &mut *self.inner();
        let shrunk = session.run_with_options(ort::inputs![&*input], shrink).map(drop);
        shrunk.map_err(Error::runtime("shrink the arena"))
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn new(environment: &Environment) -> ort::Result<Self> {
        let session = Session::builder(environment)?
            .with_auto_device(AutoDevicePolicy::PreferCPU)?
            .with_env_allocators()?
            .with_intra_threads(1)?
            .with_memory_pattern(false)?
            .commit_from_memory(&identity_model())?;
        // The output is there before the run, outside the arena, so that a tick allocates nothing in it.
        let output = Tensor::from_array(([1_usize], vec![0_f32]))?;
        let outputs = OutputSelector::no_default().with(OUTPUT).preallocate(OUTPUT, output);
        let mut shrink = RunOptions::new()?;
        shrink.set(SHRINK_KEY, "cpu:0")?;
        let input = Tensor::from_array(([1_usize], vec![0_f32]))?;
        Ok(Self { session, input, shrink: shrink.with_outputs(outputs) })
    }
}

const INPUT: &str = "x";
const OUTPUT: &str = "y";

/// An ONNX model of one Identity node on one f32, as Protocol Buffers bytes; the numbers are field numbers of onnx.proto.
fn identity_model() -> Vec<u8> {
    let shape = message(1, &number(1, 1));
    let tensor = [number(1, 1), message(2, &shape)].concat();
    let value = |name: &str| [text(1, name), message(2, &message(1, &tensor))].concat();
    let node = [text(1, INPUT), text(2, OUTPUT), text(4, "Identity")].concat();
    let graph =
        [message(1, &node), text(2, "t"), message(11, &value(INPUT)), message(12, &value(OUTPUT))].concat();
    let opset = number(2, 17);
    [number(1, 8), message(7, &graph), message(8, &opset)].concat()
}

/// A varint field; both numbers are below 128 here, so each is one byte.
fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

/// A length-delimited field, below 128 bytes.
fn message(field: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![field << 3 | 2, body.len() as u8];
    bytes.extend_from_slice(body);
    bytes
}

fn text(field: u8, value: &str) -> Vec<u8> {
    message(field, value.as_bytes())
}
