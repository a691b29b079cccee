//! A bare model on tensors.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use ebb_core::{Chunk, ChunkBody, DType, Figures, Step, TensorFigures, TensorInfo, TensorSpec};
use ort::value::DynValue;

use crate::{
    Error,
    session::{Input, Loaded},
    sys,
};

/// A bare model.
#[derive(Debug)]
pub(crate) struct Tensors {
    loaded: Loaded,
}

/// A run on tensors in flight.
#[derive(Debug)]
pub(crate) struct TensorRun {
    inputs: Vec<TensorSpec>,
    outputs: Vec<String>,
    data: Bytes,
    run_options: BTreeMap<String, String>,
}

impl Tensors {
    pub(crate) fn new(loaded: Loaded) -> Self {
        Self { loaded }
    }

    /// Checks a job against what the model declares, so that ONNX Runtime is not run in vain; `data` holds the inputs' data
    /// in their order.
    ///
    /// # Errors
    /// Where names, types, shapes or lengths do not fit; the message says what the model takes.
    pub(crate) fn begin(
        &mut self,
        inputs: Vec<TensorSpec>,
        outputs: Vec<String>,
        data: Bytes,
        run_options: &BTreeMap<String, String>,
    ) -> Result<TensorRun, Error> {
        check_inputs(&inputs, self.loaded.inputs())?;
        check_data(&inputs, &data)?;
        let outputs = check_outputs(outputs, self.loaded.outputs())?;
        Ok(TensorRun { inputs, outputs, data, run_options: run_options.clone() })
    }

    /// Runs the model.
    ///
    /// # Errors
    /// Where the model fails.
    pub(crate) fn step(&mut self, run: &mut TensorRun, chunks: &mut Vec<Chunk>) -> Result<Step, Error> {
        let mut data = std::mem::take(&mut run.data);
        let mut inputs: Vec<Input<'_, '_>> = Vec::new();
        for spec in &run.inputs {
            let own = data.split_to(spec.len_bytes().unwrap_or(0).min(data.len()));
            let value = sys::tensor(&spec.name, spec.dtype, &spec.shape, &own)?;
            inputs.push((&spec.name, value.into()));
        }
        // The values are copies: what they were made of need not outlast them.
        drop(data);
        let wanted: Vec<&str> = run.outputs.iter().map(String::as_str).collect();
        let ran = self.loaded.run(&inputs, &wanted, &run.run_options, |outputs| {
            wanted.iter().map(|&name| output(name, outputs.get(name))).collect::<Result<Vec<_>, _>>()
        })?;
        let figures = TensorFigures { outputs: ran.value.len() as u32, cap_retries: ran.cap_retries };
        chunks.extend(ran.value);
        Ok(Step::Done(Figures::Tensors(figures)))
    }
}

fn output(name: &str, value: Option<&DynValue>) -> Result<Chunk, Error> {
    let value = value.ok_or_else(|| Error::Unsupported(format!("the model left its output '{name}' out")))?;
    let (dtype, shape, data) = sys::contents(name, value)?;
    let spec = TensorSpec { name: name.to_owned(), dtype, shape };
    Ok(Chunk { body: ChunkBody::Tensor(spec), data: Bytes::copy_from_slice(data) })
}

fn check_inputs(given: &[TensorSpec], declared: &[TensorInfo]) -> Result<(), Error> {
    let wrong = |message: String| {
        let takes: Vec<String> = declared.iter().map(describe).collect();
        Error::request(message, "inputs").hint(format!("the model takes {}", takes.join(", ")))
    };
    let mut seen = BTreeSet::new();
    for spec in given {
        if !seen.insert(spec.name.as_str()) {
            return Err(wrong(format!("input '{}' is given twice", spec.name)));
        }
        let info = declared
            .iter()
            .find(|info| info.name == spec.name)
            .ok_or_else(|| wrong(format!("the model has no input '{}'", spec.name)))?;
        fit(spec, info).map_err(|why| wrong(format!("input '{}' {why}", spec.name)))?;
    }
    match declared.iter().find(|info| !seen.contains(info.name.as_str())) {
        Some(missing) => Err(wrong(format!("input '{}' is missing", missing.name))),
        None => Ok(()),
    }
}

