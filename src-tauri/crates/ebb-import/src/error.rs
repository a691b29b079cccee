use std::{
    error::Error as _,
    io,
    path::{Path, PathBuf},
};

use ebb_core::{Code, Failure, format_bytes};

/// What the importer can take, said wherever it has to refuse.
const SUPPORTED: &str = "a safetensors folder of a BERT embedding model: config.json with \"model_type\": \"bert\", \
     absolute positions and gelu; model.safetensors; tokenizer.json; and GGUF files of Llama and Qwen 2 chat models";

/// Why an import failed. Nothing is left at the destination then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such file or folder.
    #[error("there is nothing at {}; look how it is written", .0.display())]
    Nothing(PathBuf),
    /// The source is a file that no model is made of.
    #[error(
        "{} is no model; give a GGUF file, or the folder that holds config.json, tokenizer.json and model.safetensors",
        .0.display()
    )]
    NotAFolder(PathBuf),
    /// Nothing in the folder is of a model.
    #[error(
        "{} holds no model: neither an ONNX model, nor config.json with model.safetensors, nor a GGUF file",
        .0.display()
    )]
    NoModel(PathBuf),
    /// The source is a folder with GGUF files in it.
    #[error("{} is a folder of GGUF files; give the file that is to be imported", .0.display())]
    FolderOfGguf(PathBuf),
    /// The GGUF file is damaged.
    #[error("{} is not a whole GGUF file: {reason}; download it again", path.display())]
    BrokenGguf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// The GGUF file is right, but not of a kind that is imported.
    #[error(
        "{} cannot be imported: {reason}; supported: little-endian GGUF of version 2 or 3, one file with a whole model \
         of the Llama or Qwen 2 family",
        path.display()
    )]
    UnsupportedGguf {
        /// The file.
        path: PathBuf,
        /// What it is.
        reason: String,
    },
    /// The GGUF holds a model of another family.
    #[error(
        "the GGUF's architecture {architecture} is not supported; supported: llama (Llama, Mistral, SmolLM), qwen2"
    )]
    UnsupportedGgufArchitecture {
        /// As `general.architecture` names it.
        architecture: String,
    },
    /// The source holds an ONNX model.
    #[error("{} holds an ONNX model already; it needs no import, add it with `ebb model add`", .0.display())]
    AlreadyOnnx(PathBuf),
    /// A file that the model cannot do without is missing.
    #[error("{} has no {file}; {hint}", folder.display())]
    MissingFile {
        /// The source folder.
        folder: PathBuf,
        /// The file's name.
        file: &'static str,
        /// What to do about it.
        hint: &'static str,
    },
    /// A JSON file cannot be read as what it should be.
    #[error("{} is broken; download the model again", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, column and reason.
        #[source]
        source: serde_json::Error,
    },
    /// The model is of another family.
    #[error("the architecture {architecture} is not supported; supported: {SUPPORTED}")]
    UnsupportedArchitecture {
        /// As config.json names it.
        architecture: String,
    },
    /// A setting in config.json or modules.json asks for something that the graph would not do.
    #[error("{key} is \"{value}\", which is not supported; supported: {supported}")]
    UnsupportedSetting {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The values that work.
        supported: &'static str,
    },
    /// Numbers in config.json contradict each other.
    #[error("config.json cannot be right: {0}")]
    ImpossibleConfig(String),
    /// The safetensors file is damaged.
    #[error("{} is not a whole safetensors file: {reason}; download it again", path.display())]
    BrokenWeights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The weights lack a tensor that the model's config asks for.
    #[error("{} has no tensor {name}, which its config calls for; the two do not belong together", path.display())]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// The tensor's name.
        name: String,
    },
    /// A tensor's shape contradicts the model's config.
    #[error(
        "tensor {name} has shape {actual:?}, but its config calls for {expected:?}; the two do not belong together"
    )]
    WrongShape {
        /// The tensor's name.
        name: String,
        /// By the config.
        expected: Vec<usize>,
        /// In the file.
        actual: Vec<usize>,
    },
    /// A tensor's numbers are of a type that is not converted.
    #[error("tensor {name} is of type {data_type}; supported: {supported}")]
    UnsupportedDataType {
        /// The tensor's name.
        name: String,
        /// Its type.
        data_type: String,
        /// The types that work.
        supported: &'static str,
    },
    /// Something is there already.
    #[error("{} exists and is not empty; choose another folder, or say --force to replace it", .0.display())]
    DestinationExists(PathBuf),
    /// The destination may not be written even by force.
    #[error("{} cannot be the destination: {reason}", path.display())]
    BadDestination {
        /// The destination.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// The user may not read or write there.
    #[error("no permission for {}; check who owns it", path.display())]
    Permission {
        /// The file or folder.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// No space is left.
    #[error("the disk is full while writing {}; free some space and try again", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// The model would not fit.
    #[error(
        "{} needs {} on disk, and {} are free; free some space or choose another disk",
        path.display(), format_bytes(*needed_bytes), format_bytes(*free_bytes)
    )]
    NotEnoughSpace {
        /// The destination.
        path: PathBuf,
        /// What the model takes.
        needed_bytes: u64,
        /// What is there.
        free_bytes: u64,
    },
    /// Whoever heard of its progress ended it.
    #[error("the import was cancelled; nothing was written")]
    Cancelled,
    /// What was read back is not what was written: the disk or the memory fails, or the writer is wrong.
    #[error("{} is not what was written: {reason}; check the disk and try again", path.display())]
    NotAsWritten {
        /// The file.
        path: PathBuf,
        /// The difference.
        reason: String,
    },
    /// The file system failed in another way.
    #[error("cannot read or write {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// A weight was given the wrong number of bytes: a mistake in the program that builds the model.
    #[error("weight {name} takes {expected_bytes} bytes, {actual_bytes} were written")]
    WeightLength {
        /// The weight's name.
        name: String,
        /// By its type and shape.
        expected_bytes: u64,
        /// By what was written.
        actual_bytes: u64,
    },
}

