//! One model file in memory: its ONNX Runtime session.

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use ebb_core::{DType, TensorInfo, options::SHRINK_KEY};
use ort::{
    environment::Environment,
    session::{
        HasSelectedOutputs, OutputSelector, RunOptions, Session, SessionInputValue, SessionInputs, SessionOutputs,
    },
    value::{Outlet, TensorElementType, ValueType},
};

use crate::Error;

/// An input of a run: its name and its value, which is only borrowed, so that a run can be tried again.
pub(crate) type Input<'a, 'v> = (&'a str, SessionInputValue<'v>);

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ran<T> {
    /// What was made of the outputs.
    pub(crate) value: T,
    /// How often the arena's cap was hit, the arena shrunk, and the run tried again.
    pub(crate) cap_retries: u32,
}

/// A model file in memory, owned by the task that runs it.
#[derive(Debug)]
pub(crate) struct Loaded {
    session: Session,
    inputs: Vec<TensorInfo>,
    outputs: Vec<TensorInfo>,
}

impl Loaded {
    /// Loads a model file.
    ///
    /// # Errors
    /// [`Error::Model`] where it is none.
    pub(crate) fn open(environment: &Environment, file: &Path) -> Result<Self, Error> {
        let session = Session::builder(environment)
            .and_then(|mut builder| builder.commit_from_file(file))
            .map_err(Error::runtime("load the model"))?;
        let inputs = session.inputs().iter().map(described).collect();
        let outputs = session.outputs().iter().map(described).collect();
        Ok(Self { session, inputs, outputs })
    }

    /// What it takes.
    pub(crate) fn inputs(&self) -> &[TensorInfo] {
        &self.inputs
    }

    /// What it gives.
    pub(crate) fn outputs(&self) -> &[TensorInfo] {
        &self.outputs
    }

    /// Runs the model. `wanted` names the outputs, none: all. `take` copies out of them what is needed: when this
    /// returns, no output lives in the arena any more. At the arena's cap the arena is shrunk and the run tried once more.
    ///
    /// # Errors
    /// [`Error::ArenaLimit`] at the cap; [`Error::Request`] where the inputs do not fit the model; what `take` returns.
    pub(crate) fn run<T>(
        &mut self,
        inputs: &[Input<'_, '_>],
        wanted: &[&str],
        run_options: &BTreeMap<String, String>,
        take: impl FnOnce(&SessionOutputs<'_>) -> Result<T, Error>,
    ) -> Result<Ran<T>, Error> {
        let options = prepared(wanted, run_options)?;
        let outputs = self
            .session
            .run_with_options(borrowed(inputs), &options)
            .map_err(Error::runtime("run the model"))?;
        Ok(Ran { value: take(&outputs)?, cap_retries: 0 })
    }
}

fn prepared(
    wanted: &[&str],
    run_options: &BTreeMap<String, String>,
) -> Result<RunOptions<HasSelectedOutputs>, Error> {
    let mut selector = if wanted.is_empty() { OutputSelector::default() } else { OutputSelector::no_default() };
    for name in wanted {
        selector = selector.with(*name);
    }
    let mut options = RunOptions::new().map_err(Error::runtime("make run options"))?;
    for (key, value) in run_options.iter().filter(|(key, _)| *key != SHRINK_KEY) {
        options.set(key, value).map_err(|error| Error::Option {
            key: key.clone(),
            value: value.clone(),
            reason: error.message().to_owned(),
        })?;
    }
    Ok(options.with_outputs(selector))
}

fn borrowed<'a>(inputs: &'a [Input<'_, '_>]) -> SessionInputs<'a, 'a> {
    SessionInputs::ValueMap(
        inputs.iter().map(|(name, value)| (Cow::Borrowed(*name), SessionInputValue::View(value.view()))).collect(),
    )
}

fn described(outlet: &Outlet) -> TensorInfo {
    let (dtype, shape) = match outlet.dtype() {
        ValueType::Tensor { ty, shape, .. } => (dtype_of(*ty), shape.to_vec()),
        _ => (None, Vec::new()),
    };
    TensorInfo { name: outlet.name().to_owned(), dtype, shape }
}

/// The type that Ebb passes for an element type of ONNX Runtime.
pub(crate) fn dtype_of(element: TensorElementType) -> Option<DType> {
    Some(match element {
        TensorElementType::Float16 => DType::Float16,
        TensorElementType::Bfloat16 => DType::BFloat16,
        TensorElementType::Float32 => DType::Float32,
        TensorElementType::Float64 => DType::Float64,
        TensorElementType::Int8 => DType::Int8,
        TensorElementType::Int16 => DType::Int16,
        TensorElementType::Int32 => DType::Int32,
        TensorElementType::Int64 => DType::Int64,
        TensorElementType::Uint8 => DType::UInt8,
        TensorElementType::Uint16 => DType::UInt16,
        TensorElementType::Uint32 => DType::UInt32,
        TensorElementType::Uint64 => DType::UInt64,
        TensorElementType::Bool => DType::Bool,
        _ => return None,
    })
}

/// The element type of ONNX Runtime for a type that Ebb passes.
pub(crate) fn element_of(dtype: DType) -> TensorElementType {
    match dtype {
        DType::Float16 => TensorElementType::Float16,
        DType::BFloat16 => TensorElementType::Bfloat16,
        DType::Float32 => TensorElementType::Float32,
        DType::Float64 => TensorElementType::Float64,
        DType::Int8 => TensorElementType::Int8,
        DType::Int16 => TensorElementType::Int16,
        DType::Int32 => TensorElementType::Int32,
        DType::Int64 => TensorElementType::Int64,
        DType::UInt8 => TensorElementType::Uint8,
        DType::UInt16 => TensorElementType::Uint16,
        DType::UInt32 => TensorElementType::Uint32,
        DType::UInt64 => TensorElementType::Uint64,
        DType::Bool => TensorElementType::Bool,
    }
}
