//! Options are strings that are understood: as typed ([`Requested`]) → as meant ([`Plan`]) → as it is ([`OptionLine`],
//! with `effective` filled in once the session is there). Conversion to a plan is the only place that validates. Any key
//! is forwarded; what is unknown is said, never refused.

mod arena;
mod catalogue;
mod check;
mod markdown;
mod nearest;
mod plan;
mod provider;
mod requested;
mod resolve;
mod review;
mod run;
mod translate;
mod typed;

pub use catalogue::{CatalogueEntry, ValueType, catalogue, find, search};
pub use markdown::markdown;
pub use nearest::nearest;
pub use plan::{ArenaPlan, ExtendStrategy, Plan, ProviderPlan, SessionPlan, plan};
pub use provider::{Provider, provider_name};
pub use requested::{OptionLine, Requested, Scope};
pub(crate) use resolve::canonical;
pub use review::{Review, review};
pub use run::{SHRINK_KEY, judge_run_option};
