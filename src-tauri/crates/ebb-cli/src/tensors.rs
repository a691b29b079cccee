//! Tensors as nested lists in JSON.

use ebb_core::{DType, TensorSpec};
use half::{bf16, f16};
use serde_json::{Number, Value};

/// Why a JSON value is no tensor.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Error {
    #[error("lists of different lengths stand side by side: {0} and {1} items")]
    Ragged(usize, usize),
    #[error("lists and numbers stand side by side")]
    Mixed,
    #[error("{0} is not a value of type {1}")]
    Value(String, String),
}

/// Shape and little-endian data of nested lists.
pub(crate) fn from_json(value: &Value, dtype: DType) -> Result<(Vec<u64>, Vec<u8>), Error> {
    let mut shape = Vec::new();
    let mut level = value;
    while let Value::Array(items) = level {
        shape.push(items.len() as u64);
        match items.first() {
            Some(first) => level = first,
            None => break,
        }
    }
    let mut data = Vec::new();
    fill(value, &shape, dtype, &mut data)?;
    Ok((shape, data))
}

fn fill(value: &Value, shape: &[u64], dtype: DType, data: &mut Vec<u8>) -> Result<(), Error> {
    match (value, shape) {
        (Value::Array(items), [length, inner @ ..]) => {
            if items.len() as u64 != *length {
                return Err(Error::Ragged(*length as usize, items.len()));
            }
            items.iter().try_for_each(|item| fill(item, inner, dtype, data))
        }
        (Value::Array(_), []) | (_, [_, ..]) => Err(Error::Mixed),
        (number, []) => {
            push(number, dtype, data).ok_or_else(|| Error::Value(number.to_string(), name(dtype)))
        }
    }
}

fn push(value: &Value, dtype: DType, data: &mut Vec<u8>) -> Option<()> {
    /// A whole number may be written as `1.0`, as many programs do.
    fn whole<T: TryFrom<i128>>(value: &Value) -> Option<T> {
        let number = match value {
            Value::Bool(truth) => i128::from(*truth),
            other => match (other.as_i64(), other.as_u64(), other.as_f64()) {
                (Some(number), ..) => i128::from(number),
                (_, Some(number), _) => i128::from(number),
                (.., Some(number)) if number.fract() == 0.0 && number.abs() < 1e15 => number as i128,
                _ => return None,
            },
        };
        T::try_from(number).ok()
    }
    let float = || value.as_f64();
    match dtype {
        DType::Float16 => data.extend(f16::from_f64(float()?).to_le_bytes()),
        DType::BFloat16 => data.extend(bf16::from_f64(float()?).to_le_bytes()),
        DType::Float32 => data.extend((float()? as f32).to_le_bytes()),
        DType::Float64 => data.extend(float()?.to_le_bytes()),
        DType::Int8 => data.extend(whole::<i8>(value)?.to_le_bytes()),
        DType::Int16 => data.extend(whole::<i16>(value)?.to_le_bytes()),
        DType::Int32 => data.extend(whole::<i32>(value)?.to_le_bytes()),
        DType::Int64 => data.extend(whole::<i64>(value)?.to_le_bytes()),
        DType::UInt8 => data.extend(whole::<u8>(value)?.to_le_bytes()),
        DType::UInt16 => data.extend(whole::<u16>(value)?.to_le_bytes()),
        DType::UInt32 => data.extend(whole::<u32>(value)?.to_le_bytes()),
        DType::UInt64 => data.extend(whole::<u64>(value)?.to_le_bytes()),
        DType::Bool => data.push(u8::from(match whole::<u8>(value)? {
            0 => false,
            1 => true,
            _ => return None,
        })),
    }
    Some(())
}

/// Nested lists of a tensor. What JSON has no number for (NaN, infinities) becomes null. The data must have the length
/// that the shape asks for.
pub(crate) fn to_json(spec: &TensorSpec, data: &[u8]) -> Value {
    let mut elements = data.chunks_exact(spec.dtype.size_bytes()).map(|bytes| number(spec.dtype, bytes));
    nested(&spec.shape, &mut elements)
}

