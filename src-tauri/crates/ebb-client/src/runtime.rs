//! What can be done to a loaded model: its memory, and the options of its runs.

use ebb_core::{
    Sample, ShrinkReport, Target,
    operations::{Armed, RuntimeOptions, SetRuntimeOption, ShrinkRequest, Stats},
};

use crate::{Client, Error};

/// A loaded model's memory and run options.
#[derive(Debug, Clone)]
pub struct Runtime {
    client: Client,
    alias: String,
}

impl Runtime {
    pub(crate) fn new(client: Client, alias: String) -> Self {
        Self { client, alias }
    }

    /// Gives the arenas' free memory back now, also while a run goes on. `None`: every arena.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn shrink_arena(&self, targets: Option<Vec<Target>>) -> Result<ShrinkReport, Error> {
        self.post("shrink", &ShrinkRequest { targets }).await
    }

    /// Gives it back once, when the next run has ended and its answer is out.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn shrink_after_next_run(&self, targets: Option<Vec<Target>>) -> Result<Armed, Error> {
        self.post("shrink-after-next-run", &ShrinkRequest { targets }).await
    }

    /// Sets a run option for the requests that follow; an empty value removes it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_option(&self, key: &str, value: &str) -> Result<RuntimeOptions, Error> {
        let body = SetRuntimeOption { key: key.to_owned(), value: value.to_owned() };
        self.post("runtime-options", &body).await
    }

    /// Run options that hold.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn options(&self) -> Result<RuntimeOptions, Error> {
        self.client.get(&["models", &self.alias, "runtime-options"], &[]).await
    }

    /// What the model holds now, and its counters since load.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn stats(&self) -> Result<Stats, Error> {
        self.client.get(&["models", &self.alias, "stats"], &[]).await
    }

    /// As [`Runtime::stats`], with the last samples.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn stats_with_history(&self, samples: u32) -> Result<Stats, Error> {
        let samples = samples.to_string();
        self.client.get(&["models", &self.alias, "stats"], &[("history", &samples)]).await
    }

    /// The last samples that the host took, oldest first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn history(&self, samples: u32) -> Result<Vec<Sample>, Error> {
        Ok(self.stats_with_history(samples).await?.history)
    }

    async fn post<T: serde::de::DeserializeOwned>(
        &self,
        route: &str,
        body: &impl serde::Serialize,
    ) -> Result<T, Error> {
        self.client.post(&["models", &self.alias, route], body).await
    }
}
