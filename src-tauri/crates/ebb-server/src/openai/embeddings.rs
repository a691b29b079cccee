//! `POST /v1/embeddings`.

use axum::{Json, extract::State};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use ebb_core::{
    Code, EmbedFigures, Failure, Json as AnyJson,
    operations::{EmbedRequest, RequestOptions},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    bad_value,
    body::{Body, Loose, Parts},
    not_offered,
    usage::PromptUsage,
    wishes::Wishes,
};
use crate::{error::Rejection, routes::App};

/// Texts to embed.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EmbeddingsRequest {
    /// The model's alias.
    model: String,
    /// A text or a list of texts.
    #[serde(default)]
    input: AnyJson,
    /// How vectors are written.
    encoding_format: Option<Encoding>,
    /// Length to cut vectors to, where the model was trained for it.
    dimensions: Option<u32>,
}

/// How vectors are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Encoding {
    /// As lists of numbers.
    #[default]
    Float,
    /// As little-endian f32.
    Base64,
}

/// Body of a request for embeddings.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EmbeddingsBody {
    #[serde(flatten)]
    asked: EmbeddingsRequest,
    #[serde(flatten)]
    wishes: Wishes,
}

impl Body for EmbeddingsBody {
    fn of(parts: &mut Parts<'_>) -> Result<Self, Failure> {
        Ok(Self { asked: parts.part()?, wishes: parts.part()? })
    }
}

/// One vector a text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Embeddings {
    /// `list`.
    object: &'static str,
    /// In the order of the texts.
    data: Vec<Embedding>,
    model: String,
    usage: PromptUsage,
    /// What it took, in Ebb's figures.
    ebb: EmbedFigures,
}

/// The vector of a text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Embedding {
    /// `embedding`.
    object: &'static str,
    index: usize,
    embedding: Vector,
}

/// A vector as it was asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Vector {
    /// A list of numbers.
    Float(Vec<f32>),
    /// Little-endian f32 in base64.
    Base64(String),
}

impl Vector {
    fn of(numbers: Vec<f32>, encoding: Encoding) -> Self {
        match encoding {
            Encoding::Float => Self::Float(numbers),
            Encoding::Base64 => {
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                Self::Base64(BASE64.encode(bytes))
            }
        }
    }
}

/// The texts of an input.
fn texts(input: AnyJson) -> Result<Vec<String>, Failure> {
    const PARAM: &str = "input";
    let texts = match input.0 {
        Value::String(text) => return Ok(vec![text]),
        Value::Array(texts) => texts,
        Value::Null => return Err(Failure::new(Code::InvalidRequest, "'input' is missing").param(PARAM)),
        _ => {
            return Err(
                Failure::new(Code::InvalidRequest, "'input' must be a text or a list of texts").param(PARAM)
            );
        }
    };
    if texts.is_empty() {
        return Err(Failure::new(Code::InvalidRequest, "'input' has no text").param(PARAM));
    }
    let numbered = texts.into_iter().enumerate();
    numbered
        .map(|(place, text)| match text {
            Value::String(text) => Ok(text),
            Value::Number(_) | Value::Array(_) => {
                Err(not_offered(PARAM, "token ids are not taken: each model has its own")
                    .hint("send the texts themselves (LangChain: check_embedding_ctx_length=False)"))
            }
            _ => {
                let param = format!("input[{place}]");
                Err(Failure::new(Code::InvalidRequest, format!("'{param}' must be a text")).param(param))
            }
        })
        .collect()
}

/// Cuts vectors to a length that the model was trained for, and gives them length 1 again.
fn cut(vectors: &mut [Vec<f32>], dimensions: usize) {
    for vector in vectors {
        vector.truncate(dimensions);
        let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if norm > 0.0 {
            vector.iter_mut().for_each(|number| *number /= norm);
        }
    }
}

/// Whether vectors of `full` numbers may be cut to `dimensions`.
fn check_dimensions(model: &str, dimensions: u32, full: u32, matryoshka: &[u32]) -> Result<(), Failure> {
    if dimensions == full || matryoshka.contains(&dimensions) && dimensions < full {
        return Ok(());
    }
    let lengths: Vec<String> = matryoshka.iter().chain([&full]).map(ToString::to_string).collect();
    let (message, hint) = if matryoshka.is_empty() {
        (
            format!("'{model}' gives vectors of {full} numbers and was not trained to have them cut"),
            "leave out dimensions".to_owned(),
        )
    } else {
        (
            format!("'{model}' does not give vectors of {dimensions} numbers"),
            format!("it gives {}", lengths.join(", ")),
        )
    };
    Err(bad_value("dimensions", message).hint(hint))
}

