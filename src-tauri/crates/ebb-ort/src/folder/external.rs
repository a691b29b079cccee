//! What a model weighs on disk, and whether all of it is there: a walk over the frame of the `.onnx` file (Protocol Buffers)
//! that skips the weights themselves, so that it costs a few milliseconds for gigabytes.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use crate::Error;

// Field numbers of onnx.proto.
pub(super) const MODEL_GRAPH: u64 = 7;
const GRAPH_INITIALIZER: u64 = 5;
const TENSOR_EXTERNAL_DATA: u64 = 13;
const ENTRY_KEY: u64 = 1;
const ENTRY_VALUE: u64 = 2;

/// Bytes of the model file and of every file that it keeps weights in.
pub(super) fn weights_bytes(file: &Path) -> Result<u64, Error> {
    let broken = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidData => Error::invalid_model(file, error.to_string())
            .hint("fetch the file again; if it is a Git LFS pointer, with `git lfs pull`"),
        _ => Error::invalid_model(file, error.to_string()),
    };
    let own_bytes = fs_err::metadata(file).map_err(broken)?.len();
    let mut wire = Wire::open(file).map_err(broken)?;
    if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ort")) {
        wire.flatbuffer().map_err(broken)?;
        return Ok(own_bytes);
    }
    let mut bytes = own_bytes;
    for location in wire.model(own_bytes).map_err(broken)? {
        let data = file.parent().unwrap_or(Path::new("")).join(&location);
        let about = fs_err::metadata(&data).map_err(|error| {
            Error::invalid_model(file, format!("its weights lie in '{location}': {error}"))
                .hint("put that file beside the model file")
        })?;
        bytes += about.len();
    }
    Ok(bytes)
}

/// A field of a message: its number, and where it ends if it is of the kind that has a length.
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) end: Option<u64>,
}

/// A Protocol Buffers file that is read field by field.
pub(super) struct Wire {
    reader: BufReader<File>,
    at: u64,
}

impl Wire {
    pub(super) fn open(file: &Path) -> io::Result<Self> {
        Ok(Self { reader: BufReader::new(File::open(file)?), at: 0 })
    }

    /// An `.ort` file is a FlatBuffer that says so in its bytes 4 to 8. Its weights are its own.
    fn flatbuffer(&mut self) -> io::Result<()> {
        let mut head = [0; 8];
        self.reader.read_exact(&mut head).map_err(|_| invalid("it is too short for an ORT model"))?;
        if &head[4..] == b"ORTM" { Ok(()) } else { Err(invalid("it is not an ORT model")) }
    }

    /// The external data files that the initializers of a model's graph name.
    fn model(&mut self, end: u64) -> io::Result<BTreeSet<String>> {
        let mut locations = BTreeSet::new();
        let mut has_graph = false;
        while let Some(field) = self.field(end)? {
            match field {
                Field { number: MODEL_GRAPH, end: Some(end) } => {
                    has_graph = true;
                    self.graph(end, &mut locations)?;
                }
                Field { end, .. } => self.skip_to(end)?,
            }
        }
        if has_graph { Ok(locations) } else { Err(invalid("it is not an ONNX model: it has no graph")) }
    }

    fn graph(&mut self, end: u64, locations: &mut BTreeSet<String>) -> io::Result<()> {
        while let Some(field) = self.field(end)? {
            match field {
                Field { number: GRAPH_INITIALIZER, end: Some(end) } => self.tensor(end, locations)?,
                Field { end, .. } => self.skip_to(end)?,
            }
        }
        Ok(())
    }

    fn tensor(&mut self, end: u64, locations: &mut BTreeSet<String>) -> io::Result<()> {
        while let Some(field) = self.field(end)? {
            match field {
                Field { number: TENSOR_EXTERNAL_DATA, end: Some(end) } => {
                    let (mut key, mut value) = (String::new(), String::new());
                    while let Some(field) = self.field(end)? {
                        match field {
                            Field { number: ENTRY_KEY, end: Some(end) } => key = self.text(end)?,
                            Field { number: ENTRY_VALUE, end: Some(end) } => value = self.text(end)?,
                            Field { end, .. } => self.skip_to(end)?,
                        }
                    }
                    if key == "location" {
                        locations.insert(value);
                    }
                }
                Field { end, .. } => self.skip_to(end)?,
            }
        }
        Ok(())
    }

    /// The next field of a message that ends at `end`; numbers are skipped over right away.
    pub(super) fn field(&mut self, end: u64) -> io::Result<Option<Field>> {
        if self.at == end {
            return Ok(None);
        }
        let tag = self.varint()?;
        let field_end = match tag & 7 {
            0 => {
                self.varint()?;
                None
            }
            1 => Some(self.at + 8),
            2 => {
                let len = self.varint()?;
                Some(self.at.checked_add(len).ok_or_else(|| invalid("it is not an ONNX model"))?)
            }
            5 => Some(self.at + 4),
            _ => return Err(invalid("it is not an ONNX model")),
        };
        if field_end.unwrap_or(self.at) > end {
            return Err(invalid("it is not an ONNX model, or was cut short"));
        }
        Ok(Some(Field { number: tag >> 3, end: field_end }))
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.reader
                .read_exact(&mut byte)
                .map_err(|_| invalid("it is not an ONNX model, or was cut short"))?;
            self.at += 1;
            value |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err(invalid("it is not an ONNX model"))
    }

    pub(super) fn text(&mut self, end: u64) -> io::Result<String> {
        // Names of files are short: a longer text is not one, and is not worth the memory.
        let mut bytes = vec![0; (end - self.at).min(4096) as usize];
        self.reader.read_exact(&mut bytes)?;
        self.at += bytes.len() as u64;
        self.skip_to(Some(end))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn skip_to(&mut self, end: Option<u64>) -> io::Result<()> {
        if let Some(end) = end {
            let distance = i64::try_from(end - self.at).map_err(|_| invalid("it is not an ONNX model"))?;
            self.reader.seek_relative(distance)?;
            self.at = end;
        }
        Ok(())
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
