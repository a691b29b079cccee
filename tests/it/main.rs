//! End-to-end tests.

mod import;
