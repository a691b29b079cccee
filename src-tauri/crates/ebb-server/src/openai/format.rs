//! What an answer must be: `response_format` of chat, `text.format` of responses.

use ebb_core::{Failure, Json, ResponseFormat};
use serde::Deserialize;
use utoipa::ToSchema;

use super::bad_value;

/// What the answer must be.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Format {
    /// `text`, `json_object` or `json_schema`.
    r#type: String,
    /// The schema, as chat has it.
    json_schema: Option<NamedSchema>,
    /// The schema, as responses have it.
    #[serde(default)]
    schema: Json,
}

/// A schema with a name, which changes nothing here.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NamedSchema {
    /// The schema.
    #[serde(default)]
    schema: Json,
}

impl Format {
    /// The format in Ebb's words. `at` is the field's name.
    ///
    /// # Errors
    /// For a kind that there is not, and a schema that is missing or none.
    pub(crate) fn read(self, at: &str) -> Result<ResponseFormat, Failure> {
        match self.r#type.as_str() {
            "text" => Ok(ResponseFormat::Text),
            "json_object" => Ok(ResponseFormat::JsonObject),
            "json_schema" => {
                let (schema, param) = match self.json_schema {
                    Some(named) => (named.schema, format!("{at}.json_schema.schema")),
                    None => (self.schema, format!("{at}.schema")),
                };
                if schema.0.is_object() || schema.0.is_boolean() {
                    return Ok(ResponseFormat::JsonSchema(schema));
                }
                let what = if schema.0.is_null() { "is missing" } else { "must be a JSON schema: an object" };
                Err(bad_value(&param, format!("'{param}' {what}")))
            }
            _ => Err(bad_value(
                format!("{at}.type"),
                format!("{at}.type must be text, json_object or json_schema"),
            )
            .hint("a regular expression stands in ebb.regex")),
        }
    }
}
