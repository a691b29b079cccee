//! Settings of a plugin: the part of JSON Schema that a manifest may use, and values that fit it.

use std::collections::BTreeMap;

use ebb_core::{Json, PluginManifest};
use serde_json::{Map, Value};

use crate::Error;

/// Settings that a plugin may have.
const MAX_SETTINGS: usize = 64;

/// Longest text that a setting takes, in bytes.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// What a schema may say of all settings together.
const OF_ALL: [&str; 6] = ["type", "properties", "title", "description", "additionalProperties", "$schema"];

/// What a schema may say of one setting.
const OF_ONE: [&str; 7] = ["type", "default", "title", "description", "minimum", "maximum", "enum"];

/// The settings that a plugin has.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Schema {
    settings: BTreeMap<String, Setting>,
}

#[derive(Debug, Clone, PartialEq)]
struct Setting {
    kind: Kind,
    default: Value,
    minimum: Option<f64>,
    maximum: Option<f64>,
    choices: Option<Vec<Value>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Integer,
    Boolean,
}

/// The schema of a manifest's settings. A manifest that was checked has a good one.
fn schema_of(manifest: &PluginManifest) -> Schema {
    manifest.settings.as_ref().and_then(|schema| Schema::read(schema).ok()).unwrap_or_default()
}

/// Checks a value that the user chose, or with `None` only that there is such a setting.
///
/// # Errors
/// Where there is no such setting, or the value does not fit it.
pub fn check(manifest: &PluginManifest, name: &str, value: Option<&Json>) -> Result<(), Error> {
    schema_of(manifest).take(name, value.unwrap_or(&Json::default())).map(drop)
}

/// Every setting as it holds: chosen where it was chosen and fits, else at its default.
pub fn that_hold(manifest: &PluginManifest, chosen: &BTreeMap<String, Json>) -> BTreeMap<String, Json> {
    let schema = schema_of(manifest);
    let mut settings = schema.defaults();
    for (name, value) in chosen {
        // Another version of the plugin may have another schema than the one that it was chosen for.
        if let Ok(value) = schema.take(name, value) {
            settings.insert(name.clone(), value);
        }
    }
    settings
}

impl Schema {
    /// Reads a manifest's schema.
    ///
    /// # Errors
    /// Every problem that it has.
    pub(crate) fn read(schema: &Json) -> Result<Self, Vec<String>> {
        let Value::Object(schema) = &schema.0 else {
            return Err(vec!["settings must be a schema".to_owned()]);
        };
        let mut problems = Vec::new();
        for key in schema.keys().filter(|key| !OF_ALL.contains(&key.as_str())) {
            problems.push(format!("settings.{key} is not known; there are {}", OF_ALL.join(", ")));
        }
        if schema.get("type").is_some_and(|kind| kind != "object") {
            problems.push("settings.type must be object".to_owned());
        }
        let none = Map::new();
        let properties = match schema.get("properties") {
            None => &none,
            Some(Value::Object(properties)) => properties,
            Some(_) => return Err(vec!["settings.properties must be an object".to_owned()]),
        };
        if properties.len() > MAX_SETTINGS {
            problems.push(format!(
                "there are {} settings, and at most {MAX_SETTINGS} are taken",
                properties.len()
            ));
        }
        let mut settings = BTreeMap::new();
        for (name, property) in properties.iter().take(MAX_SETTINGS) {
            match Setting::read(name, property) {
                Ok(setting) => drop(settings.insert(name.clone(), setting)),
                Err(problem) => problems.push(format!("settings.properties.{name} {problem}")),
            }
        }
        if problems.is_empty() { Ok(Self { settings }) } else { Err(problems) }
    }

    /// Every setting at its default.
    pub(crate) fn defaults(&self) -> BTreeMap<String, Json> {
        self.settings.iter().map(|(name, setting)| (name.clone(), Json(setting.default.clone()))).collect()
    }

    /// The value that holds once `value` was asked for: `null` goes back to the default.
    ///
    /// # Errors
    /// Where there is no such setting, or the value does not fit it.
    pub(crate) fn take(&self, name: &str, value: &Json) -> Result<Json, Error> {
        let wrong = |reason: String| Error::Setting { name: name.to_owned(), reason };
        let setting = self.settings.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.settings.keys().map(String::as_str).collect();
            wrong(format!("is not one of this plugin's: {}", names.join(", ")))
        })?;
        if value.0.is_null() {
            return Ok(Json(setting.default.clone()));
        }
        setting.fits(&value.0).map_err(wrong)?;
        Ok(value.clone())
    }
}

