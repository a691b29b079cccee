//! Texts from a file, one a line, in portions that one request can carry.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use ebb_core::{Code, Failure};

use crate::error::{Result, storage};

/// A host takes bodies of 64 MiB; JSON may double a text.
const PORTION_BYTES: usize = 8 << 20;

/// Texts that are read as they are needed.
pub(super) struct Texts {
    from: Source,
    name: String,
    line: u64,
}

enum Source {
    Typed(Option<Vec<String>>),
    Lines(Box<dyn BufRead + Send>),
}

impl Texts {
    pub(super) fn typed(texts: Vec<String>) -> Self {
        Self { from: Source::Typed(Some(texts)), name: String::new(), line: 0 }
    }

    /// `-` is stdin.
    pub(super) fn of_file(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::of_lines(Box::new(BufReader::new(io::stdin())), "stdin"));
        }
        let file = File::open(path).map_err(|error| storage("open", path, &error))?;
        Ok(Self::of_lines(Box::new(BufReader::new(file)), &path.display().to_string()))
    }

    fn of_lines(lines: Box<dyn BufRead + Send>, name: &str) -> Self {
        Self { from: Source::Lines(lines), name: name.to_owned(), line: 0 }
    }

    /// The next texts; empty at the end.
    pub(super) fn portion(&mut self) -> Result<Vec<String>> {
        let lines = match &mut self.from {
            Source::Typed(texts) => return Ok(texts.take().unwrap_or_default()),
            Source::Lines(lines) => lines,
        };
        let (mut texts, mut bytes) = (Vec::new(), 0);
        while bytes < PORTION_BYTES {
            let mut line = Vec::new();
            let read = lines.read_until(b'\n', &mut line);
            if read.map_err(|error| storage("read", Path::new(&self.name), &error))? == 0 {
                break;
            }
            self.line += 1;
            for end in [b'\n', b'\r'] {
                line.pop_if(|last| *last == end);
            }
            bytes += line.len() + 16;
            texts.push(String::from_utf8(line).map_err(|error| {
                let at = error.utf8_error().valid_up_to() + 1;
                Failure::new(
                    Code::InvalidRequest,
                    format!(
                        "line {} of {} is not valid UTF-8, from byte {at} of the line on",
                        self.line, self.name
                    ),
                )
                .hint("convert it first, for example with: iconv -f LATIN1 -t UTF-8")
                .param(self.name.clone())
            })?);
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &'static [u8]) -> Result<Vec<String>> {
        Texts::of_lines(Box::new(bytes), "texts.txt").portion()
    }

    #[test]
    fn a_line_is_a_text_without_its_end() {
        assert_eq!(all(b"a\r\n\nb \0c\nlast").unwrap(), ["a", "", "b \0c", "last"]);
        assert_eq!(all(b"a\n").unwrap(), ["a"]);
        assert!(all(b"").unwrap().is_empty());
    }

    #[test]
    fn a_line_that_is_not_utf8_is_named() {
        let error = all(b"fine\nna\xefve\n").unwrap_err().to_string();
        assert_eq!(error, "line 2 of texts.txt is not valid UTF-8, from byte 3 of the line on");
    }

    #[test]
    fn a_large_file_comes_in_portions() {
        let line: &'static [u8] =
            Box::leak([vec![b'x'; 3 << 20], vec![b'\n']].concat().repeat(4).into_boxed_slice());
        let mut texts = Texts::of_lines(Box::new(line), "");
        let counts: Vec<_> = (0..3).map(|_| texts.portion().unwrap().len()).collect();
        assert_eq!(counts, [3, 1, 0]);
    }
}
