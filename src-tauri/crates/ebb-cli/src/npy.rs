//! NumPy's `.npy` files: a short header in text, then the array as it lies in memory.
//!
//! What is read is brought into the one form that a model takes: little-endian, row-major. `bfloat16`, which NumPy does not
//! know, is written as other programs write it, as two opaque bytes (`V2`).

mod header;
mod vectors;

use std::io::{self, Write};

use ebb_core::DType;

use header::Header;
pub(crate) use vectors::VectorsFile;

/// Why a file cannot be read as an array.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Error {
    #[error("it is not a .npy file: its first bytes are others")]
    NotNpy,
    #[error("its format version {0} is not known; 1, 2 and 3 are")]
    Version(u8),
    #[error("its header is cut off")]
    HeaderCut,
    #[error("its header cannot be read: {0}")]
    Header(&'static str),
    #[error("arrays of '{0}' cannot be passed to a model: convert it, for example with .astype('float32')")]
    Type(String),
    #[error("its shape is larger than any memory")]
    Shape,
    #[error("its shape asks for {want} bytes of data and there are {got}")]
    Data { want: usize, got: usize },
}

/// An array: little-endian, row-major.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    pub(crate) data: Vec<u8>,
}

impl Array {
    /// Reads the bytes of a `.npy` file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let (text, mut data) = split(bytes)?;
        let Header { dtype, big_endian, fortran_order, shape } = header::parse(text)?;
        let size = dtype.size_bytes();
        let want = shape
            .iter()
            .try_fold(size as u64, |all, &dim| all.checked_mul(dim))
            .and_then(|want| usize::try_from(want).ok())
            .ok_or(Error::Shape)?;
        if data.len() != want {
            return Err(Error::Data { want, got: data.len() });
        }
        let swapped;
        if big_endian && size > 1 {
            swapped = data.chunks_exact(size).flat_map(|element| element.iter().rev().copied()).collect();
            data = Vec::as_slice(&swapped);
        }
        let data = if fortran_order { row_major(data, &shape, size) } else { data.to_vec() };
        Ok(Self { dtype, shape, data })
    }
}

/// Writes an array.
pub(crate) fn write(to: &mut impl Write, dtype: DType, shape: &[u64], data: &[u8]) -> io::Result<()> {
    to.write_all(&header::written(dtype, shape))?;
    to.write_all(data)
}

/// The header's text, and the data after it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), Error> {
    let rest = bytes.strip_prefix(header::MAGIC).ok_or(Error::NotNpy)?;
    let (&[major, _minor], rest) = rest.split_first_chunk().ok_or(Error::HeaderCut)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk().ok_or(Error::HeaderCut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().ok_or(Error::HeaderCut)?;
            (usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Error::HeaderCut)?, rest)
        }
        other => return Err(Error::Version(other)),
    };
    let (text, data) = rest.split_at_checked(length).ok_or(Error::HeaderCut)?;
    let text = std::str::from_utf8(text).map_err(|_| Error::Header("it is not text"))?;
    Ok((text, data))
}

