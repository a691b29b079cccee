//! The machine, the host's log, and every model at once.

use ebb_core::{
    Target,
    operations::{HostLog, HostLogLine, ShrinkAllReport, ShrinkRequest, System},
};
use futures_util::stream;
use reqwest::Method;

use crate::{Client, Error, EventStream, Pieces, plugin::next_line};

impl Client {
    /// The machine: memory, devices, runtimes, what each model holds. With `folders` also the sizes of Ebb's folders, which
    /// takes the host a while.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn system(&self, folders: bool) -> Result<System, Error> {
        let query: &[(&str, &str)] = if folders { &[("folders", "true")] } else { &[] };
        self.get(&["system"], query).await
    }

    /// Gives the free memory of every model in memory back now. `None`: every arena.
    ///
    /// # Errors
    /// See [`Error`]; a model that cannot be shrunk stands in the report.
    pub async fn shrink_all(&self, targets: Option<Vec<Target>>) -> Result<ShrinkAllReport, Error> {
        self.post(&["models", "shrink-all"], &ShrinkRequest { targets }).await
    }

    /// As [`Client::events`], after the last `history` events that the host keeps (at most 2,000): nothing is left out
    /// between them, and nothing told twice.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn events_from(&self, history: u32, model: Option<&str>) -> Result<EventStream, Error> {
        let history = history.to_string();
        let mut query = vec![("history", history.as_str())];
        query.extend(model.map(|alias| ("model", alias)));
        let response = self.send(self.request(Method::GET, &["events"], &query)?).await?;
        Ok(EventStream::new(self.lines(response)))
    }

    /// The last lines of the host's own log.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn log(&self, lines: u32) -> Result<HostLog, Error> {
        self.get(&["log"], &[("lines", &lines.to_string())]).await
    }

    /// The last lines of the host's own log, and those that come, until the host ends.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn follow_log(&self, lines: u32) -> Result<Pieces<HostLogLine>, Error> {
        let query = [("lines", &*lines.to_string()), ("follow", "true")];
        let response = self.send(self.request(Method::GET, &["log"], &query)?).await?;
        Ok(Pieces::new(stream::try_unfold(self.lines(response), next_line)))
    }
}
