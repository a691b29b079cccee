//! Logs of plugins.

use std::sync::{Arc, Weak};

use ebb_core::{
    Failure,
    operations::{PluginLog, PluginLogLine},
};
use tokio::sync::broadcast;

use crate::{Host, host::Inner};

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
        let lines = self.live_plugin(id).await?.plugin.log().follow();
        Ok(PluginLogStream { host: Arc::downgrade(&self.inner), id: id.to_owned(), lines })
    }
}

/// Lines of a plugin's log, as they come. A reader that is too slow misses some: their numbers show it.
#[derive(Debug)]
pub struct PluginLogStream {
    host: Weak<Inner>,
    id: String,
    lines: broadcast::Receiver<PluginLogLine>,
}

impl PluginLogStream {
    /// The next line; `None` once the plugin is removed or the host ends.
    pub async fn next(&mut self) -> Option<PluginLogLine> {
        loop {
            match self.lines.recv().await {
                Ok(line) => return Some(line),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                // Another version of the plugin writes on.
                Err(broadcast::error::RecvError::Closed) => {
                    self.lines = self.host.upgrade()?.plugins.live_now(&self.id)?.plugin.log().follow();
                }
            }
        }
    }
}
