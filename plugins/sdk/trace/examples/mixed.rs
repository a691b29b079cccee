//! Writes the short mixed workload: `cargo run -p ebb-trace --example mixed > traces/mixed.jsonl`.

fn main() -> Result<(), ebb_trace::Error> {
    ebb_trace::Workload::SHORT.trace().write(std::io::stdout().lock())
}
