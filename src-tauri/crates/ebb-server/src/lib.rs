//! HTTP over [`ebb_api::Host`]: Ebb's own routes under `/ebb/v1`, OpenAI's dialect under `/v1`, Foundry Local's, `/metrics`,
//! and the life of the serving process. All routes are described at `/ebb/v1/openapi.json`.
//!
//! It must not know how any operation works: a route parses, calls the operation that it stands for, and answers. It
//! listens on loopback only. Every route wants the token of the endpoint file, which opens everything, or a key, which opens
//! what its scopes say. A browser gets the page of the app, where there is one, and by a link that works once a cookie.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let host = ebb_api::Host::open(ebb_core::Places::from_env()?, ebb_api::Settings::default())?;
//! let server = ebb_server::Server::bind(host, ebb_server::ServeOptions::default()).await?;
//! tracing::info!(url = server.endpoint().url, "serving");
//! let exit = server.run().await?;
//! tracing::info!(?exit, "ended");
//! # Ok(())
//! # }
//! ```

mod connections;
mod error;
mod foundry;
mod guard;
mod heap;
mod inside;
mod login;
mod metrics;
mod native;
mod openai;
mod openapi;
mod routes;
mod sent;
mod serve;
mod stream;
#[cfg(test)]
mod tests;
mod trace;
mod ui;

pub use inside::{AnswerBody, Inside};
pub use openapi::openapi_json;
pub use serve::{Exit, ServeOptions, Server, serve};
pub use ui::Page;
