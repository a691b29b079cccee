//! Where the bytes of a graph's weights come from, and how they are turned into what the operators take.

use crate::{
    Error,
    gguf::{BLOCK_VALUES, Block, Gguf, TensorType, blocks, floats},
    onnx::Sink,
};

/// How a matrix is held in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Every number for itself, 32 bits.
    Floats,
    /// Blocks of 32 numbers of so many bits with a scale, and an offset where some tensor has one.
    Blocks { bits: u8, offset: bool },
}

impl Form {
    /// The form that keeps what a tensor of this type holds; `None` for a type that is not converted.
    pub(crate) fn of(data_type: TensorType) -> Option<Self> {
        let blocks = |bits, offset| Some(Self::Blocks { bits, offset });
        match data_type {
            TensorType::F32 | TensorType::F16 | TensorType::BF16 => Some(Self::Floats),
            TensorType::Q4_0 => blocks(4, false),
            TensorType::Q4_1 | TensorType::Q4_K => blocks(4, true),
            TensorType::Q5_1 | TensorType::Q5_K => blocks(8, true),
            TensorType::Q5_0 | TensorType::Q8_0 | TensorType::Q6_K => blocks(8, false),
            _ => None,
        }
    }

    /// The form of both as one matrix, if they can be.
    pub(crate) fn joined(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Floats, Self::Floats) => Some(Self::Floats),
            (Self::Blocks { bits, offset }, Self::Blocks { bits: other_bits, offset: other_offset })
                if bits == other_bits =>
            {
                Some(Self::Blocks { bits, offset: offset || other_offset })
            }
            _ => None,
        }
    }
}

/// Rows of a tensor, in the order that the graph wants.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) tensor: String,
    /// Rows of one head if each head's rows are to be put from pairs into halves: 0, 2, 4, … 1, 3, 5, …
    pub(crate) paired: Option<usize>,
}

/// What a weight holds of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// The numbers.
    Floats,
    /// The codes of blocks, 4 bits each, the earlier of two in the low half.
    Nibbles,
    /// The codes of blocks, counted from 128. Quantised anew without an offset if so wished.
    Bytes { without_offset: bool },
    /// The blocks' scales.
    Scales { without_offset: bool },
    /// The blocks' offsets.
    Offsets,
}

/// Where the bytes of one weight come from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// Tensors, one after the other.
    Tensors(Content, Vec<Rows>),
    /// Cosines (or sines) of the angles of each position.
    Turns { frequencies: Vec<f64>, positions: usize, sine: bool },
}

impl Source {
    /// Writes the weight's bytes.
    pub(crate) fn fill(&self, gguf: &mut Gguf, sink: &mut Sink) -> Result<(), Error> {
        match self {
            Self::Tensors(content, parts) => {
                parts.iter().try_for_each(|rows| fill_rows(*content, rows, gguf, sink))
            }
            Self::Turns { frequencies, positions, sine } => {
                let mut row = Vec::with_capacity(frequencies.len() * 4);
                for position in 0..*positions {
                    row.clear();
                    for frequency in frequencies {
                        let angle = position as f64 * frequency;
                        let turn = if *sine { angle.sin() } else { angle.cos() };
                        row.extend((turn as f32).to_le_bytes());
                    }
                    sink.write(&row)?;
                }
                Ok(())
            }
        }
    }
}

/// A vector as floats.
pub(crate) fn read_vector(gguf: &mut Gguf, name: &str, length: usize) -> Result<Vec<f32>, Error> {
    let data_type = check(gguf, name, &[length])?;
    let mut values = Vec::new();
    gguf.read_rows(name, length as u64, |bytes| {
        floats(data_type, bytes, |value| values.push(value));
        Ok(())
    })?;
    Ok(values)
}

/// The type of a tensor, if it has this shape and can be converted.
pub(crate) fn check(gguf: &Gguf, name: &str, shape: &[usize]) -> Result<TensorType, Error> {
    let tensor = gguf.tensor(name)?;
    if tensor.shape() != shape {
        let (name, expected, actual) = (name.to_owned(), shape.to_vec(), tensor.shape());
        return Err(Error::WrongShape { name, expected, actual });
    }
    let data_type = tensor.data_type;
    let vector = shape.len() < 2;
    if Form::of(data_type).is_none() || vector && !data_type.is_float() {
        return Err(Error::UnsupportedDataType {
            name: name.to_owned(),
            data_type: data_type.to_string(),
            supported: if vector { "F32, F16, BF16" } else { TensorType::SUPPORTED },
        });
    }
    Ok(data_type)
}

fn fill_rows(content: Content, rows: &Rows, gguf: &mut Gguf, sink: &mut Sink) -> Result<(), Error> {
    let Rows { tensor, paired } = rows;
    let (data_type, row_bytes) = {
        let tensor = gguf.tensor(tensor)?;
        (tensor.data_type, tensor.row_bytes() as usize)
    };
    let run = match paired {
        Some(head_size) => *head_size as u64,
        None => gguf.rows_at_once(tensor)?,
    };
    let (mut ordered, mut converted) = (Vec::new(), Vec::new());
    gguf.read_rows(tensor, run, |bytes| {
        converted.clear();
        if paired.is_some() {
            halves_from_pairs(bytes, row_bytes, &mut ordered);
            convert(content, data_type, &ordered, &mut converted);
        } else {
            convert(content, data_type, bytes, &mut converted);
        }
        sink.write(&converted)
    })
}

