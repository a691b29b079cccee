//! Token vectors to one vector a text.

use ebb_core::Pooling;
use half::f16;

/// A number of the model's output, as little-endian bytes.
pub(super) trait Number: Copy {
    fn to_f32(self) -> f32;
}

impl Number for [u8; 4] {
    fn to_f32(self) -> f32 {
        f32::from_le_bytes(self)
    }
}

impl Number for [u8; 2] {
    fn to_f32(self) -> f32 {
        f16::from_le_bytes(self).to_f32()
    }
}

/// Makes a text's vector of what the model gave for it: `dimensions` numbers a token, padding included, or one vector where
/// the model pools. `tokens` is how many are the text's own.
pub(super) fn pool<T: Number>(
    row: &[T],
    tokens: usize,
    pooling: Pooling,
    normalize: bool,
    vector: &mut [f32],
) {
    let dimensions = vector.len();
    match pooling {
        Pooling::Mean => {
            vector.fill(0.0);
            for token in row.chunks_exact(dimensions).take(tokens) {
                for (sum, &number) in vector.iter_mut().zip(token) {
                    *sum += number.to_f32();
                }
            }
            let share = 1.0 / tokens.max(1) as f32;
            vector.iter_mut().for_each(|sum| *sum *= share);
        }
        Pooling::Cls | Pooling::Model => {
            for (out, &number) in vector.iter_mut().zip(row) {
                *out = number.to_f32();
            }
        }
    }
    if normalize {
        let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        // A vector of zeros has no direction; it stays as it is.
        let scale = if length > 0.0 { (1.0 / length) as f32 } else { 0.0 };
        vector.iter_mut().for_each(|x| *x *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: [f32; 6] = [3.0, 0.0, 5.0, 8.0, 100.0, 100.0];

    fn pooled(pooling: Pooling, normalize: bool) -> [f32; 2] {
        let mut vector = [f32::NAN; 2];
        pool(&ROW.map(f32::to_le_bytes), 2, pooling, normalize, &mut vector);
        vector
    }

    #[test]
    fn padding_does_not_count() {
        assert_eq!(pooled(Pooling::Mean, false), [4.0, 4.0]);
        assert_eq!(pooled(Pooling::Cls, false), [3.0, 0.0]);
    }

    #[test]
    fn a_normalized_vector_has_length_one() {
        let [x, y] = pooled(Pooling::Mean, true);
        assert!((x.hypot(y) - 1.0).abs() < 1e-6);
        let mut zeros = [1.0; 2];
        pool(&[[0_u8; 4]; 2], 1, Pooling::Mean, true, &mut zeros);
        assert_eq!(zeros, [0.0, 0.0]);
    }

    #[test]
    fn half_precision_is_read_too() {
        let row = ROW.map(|number| f16::from_f32(number).to_le_bytes());
        let mut vector = [0.0; 2];
        pool(&row, 2, Pooling::Mean, false, &mut vector);
        assert_eq!(vector, [4.0, 4.0]);
    }
}
