//! The worker program: one process, one model.

fn main() {}
