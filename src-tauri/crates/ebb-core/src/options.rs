//! Options are strings that are understood: as typed ([`Requested`]) → as meant ([`Plan`]) → as it is ([`OptionLine`],
//! with `effective` filled in once the session is there). Conversion to a plan is the only place that validates. Any key
//! is forwarded; what is unknown is said, never refused.

mod catalogue;
mod plan;
mod provider;
mod requested;

pub use catalogue::{CatalogueEntry, ValueType, catalogue, find, nearest, search};
pub use plan::{
    ArenaPlan, ExtendStrategy, Plan, ProviderPlan, SHRINK_KEY, SessionPlan, judge_run_option, plan,
};
pub use provider::{Provider, provider_name};
pub use requested::{OptionLine, Requested, Scope};
