//! Models from elsewhere: those that the caches of other programs hold already ([`find`]), and those of a Hub that are
//! downloaded ([`Hub`]).
//!
//! This crate must not know ONNX Runtime, nor how a model is imported, loaded or served: it finds files and fetches files.
//!
//! ```no_run
//! use ebb_hub::{Caches, Hub, Reference, find};
//!
//! # async fn shown(models: &std::path::Path) -> Result<(), ebb_hub::Error> {
//! for model in find(&Caches::from_env()).models {
//!     println!("{}: {} at {}", model.source, model.name, model.path.display());
//! }
//!
//! let hub = Hub::from_env()?;
//! let plan = hub.plan(&"hf:org/name:q4".parse::<Reference>()?, None).await?;
//! let pulled = hub.pull(&plan, models, false, &mut |at| println!("{} of {}", at.done_bytes, at.total_bytes)).await?;
//! println!("it lies in {}", pulled.folder.display());
//! # Ok(())
//! # }
//! ```

mod error;
mod find;
mod format;
mod pull;

pub use error::{Error, Missing};
pub use find::{Caches, Found, FoundModel, Skipped, Source, find};
pub use format::Format;
pub use pull::{
    Checked, Hash, Hub, Patience, Plan, PlannedFile, Progress, Pulled, PulledFile, Reference, Settings,
    Token, Work,
};
