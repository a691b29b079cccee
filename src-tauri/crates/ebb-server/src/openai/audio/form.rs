//! Forms with a file: `multipart/form-data`.

use std::collections::BTreeMap;

use axum::{
    extract::{FromRequest, Request},
    http::header,
};
use bytes::Bytes;
use ebb_core::{Code, Failure};
use http_body_util::{BodyDataStream, LengthLimitError};
use multer::{Constraints, Multipart, SizeLimit};
use serde_json::{Map, Value};

use crate::{
    error::Rejection,
    routes::App,
    sent::{Limit, limited, too_large, too_slow},
};

/// The field that holds the file.
const FILE: &str = "file";

/// Longest text of a field.
const MOST_TEXT_BYTES: u64 = 64 << 10;

/// Most fields.
const MOST_FIELDS: usize = 64;

/// A form that was sent.
#[derive(Debug)]
pub(crate) struct Form {
    /// The file.
    pub(crate) file: Bytes,
    /// What its name ends with, in lower case.
    pub(crate) extension: Option<String>,
    /// The other fields, as JSON.
    pub(crate) fields: Value,
}

impl FromRequest<App> for Form {
    type Rejection = Rejection;

    async fn from_request(request: Request, app: &App) -> Result<Self, Rejection> {
        let limit = app.limits.of_audio();
        match tokio::time::timeout(limit.time, read(request, limit)).await {
            Ok(form) => Ok(form?),
            Err(_) => Err(too_slow(limit).into()),
        }
    }
}

async fn read(request: Request, limit: Limit) -> Result<Form, Failure> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let boundary = kind.and_then(|kind| multer::parse_boundary(kind).ok()).ok_or_else(|| {
        Failure::new(Code::InvalidRequest, "a form is expected, with the recording as its field 'file'")
            .hint("send multipart/form-data, with a boundary")
            .param("Content-Type")
    })?;
    let sizes = SizeLimit::new().per_field(MOST_TEXT_BYTES).for_field(FILE, limit.most_bytes as u64);
    let body = BodyDataStream::new(limited(request, limit)?);
    let mut form = Multipart::with_constraints(body, boundary, Constraints::new().size_limit(sizes));
    let (mut file, mut extension) = (None, None);
    let mut texts = BTreeMap::<String, Vec<String>>::new();
    for _ in 0..MOST_FIELDS {
        let Some(field) = form.next_field().await.map_err(|error| broken(&error, limit))? else {
            return Ok(Form { file: file.ok_or_else(no_file)?, extension, fields: json(texts)? });
        };
        let name = field.name().unwrap_or_default().to_owned();
        if name == FILE {
            extension = field.file_name().and_then(ending);
            file = Some(field.bytes().await.map_err(|error| broken(&error, limit))?);
        } else {
            let text = field.text().await.map_err(|error| broken(&error, limit))?;
            texts.entry(name).or_default().push(text);
        }
    }
    Err(Failure::new(Code::InvalidRequest, format!("the form has more than {MOST_FIELDS} fields"))
        .param("body"))
}

fn no_file() -> Failure {
    Failure::new(Code::InvalidRequest, "'file' is missing")
        .hint("send the recording as the field 'file'")
        .param(FILE)
}

/// What a file's name ends with, where that is a plain word.
fn ending(name: &str) -> Option<String> {
    let (_, ending) = name.rsplit_once('.')?;
    let is_word = (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| ending.to_ascii_lowercase())
}

fn broken(error: &multer::Error, limit: Limit) -> Failure {
    match error {
        multer::Error::StreamReadFailed(why) if why.is::<LengthLimitError>() => too_large(limit),
        multer::Error::FieldSizeExceeded { field_name: Some(name), .. } if name != FILE => {
            let message =
                format!("the field '{}' is longer than {MOST_TEXT_BYTES} bytes", name.escape_debug());
            Failure::new(Code::InvalidRequest, message).param(name)
        }
        error => Failure::new(Code::InvalidRequest, format!("the form is broken: {error}")).param("body"),
    }
}

