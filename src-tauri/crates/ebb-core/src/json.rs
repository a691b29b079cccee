//! JSON that a user gave and Ebb only passes on: a schema, a tool's parameters.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;

/// A JSON value. In JSON it stands as itself; between processes, whose encoding knows no such values, as its text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Json(pub Value);

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            self.0.serialize(serializer)
        } else {
            serializer.serialize_str(&self.0.to_string())
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Value::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_as_itself_in_json() {
        let json: Json = serde_json::from_str(r#"{"b": [1, null], "a": "x"}"#).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"b":[1,null],"a":"x"}"#);
        assert_eq!(json.to_string(), r#"{"b":[1,null],"a":"x"}"#);
    }
}
