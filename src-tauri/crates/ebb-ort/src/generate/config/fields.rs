//! Fields of a configuration file, each checked as it is read, so that an error names it.

use std::path::Path;

use serde_json::{Map, Value};

use super::Said;
use crate::Error;

/// A configuration file. Fields are named by their path: `model.decoder.head_size`.
pub(super) struct Fields<'a> {
    file: &'a Path,
    root: &'a Value,
}

/// The largest number that any field may have: larger ones are slips, and would only end in absurd sizes.
const LARGEST: u64 = 1 << 31;

impl<'a> Fields<'a> {
    pub(super) fn new(file: &'a Path, root: &'a Value) -> Self {
        Self { file, root }
    }

    pub(super) fn file(&self) -> &Path {
        self.file
    }

    pub(super) fn is_null(&self, path: &str) -> bool {
        self.value(path).is_ok_and(Value::is_null)
    }

    /// A text that is not empty.
    pub(super) fn text(&self, path: &str) -> Result<Option<&'a str>, Error> {
        match self.value(path)? {
            Value::Null => Ok(None),
            Value::String(text) if !text.is_empty() => Ok(Some(text)),
            other => Err(self.wrong(path, format!("is {}; it is a text", brief(other)))),
        }
    }

    /// A name with one `%d` for the layer.
    pub(super) fn pattern(&self, path: &str) -> Result<Option<&'a str>, Error> {
        match self.text(path)? {
            Some(name) if name.matches("%d").count() != 1 => {
                Err(self.wrong(path, format!("is '{name}'; it has one %d, which stands for the layer")))
            }
            name => Ok(name),
        }
    }

    /// A whole number above 0.
    pub(super) fn number(&self, path: &str) -> Result<Option<Said>, Error> {
        let value = self.value(path)?;
        if value.is_null() {
            return Ok(None);
        }
        match value.as_u64().filter(|number| (1..=LARGEST).contains(number)) {
            Some(number) => Ok(Some(Said { field: path.to_owned(), number })),
            None => {
                Err(self
                    .wrong(path, format!("is {}; it is a whole number from 1 to {LARGEST}", brief(value))))
            }
        }
    }

    pub(super) fn flag(&self, path: &str) -> Result<Option<bool>, Error> {
        match self.value(path)? {
            Value::Null => Ok(None),
            Value::Bool(flag) => Ok(Some(*flag)),
            other => Err(self.wrong(path, format!("is {}; it is true or false", brief(other)))),
        }
    }

    pub(super) fn object(&self, path: &str) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, Error> {
        match self.value(path)? {
            Value::Null => Ok(None),
            Value::Object(object) => Ok(Some(object)),
            other => Err(self.wrong(path, format!("is {}; it is an object", brief(other)))),
        }
        .map(|object: Option<&Map<String, Value>>| object.into_iter().flatten())
    }

    pub(super) fn list(&self, path: &str) -> Result<&'a [Value], Error> {
        match self.value(path)? {
            Value::Null => Ok(&[]),
            Value::Array(list) => Ok(list),
            other => Err(self.wrong(path, format!("is {}; it is a list", brief(other)))),
        }
    }

    /// An option's value as ONNX Runtime takes it.
    pub(super) fn option(&self, path: &str, key: &str, value: &Value) -> Result<String, Error> {
        match value {
            Value::String(text) => Ok(text.clone()),
            Value::Bool(flag) => Ok(u8::from(*flag).to_string()),
            Value::Number(number) => Ok(number.to_string()),
            other => {
                let why = format!("is {}; it is a text, a number, true or false", brief(other));
                Err(self.wrong(&format!("{path}.{key}"), why))
            }
        }
    }

    pub(super) fn wrong(&self, path: &str, why: impl std::fmt::Display) -> Error {
        Error::invalid_model(self.file, format!("{path} {why}"))
    }

    /// The value of a field; null where it, or the object that it would be in, is not there.
    fn value(&self, path: &str) -> Result<&'a Value, Error> {
        let mut value = self.root;
        let mut end = 0;
        for name in path.split('.') {
            match value {
                Value::Object(object) => value = object.get(name).unwrap_or(&Value::Null),
                Value::Null => return Ok(&Value::Null),
                other => {
                    let at = if end == 0 { "it" } else { &path[..end - 1] };
                    return Err(self.wrong(at, format!("is {}; it is an object", brief(other))));
                }
            }
            end += name.len() + 1;
        }
        Ok(value)
    }
}

/// A value as it is written, cut short.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