fn nested(shape: &[u64], elements: &mut impl Iterator<Item = Value>) -> Value {
    match shape {
        [] => elements.next().unwrap_or(Value::Null),
        // Without an element below there is nothing to repeat a huge dimension for.
        [_, inner @ ..] if inner.contains(&0) => Value::Array(Vec::new()),
        [length, inner @ ..] => Value::Array((0..*length).map(|_| nested(inner, elements)).collect()),
    }
}

fn number(dtype: DType, bytes: &[u8]) -> Value {
    macro_rules! read {
        ($kind:ty) => {
            bytes.try_into().map(<$kind>::from_le_bytes).unwrap_or_default()
        };
    }
    // By way of its shortest text, so that 0.1 in float32 stays 0.1.
    let short = |value: f32| value.to_string().parse().map_or(Value::Null, float);
    match dtype {
        DType::Float16 => short(read!(f16).to_f32()),
        DType::BFloat16 => short(read!(bf16).to_f32()),
        DType::Float32 => short(read!(f32)),
        DType::Float64 => float(read!(f64)),
        DType::Int8 => read!(i8).into(),
        DType::Int16 => read!(i16).into(),
        DType::Int32 => read!(i32).into(),
        DType::Int64 => read!(i64).into(),
        DType::UInt8 => read!(u8).into(),
        DType::UInt16 => read!(u16).into(),
        DType::UInt32 => read!(u32).into(),
        DType::UInt64 => read!(u64).into(),
        DType::Bool => (read!(u8) != 0).into(),
    }
}

fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

pub(crate) fn name(dtype: DType) -> String {
    format!("{dtype:?}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn both_ways(value: Value, dtype: DType) -> Value {
        let (shape, data) = from_json(&value, dtype).unwrap();
        let spec = TensorSpec { name: "x".into(), dtype, shape };
        assert_eq!(spec.len_bytes(), Some(data.len()));
        to_json(&spec, &data)
    }

    #[test]
    fn lists_come_back_as_they_were() {
        for dtype in [DType::Int8, DType::Int64, DType::UInt8, DType::UInt64] {
            assert_eq!(both_ways(json!([[1, 2, 3], [4, 5, 6]]), dtype), json!([[1, 2, 3], [4, 5, 6]]));
        }
        for dtype in [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64] {
            assert_eq!(both_ways(json!([0.5, -2]), dtype), json!([0.5, -2.0]));
        }
        assert_eq!(both_ways(json!(0.1), DType::Float32), json!(0.1));
        assert_eq!(both_ways(json!([true, 0, 1]), DType::Bool), json!([true, false, true]));
        assert_eq!(both_ways(json!([]), DType::Float32), json!([]));
        assert_eq!(both_ways(json!(i64::MIN), DType::Int64), json!(i64::MIN));
        assert_eq!(both_ways(json!(u64::MAX), DType::UInt64), json!(u64::MAX));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (value, dtype) in [
            (json!([256]), DType::UInt8),
            (json!([-1]), DType::UInt64),
            (json!([1.5]), DType::Int32),
            (json!(["1"]), DType::Int32),
            (json!([null]), DType::Float32),
            (json!([2]), DType::Bool),
            (json!({"a": 1}), DType::Float32),
        ] {
            assert!(matches!(from_json(&value, dtype), Err(Error::Value(..))), "{value}");
        }
        assert_eq!(from_json(&json!([[1, 2], [3]]), DType::Int8), Err(Error::Ragged(2, 1)));
        assert_eq!(from_json(&json!([[1], 2]), DType::Int8), Err(Error::Mixed));
        assert_eq!(from_json(&json!([1, [2]]), DType::Int8), Err(Error::Mixed));
    }

    #[test]
    fn what_json_cannot_say_is_null() {
        let spec = TensorSpec { name: "x".into(), dtype: DType::Float32, shape: vec![2] };
        let data = [f32::NAN, f32::INFINITY].map(f32::to_le_bytes).concat();
        assert_eq!(to_json(&spec, &data), json!([null, null]));
    }
}
