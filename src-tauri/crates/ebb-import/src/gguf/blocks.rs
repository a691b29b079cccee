//! What the bytes of a tensor stand for.
//!
//! Every quantised type but one comes down to blocks of 32 whole numbers with a scale and an offset, exactly: the scales
//! of a K type are products of an 11-bit and a 6-bit number, which a float holds. Only Q6_K scales 16 numbers at a time;
//! it is quantised anew, to 8 bits.

use half::{bf16, f16};

use super::TensorType;

/// Values of one block.
pub(crate) const BLOCK_VALUES: usize = 32;

/// 32 weights, each `scale · code + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Block {
    /// -8..8 for types of 4 bits, -16..16 for 5, all for 8.
    pub(crate) codes: [i8; BLOCK_VALUES],
    pub(crate) scale: f32,
    pub(crate) offset: f32,
}

impl Block {
    /// The weights.
    pub(crate) fn values(&self) -> [f32; BLOCK_VALUES] {
        self.codes.map(|code| self.scale * f32::from(code) + self.offset)
    }

    /// The same without an offset: quantised anew, to 8 bits, if there is one.
    pub(crate) fn without_offset(self) -> Self {
        if self.offset == 0.0 { self } else { Self::quantised(&self.values()) }
    }

    fn quantised(values: &[f32; BLOCK_VALUES]) -> Self {
        let largest = values.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        let scale = largest / 127.0;
        let code = |value: f32| if scale > 0.0 { (value / scale).round_ties_even() as i8 } else { 0 };
        Self { codes: values.map(code), scale, offset: 0.0 }
    }
}

/// Hands on the blocks of rows of a quantised type.
pub(crate) fn blocks(data_type: TensorType, rows: &[u8], mut take: impl FnMut(Block)) {
    let Some((_, size_bytes)) = data_type.block() else { return };
    for bytes in rows.chunks_exact(size_bytes as usize) {
        match data_type {
            TensorType::Q4_0 => {
                take(Block { codes: nibbles(&bytes[2..], -8), scale: float(bytes, 0), offset: 0.0 })
            }
            TensorType::Q4_1 => {
                take(shifted(float(bytes, 0), float(bytes, 2), nibbles(&bytes[4..], -8), 8.0))
            }
            TensorType::Q5_0 => take(Block {
                codes: five_bits(&bytes[6..], &bytes[2..6]),
                scale: float(bytes, 0),
                offset: 0.0,
            }),
            TensorType::Q5_1 => {
                take(shifted(float(bytes, 0), float(bytes, 2), five_bits(&bytes[8..], &bytes[4..8]), 16.0))
            }
            TensorType::Q8_0 => {
                let mut codes = [0; BLOCK_VALUES];
                codes.iter_mut().zip(&bytes[2..]).for_each(|(code, &byte)| *code = byte as i8);
                take(Block { codes, scale: float(bytes, 0), offset: 0.0 });
            }
            TensorType::Q4_K => four_bit_super_block(bytes, &mut take),
            TensorType::Q5_K => five_bit_super_block(bytes, &mut take),
            TensorType::Q6_K => {
                six_bit_values(bytes).as_chunks().0.iter().for_each(|values| take(Block::quantised(values)))
            }
            _ => {}
        }
    }
}

/// Hands on the numbers of rows of a type whose numbers stand for themselves.
pub(crate) fn floats(data_type: TensorType, rows: &[u8], mut take: impl FnMut(f32)) {
    match data_type {
        TensorType::F32 => rows.as_chunks().0.iter().for_each(|&bytes| take(f32::from_le_bytes(bytes))),
        TensorType::F16 => {
            rows.as_chunks().0.iter().for_each(|&bytes| take(f16::from_le_bytes(bytes).to_f32()))
        }
        TensorType::BF16 => {
            rows.as_chunks().0.iter().for_each(|&bytes| take(bf16::from_le_bytes(bytes).to_f32()))
        }
        _ => {}
    }
}

/// `scale · n + least` with `n` from 0, where the codes are `n - centre`.
fn shifted(scale: f32, least: f32, codes: [i8; BLOCK_VALUES], centre: f32) -> Block {
    Block { codes, scale, offset: least + centre * scale }
}

fn float(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}

/// 16 bytes: the low halves are the first 16 numbers, the high halves the others.
fn nibbles(bytes: &[u8], shift: i8) -> [i8; BLOCK_VALUES] {
    let mut codes = [0; BLOCK_VALUES];
    for (index, &byte) in bytes.iter().take(16).enumerate() {
        codes[index] = (byte & 15) as i8 + shift;
        codes[index + 16] = (byte >> 4) as i8 + shift;
    }
    codes
}

/// The fifth bits of all 32 numbers stand together.
fn five_bits(bytes: &[u8], fifth: &[u8]) -> [i8; BLOCK_VALUES] {
    let mut codes = nibbles(bytes, -16);
    for (index, code) in codes.iter_mut().enumerate() {
        *code += (fifth[index / 8] >> (index % 8) & 1) as i8 * 16;
    }
    codes
}

