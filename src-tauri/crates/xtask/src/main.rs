//! Set-up, the main job, tests and benchmarks: `cargo xtask`.

fn main() {}
