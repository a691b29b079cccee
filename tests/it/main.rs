//! End-to-end tests.

mod cli;
mod embed;
mod import;
mod options;
mod server;
mod tensors;
mod tidy;
