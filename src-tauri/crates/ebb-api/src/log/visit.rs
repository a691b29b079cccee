//! The fields of a line, taken over within bounds.

use std::{collections::BTreeMap, fmt};

use serde_json::{Number, Value};
use tracing::field::{Field, Visit};

/// Longest text of a field, in bytes.
const TEXT_BYTES: usize = 2_048;

/// Most fields of a line.
const FIELDS: usize = 32;

/// What a line takes besides its texts, about.
const LINE_BYTES: usize = 128;

/// The fields of a line or of a span.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    pub(super) message: String,
    pub(super) model: Option<String>,
    pub(super) fields: BTreeMap<&'static str, Value>,
    /// What they take, about.
    pub(super) bytes: usize,
}

impl Fields {
    /// Adds the fields of a span that the line stands in.
    pub(super) fn add(&mut self, of_span: &Self) {
        if of_span.model.is_some() {
            self.model.clone_from(&of_span.model);
        }
        for (name, value) in &of_span.fields {
            self.insert(name, value.clone());
        }
    }

    fn insert(&mut self, name: &'static str, value: Value) {
        if self.fields.len() < FIELDS || self.fields.contains_key(name) {
            self.bytes += LINE_BYTES + value.as_str().map_or(0, str::len);
            self.fields.insert(name, value);
        }
    }

    fn text(&mut self, field: &Field, text: &str) {
        let text = cut(text);
        match field.name() {
            "message" => {
                self.bytes += LINE_BYTES + text.len();
                text.clone_into(&mut self.message);
            }
            "model" => self.model = Some(text.to_owned()),
            // What another logging library adds of itself.
            name if name.starts_with("log.") => {}
            name => self.insert(name, Value::from(text)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field.name(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field.name(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // Not every number has a form in JSON.
        let value = Number::from_f64(value).map_or_else(|| Value::from(value.to_string()), Value::Number);
        self.insert(field.name(), value);
    }
}

/// The beginning of a text, whole letters.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