/// The fields as an object: lists where names end with `[]`, JSON where it is expected, else texts. Of a field that came
/// several times the last counts.
fn json(texts: BTreeMap<String, Vec<String>>) -> Result<Value, Failure> {
    let mut fields = Map::new();
    for (name, mut values) in texts {
        if let Some(list) = name.strip_suffix("[]") {
            fields.insert(list.to_owned(), values.into());
            continue;
        }
        let text = values.pop().unwrap_or_default();
        let value = match (name.as_str(), text.as_str()) {
            // Clients send what was not given as empty, too.
            (_, "") => Value::Null,
            ("stream", "true" | "True" | "1") => true.into(),
            ("stream", "false" | "False" | "0") => false.into(),
            ("ebb", json) => serde_json::from_str(json).map_err(|error| {
                Failure::new(Code::InvalidRequest, format!("'ebb' is no JSON: {error}")).param("ebb")
            })?,
            _ => text.into(),
        };
        fields.insert(name, value);
    }
    Ok(fields.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIMIT_BYTES: usize = 100_000;

    async fn sent(kind: &str, body: impl Into<axum::body::Body>) -> Result<Form, Failure> {
        let limits = crate::sent::Limits {
            body_bytes: 10,
            audio_bytes: LIMIT_BYTES,
            body_time: std::time::Duration::from_secs(60),
        };
        let request = Request::post("/").header(header::CONTENT_TYPE, kind).body(body.into()).unwrap();
        read(request, limits.of_audio()).await
    }

    fn part(head: &str, value: &str) -> String {
        format!("--b\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n")
    }

    const FORM: &str = "multipart/form-data; boundary=b";

    #[tokio::test]
    async fn fields_come_in_any_order() {
        let body = [
            part("name=\"file\"; filename=\"größe.MP3\"", "sound"),
            part("name=\"model\"", "m"),
            part("name=\"timestamp_granularities[]\"", "segment"),
            part("name=\"timestamp_granularities[]\"", "word"),
            part("name=\"stream\"", "true"),
            part("name=\"language\"", ""),
            part("name=\"ebb\"", "{\"shrink_after\": true}"),
            "--b--\r\n".to_owned(),
        ];
        let form = sent(FORM, body.concat()).await.unwrap();
        assert_eq!((form.file.as_ref(), form.extension.as_deref()), (b"sound".as_slice(), Some("mp3")));
        assert_eq!(
            form.fields,
            json!({"model": "m", "timestamp_granularities": ["segment", "word"], "stream": true, "language": null,
                "ebb": {"shrink_after": true}})
        );
    }

    #[tokio::test]
    async fn what_is_no_form_says_so() {
        let file = part("name=\"file\"; filename=\"a\"", "sound");
        let end = "--b--\r\n";
        let many = part("name=\"x\"", "1").repeat(MOST_FIELDS + 1);
        for (kind, body, param) in [
            ("application/json", "{}".to_owned(), "Content-Type"),
            ("multipart/form-data", file.clone(), "Content-Type"),
            (FORM, String::new(), "body"),
            (FORM, "not a form".to_owned(), "body"),
            (FORM, file.clone(), "body"),
            (FORM, part("name=\"model\"", "m") + end, "file"),
            (FORM, part("name=\"prompt\"", &"x".repeat(70_000)) + end, "prompt"),
            (FORM, part("name=\"ebb\"", "{") + &file + end, "ebb"),
            (FORM, many + end, "body"),
        ] {
            let failure = sent(kind, body.clone()).await.unwrap_err();
            assert_eq!(
                (failure.code, failure.param.as_deref()),
                (Code::InvalidRequest, Some(param)),
                "{failure}"
            );
        }
    }

    #[tokio::test]
    async fn a_recording_that_is_too_large_is_refused_with_what_to_do() {
        let body = part("name=\"file\"; filename=\"a.wav\"", &"x".repeat(LIMIT_BYTES)) + "--b--\r\n";
        let chunks = futures_util::stream::iter([Ok::<_, std::io::Error>(body.clone())]);
        for body in [axum::body::Body::from(body), axum::body::Body::from_stream(chunks)] {
            let failure = sent(FORM, body).await.unwrap_err();
            assert_eq!(failure.code, Code::TooLarge, "{failure}");
            assert!(failure.hint.is_some_and(|hint| hint.contains("FLAC")));
        }
    }

    #[test]
    fn only_a_plain_ending_is_taken() {
        assert_eq!(ending("a.b.WAV").as_deref(), Some("wav"));
        for name in ["wav", "a.", "a.w/v", "a.äöü", "a.123456789"] {
            assert_eq!(ending(name), None, "{name}");
        }
    }
}
