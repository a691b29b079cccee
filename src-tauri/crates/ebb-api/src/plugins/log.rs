//! Logs of plugins.

use ebb_core::{
    Failure,
    operations::{PluginLog, PluginLogLine},
};
use tokio::sync::broadcast;

use crate::Host;

impl Host {
    /// The last lines of a plugin's log, oldest first.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotFound`]; why the plugin cannot be used.
    pub async fn plugin_log(&self, id: &str, lines: u32) -> Result<PluginLog, Failure> {
        Ok(PluginLog { lines: self.live_plugin(id).await?.plugin.log().tail(lines as usize) })
    }

    /// The lines of a plugin's log from now on.
    ///
    /// # Errors
    /// As [`Self::plugin_log`].
    pub async fn follow_plugin_log(&self, id: &str) -> Result<PluginLogStream, Failure> {
        Ok(PluginLogStream(self.live_plugin(id).await?.plugin.log().follow()))
    }
}

/// Lines of a plugin's log, as they come. A reader that is too slow misses some: their numbers show it.
#[derive(Debug)]
pub struct PluginLogStream(broadcast::Receiver<PluginLogLine>);

impl PluginLogStream {
    /// The next line; `None` once the plugin is removed.
    pub async fn next(&mut self) -> Option<PluginLogLine> {
        loop {
            match self.0.recv().await {
                Ok(line) => return Some(line),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}
