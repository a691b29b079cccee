//! End-to-end tests.

mod embed;
mod import;
mod options;
mod tensors;
mod tidy;
