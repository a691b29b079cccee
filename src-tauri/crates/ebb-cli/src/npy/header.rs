//! The header: a dictionary as Python would write it.

use ebb_core::DType;

use super::Error;

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
/// NumPy aligns the data so.
const ALIGN: usize = 64;

pub(super) struct Header {
    pub(super) dtype: DType,
    pub(super) big_endian: bool,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

/// Magic, version, length and text of a header, padded so that the data after it is aligned.
pub(super) fn written(dtype: DType, shape: &[u64]) -> Vec<u8> {
    let dims: Vec<_> = shape.iter().map(ToString::to_string).collect();
    // Python writes a tuple of one with a comma after it.
    let comma = if dims.len() == 1 { "," } else { "" };
    let mut text = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        descr(dtype),
        dims.join(", "),
    );
    // Magic, two bytes of version and two of length come before the text, a line end after it.
    let unpadded = MAGIC.len() + 2 + 2 + text.len() + 1;
    text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGN) - unpadded));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    // Version 1 has room for more dimensions than any tensor has.
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// Makes a header longer, up to where the data begins already.
pub(super) fn padded(mut header: Vec<u8>, bytes: usize) -> Vec<u8> {
    let more = bytes.saturating_sub(header.len());
    if let Some(end) = header.pop() {
        header.resize(header.len() + more, b' ');
        header.push(end);
    }
    let text = header.len() - MAGIC.len() - 4;
    header[MAGIC.len() + 2..MAGIC.len() + 4].copy_from_slice(&(text as u16).to_le_bytes());
    header
}

pub(super) fn parse(text: &str) -> Result<Header, Error> {
    let mut cursor = Cursor(text);
    let (mut kind, mut fortran_order, mut shape) = (None, None, None);
    if !cursor.eat("{") {
        return Err(Error::Header("a dictionary is expected"));
    }
    while !cursor.eat("}") {
        let key = cursor.text()?;
        if !cursor.eat(":") {
            return Err(Error::Header("a colon is expected"));
        }
        match key {
            "descr" => kind = Some(cursor.kind()?),
            "fortran_order" => fortran_order = Some(cursor.truth()?),
            "shape" => shape = Some(cursor.shape()?),
            _ => return Err(Error::Header("an entry is not known")),
        }
        if !cursor.eat(",") && !cursor.0.trim_start().starts_with('}') {
            return Err(Error::Header("a comma is expected"));
        }
    }
    let (dtype, big_endian) = kind.ok_or(Error::Header("'descr' is missing"))?;
    Ok(Header {
        dtype,
        big_endian,
        fortran_order: fortran_order.ok_or(Error::Header("'fortran_order' is missing"))?,
        shape: shape.ok_or(Error::Header("'shape' is missing"))?,
    })
}

struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.0.trim_start();
        self.0 = rest.strip_prefix(token).unwrap_or(rest);
        self.0.len() < rest.len()
    }

    fn text(&mut self) -> Result<&'a str, Error> {
        let rest = self.0.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let quote = quote.ok_or(Error::Header("a text is expected"))?;
        let (text, rest) = rest[1..].split_once(quote).ok_or(Error::Header("a text does not end"))?;
        self.0 = rest;
        Ok(text)
    }

    fn truth(&mut self) -> Result<bool, Error> {
        if self.eat("True") {
            return Ok(true);
        }
        if self.eat("False") { Ok(false) } else { Err(Error::Header("True or False is expected")) }
    }

    fn shape(&mut self) -> Result<Vec<u64>, Error> {
        if !self.eat("(") {
            return Err(Error::Header("a tuple is expected"));
        }
        let mut shape = Vec::new();
        while !self.eat(")") {
            let rest = self.0.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let dim = rest[..end].parse().map_err(|_| Error::Header("a whole number is expected"))?;
            shape.push(dim);
            self.0 = &rest[end..];
            if !self.eat(",") && !self.0.starts_with(')') {
                return Err(Error::Header("a comma is expected"));
            }
        }
        Ok(shape)
    }

    /// Type, and whether its bytes stand the other way round.
    fn kind(&mut self) -> Result<(DType, bool), Error> {
        if self.0.trim_start().starts_with('[') {
            return Err(Error::Type("a structure".into()));
        }
        let descr = self.text()?;
        let unknown = || Error::Type(descr.to_owned());
        let order = descr.chars().next().filter(char::is_ascii).ok_or_else(unknown)?;
        let dtype = DTYPES.iter().find(|(name, _)| *name == &descr[1..]).ok_or_else(unknown)?.1;
        match order {
            '<' | '|' | '=' => Ok((dtype, false)),
            '>' => Ok((dtype, true)),
            _ => Err(unknown()),
        }
    }
}

const DTYPES: [(&str, DType); 13] = [
    ("f2", DType::Float16),
    ("V2", DType::BFloat16),
    ("f4", DType::Float32),
    ("f8", DType::Float64),
    ("i1", DType::Int8),
    ("i2", DType::Int16),
    ("i4", DType::Int32),
    ("i8", DType::Int64),
    ("u1", DType::UInt8),
    ("u2", DType::UInt16),
    ("u4", DType::UInt32),
    ("u8", DType::UInt64),
    ("b1", DType::Bool),
];

fn descr(dtype: DType) -> String {
    let order = if dtype.size_bytes() == 1 { '|' } else { '<' };
    let name = DTYPES.iter().find(|(_, other)| *other == dtype).map_or("", |(name, _)| name);
    format!("{order}{name}")
}
