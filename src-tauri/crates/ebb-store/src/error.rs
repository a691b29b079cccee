//! How a store fails.

use std::{fmt, io, path::PathBuf};

use ebb_core::{Code, Failure, format_bytes};

/// How a store fails. Whatever it says, nothing that was committed is lost.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be made.
    #[error("the store {} cannot be opened: {source}", path.display())]
    File {
        /// The store's file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file cannot be opened, read or written.
    #[error("the store {} failed: {source}", path.display())]
    Storage {
        /// The store's file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
    /// The disk has no room left.
    #[error("the disk is full: the store {} cannot grow", path.display())]
    DiskFull {
        /// The store's file.
        path: PathBuf,
    },
    /// Another program writes to it and does not end.
    #[error("the store {} is in use by another program", path.display())]
    InUse {
        /// The store's file.
        path: PathBuf,
    },
    /// The file is something else than a store of Ebb. It was left as it is.
    #[error("{} is not a plugin's store", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged. It was left as it is.
    #[error("the store {} is damaged: {source}", path.display())]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What SQLite found.
        #[source]
        source: rusqlite::Error,
    },
    /// A newer Ebb wrote it. It was left as it is.
    #[error("the store {} has version {found}, this Ebb knows up to {known}", path.display())]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// The file's version.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// The quota is used up.
    #[error(
        "the store's quota of {} is used up: {} are in use, {} more were needed",
        format_bytes(*quota_bytes), format_bytes(*used_bytes), format_bytes(*needed_bytes)
    )]
    Quota {
        /// What the plugin may keep.
        quota_bytes: u64,
        /// What it keeps, staged chunks included.
        used_bytes: u64,
        /// What it wanted to keep besides; an estimate.
        needed_bytes: u64,
    },
    /// A name, key, id or the like is too short, too long or has characters that it must not have.
    #[error("{what} {reason}")]
    Name {
        /// What it names.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A single text, metadata or value is too large.
    #[error("{what} has {}, and at most {} are taken", format_bytes(*found_bytes), format_bytes(*most_bytes))]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        found_bytes: u64,
        /// The largest.
        most_bytes: u64,
    },
    /// There are as many collections as a store can have.
    #[error("the store has {0} collections already, the most that it can have")]
    TooManyCollections(u32),
    /// A collection of such vectors cannot be.
    #[error("vectors of {0} numbers cannot be kept: 1 to {max} can", max = crate::MAX_DIMENSIONS)]
    Dimensions(u32),
    /// The collection holds vectors of another length: those of another model.
    #[error("the collection '{collection}' holds vectors of {held} numbers, and {given} were asked for")]
    OtherDimensions {
        /// Its name.
        collection: String,
        /// The length of its vectors.
        held: u32,
        /// The length that was asked for.
        given: u32,
    },
    /// Not one vector a chunk, or a query's vector of another length.
    #[error("{vectors} vectors of {dimensions} numbers are needed, which makes {needed}; {given} were given",
        needed = *vectors as u64 * u64::from(*dimensions))]
    VectorLength {
        /// How many vectors are needed.
        vectors: usize,
        /// The length of the collection's vectors.
        dimensions: u32,
        /// How many numbers were given.
        given: usize,
    },
    /// A vector that has no direction.
    #[error("vector {index} {flaw}")]
    Vector {
        /// Which, from 0.
        index: usize,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// The metadata of a chunk is something else than a JSON object.
    #[error("the metadata of chunk '{}' is not a JSON object", chunk.escape_debug())]
    Metadata {
        /// The chunk's id.
        chunk: String,
    },
    /// The query has neither a text nor a vector.
    #[error("the query has neither a text nor a vector")]
    EmptyQuery,
    /// The document was staged through another handle, and nothing of it through this one: a commit would empty it.
    #[error("'{}' was staged through another handle on the collection", document.escape_debug())]
    OtherHandle {
        /// The document's name.
        document: String,
    },
    /// The collection was removed while the handle was open.
    #[error("the collection '{0}' was removed")]
    Gone(String),
}

/// Why a vector has no direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// It holds NaN or infinity.
    NotFinite,
    /// It is zero throughout.
    Zero,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "holds a number that is not finite",
            Self::Zero => "is zero throughout",
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(code(&error), error.to_string());
        match error {
            Error::File { .. } | Error::Storage { .. } => {
                failure.hint("see that the disk and the folder can be written")
            }
            Error::DiskFull { .. } => failure.hint("make room on the disk"),
            Error::InUse { .. } => failure.hint("end the other program, or try again"),
            Error::Foreign { .. } | Error::Damaged { .. } => {
                failure.hint("move the file away: the plugin then begins with an empty store")
            }
            Error::Newer { .. } => {
                failure.hint("update Ebb, or move the file away to begin with an empty store")
            }
            Error::Quota { quota_bytes, used_bytes, needed_bytes } => failure
                .hint("remove documents, or raise the plugin's limit `store_bytes`")
                .detail("quota_bytes", quota_bytes)
                .detail("used_bytes", used_bytes)
                .detail("needed_bytes", needed_bytes),
            Error::TooLarge { found_bytes, most_bytes, .. } => failure
                .hint("keep it in several pieces")
                .detail("found_bytes", found_bytes)
                .detail("most_bytes", most_bytes),
            Error::TooManyCollections(_) => failure.hint("remove a collection that is no longer needed"),
            Error::OtherDimensions { .. } => failure
                .hint("use the model that filled it, or remove the collection and ingest again")
                .param("dimensions"),
            Error::Dimensions(_) => failure.param("dimensions"),
            Error::VectorLength { .. } | Error::Vector { .. } => failure.param("vectors"),
            Error::Metadata { .. } => failure.hint("`{}` is the empty one").param("metadata"),
            Error::EmptyQuery => failure.param("query"),
            Error::OtherHandle { .. } => {
                failure.hint("stage and commit through one handle").param("document")
            }
            Error::Gone(_) => failure.hint("open it again: it is then empty"),
            Error::Name { .. } => failure,
        }
    }
}

fn code(error: &Error) -> Code {
    match error {
        Error::File { .. }
        | Error::Storage { .. }
        | Error::DiskFull { .. }
        | Error::Foreign { .. }
        | Error::Damaged { .. }
        | Error::Quota { .. } => Code::Storage,
        Error::InUse { .. } => Code::Busy,
        Error::Newer { .. } => Code::Unsupported,
        Error::TooLarge { .. } => Code::TooLarge,
        Error::Gone(_) => Code::NotFound,
        Error::OtherDimensions { .. } | Error::OtherHandle { .. } => Code::Conflict,
        Error::Name { .. } | Error::Dimensions(_) | Error::Vector { .. } | Error::Metadata { .. } => {
            Code::InvalidValue
        }
        Error::TooManyCollections(_) | Error::VectorLength { .. } | Error::EmptyQuery => Code::InvalidRequest,
    }
}

/// What work on the database fails with, before it is told with the file's name: SQLite's own errors, or ours.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Told(Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Told(error)
    }
}
