//! `cargo xtask`: gets what is missing, builds, runs the main job, the tests, the benchmarks and the checks.
//!
//! It has no dependencies, so that it is built in a moment. What it fetches is pinned in `pins.rs`; how, is in
//! `fetch.rs`; where it lies, in `cache.rs`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that a person reads in a terminal")]

mod bench;
mod bundle;
mod cache;
mod check;
mod debian;
mod failed;
mod fetch;
mod guests;
mod launch;
mod models;
mod node;
mod peers;
mod pins;
mod python;
mod stage;
mod tasks;
mod ui;

use std::process::ExitCode;

use failed::{Failed, Outcome};

const HELP: &str = "\
Usage: cargo xtask COMMAND [-- ARGUMENTS]

Commands:
  run       get what is missing, build in release, open the app    (arguments go to the app)
            without a display: serve its page for a browser        (arguments go to `ebb server run --ui`)
  demo      the same, then the demo in this terminal               (arguments go to `ebb demo`)
  test      get what is missing, run every test                    (arguments go to `cargo test`)
  ui        of the tests only those of the app's page              (arguments go to Playwright)
  setup     only get what is missing: ONNX Runtime and the models
  peers     get programs that others wrote, try Ebb with them      (arguments go to `cargo test`)
  bench     get what is missing, run the benchmarks                (arguments name some; `desktop` is the app)
  bundle    make the packages that install the app; with `try`, also install, start and remove them in a clean root
  check     formatting, lints, licences, documentation, bindings
  bindings  write what the app's page knows of the routes
  help      this text

Downloads come from the package index that pip is set up for, for the page from the registry that npm is set up for.
Each is verified by its hash and fetched once. What the app needs of Debian and its like, apt-get installs for root;
others are told its names.

Environment:
  EBB_CACHE        the cache folder; else `cache` in EBB_HOME, else `ebb` in the platform's cache folder
  ORT_DYLIB_PATH   an ONNX Runtime library of your own, to use instead of the pinned one
  EBB_CHROMIUM     the browser that the page is tested in, where it is not Debian's
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
    let takes_arguments = matches!(command, "run" | "demo" | "test" | "ui" | "peers" | "bench" | "bundle");
    if let (false, Some(extra)) = (takes_arguments, rest.first()) {
        return Err(Failed::usage(format!("`{command}` takes no arguments, but got `{extra}`")));
    }
    match command {
        "run" => launch::launch(rest),
        "demo" => tasks::demo(rest),
        "test" => tasks::test(rest),
        "ui" => tasks::ui(rest),
        "setup" => tasks::setup(),
        "peers" => tasks::peers(rest),
        "bench" => bench::bench(rest),
        "bundle" => bundle::bundle(rest),
        "check" => check::check(),
        "bindings" => tasks::bindings(),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(Failed::usage(format!("no command `{other}`: `cargo xtask help` lists them"))),
    }
}
