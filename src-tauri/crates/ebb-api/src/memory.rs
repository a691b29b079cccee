//! What a loaded model holds, and how it gives it back.

use ebb_core::{
    ErrorBody, Failure, ShrinkReport,
    operations::{
        Armed, ModelState, OptionList, RuntimeOptions, SetRuntimeOption, ShrinkAllReport, ShrinkFailure,
        ShrinkRequest, Stats,
    },
};
use futures_util::future::join_all;

use crate::Host;

impl Host {
    /// A model's figures, with the last `history` samples.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotFound`], [`ebb_core::Code::NotLoaded`].
    pub async fn stats(&self, alias: &str, history: u32) -> Result<Stats, Failure> {
        let model = self.loaded(alias)?;
        let mut stats = model.stats().await?;
        stats.history = model.history(history as usize);
        stats.unloads_in_ms =
            self.unloads_in(alias).map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Ok(stats)
    }

    /// Shrinks a model's arenas now, also while it runs.
    ///
    /// # Errors
    /// As [`Self::stats`].
    pub async fn shrink(&self, alias: &str, request: ShrinkRequest) -> Result<ShrinkReport, Failure> {
        self.loaded(alias)?.shrink(request.targets).await
    }

    /// Shrinks the arenas of every model in memory now. A model that cannot be shrunk keeps no other from it.
    ///
    /// # Errors
    /// None today.
    pub async fn shrink_all(&self, request: ShrinkRequest) -> Result<ShrinkAllReport, Failure> {
        let models = self.inner.supervisor.models().into_iter();
        let loaded = models.filter(|(_, state)| *state == ModelState::Loaded);
        // At the same time: each has a process of its own.
        let shrinks = loaded.filter_map(|(alias, _)| {
            let model = self.inner.supervisor.model(&alias)?;
            let targets = request.targets.clone();
            Some(async move { (alias, model.shrink(targets).await) })
        });
        let mut report = ShrinkAllReport::default();
        for (model, shrunk) in join_all(shrinks).await {
            match shrunk {
                Ok(shrunk) => {
                    report.freed_bytes = report.freed_bytes.saturating_add(shrunk.freed_bytes);
                    report.reports.push(shrunk);
                }
                Err(failure) => {
                    report.failed.push(ShrinkFailure { model, error: ErrorBody::from(failure).error });
                }
            }
        }
        Ok(report)
    }

    /// Shrinks a model's arenas once, at the end of the next run.
    ///
    /// # Errors
    /// As [`Self::stats`].
    pub async fn shrink_after_next_run(&self, alias: &str, request: ShrinkRequest) -> Result<Armed, Failure> {
        let run = self.loaded(alias)?.shrink_after_next_run(request.targets).await?;
        Ok(Armed { model: alias.to_owned(), run })
    }

    /// The run options that hold for a model.
    ///
    /// # Errors
    /// As [`Self::stats`].
    pub async fn runtime_options(&self, alias: &str) -> Result<RuntimeOptions, Failure> {
        let options = self.loaded(alias)?.runtime_options().await?;
        Ok(RuntimeOptions { model: alias.to_owned(), options })
    }

    /// Sets a run option from the next run on; an empty value removes it. It comes back with the model after a restart.
    ///
    /// # Errors
    /// As [`Self::stats`]; [`ebb_core::Code::InvalidTarget`] and [`ebb_core::Code::InvalidValue`] for a malformed value.
    pub async fn set_runtime_option(
        &self,
        alias: &str,
        option: SetRuntimeOption,
    ) -> Result<RuntimeOptions, Failure> {
        let SetRuntimeOption { key, value } = option;
        self.loaded(alias)?.set_runtime_option(&key, &value).await?;
        if let Err(failure) = self.inner.state.set_runtime_option(alias, &key, &value) {
            tracing::warn!(model = alias, key, %failure, "a restart will not bring the run option back");
        }
        self.runtime_options(alias).await
    }

    /// Looks up options of ONNX Runtime by words; all of them where none is given.
    ///
    /// # Errors
    /// None today.
    pub async fn options(&self, words: &str) -> Result<OptionList, Failure> {
        let found = ebb_core::options::search(words);
        Ok(OptionList { options: found.into_iter().cloned().collect() })
    }
}
