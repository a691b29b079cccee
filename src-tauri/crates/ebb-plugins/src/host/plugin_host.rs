//! Logging, settings, progress, the time: what every plugin may do.

use ebb_core::operations::{LogLevel, PluginProgress};
use wasmtime::component::{HasSelf, Linker};

use crate::{
    bindings::plugin_host::{self, Host, Level},
    grants::now_ms,
    guest::Guest,
};

/// Longest text that goes with progress, in characters.
const MAX_MESSAGE: usize = 200;

impl Host for Guest {
    fn log(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        self.limiter.count_host_call()?;
        let level = match level {
            Level::Trace => LogLevel::Trace,
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        self.plugin.log.line(level, self.about(), &message);
        Ok(())
    }

    fn setting(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        self.limiter.count_host_call()?;
        Ok(self.plugin.setting(&name))
    }

    fn progress(&mut self, fraction: f32, message: String) -> wasmtime::Result<()> {
        self.limiter.count_host_call()?;
        if let Some(tell) = &mut self.call.progress {
            let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
            let message: String = message.chars().filter(|c| !c.is_control()).take(MAX_MESSAGE).collect();
            self.call.at.clone_from(&message);
            tell(PluginProgress { fraction, message });
        }
        Ok(())
    }

    fn now_ms(&mut self) -> wasmtime::Result<u64> {
        self.limiter.count_host_call()?;
        Ok(now_ms())
    }
}

/// Offers it.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    plugin_host::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}