impl Setting {
    fn read(name: &str, property: &Value) -> Result<Self, String> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !(1..=64).contains(&name.len()) || !name.bytes().all(fits) {
            return Err("must be named by 1 to 64 letters, digits, '_' and '-'".to_owned());
        }
        let Value::Object(property) = property else { return Err("must be an object".to_owned()) };
        if let Some(key) = property.keys().find(|key| !OF_ONE.contains(&key.as_str())) {
            return Err(format!("has '{key}', which is not known; there are {}", OF_ONE.join(", ")));
        }
        let kind = match property.get("type").and_then(Value::as_str) {
            Some("string") => Kind::Text,
            Some("number") => Kind::Number,
            Some("integer") => Kind::Integer,
            Some("boolean") => Kind::Boolean,
            _ => return Err("needs a type: string, number, integer or boolean".to_owned()),
        };
        let bound = |key| match property.get(key) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(format!("has a {key} that is no number")),
        };
        let choices = match property.get("enum") {
            None => None,
            Some(Value::Array(choices)) if !choices.is_empty() => Some(choices.clone()),
            Some(_) => return Err("has an enum that is no list of values".to_owned()),
        };
        let default = property.get("default").cloned().ok_or("needs a default")?;
        let (minimum, maximum) = (bound("minimum")?, bound("maximum")?);
        let setting = Self { kind, default, minimum, maximum, choices };
        setting.fits(&setting.default).map_err(|reason| format!("has a default that {reason}"))?;
        Ok(setting)
    }

    fn fits(&self, value: &Value) -> Result<(), String> {
        let fits = match self.kind {
            Kind::Text => value.as_str().is_some_and(|text| text.len() <= MAX_VALUE_BYTES),
            Kind::Number => value.is_number(),
            Kind::Integer => value.is_i64() || value.is_u64(),
            Kind::Boolean => value.is_boolean(),
        };
        if !fits {
            return Err(match self.kind {
                Kind::Text => format!("must be a text of at most {MAX_VALUE_BYTES} bytes"),
                Kind::Number => "must be a number".to_owned(),
                Kind::Integer => "must be a whole number".to_owned(),
                Kind::Boolean => "must be true or false".to_owned(),
            });
        }
        let number = value.as_f64();
        if let (Some(number), Some(least)) = (number, self.minimum)
            && number < least
        {
            return Err(format!("must be at least {least}"));
        }
        if let (Some(number), Some(most)) = (number, self.maximum)
            && number > most
        {
            return Err(format!("must be at most {most}"));
        }
        match &self.choices {
            Some(choices) if !choices.contains(value) => {
                let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
                Err(format!("must be one of {}", choices.join(", ")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(properties: Value) -> Result<Schema, Vec<String>> {
        Schema::read(&Json(json!({"type": "object", "properties": properties})))
    }

    #[test]
    fn defaults_hold_and_values_must_fit() {
        let schema = schema(json!({
            "ratio": {"type": "number", "default": 2.0, "minimum": 1},
            "after_s": {"type": "integer", "default": 60, "maximum": 3600},
            "mode": {"type": "string", "default": "a", "enum": ["a", "b"]},
            "eager": {"type": "boolean", "default": false}
        }))
        .unwrap();
        assert_eq!(schema.defaults()["after_s"], Json(json!(60)));
        let take =
            |name: &str, value: Value| schema.take(name, &Json(value)).map_err(|error| error.to_string());
        assert_eq!(take("ratio", json!(1.5)), Ok(Json(json!(1.5))));
        assert_eq!(take("ratio", Value::Null), Ok(Json(json!(2.0))));
        for (name, value, reason) in [
            ("ratio", json!(0.5), "at least 1"),
            ("after_s", json!(1.5), "whole number"),
            ("after_s", json!(4000), "at most 3600"),
            ("mode", json!("c"), "one of \"a\", \"b\""),
            ("eager", json!("yes"), "true or false"),
            ("speed", json!(1), "not one of this plugin's: after_s, eager, mode, ratio"),
        ] {
            let error = take(name, value).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_schema_says_what_is_wrong_with_it() {
        for (property, reason) in [
            (json!({"default": 1}), "needs a type"),
            (json!({"type": "integer"}), "needs a default"),
            (json!({"type": "integer", "default": "1"}), "default that must be a whole number"),
            (json!({"type": "integer", "default": 1, "minimun": 1}), "minimun"),
            (json!({"type": "string", "default": "a", "enum": []}), "enum"),
            (json!([]), "must be an object"),
        ] {
            let problems = schema(json!({"a": property})).unwrap_err();
            assert!(problems[0].contains(reason), "{problems:?}");
        }
        assert!(schema(json!({"a b": {"type": "boolean", "default": true}})).is_err());
        let many: Map<String, Value> =
            (0..65).map(|n| (format!("s{n}"), json!({"type": "boolean", "default": true}))).collect();
        assert!(schema(Value::Object(many)).unwrap_err()[0].contains("65 settings"));
    }
}
