//! The inputs of one run besides the cache.

use ort::{
    session::IoBinding,
    value::{DynTensor, PrimitiveTensorElementType, Tensor},
};

use super::graph::{Feed, Graph, Role};
use crate::Error;

/// Binds the inputs for reading `ids` after `past` tokens that the cache holds.
///
/// # Errors
/// Where ONNX Runtime cannot make or bind a tensor.
pub(super) fn bind(binding: &mut IoBinding, graph: &Graph, ids: &[u32], past: usize) -> Result<(), Error> {
    for feed in &graph.feeds {
        let value = tensor(feed, ids, past).map_err(Error::runtime("make an input"))?;
        binding.bind_input(feed.name.as_str(), &value).map_err(Error::runtime("bind an input"))?;
    }
    Ok(())
}

fn tensor(feed: &Feed, ids: &[u32], past: usize) -> ort::Result<DynTensor> {
    let total = past + ids.len();
    match feed.role {
        Role::Ids => row(feed.wide, ids.iter().map(|&id| i64::from(id))),
        Role::Mask => row(feed.wide, std::iter::repeat_n(1, total)),
        Role::Positions => row(feed.wide, past as i64..total as i64),
        Role::UseCache => Tensor::from_array(([1], vec![past > 0])).map(Tensor::upcast),
        Role::LastScores => scalar(feed.wide, 1),
    }
}

fn row(wide: bool, numbers: impl Iterator<Item = i64>) -> ort::Result<DynTensor> {
    if wide { of_row(numbers.collect()) } else { of_row(numbers.map(|number| number as i32).collect()) }
}

fn of_row<T: PrimitiveTensorElementType + std::fmt::Debug + Clone + 'static>(
    numbers: Vec<T>,
) -> ort::Result<DynTensor> {
    Tensor::from_array(([1, numbers.len()], numbers)).map(Tensor::upcast)
}

fn scalar(wide: bool, number: i64) -> ort::Result<DynTensor> {
    let shape: [usize; 0] = [];
    if wide {
        Tensor::from_array((shape, vec![number])).map(Tensor::upcast)
    } else {
        Tensor::from_array((shape, vec![number as i32])).map(Tensor::upcast)
    }
}
