//! Ebb's figures, measured on this machine in one run: `cargo xtask bench`, or one of them by name. Times are noisy, so
//! what is compared alternates, and ratios are given with an interval.

#![expect(clippy::print_stdout, reason = "printing figures is what this is for")]

mod chats;
mod controls;
mod decode;
mod hop;
mod hosted;
mod inprocess;
mod paired;
mod peer;
mod plugins;
mod retrieval;
mod shrinking;
mod stream;
mod throughput;
mod workload;

/// Threads of every session, ours and the peer's.
const THREADS: u32 = 2;

fn main() {
    ebb_ort::prepare_process();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    for name in
        ["hop", "throughput", "shrinking", "controls", "decode", "stream", "chats", "retrieval", "plugins"]
    {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        println!("\n== {name}");
        match name {
            // In a task, as the server's handlers are.
            "hop" => runtime.block_on(async { tokio::spawn(hop::print()).await }).expect("it prints"),
            "throughput" => throughput::print(),
            "shrinking" => runtime.block_on(shrinking::print()),
            "decode" => decode::print(),
            "stream" => runtime.block_on(async { tokio::spawn(stream::print()).await }).expect("it prints"),
            "retrieval" => retrieval::print(),
            "plugins" => plugins::print(),
            "chats" => runtime.block_on(chats::print()),
            _ => controls::print(),
        }
    }
}