/// Whether a tensor may go into an input, or why not.
fn fit(spec: &TensorSpec, info: &TensorInfo) -> Result<(), String> {
    let Some(dtype) = info.dtype else { return Err("takes what is not a tensor of numbers".to_owned()) };
    if spec.dtype != dtype {
        return Err(format!("is {}, the model takes {}", name(spec.dtype), name(dtype)));
    }
    let dims: Result<Vec<i64>, _> = spec.shape.iter().map(|&dim| i64::try_from(dim)).collect();
    let (Ok(dims), Some(_)) = (dims, spec.len_bytes()) else {
        return Err(format!("has the shape {:?}, which no memory holds", spec.shape));
    };
    // A model that declares no dimensions takes a scalar or says nothing of its shape: ONNX Runtime knows which.
    let fits = info.shape.is_empty()
        || (dims.len() == info.shape.len()
            && dims.iter().zip(&info.shape).all(|(dim, want)| *want < 0 || dim == want));
    if fits { Ok(()) } else { Err(format!("has the shape {dims:?}, the model takes {}", shape(&info.shape))) }
}

fn check_data(inputs: &[TensorSpec], data: &Bytes) -> Result<(), Error> {
    let lengths = || inputs.iter().map(|spec| spec.len_bytes().unwrap_or(0));
    let due_bytes = lengths().fold(0_usize, usize::saturating_add);
    if due_bytes != data.len() {
        let shapes: Vec<String> = inputs
            .iter()
            .map(|spec| format!("{} {} {:?}", spec.name, name(spec.dtype), spec.shape))
            .collect();
        let shapes = shapes.join(", ");
        let message =
            format!("the inputs hold {} bytes, and their shapes ask for {due_bytes}: {shapes}", data.len());
        return Err(Error::request(message, "inputs"));
    }
    let mut rest = &data[..];
    for (spec, len_bytes) in inputs.iter().zip(lengths()) {
        let (own, others) = rest.split_at(len_bytes);
        // ONNX Runtime takes such bytes as they are, and what it makes of other values is not defined.
        if spec.dtype == DType::Bool && own.iter().any(|&byte| byte > 1) {
            let message = format!("input '{}' is bool and holds bytes other than 0 and 1", spec.name);
            return Err(Error::request(message, "inputs"));
        }
        rest = others;
    }
    Ok(())
}

/// The outputs to run for: those that are wanted, else all.
fn check_outputs(wanted: Vec<String>, declared: &[TensorInfo]) -> Result<Vec<String>, Error> {
    let wrong = |message: String| {
        let gives: Vec<String> = declared.iter().filter(|info| info.dtype.is_some()).map(describe).collect();
        Error::request(message, "outputs").hint(format!("name some of {}", gives.join(", ")))
    };
    let wanted =
        if wanted.is_empty() { declared.iter().map(|info| info.name.clone()).collect() } else { wanted };
    let mut seen = BTreeSet::new();
    for name in &wanted {
        match declared.iter().find(|info| info.name == *name) {
            None => return Err(wrong(format!("the model has no output '{name}'"))),
            Some(info) if info.dtype.is_none() => {
                return Err(wrong(format!("output '{name}' is not a tensor of numbers")));
            }
            Some(_) if !seen.insert(name.as_str()) => {
                return Err(wrong(format!("output '{name}' is named twice")));
            }
            Some(_) => {}
        }
    }
    Ok(wanted)
}

fn describe(info: &TensorInfo) -> String {
    let dtype = info.dtype.map_or("(not a tensor of numbers)".to_owned(), name);
    format!("{} {dtype} {}", info.name, shape(&info.shape))
}

/// NumPy's name of a type.
fn name(dtype: DType) -> String {
    format!("{dtype:?}").to_lowercase()
}

/// A declared shape, `?` where a dimension is free.
fn shape(dims: &[i64]) -> String {
    let dims: Vec<String> =
        dims.iter().map(|&dim| if dim < 0 { "?".to_owned() } else { dim.to_string() }).collect();
    format!("[{}]", dims.join(", "))
}

#[cfg(test)]
mod tests;
