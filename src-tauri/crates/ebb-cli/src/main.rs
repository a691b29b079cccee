//! The program `ebb`.

fn main() {}
