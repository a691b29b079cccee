//! JSON as Python writes it, which models have read in training: a blank after each comma and colon.

use std::{fmt::Write as _, io};

use serde::Serialize;
use serde_json::{
    Serializer, Value,
    ser::{Formatter, PrettyFormatter},
};

/// How it is written.
#[derive(Debug, Default)]
pub(super) struct Style {
    /// Blanks for each level; none: all on one line.
    pub(super) indent: Option<usize>,
    /// What stands between items, and between a key and its value; empty: Python's own.
    pub(super) separators: Vec<String>,
    /// Keys in the order of the alphabet.
    pub(super) sort_keys: bool,
    /// Everything that is not ASCII as `\u…`.
    pub(super) ensure_ascii: bool,
}

impl Style {
    /// The text of a value.
    pub(super) fn dump(&self, value: &impl Serialize) -> serde_json::Result<String> {
        let mut value = serde_json::to_value(value)?;
        if self.sort_keys {
            value.sort_all_objects();
        }
        let text = match self.indent {
            Some(blanks) => written(&value, PrettyFormatter::with_indent(" ".repeat(blanks).as_bytes()))?,
            None => {
                let [items, keys] = self.separators.as_slice() else {
                    return self.escaped(written(&value, Spaced { items: ", ", keys: ": " })?);
                };
                written(&value, Spaced { items, keys })?
            }
        };
        self.escaped(text)
    }

    fn escaped(&self, text: String) -> serde_json::Result<String> {
        if !self.ensure_ascii {
            return Ok(text);
        }
        let mut ascii = String::with_capacity(text.len());
        let mut units = [0; 2];
        for character in text.chars() {
            if character.is_ascii() {
                ascii.push(character);
            } else {
                for unit in character.encode_utf16(&mut units) {
                    // Writing to a string cannot fail.
                    let _ = write!(ascii, "\\u{unit:04x}");
                }
            }
        }
        Ok(ascii)
    }
}

/// The one-line form that Python writes and models know.
pub(crate) fn spaced(value: &Value) -> String {
    Style::default().dump(value).unwrap_or_else(|_| value.to_string())
}

fn written(value: &Value, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

struct Spaced<'a> {
    items: &'a str,
    keys: &'a str,
}

impl Formatter for Spaced<'_> {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(self.items.as_bytes()) }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(self.items.as_bytes()) }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(self.keys.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_written_as_python_writes_it() {
        let value = json!({"b": [1, 2.5, null], "a": {"x": "<é> \"q\"\n"}, "e": {}});
        let dumped = |style: Style| style.dump(&value).unwrap();
        assert_eq!(dumped(Style::default()), r#"{"b": [1, 2.5, null], "a": {"x": "<é> \"q\"\n"}, "e": {}}"#);
        assert_eq!(
            dumped(Style { separators: vec![",".into(), ":".into()], sort_keys: true, ..Style::default() }),
            r#"{"a":{"x":"<é> \"q\"\n"},"b":[1,2.5,null],"e":{}}"#
        );
        assert_eq!(
            Style { ensure_ascii: true, ..Style::default() }.dump(&json!("é🦀")).unwrap(),
            r#""\u00e9\ud83e\udd80""#
        );
        assert_eq!(
            Style { indent: Some(2), ..Style::default() }.dump(&json!({"a": [1], "e": []})).unwrap(),
            "{\n  \"a\": [\n    1\n  ],\n  \"e\": []\n}"
        );
    }
}
