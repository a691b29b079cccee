//! Bodies in OpenAI's dialect. They are read in parts that several routes share; an error names its field, and what no part
//! knows is passed over.

use std::collections::BTreeSet;

use axum::extract::{FromRequest, Request};
use ebb_core::{Code, Failure};
use serde::de::DeserializeOwned;
use serde_ignored::Path;

use crate::{
    error::Rejection,
    routes::App,
    sent::{object, read, unfit},
};

/// A JSON body in which unknown fields are passed over.
pub(crate) struct Loose<T>(pub(crate) T);

/// What a body is read as.
pub(crate) trait Body: Sized {
    /// Takes its parts.
    ///
    /// # Errors
    /// For a field that does not fit.
    fn of(parts: &mut Parts<'_>) -> Result<Self, Failure>;
}

/// A body, to be read part by part.
pub(crate) struct Parts<'a> {
    json: &'a [u8],
    /// Fields that no part so far knows; `None`: none was read.
    unknown: Option<BTreeSet<String>>,
}

impl<T: Body> FromRequest<App> for Loose<T> {
    type Rejection = Rejection;

    async fn from_request(request: Request, app: &App) -> Result<Self, Rejection> {
        let body = read(request, app.limits.of_json()).await?;
        Ok(Self(parse(object(&body)?)?))
    }
}

/// Reads a body.
pub(crate) fn parse<T: Body>(json: &[u8]) -> Result<T, Failure> {
    let mut parts = Parts { json, unknown: None };
    let body = T::of(&mut parts)?;
    let unknown = parts.unknown.unwrap_or_default();
    if !unknown.is_empty() {
        // Names alone: what they hold may be anybody's business.
        let fields: Vec<_> = unknown.iter().take(20).collect();
        tracing::debug!(?fields, "fields that change nothing here");
    }
    Ok(body)
}

impl Parts<'_> {
    /// Reads the fields that `T` knows.
    ///
    /// # Errors
    /// Where one of them does not fit, naming it.
    pub(crate) fn part<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        let mut unknown = BTreeSet::new();
        let mut note = |path: Path<'_>| {
            if let Path::Map { parent: Path::Root, key } = path {
                unknown.insert(key);
            }
        };
        let mut json = serde_json::Deserializer::from_slice(self.json);
        let noting = serde_ignored::Deserializer::new(&mut json, &mut note);
        let part = serde_path_to_error::deserialize(noting).map_err(|error| bad_field(&error))?;
        json.end().map_err(|error| unfit(&error.to_string()))?;
        self.unknown = Some(match self.unknown.take() {
            None => unknown,
            Some(before) => before.intersection(&unknown).cloned().collect(),
        });
        Ok(part)
    }
}

fn bad_field(error: &serde_path_to_error::Error<serde_json::Error>) -> Failure {
    let (path, why) = (error.path().to_string(), error.inner());
    let text = why.to_string();
    if !why.is_data() || path == "." && !text.starts_with("missing field") {
        return unfit(&text);
    }
    let missing = text.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match missing {
        Some(field) => {
            let param = if path == "." { field.to_owned() } else { format!("{path}.{field}") };
            Failure::new(Code::InvalidRequest, format!("'{param}' is missing")).param(param)
        }
        None => Failure::new(Code::InvalidRequest, format!("'{path}' does not fit: {text}")).param(path),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct One {
        name: String,
        #[serde(default)]
        list: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        size: u8,
    }

    #[derive(Debug, Deserialize)]
    struct Two {
        heat: Option<f32>,
    }

    impl Body for (One, Two) {
        fn of(parts: &mut Parts<'_>) -> Result<Self, Failure> {
            let both = (parts.part()?, parts.part()?);
            assert_eq!(parts.unknown.clone().unwrap_or_default().into_iter().collect::<Vec<_>>(), ["user"]);
            Ok(both)
        }
    }

    #[test]
    fn parts_share_a_body_and_only_what_none_knows_is_unknown() {
        let json = br#"{"heat": 0.5, "user": {"heat": 1}, "name": "a", "list": [{"size": 3, "odd": 1}]}"#;
        let (one, two): (One, Two) = parse(json).unwrap();
        assert_eq!((one.name.as_str(), one.list[0].size, two.heat), ("a", 3, Some(0.5)));
    }

    #[test]
    fn an_error_names_its_field() {
        for (json, param, part) in [
            (r#"{"heat": 1}"#, "name", "'name' is missing"),
            (r#"{"name": null}"#, "name", "'name' does not fit: invalid type: null"),
            (r#"{"name": "a", "list": [{"size": 1}, {"size": 300}]}"#, "list[1].size", "expected u8"),
            (r#"{"name": "a", "list": [{}]}"#, "list[0].size", "is missing"),
            (
                r#"{"name": "a", "user": 0, "heat": "hot"}"#,
                "heat",
                "'heat' does not fit: invalid type: string",
            ),
            (r#"{"name": "a""#, "body", "EOF"),
            (r#"{"name": "a"} x"#, "body", "trailing"),
            (r#"{"name": "a", "name": "b"}"#, "body", "duplicate field `name`"),
        ] {
            let failure = parse::<(One, Two)>(json.as_bytes()).unwrap_err();
            assert_eq!(
                (failure.code, failure.param.as_deref()),
                (Code::InvalidRequest, Some(param)),
                "{json}"
            );
            assert!(failure.message.contains(part), "{}", failure.message);
        }
    }
}
