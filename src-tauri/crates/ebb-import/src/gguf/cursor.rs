//! A reader that knows how much is left, and what it is reading when something does not fit.

use std::{
    io::{self, Read},
    path::Path,
};

use crate::Error;

/// Why a header cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    /// It contradicts itself or ends too early.
    Broken(String),
    /// It is of a kind that is not read.
    Unsupported(String),
    /// The file system failed.
    Io(io::Error),
}

impl Fault {
    /// The error for the file at `path`.
    pub(super) fn at(self, path: &Path) -> Error {
        let path = path.to_owned();
        match self {
            Self::Broken(reason) => Error::BrokenGguf { path, reason },
            Self::Unsupported(reason) => Error::UnsupportedGguf { path, reason },
            Self::Io(source) => Error::io(&path, source),
        }
    }
}

/// Reads little-endian values. Each takes a word for where it is, for the error.
pub(super) struct Cursor<R> {
    reader: R,
    at_bytes: u64,
    left_bytes: u64,
}

impl<R: Read> Cursor<R> {
    /// Reads at most `limit_bytes`.
    pub(super) fn new(reader: R, limit_bytes: u64) -> Self {
        Self { reader, at_bytes: 0, left_bytes: limit_bytes }
    }

    /// Bytes read so far.
    pub(super) fn at_bytes(&self) -> u64 {
        self.at_bytes
    }

    /// Fails unless `count` things of at least `each_bytes` can still follow.
    pub(super) fn expect(&self, count: u64, each_bytes: u64, place: &str) -> Result<(), Fault> {
        match count.checked_mul(each_bytes) {
            Some(bytes) if bytes <= self.left_bytes => Ok(()),
            _ => Err(Fault::Broken(format!(
                "at byte {} {place} claims {count} × {each_bytes} bytes or more, and {} are left",
                self.at_bytes, self.left_bytes
            ))),
        }
    }

    /// The next `count` bytes; allocated only if they can be there.
    pub(super) fn bytes(&mut self, count: u64, place: &str) -> Result<Vec<u8>, Fault> {
        self.expect(count, 1, place)?;
        let mut bytes = vec![0; count as usize];
        self.fill(&mut bytes, place)?;
        Ok(bytes)
    }

    /// As many bytes as the array has.
    pub(super) fn array<const N: usize>(&mut self, place: &str) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, place)?;
        Ok(bytes)
    }

    /// An unsigned number of 4 bytes.
    pub(super) fn u32(&mut self, place: &str) -> Result<u32, Fault> {
        Ok(u32::from_le_bytes(self.array(place)?))
    }

    /// An unsigned number of 8 bytes.
    pub(super) fn u64(&mut self, place: &str) -> Result<u64, Fault> {
        Ok(u64::from_le_bytes(self.array(place)?))
    }

    /// A text with its length before it.
    pub(super) fn text(&mut self, place: &str) -> Result<String, Fault> {
        let length = self.u64(place)?;
        let at_bytes = self.at_bytes;
        String::from_utf8(self.bytes(length, place)?)
            .map_err(|_| Fault::Broken(format!("at byte {at_bytes} {place} is not UTF-8")))
    }

    fn fill(&mut self, bytes: &mut [u8], place: &str) -> Result<(), Fault> {
        let count = bytes.len() as u64;
        if count > self.left_bytes {
            return Err(Fault::Broken(format!("it ends at byte {}, within {place}", self.at_bytes)));
        }
        self.reader.read_exact(bytes).map_err(Fault::Io)?;
        self.at_bytes += count;
        self.left_bytes -= count;
        Ok(())
    }
}