/// Puts the elements of a column-major array into row-major order.
fn row_major(data: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    // The shape was checked against the data, so that each dimension fits, unless there is no element at all.
    if data.is_empty() {
        return Vec::new();
    }
    let dims: Vec<usize> = shape.iter().map(|&dim| dim as usize).collect();
    let mut strides = vec![size; dims.len()];
    for axis in 1..dims.len() {
        strides[axis] = strides[axis - 1] * dims[axis - 1];
    }
    let mut index = vec![0; dims.len()];
    let mut ordered = Vec::with_capacity(data.len());
    while ordered.len() < data.len() {
        let at: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        ordered.extend_from_slice(&data[at..at + size]);
        for axis in (0..dims.len()).rev() {
            index[axis] += 1;
            if index[axis] < dims[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn parse(header: &str, data: &[u8]) -> Result<Array, Error> {
        Array::parse(&file(header, data))
    }

    #[test]
    fn a_file_as_numpy_writes_it() {
        let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }          \n";
        let data = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0];
        let array = parse(header, &data).unwrap();
        assert_eq!(array, Array { dtype: DType::Int16, shape: vec![2, 3], data: data.to_vec() });
    }

    #[test]
    fn other_orders_are_brought_into_ours() {
        let columns = [1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0];
        let array = parse("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}", &columns).unwrap();
        assert_eq!(array.data, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
        let array = parse("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", &[0, 1, 0, 2]).unwrap();
        assert_eq!(array.data, [1, 0, 2, 0]);
    }

    #[test]
    fn a_scalar_and_an_empty_array() {
        assert_eq!(
            parse("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", &[1]).unwrap().shape,
            [0; 0]
        );
        let empty = parse("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5)}", &[]).unwrap();
        assert_eq!((empty.shape, empty.data.len()), (vec![0, 5], 0));
    }

    #[test]
    fn what_is_malformed_is_said() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
        assert_eq!(parse(header, &[0; 7]), Err(Error::Data { want: 8, got: 7 }));
        assert_eq!(parse(header, &[0; 9]), Err(Error::Data { want: 8, got: 9 }));
        assert_eq!(Array::parse(b"PK\x03\x04"), Err(Error::NotNpy));
        assert_eq!(Array::parse(b""), Err(Error::NotNpy));
        assert_eq!(Array::parse(b"\x93NUMPY\x09\x00\x01\x00 "), Err(Error::Version(9)));
        let whole = file(header, &[0; 8]);
        for cut in 6..10 + header.len() {
            assert_eq!(Array::parse(&whole[..cut]), Err(Error::HeaderCut), "{cut}");
        }
        for (header, want) in [
            ("", "a dictionary is expected"),
            ("{'descr': '<f4', 'fortran_order': False}", "'shape' is missing"),
            ("{'descr': '<f4', 'shape': (1,)}", "'fortran_order' is missing"),
            ("{'fortran_order': False, 'shape': (1,)}", "'descr' is missing"),
            ("{'descr': '<f4', 'fortran_order': maybe, 'shape': (1,)}", "True or False is expected"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "a whole number is expected"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", "a comma is expected"),
            ("{'descr': '<f4, ", "a text does not end"),
            ("{'more': 1}", "an entry is not known"),
        ] {
            assert_eq!(parse(header, &[0; 4]), Err(Error::Header(want)), "{header}");
        }
        let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}";
        assert_eq!(parse(huge, &[]), Err(Error::Shape));
        for descr in ["'<c8'", "'<U5'", "'|O'", "[('a', '<f4')]", "'<f3'", "'f'", "''"] {
            let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}");
            assert!(matches!(parse(&header, &[0; 4]), Err(Error::Type(_))), "{descr}");
        }
    }

    fn any_dtype() -> impl Strategy<Value = DType> {
        prop::sample::select(vec![
            DType::Float16,
            DType::BFloat16,
            DType::Float32,
            DType::Float64,
            DType::Int8,
            DType::Int16,
            DType::Int32,
            DType::Int64,
            DType::UInt8,
            DType::UInt16,
            DType::UInt32,
            DType::UInt64,
            DType::Bool,
        ])
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(dtype in any_dtype(), shape in prop::collection::vec(0_u64..5, 0..5), seed: u8) {
            let length = shape.iter().product::<u64>() as usize * dtype.size_bytes();
            let data: Vec<u8> = (0..length).map(|index| (index as u8).wrapping_add(seed)).collect();
            let mut bytes = Vec::new();
            write(&mut bytes, dtype, &shape, &data).unwrap();
            prop_assert_eq!((bytes.len() - length) % 64, 0);
            prop_assert_eq!(Array::parse(&bytes).unwrap(), Array { dtype, shape, data });
        }

        #[test]
        fn any_bytes_are_read_or_refused(header in "[ {}()\\[\\],:'a-zA-Z0-9<>|\\-]{0,80}", data: Vec<u8>) {
            let _ = parse(&header, &data);
            let _ = Array::parse(&data);
        }
    }
}
