//! Tensors with their data, and their form in JSON.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ebb_core::{TensorSpec, operations::TensorValue};

use crate::Error;

/// A tensor with its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Name, type and shape.
    pub spec: TensorSpec,
    /// Its data, little-endian, row-major.
    pub data: Vec<u8>,
}

impl From<&Tensor> for TensorValue {
    fn from(tensor: &Tensor) -> Self {
        Self { spec: tensor.spec.clone(), data: STANDARD.encode(&tensor.data) }
    }
}

impl TryFrom<TensorValue> for Tensor {
    type Error = Error;

    fn try_from(TensorValue { spec, data }: TensorValue) -> Result<Self, Error> {
        let data = STANDARD
            .decode(data)
            .map_err(|error| Error::Protocol(format!("data of tensor '{}': {error}", spec.name)))?;
        if spec.len_bytes() != Some(data.len()) {
            let message = format!("tensor '{}' does not have the data that its shape asks for", spec.name);
            return Err(Error::Protocol(message));
        }
        Ok(Self { spec, data })
    }
}
