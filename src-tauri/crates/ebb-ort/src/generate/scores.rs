//! Where the model puts the scores of the next token, and how they are read.

use ebb_core::DType;
use half::{bf16, f16};
use ort::{memory::Allocator, value::DynTensor};

use super::graph::Logits;
use crate::{Error, session::element_of, sys};

/// A tensor for the scores of one token, outside the arena, used again for every token of every answer: a step reads them
/// before the next one writes.
#[derive(Debug)]
pub(super) struct Scores {
    tensor: DynTensor,
    dtype: DType,
    /// The same as the 32-bit numbers that the choice is made by; empty where they are such.
    numbers: Vec<f32>,
}

impl Scores {
    /// # Errors
    /// Where there is no memory for them.
    pub(super) fn new(logits: &Logits) -> Result<Self, Error> {
        let vocab_size = logits.vocab_size as i64;
        let shape = if logits.rank == 2 { vec![1, vocab_size] } else { vec![1, 1, vocab_size] };
        let tensor = DynTensor::new(&Allocator::default(), element_of(logits.dtype), shape);
        let tensor = tensor.map_err(Error::runtime("make a place for the scores"))?;
        let numbers = if logits.dtype == DType::Float32 { 0 } else { logits.vocab_size };
        Ok(Self { tensor, dtype: logits.dtype, numbers: vec![0.0; numbers] })
    }

    /// What the output is to be bound to.
    pub(super) fn tensor_mut(&mut self) -> &mut DynTensor {
        &mut self.tensor
    }

    /// The scores that a run has written into the tensor.
    ///
    /// # Errors
    /// Where the tensor has another type than it was made with, which does not happen.
    pub(super) fn written(&mut self) -> Result<&mut [f32], Error> {
        if self.dtype == DType::Float32 {
            let numbers = self.tensor.try_extract_tensor_mut::<f32>();
            return numbers.map(|(_, numbers)| numbers).map_err(Error::runtime("read the scores"));
        }
        convert(self.dtype, sys::bytes(&self.tensor), &mut self.numbers);
        Ok(&mut self.numbers)
    }

    /// Puts the scores of the last of the tokens that an output has them for into the tensor.
    ///
    /// # Errors
    /// Where its type is another or its size is no multiple of the vocabulary's.
    pub(super) fn write_last_of(&mut self, name: &str, output: Option<&DynTensor>) -> Result<(), Error> {
        let own = sys::bytes_mut(&mut self.tensor);
        let fitting = output.filter(|output| *output.data_type() == element_of(self.dtype)).map(sys::bytes);
        match fitting {
            Some(data) if !data.is_empty() && data.len() % own.len() == 0 => {
                own.copy_from_slice(&data[data.len() - own.len()..]);
                Ok(())
            }
            _ => {
                let shape = output.map(|output| output.shape().to_vec()).unwrap_or_default();
                let due = own.len() / self.dtype.size_bytes();
                let why = format!("has the shape {shape:?} where [1, tokens, {due}] was due");
                Err(Error::Unsupported(format!("the model's output '{name}' {why}")))
            }
        }
    }
}

fn convert(dtype: DType, data: &[u8], numbers: &mut [f32]) {
    match dtype {
        DType::Float16 => spread(data, numbers, |bytes| f16::from_le_bytes(bytes).to_f32()),
        DType::BFloat16 => spread(data, numbers, |bytes| bf16::from_le_bytes(bytes).to_f32()),
        _ => spread(data, numbers, f32::from_le_bytes),
    }
}

fn spread<const N: usize>(data: &[u8], numbers: &mut [f32], read: impl Fn([u8; N]) -> f32) {
    for (number, bytes) in numbers.iter_mut().zip(data.as_chunks().0) {
        *number = read(*bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_every_type_become_the_same_numbers() {
        let want = [0.5_f32, -2.0, 1024.0];
        let f32s: Vec<u8> = want.iter().flat_map(|number| number.to_le_bytes()).collect();
        let f16s: Vec<u8> = want.iter().flat_map(|&number| f16::from_f32(number).to_le_bytes()).collect();
        let bf16s: Vec<u8> = want.iter().flat_map(|&number| bf16::from_f32(number).to_le_bytes()).collect();
        for (dtype, data) in [(DType::Float32, f32s), (DType::Float16, f16s), (DType::BFloat16, bf16s)] {
            let mut numbers = [0.0; 3];
            convert(dtype, &data, &mut numbers);
            assert_eq!(numbers, want, "{dtype:?}");
        }
    }
}
