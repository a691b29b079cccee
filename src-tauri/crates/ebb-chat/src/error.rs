//! Everything that can go wrong here, each with what to do next.

use std::path::{Path, PathBuf};

use ebb_core::{Code, Failure};

/// Why a text could not be read, asked for or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tokenizer is missing or broken.
    #[error("the tokenizer {path} cannot be used: {reason}")]
    Tokenizer {
        /// The file at fault.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another file of the model folder is broken.
    #[error("{path} cannot be used: {reason}")]
    Model {
        /// The file at fault.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A malformed request: an unknown role, no messages, tools that the model cannot be told of.
    #[error("{message}")]
    Request {
        /// What is wrong.
        message: String,
        /// The field at fault.
        param: Option<String>,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A value that does not fit its field.
    #[error("{message}")]
    Value {
        /// What is wrong.
        message: String,
        /// The field at fault.
        param: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The chat template refused the conversation or failed.
    #[error("the model's chat template cannot write this conversation: {reason}")]
    Template {
        /// In the template's own words where it refused, else what failed and where.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// The prompt is longer than the model can take.
    #[error(
        "the prompt has {}{tokens} tokens, {} more than the {limit} that the model takes",
        if *.exact { "" } else { "at least " },
        .tokens.saturating_sub(*.limit)
    )]
    TooLong {
        /// Its tokens.
        tokens: usize,
        /// Whether it was read to its end.
        exact: bool,
        /// Most tokens that the model takes.
        limit: usize,
    },
    /// The model's scores are no numbers to choose by.
    #[error("the model gave scores that no token can be chosen by: {0}")]
    Scores(String),
    /// The system has no randomness.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
    /// Reading a file failed.
    #[error(transparent)]
    Storage(#[from] std::io::Error),
}

impl Error {
    pub(crate) fn tokenizer(path: &Path, reason: impl ToString) -> Self {
        Self::Tokenizer { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn model(path: &Path, reason: impl Into<String>) -> Self {
        Self::Model { path: path.to_owned(), reason: reason.into() }
    }

    pub(crate) fn request(message: impl Into<String>, param: impl Into<String>) -> Self {
        Self::Request { message: message.into(), param: Some(param.into()), hint: None }
    }

    pub(crate) fn value(message: impl Into<String>, param: impl Into<String>) -> Self {
        Self::Value { message: message.into(), param: param.into(), hint: None }
    }

    /// Adds what to do about a malformed request or value.
    #[must_use]
    pub(crate) fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Request { hint, .. } | Self::Value { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let failure = |code| Self::new(code, message);
        match error {
            Error::Tokenizer { path, .. } => failure(Code::InvalidTokenizer)
                .hint("a chat model's folder needs the tokenizer.json that the model was published with")
                .param(path.to_string_lossy()),
            Error::Model { path, .. } => failure(Code::InvalidModel)
                .hint("fetch the file again from where the model was published, or correct the field")
                .param(path.to_string_lossy()),
            Error::Request { param, hint, .. } => Self { hint, param, ..failure(Code::InvalidRequest) },
            Error::Value { param, hint, .. } => {
                Self { hint, param: Some(param), ..failure(Code::InvalidValue) }
            }
            Error::Template { hint, .. } => failure(Code::InvalidRequest).hint(hint).param("messages"),
            Error::TooLong { tokens, limit, .. } => failure(Code::InvalidRequest)
                .hint("shorten the conversation, or load a model with a longer context")
                .param("messages")
                .detail("prompt_tokens", tokens as u64)
                .detail("context_tokens", limit as u64),
            Error::Scores(_) => failure(Code::Internal)
                .hint("the model file may be damaged, or the device miscalculates; try `--provider cpu`"),
            Error::Random(_) => failure(Code::Internal).hint("give a seed with the request"),
            Error::Storage(_) => failure(Code::Storage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_field_and_says_what_to_do() {
        let failure = Failure::from(Error::value("top_p is 3", "top_p").with_hint("from 0 to 1"));
        assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some("top_p")));
        assert_eq!(failure.hint.as_deref(), Some("from 0 to 1"));

        let failure = Failure::from(Error::TooLong { tokens: 900, exact: false, limit: 512 });
        assert_eq!(
            failure.message,
            "the prompt has at least 900 tokens, 388 more than the 512 that the model takes"
        );
        assert_eq!(failure.details["prompt_tokens"], 900);
    }
}
