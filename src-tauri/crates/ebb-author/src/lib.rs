//! What an author of a plugin needs: [`new`] begins one, [`build`] makes a component of it, [`check`] looks it over, and
//! [`test`](fn@test) replays a recording through it.
//!
//! No host is needed, and none is known here: components run in the sandbox of [`ebb_plugins`], recordings are those of
//! [`ebb_trace`]. The SDK and the contract are embedded, so that a folder that [`new`] writes needs nothing of this repository.
//!
//! ```
//! use ebb_author::{Lang, NewPlugin};
//!
//! let home = tempfile::tempdir()?;
//! let folder = home.path().join("quiet-hours");
//! ebb_author::new(&NewPlugin {
//!     name: "quiet-hours".into(),
//!     world: ebb_core::PluginWorld::ShrinkPolicy,
//!     lang: Lang::Python,
//!     folder: Some(folder.clone()),
//! })?;
//! let checked = ebb_author::check(&folder)?;
//! assert!(checked.problems.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod check;
mod error;
mod files;
mod folder;
mod new;
mod replay;

pub use build::{BuildReport, build};
pub use check::{CheckReport, Remark, RemarkCode, check};
pub use error::Error;
pub use folder::Lang;
pub use new::{NewPlugin, NewReport, new};
pub use replay::{How, Promised, ReplayReport, replay, test};