/// Scale and least value of each of the eight blocks in a super-block of 256: 6 bits each, packed into 12 bytes, the last
/// four with their upper two bits at the ends of the first eight bytes.
fn block_scales(bytes: &[u8]) -> [(f32, f32); 8] {
    let (scale, least) = (float(bytes, 0), float(bytes, 2));
    let packed = &bytes[4..16];
    std::array::from_fn(|index| {
        let (scale_bits, least_bits) = if index < 4 {
            (packed[index] & 63, packed[index + 4] & 63)
        } else {
            let low = packed[index + 4];
            (low & 15 | packed[index - 4] >> 6 << 4, low >> 4 | packed[index] >> 6 << 4)
        };
        (scale * f32::from(scale_bits), -least * f32::from(least_bits))
    })
}

/// 32 bytes hold two blocks: their low and their high halves.
fn four_bit_super_block(bytes: &[u8], take: &mut impl FnMut(Block)) {
    let scales = block_scales(bytes);
    for (pair, halves) in bytes[16..144].chunks_exact(32).enumerate() {
        let mut codes = [[0; BLOCK_VALUES]; 2];
        for (index, &byte) in halves.iter().enumerate() {
            codes[0][index] = (byte & 15) as i8 - 8;
            codes[1][index] = (byte >> 4) as i8 - 8;
        }
        for (half, codes) in codes.into_iter().enumerate() {
            let (scale, least) = scales[2 * pair + half];
            take(shifted(scale, least, codes, 8.0));
        }
    }
}

/// As with 4 bits; the fifth bits of block `n` are bit `n` of 32 bytes of their own.
fn five_bit_super_block(bytes: &[u8], take: &mut impl FnMut(Block)) {
    let scales = block_scales(bytes);
    let fifth = &bytes[16..48];
    for (block, (scale, least)) in scales.into_iter().enumerate() {
        let halves = &bytes[48 + block / 2 * 32..][..32];
        let mut codes = [0; BLOCK_VALUES];
        for (index, code) in codes.iter_mut().enumerate() {
            let low = halves[index] >> (block % 2 * 4) & 15;
            *code = (low | (fifth[index] >> block & 1) << 4) as i8 - 16;
        }
        take(shifted(scale, least, codes, 16.0));
    }
}

