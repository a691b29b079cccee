//! Tensors as raw little-endian bytes, of any element type. The crate `ort` gives typed access only, and that for fewer
//! types; its raw pointers need the unsafe blocks here.
use ebb_core::DType;
use ort::{
    memory::Allocator,
    value::{DynTensor, DynTensorValueType, DynValue},
};

use crate::{
    Error,
    session::{dtype_of, element_of},
};

/// A tensor in main memory, outside any arena, with a copy of `data`.
///
/// # Errors
/// [`Error::Request`] where the data does not fill the shape.
pub(crate) fn tensor(name: &str, dtype: DType, shape: &[u64], data: &[u8]) -> Result<DynTensor, Error> {
    let dims: Option<Vec<i64>> = shape.iter().map(|&dim| i64::try_from(dim).ok()).collect();
    let spec = ebb_core::TensorSpec { name: name.to_owned(), dtype, shape: shape.to_vec() };
    let (Some(dims), Some(len_bytes)) = (dims, spec.len_bytes()) else {
        return Err(Error::request(format!("the shape of '{name}' is too large"), name));
    };
    if len_bytes != data.len() {
        let message = format!("'{name}' needs {len_bytes} bytes for its shape {shape:?}, not {}", data.len());
        return Err(Error::request(message, name));
    }
    let mut tensor = DynTensor::new(&Allocator::default(), element_of(dtype), dims)
        .map_err(Error::runtime("make an input tensor"))?;
    let target = tensor.data_ptr_mut().cast::<u8>();
    if !target.is_null() {
        // SAFETY: the tensor was made above in main memory with this type and shape, so it holds `len_bytes` bytes, which
        // is `data.len()`; nothing else knows it yet, and a fresh allocation cannot overlap `data`.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), target, data.len()) };
    }
    Ok(tensor)
}

/// Type, shape and data of an output in main memory.
///
/// # Errors
/// [`Error::Unsupported`] where it is no tensor of a type that Ebb passes, or lies in a device's memory.
pub(crate) fn contents<'v>(name: &str, value: &'v DynValue) -> Result<(DType, Vec<u64>, &'v [u8]), Error> {
    let tensor = value
        .view()
        .downcast::<DynTensorValueType>()
        .map_err(|_| Error::Unsupported(format!("the output '{name}' is not a tensor")))?;
    let dtype = dtype_of(*tensor.data_type()).ok_or_else(|| {
        Error::Unsupported(format!("the output '{name}' has a type that Ebb does not pass"))
    })?;
    if !tensor.memory_info().is_cpu_accessible() {
        return Err(Error::Unsupported(format!("the output '{name}' lies in the device's memory")));
    }
    let shape: Vec<u64> = tensor.shape().iter().map(|&dim| u64::try_from(dim).unwrap_or(0)).collect();
    let elements: u64 = shape.iter().product();
    let len_bytes = usize::try_from(elements).unwrap_or(0) * dtype.size_bytes();
    let source = tensor.data_ptr().cast::<u8>();
    if source.is_null() || len_bytes == 0 {
        return Ok((dtype, shape, &[]));
    }
    // SAFETY: the tensor lies in main memory and holds one element of `dtype` for each place of its shape, so `len_bytes`
    // bytes are there; `value` is borrowed for as long as the slice lives, and keeps them.
    Ok((dtype, shape, unsafe { std::slice::from_raw_parts(source, len_bytes) }))
}

/// The data of a tensor in main memory, to write to; empty where it lies in a device's memory.
pub(crate) fn bytes_mut(tensor: &mut DynTensor) -> &mut [u8] {
    let len_bytes = len_bytes(tensor);
    if len_bytes == 0 || !tensor.memory_info().is_cpu_accessible() {
        return &mut [];
    }
    let target = tensor.data_ptr_mut().cast::<u8>();
    // SAFETY: the tensor lies in main memory and holds `len_bytes` bytes, as its type and shape say; it is borrowed mutably
    // for as long as the slice lives.
    unsafe { std::slice::from_raw_parts_mut(target, len_bytes) }
}

/// The data of a tensor in main memory; empty where it lies in a device's memory.
pub(crate) fn bytes(tensor: &DynTensor) -> &[u8] {
    let len_bytes = len_bytes(tensor);
    if len_bytes == 0 || !tensor.memory_info().is_cpu_accessible() {
        return &[];
    }
    let source = tensor.data_ptr().cast::<u8>();
    // SAFETY: the tensor lies in main memory and holds `len_bytes` bytes, as its type and shape say; it is borrowed for as
    // long as the slice lives.
    unsafe { std::slice::from_raw_parts(source, len_bytes) }
}

/// Bytes of a tensor's data, by its type and shape.
pub(crate) fn len_bytes(tensor: &DynTensor) -> usize {
    let elements: u64 = tensor.shape().iter().map(|&dim| u64::try_from(dim).unwrap_or(0)).product();
    let size_bytes = dtype_of(*tensor.data_type()).map_or(0, DType::size_bytes);
    usize::try_from(elements).unwrap_or(0) * size_bytes
}
