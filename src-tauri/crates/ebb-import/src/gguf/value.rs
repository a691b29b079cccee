use std::io::Read;

use super::cursor::{Cursor, Fault};

/// Lists within lists go this deep at most: a deeper one is an attack on the stack.
const DEPTH_LIMIT: u32 = 8;

/// What stands under a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// One number, as little-endian bytes of its type.
    Number(Numbers),
    /// Yes or no.
    Flag(bool),
    /// Text.
    Text(String),
    /// A list of numbers.
    Numbers(Numbers),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of lists: no key that is read has one.
    Lists,
}

/// Numbers of one type as they stand in the file: a list takes no more memory than it takes there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    scalar: Scalar,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    U64,
    I64,
    F64,
}

impl Scalar {
    fn size_bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// Codes of the types in the file.
enum Kind {
    Number(Scalar),
    Flag,
    Text,
    List,
}

impl Kind {
    fn read(cursor: &mut Cursor<impl Read>, place: &str) -> Result<Self, Fault> {
        Ok(match cursor.u32(place)? {
            0 => Self::Number(Scalar::U8),
            1 => Self::Number(Scalar::I8),
            2 => Self::Number(Scalar::U16),
            3 => Self::Number(Scalar::I16),
            4 => Self::Number(Scalar::U32),
            5 => Self::Number(Scalar::I32),
            6 => Self::Number(Scalar::F32),
            7 => Self::Flag,
            8 => Self::Text,
            9 => Self::List,
            10 => Self::Number(Scalar::U64),
            11 => Self::Number(Scalar::I64),
            12 => Self::Number(Scalar::F64),
            other => return Err(Fault::Broken(format!("{place} is of the unknown type {other}"))),
        })
    }
}

impl Numbers {
    fn read(cursor: &mut Cursor<impl Read>, scalar: Scalar, count: u64, place: &str) -> Result<Self, Fault> {
        let size_bytes = scalar.size_bytes() as u64;
        cursor.expect(count, size_bytes, place)?;
        Ok(Self { scalar, bytes: cursor.bytes(count * size_bytes, place)? })
    }

    fn iter(&self) -> impl Iterator<Item = f64> {
        self.bytes.chunks_exact(self.scalar.size_bytes()).map(|bytes| {
            // Sign or zeros fill what a shorter type leaves.
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            let unsigned = u64::from_le_bytes(wide);
            match self.scalar {
                Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => unsigned as f64,
                Scalar::I8 => f64::from(unsigned as i8),
                Scalar::I16 => f64::from(unsigned as i16),
                Scalar::I32 => f64::from(unsigned as i32),
                Scalar::I64 => unsigned as i64 as f64,
                Scalar::F32 => f64::from(f32::from_bits(unsigned as u32)),
                Scalar::F64 => f64::from_bits(unsigned),
            }
        })
    }
}

impl Value {
    /// Reads a type and a value of it.
    pub(super) fn read(cursor: &mut Cursor<impl Read>, place: &str) -> Result<Self, Fault> {
        Ok(match Kind::read(cursor, place)? {
            Kind::Number(scalar) => Self::Number(Numbers::read(cursor, scalar, 1, place)?),
            Kind::Flag => {
                let [flag] = cursor.array(place)?;
                Self::Flag(flag != 0)
            }
            Kind::Text => Self::Text(cursor.text(place)?),
            Kind::List => Self::read_list(cursor, place, 0)?,
        })
    }

    fn read_list(cursor: &mut Cursor<impl Read>, place: &str, depth: u32) -> Result<Self, Fault> {
        if depth == DEPTH_LIMIT {
            return Err(Fault::Broken(format!("{place} has lists within lists, {depth} deep")));
        }
        let kind = Kind::read(cursor, place)?;
        let count = cursor.u64(place)?;
        match kind {
            Kind::Number(scalar) => Ok(Self::Numbers(Numbers::read(cursor, scalar, count, place)?)),
            Kind::Flag => Ok(Self::Numbers(Numbers::read(cursor, Scalar::U8, count, place)?)),
            Kind::Text => {
                cursor.expect(count, 8, place)?;
                let texts = (0..count).map(|index| cursor.text(&format!("{place}[{index}]")));
                Ok(Self::Texts(texts.collect::<Result<_, _>>()?))
            }
            Kind::List => {
                cursor.expect(count, 12, place)?;
                for _ in 0..count {
                    Self::read_list(cursor, place, depth + 1)?;
                }
                Ok(Self::Lists)
            }
        }
    }

