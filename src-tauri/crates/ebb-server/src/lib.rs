//! HTTP over [`ebb_api::Host`]: the control routes under `/ebb/v1`, events, and the life of the serving process.
//!
//! It must not know how any operation works: a route parses, calls the operation of the same name, and answers. It listens
//! on loopback only, and every route wants the token of the endpoint file.
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

pub use serve::{Exit, ServeOptions, Server, serve};
