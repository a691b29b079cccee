//! Rust client of Ebb's HTTP interface, in the same words.