impl Error {
    /// A failure of the file system at `path`, told apart where a person can do something about it.
    pub fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Permission { path, source }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path, source },
            _ => Self::Io { path, source },
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Nothing(_)
            | Error::NotAFolder(_)
            | Error::NoModel(_)
            | Error::MissingFile { .. }
            | Error::AlreadyOnnx(_)
            | Error::Json { .. }
            | Error::ImpossibleConfig(_)
            | Error::BrokenWeights { .. }
            | Error::FolderOfGguf(_)
            | Error::BrokenGguf { .. }
            | Error::MissingTensor { .. }
            | Error::WrongShape { .. } => Code::InvalidModel,
            Error::UnsupportedGguf { .. }
            | Error::UnsupportedGgufArchitecture { .. }
            | Error::UnsupportedArchitecture { .. }
            | Error::UnsupportedSetting { .. }
            | Error::UnsupportedDataType { .. } => Code::Unsupported,
            Error::DestinationExists(_) => Code::AlreadyExists,
            Error::BadDestination { .. } => Code::InvalidValue,
            Error::Permission { .. }
            | Error::DiskFull { .. }
            | Error::NotEnoughSpace { .. }
            | Error::NotAsWritten { .. }
            | Error::Io { .. } => Code::Storage,
            Error::Cancelled => Code::Cancelled,
            Error::WeightLength { .. } => Code::Internal,
        };
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self::new(code, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_can_act_on_is_told_apart() {
        let of = |kind: io::ErrorKind| Error::io(Path::new("/models"), kind.into());
        assert!(matches!(of(io::ErrorKind::PermissionDenied), Error::Permission { .. }));
        assert!(matches!(of(io::ErrorKind::ReadOnlyFilesystem), Error::Permission { .. }));
        assert!(matches!(of(io::ErrorKind::StorageFull), Error::DiskFull { .. }));
        assert!(matches!(of(io::ErrorKind::NotFound), Error::Io { .. }));
    }

    #[test]
    fn a_failure_carries_the_whole_chain() {
        let failure = Failure::from(Error::io(Path::new("/models/a"), io::ErrorKind::StorageFull.into()));
        assert_eq!(failure.code, Code::Storage);
        assert!(
            failure.message.contains("/models/a") && failure.message.contains("no storage space"),
            "{failure}"
        );
    }
}
