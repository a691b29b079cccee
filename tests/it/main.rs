//! End-to-end tests.

mod import;
mod tidy;
