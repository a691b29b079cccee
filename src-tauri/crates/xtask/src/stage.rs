//! Stages: a command under a heading, with the time that it took.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::failed::{Failed, Outcome, While};

/// Runs `work` under `name`, and says how long it took.
pub(crate) fn stage<T>(name: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("== {name}");
    let started = Instant::now();
    let outcome = work();
    let ending = if outcome.is_ok() { "" } else { " (failed)" };
    println!("== {name}: {:.1} s{ending}", started.elapsed().as_secs_f64());
    outcome
}

/// Runs `command` to its end, with this terminal. A failure carries the command's own exit code.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = command.status().while_doing(|| format!("could not start `{}`", line(command)))?;
    if status.success() {
        return Ok(());
    }
    let exit_code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Err(Failed { message: format!("`{}` ended with {status}", line(command)), exit_code })
}

/// Whether `command` starts and succeeds; what it prints is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The command as one would type it, for messages.
fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cargo() -> Command {
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    #[test]
    fn a_failure_carries_the_commands_own_exit_code_and_words() {
        run(cargo().arg("--version").stdout(Stdio::null())).unwrap();
        let failed = run(cargo().args(["no-such-command"]).stderr(Stdio::null())).unwrap_err();
        assert_eq!(failed.exit_code, 101);
        assert!(failed.message.contains("no-such-command"), "{}", failed.message);
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let mut missing = Command::new("ebb-no-such-program");
        assert!(!succeeds(&mut missing));
        let failed = run(&mut missing).unwrap_err();
        assert!(failed.message.starts_with("could not start `ebb-no-such-program`"), "{}", failed.message);
    }
}