    /// What it is, for an error.
    pub(super) fn described(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Flag(_) => "true or false",
            Self::Text(_) => "text",
            Self::Numbers(_) => "a list of numbers",
            Self::Texts(_) => "a list of texts",
            Self::Lists => "a list of lists",
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn as_texts(&self) -> Option<&[String]> {
        if let Self::Texts(texts) = self { Some(texts) } else { None }
    }

    pub(super) fn as_flag(&self) -> Option<bool> {
        if let Self::Flag(flag) = self { Some(*flag) } else { None }
    }

    pub(super) fn as_number(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.iter().next() } else { None }
    }

    pub(super) fn as_numbers(&self) -> Option<Vec<f64>> {
        if let Self::Numbers(numbers) = self { Some(numbers.iter().collect()) } else { None }
    }

    pub(super) fn as_unsigned(&self) -> Option<u64> {
        let (Self::Number(numbers) | Self::Numbers(numbers)) = self else { return None };
        let mut all = numbers.iter();
        let first = all.next()?;
        let whole = first >= 0.0 && first.fract() == 0.0 && first < 2f64.powi(53);
        (whole && all.all(|next| next == first)).then_some(first as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Value, Fault> {
        Value::read(&mut Cursor::new(bytes, bytes.len() as u64), "it")
    }

    fn number(kind: u32, bytes: &[u8]) -> Option<f64> {
        read(&[&kind.to_le_bytes(), bytes].concat()).unwrap().as_number()
    }

    #[test]
    fn every_type_of_number() {
        assert_eq!(number(0, &[200]), Some(200.0));
        assert_eq!(number(1, &[200]), Some(-56.0));
        assert_eq!(number(2, &[0, 0x80]), Some(32768.0));
        assert_eq!(number(3, &[0, 0x80]), Some(-32768.0));
        assert_eq!(number(4, &[1, 0, 0, 0x80]), Some(2_147_483_649.0));
        assert_eq!(number(5, &(-7i32).to_le_bytes()), Some(-7.0));
        assert_eq!(number(6, &1.5f32.to_le_bytes()), Some(1.5));
        assert_eq!(number(10, &(1u64 << 40).to_le_bytes()), Some(1_099_511_627_776.0));
        assert_eq!(number(11, &(-1i64).to_le_bytes()), Some(-1.0));
        assert_eq!(number(12, &0.1f64.to_le_bytes()), Some(0.1));
    }

    #[test]
    fn whole_numbers_are_whole_and_one() {
        let of = |value: f32| read(&[&6u32.to_le_bytes()[..], &value.to_le_bytes()].concat()).unwrap();
        assert_eq!(of(4.0).as_unsigned(), Some(4));
        assert_eq!(of(4.5).as_unsigned(), None);
        assert_eq!(of(-4.0).as_unsigned(), None);
        assert_eq!(of(f32::NAN).as_unsigned(), None);
        let list = |values: &[u8]| {
            let head = [&9u32.to_le_bytes()[..], &0u32.to_le_bytes(), &(values.len() as u64).to_le_bytes()];
            read(&[&head.concat(), values].concat()).unwrap()
        };
        assert_eq!(list(&[3, 3]).as_unsigned(), Some(3));
        assert_eq!(list(&[3, 4]).as_unsigned(), None);
        assert_eq!(list(&[]).as_unsigned(), None);
    }

    #[test]
    fn lists_that_claim_too_much_or_go_too_deep_are_refused() {
        let list = |kind: u32, count: u64| {
            [&9u32.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &[0; 40]].concat()
        };
        for (kind, count) in [(0, 41), (12, u64::MAX / 8 + 1), (8, 6), (8, 1 << 60), (9, 1 << 62)] {
            let Err(Fault::Broken(reason)) = read(&list(kind, count)) else { panic!("{kind} {count}") };
            assert!(reason.contains("claims"), "{reason}");
        }
        let mut deep = 9u32.to_le_bytes().to_vec();
        for _ in 0..1000 {
            deep.extend(9u32.to_le_bytes());
            deep.extend(1u64.to_le_bytes());
        }
        deep.extend([0; 12]);
        let Err(Fault::Broken(reason)) = read(&deep) else { panic!() };
        assert!(reason.contains("8 deep"), "{reason}");
        assert!(read(&13u32.to_le_bytes()).is_err(), "an unknown type");
    }
}
