//! Everything that can go wrong here, each with what to do next.

use std::path::{Path, PathBuf};

use ebb_core::{Code, Failure, format_bytes};

use crate::library::Attempt;

/// Why a model could not be loaded or run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No usable ONNX Runtime library.
    #[error("no usable ONNX Runtime library was found; tried: {}", list(.tried))]
    Library {
        /// What was tried, in order, each with the reason why it did not do.
        tried: Vec<Attempt>,
    },
    /// The process has another library loaded already.
    #[error("this process has already loaded {loaded}, so it cannot load {wanted}")]
    OtherLibrary {
        /// What it has.
        loaded: PathBuf,
        /// What was asked for.
        wanted: PathBuf,
    },
    /// The folder or file is no model that can be loaded.
    #[error("{path} cannot be loaded as a model: {reason}")]
    Model {
        /// The file or folder at fault.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The tokenizer is missing or broken.
    #[error("the tokenizer {path} cannot be used: {reason}")]
    Tokenizer {
        /// The file at fault.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The execution provider cannot be used here.
    #[error("the execution provider '{name}' is not available: {reason}")]
    Provider {
        /// Ebb's name for it.
        name: String,
        /// What is missing.
        reason: String,
        /// How to get it.
        hint: String,
    },
    /// The cap leaves no room beside the weights; ONNX Runtime would silently ignore it.
    #[error(
        "a cap of {} is below what the model needs: its weights take {}",
        format_bytes(*.limit_bytes),
        format_bytes(*.weights_bytes)
    )]
    CapBelowWeights {
        /// The cap.
        limit_bytes: u64,
        /// Held in the arena right after loading.
        weights_bytes: u64,
        /// The least cap that holds.
        needed_bytes: u64,
    },
    /// The cap was hit, the arena shrunk, and the run failed once more.
    #[error(
        "the request needs {} more at once, and the arena's cap of {} leaves {}",
        format_bytes(*.requested_bytes),
        format_bytes(*.limit_bytes),
        format_bytes(*.available_bytes)
    )]
    ArenaLimit {
        /// The cap.
        limit_bytes: u64,
        /// The one allocation that did not fit.
        requested_bytes: u64,
        /// What was left under the cap.
        available_bytes: u64,
    },
    /// The system has no memory left.
    #[error("the system has no memory left for it: {reason}")]
    OutOfMemory {
        /// What ONNX Runtime says.
        reason: String,
    },
    /// A malformed request: wrong input names, shapes, types, no texts.
    #[error("{message}")]
    Request {
        /// What is wrong.
        message: String,
        /// The field at fault.
        param: Option<String>,
        /// What to do about it.
        hint: Option<String>,
    },
    /// An option that ONNX Runtime refuses.
    #[error("ONNX Runtime refuses {key}={value}: {reason}")]
    Option {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
        /// What ONNX Runtime says.
        reason: String,
    },
    /// What the model does not offer.
    #[error("{0}")]
    Unsupported(String),
    /// Reading a file failed.
    #[error(transparent)]
    Storage(#[from] std::io::Error),
    /// Already in the form of every door.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// ONNX Runtime failed in another way.
    #[error("ONNX Runtime failed to {doing}: {source}")]
    Runtime {
        /// What it was doing.
        doing: &'static str,
        /// Its own error.
        source: ort::Error,
    },
}

fn list(tried: &[Attempt]) -> String {
    let lines: Vec<String> = tried.iter().map(ToString::to_string).collect();
    if lines.is_empty() { "nothing, no place to look was given".to_owned() } else { lines.join("; ") }
}

/// What ONNX Runtime says, without the place in its sources and its own code, which it puts before.
pub(crate) fn plain(message: &str) -> &str {
    let said = message.rsplit_once("[ONNXRuntimeError] : ").map_or(message, |(_, said)| said);
    let mut parts = said.splitn(3, " : ");
    let (code, name, rest) = (parts.next(), parts.next(), parts.next());
    let coded = code.is_some_and(|code| !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit()));
    match (coded, name, rest) {
        (true, Some(_), Some(rest)) => rest.trim(),
        _ => said.trim(),
    }
}

/// How a user gets a library.
const GET_LIBRARY: &str = "get one with `pip download --no-deps onnxruntime`, unpack the wheel (it is a zip file) and put its \
     onnxruntime/capi folder into Ebb's runtimes folder, or name the library with ORT_DYLIB_PATH; `ebb doctor` shows \
     where Ebb looks (developers: `cargo xtask setup`)";

