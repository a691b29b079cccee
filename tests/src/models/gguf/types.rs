use super::Noise;

/// How the numbers of a tensor are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, non_camel_case_types, reason = "the format's own names")]
pub enum GgufType {
    F32,
    F16,
    BF16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q4_K,
    Q5_K,
    Q6_K,
    /// A type that is not imported.
    Q2_K,
}

/// Bytes, and what they stand for.
type Numbers = (Vec<u8>, Vec<f32>);

impl GgufType {
    /// Its number in the file.
    pub(super) fn code(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::BF16 => 30,
            Self::Q4_0 => 2,
            Self::Q4_1 => 3,
            Self::Q5_0 => 6,
            Self::Q5_1 => 7,
            Self::Q8_0 => 8,
            Self::Q2_K => 10,
            Self::Q4_K => 12,
            Self::Q5_K => 13,
            Self::Q6_K => 14,
        }
    }

    /// Random numbers of about -0.1..0.1, as many as wished.
    pub(super) fn random(self, count: usize, noise: &mut Noise) -> Numbers {
        let (size, make): (usize, fn(&mut Noise) -> Numbers) = match self {
            Self::F32 => (1, |noise| float(noise, |value| value.to_le_bytes().to_vec())),
            // Seven bits fit both.
            Self::BF16 => (1, |noise| float(noise, |value| value.to_le_bytes()[2..].to_vec())),
            Self::F16 => (1, |noise| float(noise, |value| half(value).to_vec())),
            Self::Q4_0 => (32, |noise| small(noise, 16, -8.0, false)),
            Self::Q4_1 => (32, |noise| small(noise, 16, 0.0, true)),
            Self::Q5_0 => (32, |noise| small(noise, 32, -16.0, false)),
            Self::Q5_1 => (32, |noise| small(noise, 32, 0.0, true)),
            Self::Q8_0 => (32, eight_bits),
            Self::Q4_K => (256, |noise| super_block(noise, 16)),
            Self::Q5_K => (256, |noise| super_block(noise, 32)),
            Self::Q6_K => (256, six_bits),
            Self::Q2_K => (256, |_| (vec![0; 84], vec![0.0; 256])),
        };
        assert!(count.is_multiple_of(size), "{self:?} comes in blocks of {size}, not {count}");
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        for _ in 0..count / size {
            let (block_bytes, block_values) = make(noise);
            bytes.extend(block_bytes);
            values.extend(block_values);
        }
        (bytes, values)
    }
}

/// A number below `limit`.
fn below(noise: &mut Noise, limit: u8) -> u8 {
    (noise.next_u64() >> 32) as u8 % limit
}

fn float(noise: &mut Noise, write: fn(f32) -> Vec<u8>) -> Numbers {
    let value = (f32::from(below(noise, 255)) - 127.0) / 1024.0;
    (write(value), vec![value])
}

/// The bytes of a number that 16 bits hold exactly.
fn half(value: f32) -> [u8; 2] {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    if value == 0.0 {
        return sign.to_le_bytes();
    }
    let magnitude = ((bits & 0x7fff_ffff) - (112 << 23)) >> 13;
    (sign | magnitude as u16).to_le_bytes()
}

/// A scale of one to two times `least` (a power of 2), with all the bits that 16-bit floats have.
fn scale(noise: &mut Noise, least: f32) -> f32 {
    least * (1.0 + (noise.next_u64() >> 54) as f32 / 1024.0)
}

/// 32 numbers of 4 or 5 bits with one scale, and a least value if `shifted`.
fn small(noise: &mut Noise, levels: u8, centre: f32, shifted: bool) -> Numbers {
    let scale = scale(noise, 0.125 / f32::from(levels));
    let least = if shifted { -scale * f32::from(levels / 2) } else { scale * centre };
    let codes: [u8; 32] = std::array::from_fn(|_| below(noise, levels));
    let mut bytes = half(scale).to_vec();
    if shifted {
        bytes.extend(half(least));
    }
    if levels > 16 {
        let fifth = codes.iter().enumerate().fold(0u32, |all, (at, code)| all | u32::from(code >> 4) << at);
        bytes.extend(fifth.to_le_bytes());
    }
    bytes.extend((0..16).map(|at| codes[at] & 15 | (codes[at + 16] & 15) << 4));
    (bytes, codes.map(|code| scale * f32::from(code) + least).to_vec())
}

fn eight_bits(noise: &mut Noise) -> Numbers {
    let scale = scale(noise, 1.0 / 2048.0);
    let codes: [i8; 32] = std::array::from_fn(|_| (noise.next_u64() >> 32) as i8);
    let mut bytes = half(scale).to_vec();
    bytes.extend(codes.map(|code| code as u8));
    (bytes, codes.map(|code| scale * f32::from(code)).to_vec())
}

/// 256 numbers of 4 or 5 bits: eight blocks with a scale and a least value of 6 bits each.
fn super_block(noise: &mut Noise, levels: u8) -> Numbers {
    // The least that 16 bits hold to their full length is half of this.
    let scale = scale(noise, 1.0 / 8192.0);
    let least_scale = scale * f32::from(levels / 2);
    let scales: [u8; 8] = std::array::from_fn(|_| 32 + below(noise, 32) - levels / 2);
    let leasts: [u8; 8] = std::array::from_fn(|block| scales[block] - below(noise, 8));
    let codes: [u8; 256] = std::array::from_fn(|_| below(noise, levels));

    let mut bytes = [half(scale), half(least_scale)].concat();
    bytes.extend((0..4).map(|at| scales[at] | scales[at + 4] >> 4 << 6));
    bytes.extend((0..4).map(|at| leasts[at] | leasts[at + 4] >> 4 << 6));
    bytes.extend((4..8).map(|at| scales[at] & 15 | leasts[at] << 4));
    if levels > 16 {
        let fifth = |at: usize| (0..8).fold(0, |all, block| all | codes[block * 32 + at] >> 4 << block);
        bytes.extend((0..32).map(fifth));
    }
    for pair in codes.chunks_exact(64) {
        bytes.extend((0..32).map(|at| pair[at] & 15 | pair[at + 32] << 4));
    }
    let value = |(at, &code): (usize, &u8)| {
        scale * f32::from(scales[at / 32]) * f32::from(code) - least_scale * f32::from(leasts[at / 32])
    };
    (bytes, codes.iter().enumerate().map(value).collect())
}

/// 256 numbers of 6 bits, a signed scale for each 16.
fn six_bits(noise: &mut Noise) -> Numbers {
    let scale = scale(noise, 1.0 / 16_384.0);
    let scales: [i8; 16] = std::array::from_fn(|_| below(noise, 64) as i8 - 32);
    let codes: [u8; 256] = std::array::from_fn(|_| below(noise, 64));
    let mut bytes = Vec::new();
    for half in codes.chunks_exact(128) {
        bytes.extend((0..64).map(|at| half[at] & 15 | (half[at + 64] & 15) << 4));
    }
    for half in codes.chunks_exact(128) {
        bytes.extend(
            (0..32).map(|at| (0..4).fold(0, |all, part| all | half[part * 32 + at] >> 4 << (2 * part))),
        );
    }
    bytes.extend(scales.map(|scale| scale as u8));
    bytes.extend(self::half(scale));
    let value = |(at, &code): (usize, &u8)| scale * f32::from(scales[at / 16]) * (f32::from(code) - 32.0);
    (bytes, codes.iter().enumerate().map(value).collect())
}
