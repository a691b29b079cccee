use std::fmt;

/// A tensor's place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) data_type: TensorType,
    /// As the file has them: the values of a row first.
    dims: Vec<u64>,
    /// Counted from where the data of the file begins.
    pub(crate) offset_bytes: u64,
    /// 0 for a type that is not read.
    pub(crate) size_bytes: u64,
}

impl Tensor {
    /// Checks that shape and type go together; says what is wrong otherwise.
    pub(super) fn new(data_type: TensorType, dims: Vec<u64>, offset_bytes: u64) -> Result<Self, String> {
        if dims.contains(&0) {
            return Err("has a dimension of 0".to_owned());
        }
        let values = dims.iter().try_fold(1u64, |all, &dim| all.checked_mul(dim));
        // Shapes are signed in ONNX, and bytes must not overflow either.
        let values = values.filter(|&values| values < 1 << 48).ok_or("has more values than can be")?;
        let mut size_bytes = 0;
        if let Some((block_values, block_bytes)) = data_type.block() {
            let row = dims.first().copied().unwrap_or_default();
            if !row.is_multiple_of(block_values) {
                return Err(format!(
                    "has rows of {row} values, but {data_type} needs a multiple of {block_values}"
                ));
            }
            size_bytes = values / block_values * block_bytes;
        }
        Ok(Self { data_type, dims, offset_bytes, size_bytes })
    }

    /// The shape with the values of a row last, as other formats write it.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.dims.iter().rev().map(|&dim| dim as usize).collect()
    }

    /// Numbers in all.
    pub(crate) fn values(&self) -> u64 {
        self.dims.iter().product()
    }

    /// Bytes of one row; of one number in a vector.
    pub(crate) fn row_bytes(&self) -> u64 {
        let (block_values, block_bytes) = self.data_type.block().unwrap_or((1, 0));
        match self.dims.as_slice() {
            [row, _, ..] => row / block_values * block_bytes,
            // No type with longer blocks is taken for a vector.
            _ => block_bytes,
        }
    }
}

/// How the numbers of a tensor are written: the code in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TensorType(pub(super) u32);

impl TensorType {
    pub(crate) const F32: Self = Self(0);
    pub(crate) const F16: Self = Self(1);
    pub(crate) const Q4_0: Self = Self(2);
    pub(crate) const Q4_1: Self = Self(3);
    pub(crate) const Q5_0: Self = Self(6);
    pub(crate) const Q5_1: Self = Self(7);
    pub(crate) const Q8_0: Self = Self(8);
    pub(crate) const Q4_K: Self = Self(12);
    pub(crate) const Q5_K: Self = Self(13);
    pub(crate) const Q6_K: Self = Self(14);
    pub(crate) const BF16: Self = Self(30);

    /// The types that are converted, for errors.
    pub(crate) const SUPPORTED: &'static str =
        "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K";

    /// Values and bytes of a block; `None` for a type that is not read.
    pub(crate) fn block(self) -> Option<(u64, u64)> {
        Some(match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::BF16 => (1, 2),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q4_K => (256, 144),
            Self::Q5_K => (256, 176),
            Self::Q6_K => (256, 210),
            _ => return None,
        })
    }

    /// Whether every number stands for itself.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::BF16)
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(u32, &str); 32] = [
            (0, "F32"),
            (1, "F16"),
            (2, "Q4_0"),
            (3, "Q4_1"),
            (6, "Q5_0"),
            (7, "Q5_1"),
            (8, "Q8_0"),
            (9, "Q8_1"),
            (10, "Q2_K"),
            (11, "Q3_K"),
            (12, "Q4_K"),
            (13, "Q5_K"),
            (14, "Q6_K"),
            (15, "Q8_K"),
            (16, "IQ2_XXS"),
            (17, "IQ2_XS"),
            (18, "IQ3_XXS"),
            (19, "IQ1_S"),
            (20, "IQ4_NL"),
            (21, "IQ3_S"),
            (22, "IQ2_S"),
            (23, "IQ4_XS"),
            (24, "I8"),
            (25, "I16"),
            (26, "I32"),
            (27, "I64"),
            (28, "F64"),
            (29, "IQ1_M"),
            (30, "BF16"),
            (34, "TQ1_0"),
            (35, "TQ2_0"),
            (39, "MXFP4"),
        ];
        match NAMES.iter().find(|(code, _)| *code == self.0) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "of the unknown number {}", self.0),
        }
    }
}

impl fmt::Debug for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
