//! Where answers go: JSON as it came, or text for people. Functions in the files below make text of one type each and
//! write nothing themselves.

mod author;
mod embed;
mod find;
mod generate;
mod given;
mod host;
mod info;
mod key;
mod live;
mod look;
mod model;
mod options;
mod plugin;
mod rag;
mod record;
mod shrink;
mod stats;
mod table;

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write},
};

use serde::Serialize;

use crate::{args::Global, error::Result};

pub(crate) use author::{built_plugin, checked_plugin, new_plugin, replayed_policy};
pub(crate) use embed::{embed_summary, preview, tensors_written};
pub(crate) use find::{Offer, Offers, PullReport, offers, pull_report};
pub(crate) use generate::{generate_summary, transcribe_summary, transcript};
pub(crate) use given::runtime_options;
pub(crate) use host::{doctor, estimate, host_status, login_link};
pub(crate) use key::{added_key, key_list};
pub(crate) use live::Live;
pub(crate) use look::Look;
pub(crate) use model::{load_report, model_entry, model_list, unload_report};
pub(crate) use options::{option_list, profile, profile_list};
pub(crate) use plugin::{
    consent, plugin_attachments, plugin_capabilities, plugin_entry, plugin_list, plugin_log_line,
    plugin_settings,
};
pub(crate) use rag::{citations, ingest_report, plugin_index};
pub(crate) use record::{recorded, token_counts};
pub(crate) use shrink::shrink_all_report;
pub(crate) use stats::{sample_line, shrink_report, stats};
pub(crate) use table::{Table, wrapped};

/// The standard output of a command.
pub(crate) struct Out {
    to: Box<dyn Write>,
    pub(crate) json: bool,
    pub(crate) terminal: bool,
    pub(crate) look: Look,
}

impl Out {
    pub(crate) fn stdout(global: Global) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        Self {
            to: Box::new(io::BufWriter::new(stdout)),
            json: global.json,
            terminal,
            look: Look::of(global.color, terminal),
        }
    }

    /// Text that a model wrote: in a terminal without what would move the cursor or change its colours.
    pub(crate) fn printable<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let shown = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
        if self.terminal && !text.chars().all(shown) {
            text.chars().filter(|c| shown(*c)).collect()
        } else {
            text.into()
        }
    }

    /// The answer: as JSON where that is asked for, else as `text` writes it.
    pub(crate) fn show<T: Serialize>(&mut self, answer: &T, text: impl FnOnce(&T, Look) -> String) -> Result {
        if self.json {
            serde_json::to_writer_pretty(&mut self.to, answer).map_err(io::Error::from)?;
            self.to.write_all(b"\n")?;
        } else {
            self.to.write_all(text(answer, self.look).as_bytes())?;
        }
        Ok(self.to.flush()?)
    }

    /// One answer of many: JSON on one line, or a line of text.
    pub(crate) fn line<T: Serialize>(&mut self, answer: &T, text: impl FnOnce(&T) -> String) -> Result {
        if self.json {
            serde_json::to_writer(&mut self.to, answer).map_err(io::Error::from)?;
            self.to.write_all(b"\n")?;
        } else {
            self.to.write_all(text(answer).as_bytes())?;
        }
        Ok(self.to.flush()?)
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A number and what it counts: `1 text`, `2 texts`.
pub(crate) fn counted(count: impl Into<u64>, one: &str, many: &str) -> String {
    let count = count.into();
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Says something besides the answer, on stderr.
pub(crate) fn note(text: &str) {
    // Where stderr is closed there is nobody to tell.
    let _ = io::stderr().write_all(text.as_bytes());
}
