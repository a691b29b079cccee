//! How a task fails: one sentence for a person, and the exit code of the step that failed.

use std::fmt::Display;

pub(crate) type Outcome<T = ()> = Result<T, Failed>;

#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) message: String,
    pub(crate) exit_code: u8,
}

impl Failed {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: 1 }
    }

    /// A command line that was not understood: exit code 2, as `cargo` has it.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: 2 }
    }
}

/// Says what was being done when something failed.
pub(crate) trait While<T> {
    fn while_doing(self, what: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: Display> While<T> for Result<T, E> {
    fn while_doing(self, what: impl FnOnce() -> String) -> Outcome<T> {
        self.map_err(|error| Failed::new(format!("{}: {error}", what())))
    }
}
