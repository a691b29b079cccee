//! End-to-end tests.

mod import;
mod options;
mod tidy;
