//! Imports of small random models: what comes out, and what is refused how.

#![expect(clippy::unwrap_used, reason = "a test whose scene cannot be set has failed")]

mod destination;
mod made;
mod refused;
mod scene;