/// 128 values at a time: 64 bytes with their low four bits, 32 with the upper two of four values each, a scale for 16.
fn six_bit_values(bytes: &[u8]) -> [f32; 256] {
    let (low, high, scales, scale) = (&bytes[..128], &bytes[128..192], &bytes[192..208], float(bytes, 208));
    let mut values = [0.0; 256];
    for (index, value) in values.iter_mut().enumerate() {
        let (half, quarter, at) = (index / 128, index % 128 / 32, index % 32);
        let bits = low[half * 64 + quarter % 2 * 32 + at] >> (quarter / 2 * 4) & 15;
        let upper = high[half * 32 + at] >> (quarter * 2) & 3;
        *value = scale * f32::from(scales[index / 16] as i8) * f32::from((bits | upper << 4) as i8 - 32);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(data_type: TensorType, bytes: &[u8]) -> Vec<f32> {
        let mut values = Vec::new();
        blocks(data_type, bytes, |block| values.extend(block.values()));
        values
    }

    fn half(value: f32) -> [u8; 2] {
        f16::from_f32(value).to_le_bytes()
    }

    /// Bytes without a pattern.
    fn noise(count: usize) -> Vec<u8> {
        (0..count as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    fn bit(bytes: &[u8], index: usize) -> f32 {
        f32::from(bytes[index / 8] >> (index % 8) & 1)
    }

    #[test]
    fn four_bits_with_and_without_an_offset() {
        let halves = noise(16);
        let n =
            |index: usize| f32::from(if index < 16 { halves[index] & 15 } else { halves[index - 16] >> 4 });
        let q4_0 = values(TensorType::Q4_0, &[&half(0.25)[..], &halves].concat());
        let q4_1 = values(TensorType::Q4_1, &[&half(0.25)[..], &half(-3.5), &halves].concat());
        for index in 0..32 {
            assert_eq!(q4_0[index], (n(index) - 8.0) * 0.25);
            assert_eq!(q4_1[index], n(index) * 0.25 - 3.5);
        }
    }

    #[test]
    fn five_bits_with_and_without_an_offset() {
        let (halves, fifth) = (noise(16), [0xa5, 0x0f, 0xc3, 0x81]);
        let n = |index: usize| {
            f32::from(if index < 16 { halves[index] & 15 } else { halves[index - 16] >> 4 })
                + 16.0 * bit(&fifth, index)
        };
        let q5_0 = values(TensorType::Q5_0, &[&half(0.5)[..], &fifth, &halves].concat());
        let q5_1 = values(TensorType::Q5_1, &[&half(0.5)[..], &half(1.25), &fifth, &halves].concat());
        for index in 0..32 {
            assert_eq!(q5_0[index], (n(index) - 16.0) * 0.5);
            assert_eq!(q5_1[index], n(index) * 0.5 + 1.25);
        }
    }

    #[test]
    fn eight_bits() {
        let codes = noise(32);
        let read = values(TensorType::Q8_0, &[&half(-0.125)[..], &codes].concat());
        for index in 0..32 {
            assert_eq!(read[index], f32::from(codes[index] as i8) * -0.125);
        }
    }

    /// Scales 1..=8 and leasts 9, 19, … 79, packed by the format's rule; each least has upper bits.
    fn packed_scales() -> ([u8; 8], [u8; 8], Vec<u8>) {
        let scales = [1, 18, 35, 52, 61, 44, 27, 10];
        let leasts = [63, 50, 37, 24, 11, 30, 49, 62];
        let mut packed = vec![0; 12];
        for index in 0..4 {
            packed[index] = scales[index] | scales[index + 4] >> 4 << 6;
            packed[index + 4] = leasts[index] | leasts[index + 4] >> 4 << 6;
            packed[index + 8] = scales[index + 4] & 15 | (leasts[index + 4] & 15) << 4;
        }
        (scales, leasts, packed)
    }

    #[test]
    fn super_blocks_of_four_and_five_bits() {
        let (scales, leasts, packed) = packed_scales();
        let (halves, fifth) = (noise(128), noise(32));
        let head = [&half(0.5)[..], &half(0.25), &packed].concat();
        let q4 = values(TensorType::Q4_K, &[&head[..], &halves].concat());
        let q5 = values(TensorType::Q5_K, &[&head[..], &fifth, &halves].concat());
        assert_eq!((q4.len(), q5.len()), (256, 256));
        for index in 0..256 {
            let (block, at) = (index / 32, index % 32);
            let byte = halves[index / 64 * 32 + at];
            let n = f32::from(if block % 2 == 0 { byte & 15 } else { byte >> 4 });
            let (scale, least) = (0.5 * f32::from(scales[block]), 0.25 * f32::from(leasts[block]));
            assert_eq!(q4[index], n * scale - least, "{index}");
            let n = n + 16.0 * f32::from(fifth[at] >> block & 1);
            assert_eq!(q5[index], n * scale - least, "{index}");
        }
    }

    #[test]
    fn six_bits_are_as_near_as_eight_can_be() {
        let (low, high) = (noise(128), noise(64));
        let scales: Vec<u8> = (0..16).map(|index: i8| (index * 7 - 60) as u8).collect();
        let bytes = [&low[..], &high, &scales, &half(0.5)].concat();
        let expected = |index: usize| {
            // By the four interleaved quarters of each half, as the format describes them.
            let (half, at) = (index / 128, index % 32);
            let (low, high) = (&low[half * 64..], high[half * 32 + at]);
            let bits = match index % 128 / 32 {
                0 => low[at] & 15 | (high & 3) << 4,
                1 => low[at + 32] & 15 | (high >> 2 & 3) << 4,
                2 => low[at] >> 4 | (high >> 4 & 3) << 4,
                _ => low[at + 32] >> 4 | (high >> 6) << 4,
            };
            0.5 * f32::from(scales[index / 16] as i8) * (f32::from(bits) - 32.0)
        };
        let exact = six_bit_values(&bytes);
        let read = values(TensorType::Q6_K, &bytes);
        for block in 0..8 {
            let places = block * 32..block * 32 + 32;
            let largest = places.clone().map(|index| expected(index).abs()).fold(0.0, f32::max);
            for index in places {
                assert_eq!(exact[index], expected(index), "{index}");
                assert!((read[index] - expected(index)).abs() <= largest / 127.0 * 0.501, "{index}");
            }
        }
    }

    #[test]
    fn an_offset_can_be_given_up() {
        let bytes = [&half(0.25)[..], &half(-3.5), &noise(16)].concat();
        blocks(TensorType::Q4_1, &bytes, |block| {
            let anew = block.without_offset();
            assert_eq!(anew.offset, 0.0);
            for (old, new) in block.values().into_iter().zip(anew.values()) {
                assert!((old - new).abs() <= 3.5 / 127.0 * 0.501);
            }
        });
        let nothing = Block { codes: [0; 32], scale: 0.0, offset: 0.0 };
        assert_eq!(Block::quantised(&[0.0; 32]), nothing);
        let plain = Block { codes: [3; 32], scale: 0.5, offset: 0.0 };
        assert_eq!(plain.without_offset(), plain);
    }

    #[test]
    fn floats_of_all_widths() {
        let read = |data_type, bytes: &[u8]| {
            let mut values = Vec::new();
            floats(data_type, bytes, |value| values.push(value));
            values
        };
        assert_eq!(
            read(TensorType::F32, &[1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat()),
            [1.5, -2.0]
        );
        assert_eq!(read(TensorType::F16, &half(-0.75)), [-0.75]);
        assert_eq!(read(TensorType::BF16, &[0xc0, 0x3f]), [1.5]);
    }
}
