//! What every plugin may do: log, read its settings, tell its progress, ask the time.

use std::fmt;

use crate::backend;
pub use crate::bindings::plugin_host::Level;

/// Writes a line into the plugin's log; the macros [`trace!`](crate::trace), [`debug!`](crate::debug), [`info!`](crate::info), [`warn!`](crate::warn) and
/// [`error!`](crate::error) call it. Long lines are cut by the host, floods dropped and counted.
pub fn log(level: Level, line: fmt::Arguments<'_>) {
    match line.as_str() {
        Some(line) => backend::log(level, line),
        None => backend::log(level, &line.to_string()),
    }
}

/// Tells whoever waits for the call how far it is, 0 to 1, and what is being done.
pub fn progress(fraction: f32, message: &str) {
    backend::progress(fraction.clamp(0.0, 1.0), message);
}

/// Milliseconds since 1970. There is no finer clock.
pub fn now_ms() -> u64 {
    backend::now_ms()
}

/// Writes a line for the plugin's author into its log, as `format!` does.
#[macro_export]
macro_rules! trace {
    ($($line:tt)*) => { $crate::log($crate::Level::Trace, ::core::format_args!($($line)*)) };
}

/// Writes a line for the plugin's author into its log, as `format!` does.
#[macro_export]
macro_rules! debug {
    ($($line:tt)*) => { $crate::log($crate::Level::Debug, ::core::format_args!($($line)*)) };
}

/// Writes what the plugin did into its log, as `format!` does.
#[macro_export]
macro_rules! info {
    ($($line:tt)*) => { $crate::log($crate::Level::Info, ::core::format_args!($($line)*)) };
}

/// Writes what a person should look at into the plugin's log, as `format!` does.
#[macro_export]
macro_rules! warn {
    ($($line:tt)*) => { $crate::log($crate::Level::Warn, ::core::format_args!($($line)*)) };
}

/// Writes what failed into the plugin's log, as `format!` does.
#[macro_export]
macro_rules! error {
    ($($line:tt)*) => { $crate::log($crate::Level::Error, ::core::format_args!($($line)*)) };
}