/// One vector for each text.
#[utoipa::path(post, path = "/v1/embeddings", tag = "openai", request_body = EmbeddingsBody,
    responses((status = 200, body = Embeddings)))]
pub(crate) async fn create(
    State(app): State<App>,
    Loose(body): Loose<EmbeddingsBody>,
) -> Result<Json<Embeddings>, Rejection> {
    let EmbeddingsBody { asked: EmbeddingsRequest { model, input, encoding_format, dimensions }, mut wishes } =
        body;
    let RequestOptions { shrink_after, run_options, timeout_ms, keep_alive } = wishes.options()?;
    let texts = texts(input)?;
    let request = EmbedRequest { texts, stream: false, shrink_after, run_options, timeout_ms, keep_alive };
    let mut answer = app.host.embed(&model, request).await?;
    if let Some(dimensions) = dimensions {
        let entry = app.host.model(&model).await?;
        let matryoshka = entry.info.and_then(|info| info.embedding).map(|info| info.matryoshka);
        check_dimensions(&model, dimensions, answer.figures.dimensions, &matryoshka.unwrap_or_default())?;
        cut(&mut answer.vectors, dimensions as usize);
    }
    let encoding = encoding_format.unwrap_or_default();
    let data = answer.vectors.into_iter().enumerate().map(|(index, numbers)| Embedding {
        object: "embedding",
        index,
        embedding: Vector::of(numbers, encoding),
    });
    let tokens = answer.figures.tokens;
    Ok(Json(Embeddings {
        object: "list",
        data: data.collect(),
        model,
        usage: PromptUsage { prompt_tokens: tokens, total_tokens: tokens },
        ebb: answer.figures,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn input_is_a_text_or_texts() {
        assert_eq!(texts(AnyJson(json!("a"))).unwrap(), ["a"]);
        assert_eq!(texts(AnyJson(json!(["a", ""]))).unwrap(), ["a", ""]);
        for (input, code, param) in [
            (json!(null), Code::InvalidRequest, "input"),
            (json!({}), Code::InvalidRequest, "input"),
            (json!([]), Code::InvalidRequest, "input"),
            (json!(["a", null]), Code::InvalidRequest, "input[1]"),
            (json!([1, 2]), Code::Unsupported, "input"),
            (json!([[1, 2], [3]]), Code::Unsupported, "input"),
        ] {
            let failure = texts(AnyJson(input.clone())).unwrap_err();
            assert_eq!((failure.code, failure.param.as_deref()), (code, Some(param)), "{input}");
        }
    }

    #[test]
    fn base64_is_little_endian() {
        let Vector::Base64(text) = Vector::of(vec![1.0, -2.5], Encoding::Base64) else { panic!() };
        assert_eq!(BASE64.decode(text).unwrap(), [0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]);
    }

    #[test]
    fn vectors_are_cut_where_the_model_was_trained_for_it() {
        check_dimensions("m", 384, 384, &[]).unwrap();
        check_dimensions("m", 64, 384, &[256, 64]).unwrap();
        let untrained = check_dimensions("m", 64, 384, &[]).unwrap_err();
        assert_eq!((untrained.code, untrained.param.as_deref()), (Code::InvalidValue, Some("dimensions")));
        assert!(untrained.message.contains("was not trained"), "{untrained}");
        let other = check_dimensions("m", 100, 384, &[256, 64]).unwrap_err();
        assert_eq!(other.hint.as_deref(), Some("it gives 256, 64, 384"));
        // More than there is, whatever the model says.
        check_dimensions("m", 768, 384, &[768]).unwrap_err();
        let mut vectors = vec![vec![3.0, 4.0, 12.0], vec![0.0, 0.0, 1.0]];
        cut(&mut vectors, 2);
        assert_eq!(vectors, [[0.6, 0.8], [0.0, 0.0]]);
    }
}
