//! The one error form of every door: HTTP, command line, clients, worker frames.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// What went wrong, for programs. A code exists only where a caller acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The request itself is malformed: wrong JSON, missing field, empty text list.
    InvalidRequest,
    /// An option's value does not fit its type.
    InvalidValue,
    /// A shrink target is malformed.
    InvalidTarget,
    /// Two options cannot both hold.
    Conflict,
    /// No such model, profile or route.
    NotFound,
    /// The alias or profile name is taken.
    AlreadyExists,
    /// The model is known but not loaded.
    NotLoaded,
    /// The model folder or file is not something that can be loaded.
    InvalidModel,
    /// The tokenizer is missing or broken.
    InvalidTokenizer,
    /// The ONNX Runtime library is missing, too old or broken.
    RuntimeLibrary,
    /// The execution provider is not available here.
    ProviderUnavailable,
    /// A cap on the arena that the weights already exceed.
    CapBelowWeights,
    /// One request is larger than the arena's cap allows. `details`: `limit_bytes`, `requested_bytes`, `available_bytes`.
    ArenaLimit,
    /// The system has no memory left for it.
    OutOfMemory,
    /// The queue is full; try again.
    Busy,
    /// The caller cancelled it.
    Cancelled,
    /// It took longer than the caller allowed.
    Timeout,
    /// The worker process ended in the middle of it.
    WorkerCrashed,
    /// The token is missing or wrong.
    Unauthorized,
    /// Origin or Host is not one that may call.
    Forbidden,
    /// The body is larger than the server takes.
    TooLarge,
    /// The file system refused: permission, full disk, missing folder.
    Storage,
    /// Not offered by this model, device or build.
    Unsupported,
    /// ONNX Runtime or Ebb failed in a way that no other code names.
    Internal,
}

impl Code {
    /// The code as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidValue => "invalid_value",
            Self::InvalidTarget => "invalid_target",
            Self::Conflict => "conflict",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::NotLoaded => "not_loaded",
            Self::InvalidModel => "invalid_model",
            Self::InvalidTokenizer => "invalid_tokenizer",
            Self::RuntimeLibrary => "runtime_library",
            Self::ProviderUnavailable => "provider_unavailable",
            Self::CapBelowWeights => "cap_below_weights",
            Self::ArenaLimit => "arena_limit",
            Self::OutOfMemory => "out_of_memory",
            Self::Busy => "busy",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
            Self::WorkerCrashed => "worker_crashed",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::TooLarge => "too_large",
            Self::Storage => "storage",
            Self::Unsupported => "unsupported",
            Self::Internal => "internal",
        }
    }

    /// The coarse class that OpenAI's clients look at (`type` in JSON).
    pub fn kind(self) -> &'static str {
        match self {
            Self::Unauthorized => "authentication_error",
            Self::Forbidden => "permission_error",
            Self::NotFound | Self::NotLoaded => "not_found_error",
            Self::Busy => "rate_limit_error",
            Self::InvalidRequest
            | Self::InvalidValue
            | Self::InvalidTarget
            | Self::Conflict
            | Self::AlreadyExists
            | Self::InvalidModel
            | Self::InvalidTokenizer
            | Self::ProviderUnavailable
            | Self::CapBelowWeights
            | Self::ArenaLimit
            | Self::TooLarge
            | Self::Unsupported => "invalid_request_error",
            Self::RuntimeLibrary
            | Self::OutOfMemory
            | Self::Cancelled
            | Self::Timeout
            | Self::WorkerCrashed
            | Self::Storage
            | Self::Internal => "server_error",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why something failed, in the form that every door gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// For programs.
    pub code: Code,
    /// For people: what happened.
    pub message: String,
    /// For people: what to do next.
    pub hint: Option<String>,
    /// The field, option or file that is at fault.
    pub param: Option<String>,
    /// Figures that belong to the code, with their unit in the name (`limit_bytes`).
    pub details: BTreeMap<String, u64>,
}

impl Failure {
    /// A failure with nothing but its message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, param: None, details: BTreeMap::new() }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the field, option or file at fault.
    #[must_use]
    pub fn param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// Adds a figure, its unit in the name.
    #[must_use]
    pub fn detail(mut self, name: &str, value: u64) -> Self {
        self.details.insert(name.to_owned(), value);
        self
    }
}

/// The JSON body of every error answer: `{"error": {"code", "message", "hint", "type", "param", "details"}}`, ours and
/// OpenAI's in one form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// The error itself.
    pub error: ErrorFields,
}

/// The fields of [`ErrorBody`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorFields {
    /// See [`Failure::code`].
    pub code: Code,
    /// See [`Failure::message`].
    pub message: String,
    /// See [`Failure::hint`].
    pub hint: Option<String>,
    /// See [`Code::kind`].
    pub r#type: String,
    /// See [`Failure::param`].
    pub param: Option<String>,
    /// See [`Failure::details`]; left out where there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, u64>,
}

impl From<Failure> for ErrorBody {
    fn from(failure: Failure) -> Self {
        let Failure { code, message, hint, param, details } = failure;
        Self { error: ErrorFields { code, message, hint, r#type: code.kind().to_owned(), param, details } }
    }
}

impl From<ErrorBody> for Failure {
    fn from(body: ErrorBody) -> Self {
        let ErrorFields { code, message, hint, param, details, .. } = body.error;
        Self { code, message, hint, param, details }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_is_the_one_that_openai_clients_read() {
        let failure =
            Failure::new(Code::ArenaLimit, "too large").hint("raise max_mem").detail("limit_bytes", 7);
        let body = ErrorBody::from(failure.clone());
        assert_eq!(
            serde_json::to_value(&body).unwrap(),
            serde_json::json!({"error": {"code": "arena_limit", "message": "too large", "hint": "raise max_mem",
                "type": "invalid_request_error", "param": null, "details": {"limit_bytes": 7}}})
        );
        assert_eq!(Failure::from(body), failure);
    }

    #[test]
    fn the_code_reads_as_it_is_serialised() {
        for code in [Code::InvalidRequest, Code::CapBelowWeights, Code::WorkerCrashed, Code::Internal] {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