impl Error {
    /// Puts what was being done on an error of ONNX Runtime.
    pub(crate) fn runtime<R>(doing: &'static str) -> impl FnOnce(ort::Error<R>) -> Self
    where
        ort::Error: From<ort::Error<R>>,
    {
        move |source| Self::Runtime { doing, source: source.into() }
    }

    /// A malformed request.
    pub(crate) fn request(message: impl Into<String>, param: &str) -> Self {
        Self::Request { message: message.into(), param: Some(param.to_owned()), hint: None }
    }

    /// No file of a model folder, or more than one, is the variant that was asked for.
    pub(crate) fn unknown_variant(message: impl Into<String>) -> Self {
        Self::request(message, "variant")
    }

    /// A folder or file that is no model.
    pub(crate) fn invalid_model(path: &Path, reason: impl Into<String>) -> Self {
        Self::Model { path: path.to_owned(), reason: plain(&reason.into()).to_owned(), hint: None }
    }

    /// A tokenizer that cannot be used.
    pub(crate) fn invalid_tokenizer(path: &Path, reason: impl Into<String>) -> Self {
        Self::Tokenizer { path: path.to_owned(), reason: reason.into(), hint: None }
    }

    /// Adds what to do next, to an error that has no fixed advice.
    pub(crate) fn hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Model { hint, .. } | Self::Tokenizer { hint, .. } | Self::Request { hint, .. } =
            &mut self
        {
            *hint = Some(text.into());
        }
        self
    }

    fn code(&self) -> Code {
        match self {
            Self::Library { .. } | Self::OtherLibrary { .. } => Code::RuntimeLibrary,
            Self::Model { .. } => Code::InvalidModel,
            Self::Tokenizer { .. } => Code::InvalidTokenizer,
            Self::Provider { .. } => Code::ProviderUnavailable,
            Self::CapBelowWeights { .. } => Code::CapBelowWeights,
            Self::ArenaLimit { .. } => Code::ArenaLimit,
            Self::OutOfMemory { .. } => Code::OutOfMemory,
            Self::Request { .. } => Code::InvalidRequest,
            Self::Option { .. } => Code::InvalidValue,
            Self::Unsupported(_) => Code::Unsupported,
            Self::Storage(_) => Code::Storage,
            Self::Failure(failure) => failure.code,
            Self::Runtime { .. } => Code::Internal,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(error.code(), error.to_string());
        match error {
            Error::Failure(failure) => failure,
            Error::Library { .. } => failure.hint(GET_LIBRARY),
            Error::OtherLibrary { .. } => failure.hint("restart the worker to use another library"),
            Error::Model { path, hint, .. } | Error::Tokenizer { path, hint, .. } => {
                Self { hint, ..failure.param(path.display().to_string()) }
            }
            Error::Provider { name, hint, .. } => failure.hint(hint).param(name),
            Error::CapBelowWeights { limit_bytes, weights_bytes, needed_bytes } => failure
                .hint(format!(
                    "set max_mem to at least {needed_bytes} and what requests need besides, or give the cap as \
                     working_mem, on top of the weights"
                ))
                .param("max_mem")
                .detail("limit_bytes", limit_bytes)
                .detail("weights_bytes", weights_bytes)
                .detail("needed_bytes", needed_bytes),
            Error::ArenaLimit { limit_bytes, requested_bytes, available_bytes } => failure
                .hint("send a smaller request, or load the model with a higher cap")
                .detail("limit_bytes", limit_bytes)
                .detail("requested_bytes", requested_bytes)
                .detail("available_bytes", available_bytes),
            Error::OutOfMemory { .. } => {
                failure.hint("unload a model, or cap this one with the arena option max_mem or working_mem")
            }
            Error::Request { param, hint, .. } => Self { param, hint, ..failure },
            Error::Option { key, .. } => failure.hint("`ebb options` lists what is known").param(key),
            Error::Unsupported(_) | Error::Storage(_) | Error::Runtime { .. } => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_foreign_sources_is_left_out() {
        let message = "/src/provider_bridge_ort.cc:2043 Provider& Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load \
                       libx.so: no such file\n";
        assert_eq!(plain(message), "Failed to load libx.so: no such file");
        assert_eq!(plain("Load model from a : b : c failed"), "Load model from a : b : c failed");
        assert_eq!(plain("7 : INVALID_PROTOBUF : Protobuf parsing failed."), "Protobuf parsing failed.");
    }

    #[test]
    fn every_figure_of_a_cap_reaches_the_caller() {
        let failure =
            Failure::from(Error::ArenaLimit { limit_bytes: 3, requested_bytes: 2, available_bytes: 1 });
        assert_eq!(failure.code, Code::ArenaLimit);
        let details = [("available_bytes", 1), ("limit_bytes", 3), ("requested_bytes", 2)];
        assert!(failure.details.iter().map(|(name, value)| (name.as_str(), *value)).eq(details));
    }
}
