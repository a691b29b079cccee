//! Numbers in and out of tensors.

use ebb_core::DType;

/// The bytes of a tensor of numbers, as f16 or f32.
pub(super) fn bytes_of(dtype: DType, values: &[f32]) -> Vec<u8> {
    match dtype {
        DType::Float16 => values.iter().flat_map(|&value| half::f16::from_f32(value).to_le_bytes()).collect(),
        _ => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// The numbers of a tensor's bytes, which are f16 or f32.
pub(super) fn values_of(dtype: DType, bytes: &[u8]) -> Vec<f32> {
    match dtype {
        DType::Float16 => {
            bytes.as_chunks().0.iter().map(|&two| half::f16::from_le_bytes(two).to_f32()).collect()
        }
        _ => bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for dtype in [DType::Float16, DType::Float32] {
            let bytes = bytes_of(dtype, &[0.5, -2.0]);
            assert_eq!(bytes.len(), 2 * dtype.size_bytes());
            assert_eq!(values_of(dtype, &bytes), [0.5, -2.0]);
        }
    }
}