/// Even rows first, then odd ones.
fn halves_from_pairs(bytes: &[u8], row_bytes: usize, ordered: &mut Vec<u8>) {
    ordered.clear();
    for parity in [0, 1] {
        bytes.chunks_exact(row_bytes).skip(parity).step_by(2).for_each(|row| ordered.extend_from_slice(row));
    }
}

fn convert(content: Content, data_type: TensorType, rows: &[u8], into: &mut Vec<u8>) {
    let plain = |block: Block, without_offset| if without_offset { block.without_offset() } else { block };
    match content {
        Content::Floats => floats(data_type, rows, |value| into.extend(value.to_le_bytes())),
        Content::Nibbles => blocks(data_type, rows, |block| {
            let nibble = |code: i8| (code + 8) as u8 & 15;
            let pairs: &[[i8; 2]; BLOCK_VALUES / 2] = &pairs(block.codes);
            into.extend(pairs.map(|[low, high]| nibble(low) | nibble(high) << 4));
        }),
        Content::Bytes { without_offset } => blocks(data_type, rows, |block| {
            into.extend(plain(block, without_offset).codes.map(|code| (code as u8) ^ 128));
        }),
        Content::Scales { without_offset } => blocks(data_type, rows, |block| {
            into.extend(plain(block, without_offset).scale.to_le_bytes());
        }),
        Content::Offsets => blocks(data_type, rows, |block| into.extend(block.offset.to_le_bytes())),
    }
}

fn pairs(codes: [i8; BLOCK_VALUES]) -> [[i8; 2]; BLOCK_VALUES / 2] {
    std::array::from_fn(|index| [codes[2 * index], codes[2 * index + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scale 1, least value 0 (for Q4_1), numbers 0, 1, … 15, 0, 1, …
    fn counting(head: &[u8]) -> Vec<u8> {
        [head, &(0..16).map(|n| n | n << 4).collect::<Vec<u8>>()].concat()
    }

    fn converted(content: Content, data_type: TensorType, rows: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        convert(content, data_type, rows, &mut bytes);
        bytes
    }

    fn float(value: f32) -> [u8; 4] {
        value.to_le_bytes()
    }

    #[test]
    fn four_bits_are_carried_over_in_the_order_of_the_operator() {
        let in_pairs = [0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe].repeat(2);
        let q4_0 = counting(&[0, 0x3c]);
        assert_eq!(converted(Content::Nibbles, TensorType::Q4_0, &q4_0), in_pairs);
        assert_eq!(converted(Content::Scales { without_offset: false }, TensorType::Q4_0, &q4_0), float(1.0));
        assert_eq!(converted(Content::Offsets, TensorType::Q4_0, &q4_0), float(0.0));
        let q4_1 = counting(&[0, 0x3c, 0, 0xc0]);
        assert_eq!(converted(Content::Nibbles, TensorType::Q4_1, &q4_1), in_pairs);
        assert_eq!(converted(Content::Offsets, TensorType::Q4_1, &q4_1), float(8.0 - 2.0));
    }

    #[test]
    fn eight_bits_count_from_128() {
        let mut q8_0 = vec![0, 0x3c];
        q8_0.extend((0..32u8).map(|n| n.wrapping_sub(16)));
        let bytes = converted(Content::Bytes { without_offset: false }, TensorType::Q8_0, &q8_0);
        assert_eq!(bytes, (112..144).collect::<Vec<u8>>());
        // 4 bits fit without loss.
        let bytes =
            converted(Content::Bytes { without_offset: true }, TensorType::Q4_0, &counting(&[0, 0x3c]));
        assert_eq!(bytes, (120..136).collect::<Vec<u8>>().repeat(2));
    }

    #[test]
    fn an_offset_that_is_not_wished_is_in_the_codes() {
        // 0 … 15, the largest of which becomes 127.
        let q4_1 = counting(&[0, 0x3c, 0, 0]);
        let scale = converted(Content::Scales { without_offset: true }, TensorType::Q4_1, &q4_1);
        assert_eq!(scale, float(15.0 / 127.0));
        let bytes = converted(Content::Bytes { without_offset: true }, TensorType::Q4_1, &q4_1);
        assert_eq!((bytes[0], bytes[15]), (128, 255));
    }

    #[test]
    fn rows_of_a_head_go_from_pairs_to_halves() {
        let mut ordered = Vec::new();
        halves_from_pairs(&[0, 0, 1, 1, 2, 2, 3, 3], 2, &mut ordered);
        assert_eq!(ordered, [0, 0, 2, 2, 1, 1, 3, 3]);
    }

    #[test]
    fn forms_join_if_their_bits_agree() {
        let of = |data_type| Form::of(data_type).unwrap();
        let join = |a, b| of(a).joined(of(b));
        assert_eq!(join(TensorType::Q4_0, TensorType::Q4_0), Some(Form::Blocks { bits: 4, offset: false }));
        assert_eq!(join(TensorType::Q4_0, TensorType::Q4_K), Some(Form::Blocks { bits: 4, offset: true }));
        assert_eq!(join(TensorType::Q4_K, TensorType::Q6_K), None);
        assert_eq!(join(TensorType::Q8_0, TensorType::Q6_K), Some(Form::Blocks { bits: 8, offset: false }));
        assert_eq!(join(TensorType::F16, TensorType::F32), Some(Form::Floats));
        assert_eq!(join(TensorType::F16, TensorType::Q8_0), None);
    }
}
