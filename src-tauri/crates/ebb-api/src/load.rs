//! Loading and unloading. For each model one at a time: of two callers that want the same, the first loads and the second
//! finds it loaded. An unload waits for no load: those that were asked for before it are given up.

use std::{future::ready, time::Instant};

use ebb_core::{
    Code, EventKind, Failure, LoadOptions, LoadSpec,
    operations::{LoadReport, UnloadReport},
};
use ebb_host::ModelHandle;

use crate::{
    Host,
    estimate::{self, estimate},
    host::failed_task,
    models::Added,
    plugins::Policies,
    state::Remembered,
    turn::{GivenUp, Pending},
};

impl Host {
    /// Loads a model with these options, laid over the profile that they name. Where it is loaded with the same options
    /// already, that is the answer; with others it is loaded anew if `force` is set,
    /// and the run options that were set since stay, but for those that these name otherwise.
    ///
    /// The load goes on if the caller leaves; [`Self::unload`] makes it give up.
    ///
    /// # Errors
    /// [`Code::NotFound`] for the model or the profile; [`Code::Conflict`] where it is loaded with other options;
    /// [`Code::Cancelled`] where it is unloaded meanwhile; what keeps the model from loading.
    pub async fn load(&self, alias: &str, options: LoadOptions, force: bool) -> Result<LoadReport, Failure> {
        let wanted = Remembered { loaded: true, options, ..Remembered::default() };
        self.load_in_turn(alias, wanted, force).await
    }

    /// Unloads a model: its worker ends and all its memory comes back. A load that goes on is given up. The options are
    /// kept for the next request for it.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::NotLoaded`].
    pub async fn unload(&self, alias: &str) -> Result<UnloadReport, Failure> {
        self.added(alias)?;
        let began = Instant::now();
        let was_loading = self.turn(alias).give_up_loads();
        let unloaded = self.unload_in_turn(alias, |_| true).await?;
        unloaded.or_else(|| was_loading.then(|| only_loading(alias, began))).ok_or_else(|| {
            // Its hint is for those who want it loaded.
            Failure { hint: None, ..not_loaded(alias) }
        })
    }

    /// Unloads a model in its turn, if that is still `wanted` by then; `None` where it is not, or was not in memory.
    pub(crate) async fn unload_in_turn(
        &self,
        alias: &str,
        wanted: impl FnOnce(&Self) -> bool + Send + 'static,
    ) -> Result<Option<UnloadReport>, Failure> {
        let (host, alias) = (self.clone(), alias.to_owned());
        let turn = host.turn(&alias);
        // A task of its own: it goes on if the caller leaves.
        let unloading = tokio::spawn(async move {
            let _turn = turn.take().await;
            if !wanted(&host) {
                return Ok(None);
            }
            let mut report = if host.is_in_memory(&alias) {
                Some(host.inner.supervisor.unload(&alias).await?)
            } else {
                None
            };
            host.inner.kept.forget(&alias);
            // Where it was not in memory, it may have been about to come back.
            let saved = host.inner.state.set_unloaded(&alias);
            if let (Some(report), Err(failure)) = (&mut report, &saved) {
                tracing::warn!(model = alias, %failure, "a restart will load it again");
                report.warnings.push(format!("a restart will load it again: {failure}"));
            }
            if report.is_none() {
                saved?;
            }
            Ok(report)
        });
        unloading.await.map_err(failed_task)?
    }

    /// The model, loaded with the options that it last had if it is not in memory.
    pub(crate) async fn on_demand(&self, alias: &str) -> Result<ModelHandle, Failure> {
        self.added(alias)?;
        self.settled(alias).await;
        if let Some(model) = self.serving(alias) {
            return Ok(model);
        }
        let last = Remembered { loaded: true, ..self.inner.state.of(alias) };
        tracing::info!(model = alias, "loading on demand");
        match self.load_in_turn(alias, last, false).await {
            // Another caller loaded it meanwhile, with options of its own: they serve as well.
            Err(failure) if failure.code == Code::Conflict && self.serving(alias).is_some() => {}
            loaded => drop(loaded?),
        }
        self.loaded(alias)
    }

    /// A worker that has just ended is no longer taken for one that serves.
    async fn settled(&self, alias: &str) {
        if let Some(model) = self.inner.supervisor.model(alias) {
            model.settled().await;
        }
    }

    /// The model, if it is in memory; where its worker does not serve, its operations say why.
    pub(crate) fn loaded(&self, alias: &str) -> Result<ModelHandle, Failure> {
        self.added(alias)?;
        self.inner.supervisor.model(alias).ok_or_else(|| not_loaded(alias))
    }

    /// Loads again what was loaded when the last host ended, one after the other. What fails is logged and shown with the
    /// model; it stays remembered, so that the next start tries again.
    pub(crate) async fn bring_back(self) {
        for alias in self.inner.state.loaded() {
            let remembered = self.inner.state.of(&alias);
            if self.check_open().is_err() {
                return;
            }
            if remembered.loaded
                && let Err(failure) = self.load_in_turn(&alias, remembered, false).await
            {
                tracing::error!(model = alias, code = %failure.code, error = %failure, "could not be brought back");
            }
        }
    }

    async fn load_in_turn(
        &self,
        alias: &str,
        wanted: Remembered,
        force: bool,
    ) -> Result<LoadReport, Failure> {
        self.added(alias)?;
        let (host, alias) = (self.clone(), alias.to_owned());
        let turn = host.turn(&alias);
        let mut pending = turn.pending();
        // A task of its own: others may wait for this load, and the state must tell what came of it.
        let loading = tokio::spawn(async move {
            let _turn = turn.take().await;
            let report = host.load_now(&alias, wanted, force, &mut pending).await;
            host.note_failure(&alias, report.as_ref().err());
            report
        });
        loading.await.map_err(failed_task)?
    }

    async fn load_now(
        &self,
        alias: &str,
        mut wanted: Remembered,
        force: bool,
        pending: &mut Pending,
    ) -> Result<LoadReport, Failure> {
        self.check_open()?;
        // Before anything else: an unload may have come while this load waited.
        pending.unless_given_up(ready(())).await.map_err(|GivenUp| self.given_up())?;
        let added = self.added(alias)?;
        let as_asked = self.inner.profiles.resolve(wanted.options.clone())?;
        let mut former = None;
        self.settled(alias).await;
        if let Some(model) = self.serving(alias) {
            let remembered = self.inner.state.of(alias);
            let current = self.inner.profiles.resolve(remembered.options.clone())?;
            if current == as_asked {
                return pending
                    .unless_given_up(loaded_already(&model))
                    .await
                    .map_err(|GivenUp| self.given_up())?;
            }
            if !force {
                return Err(loaded_otherwise(alias, &current, &as_asked));
            }
            wanted.runtime_options = remembered.standing_under(&wanted.options);
            former = Some(remembered);
        }
        let options = self.inner.profiles.resolve(wanted.clone().into_options())?;
        if self.is_in_memory(alias) {
            self.inner.supervisor.unload(alias).await?;
        }
        let mut report = match (self.start(alias, &added, options, pending).await, former) {
            (Ok(report), _) => report,
            (Err(failure), Some(former)) if failure.code != Code::Cancelled => {
                return Err(self.put_back(alias, &added, former, pending, failure).await);
            }
            (Err(failure), _) => return Err(failure),
        };
        let options = wanted.options.clone();
        let are_others = options != self.inner.state.of(alias).options;
        match self.inner.state.set_loaded(alias, wanted) {
            Ok(()) if are_others => {
                self.inner.supervisor.tell(alias, EventKind::LoadOptions { options: Box::new(options) });
            }
            Ok(()) => {}
            Err(failure) => {
                tracing::warn!(model = alias, %failure, "a restart will not bring it back");
                report.warnings.push(format!("a restart will not bring it back: {failure}"));
            }
        }
        Ok(report)
    }

    /// Starts the worker of a model that is not in memory.
    async fn start(
        &self,
        alias: &str,
        added: &Added,
        options: LoadOptions,
        pending: &mut Pending,
    ) -> Result<LoadReport, Failure> {
        // An estimate never blocks, not even by failing.
        let expected = estimate(alias, added, &options, None).ok();
        // Dropped where it is given up: that ends the worker.
        let loading = async {
            let Policies { policies, composed_of } = self.policies_for(alias, &options).await;
            let spec = self.load_spec(alias, added.clone(), options);
            let report = self.inner.supervisor.load(spec, policies).await?;
            self.catch_up(alias, &composed_of).await;
            Ok::<_, Failure>(report)
        };
        let loaded = pending.unless_given_up(loading).await.map_err(|GivenUp| self.given_up()).flatten();
        let mut report = loaded.inspect_err(|_| self.inner.plugins.not_loaded(alias))?;
        report.warnings.splice(0..0, expected.as_ref().and_then(estimate::warning));
        Ok(report)
    }

    /// Loads a model again as it was before a forced load of it failed; the failure then says what came of that.
    async fn put_back(
        &self,
        alias: &str,
        added: &Added,
        former: Remembered,
        pending: &mut Pending,
        mut failure: Failure,
    ) -> Failure {
        tracing::warn!(model = alias, %failure, "loading it again with its former options");
        let again = match self.inner.profiles.resolve(former.into_options()) {
            Ok(options) => self.start(alias, added, options, pending).await.map(drop),
            Err(failure) => Err(failure),
        };
        let outcome = match again {
            Ok(()) => "the model is loaded again with its former options".to_owned(),
            Err(again) => {
                tracing::error!(model = alias, failure = %again, "it does not load with its former options either");
                format!("the model is not loaded now: with its former options it failed too: {again}")
            }
        };
        failure.hint = Some(match failure.hint.take() {
            Some(hint) => format!("{hint}; {outcome}"),
            None => outcome,
        });
        failure
    }

    /// Why a load was given up.
    fn given_up(&self) -> Failure {
        self.check_open().err().unwrap_or_else(|| {
            Failure::new(Code::Cancelled, "the load was given up because the model was unloaded")
                .hint("load it again if you still want it")
                .param("model")
        })
    }

    fn load_spec(&self, alias: &str, added: Added, options: LoadOptions) -> LoadSpec {
        LoadSpec {
            alias: alias.to_owned(),
            path: added.path,
            options,
            runtime_library: self.inner.settings.runtime_library.clone(),
            runtime_folders: self.inner.places.runtime_folders(),
        }
    }
}

/// The report on a model that was unloaded before it was in memory.
fn only_loading(alias: &str, began: Instant) -> UnloadReport {
    tracing::info!(model = alias, "unloaded while it was loading");
    UnloadReport {
        model: alias.to_owned(),
        freed_bytes: 0,
        // It was killed; nobody waited to see it gone.
        worker_gone: false,
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        warnings: vec!["it was still loading: the load was given up and its worker killed".to_owned()],
    }
}

async fn loaded_already(model: &ModelHandle) -> Result<LoadReport, Failure> {
    Ok(LoadReport {
        info: model.info(),
        sample: model.sample().await?,
        already_loaded: true,
        warnings: Vec::new(),
    })
}

fn loaded_otherwise(alias: &str, current: &LoadOptions, asked: &LoadOptions) -> Failure {
    let differing = differing(current, asked).join(", ");
    Failure::new(Code::Conflict, format!("'{alias}' is loaded with other options ({differing})"))
        .hint("unload it first, or force the load: --force, ?force=true")
        .param("options")
}

/// Names of the fields that differ.
fn differing(one: &LoadOptions, other: &LoadOptions) -> Vec<String> {
    let fields = |options| match serde_json::to_value(options) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let other = fields(other);
    fields(one)
        .into_iter()
        .filter(|(name, value)| other.get(name) != Some(value))
        .map(|(name, _)| name)
        .collect()
}

pub(crate) fn not_loaded(alias: &str) -> Failure {
    Failure::new(Code::NotLoaded, format!("'{alias}' is not loaded"))
        .hint(format!("load it first: `ebb model load {alias}`"))
        .param("model")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host with a model `m` whose worker never says a word: `sort` waits for the end of its input.
    fn host_that_loads_forever(folder: &tempfile::TempDir) -> Host {
        let places = ebb_core::Places { home: folder.path().into(), cache: folder.path().into() };
        let settings = crate::Settings { worker_program: Some("sort".into()), ..crate::Settings::default() };
        let host = Host::open(places, settings).unwrap();
        host.inner.catalogue.update(|catalogue| catalogue.add("m", added())).unwrap();
        host
    }

    fn added() -> Added {
        Added { path: "/m".into(), kind: ebb_core::ModelKind::Embeddings, weights_bytes: 1 }
    }

    /// A load of `m` that has begun.
    async fn begun(host: &Host) -> tokio::task::JoinHandle<Result<LoadReport, Failure>> {
        let mut events = host.events();
        let loading = tokio::spawn({
            let host = host.clone();
            async move { host.load("m", LoadOptions::default(), false).await }
        });
        events.recv().await.unwrap();
        loading
    }

    #[tokio::test]
    async fn an_unload_waits_for_no_load_and_none_from_before_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let host = host_that_loads_forever(&folder);
        let first = begun(&host).await;
        // A caller that leaves: its load stays in the queue.
        let queued = host.load("m", LoadOptions::default(), false);
        assert!(tokio::time::timeout(std::time::Duration::ZERO, queued).await.is_err());
        let report = host.unload("m").await.unwrap();
        assert_eq!((report.model.as_str(), report.freed_bytes), ("m", 0));
        let failure = first.await.unwrap().unwrap_err();
        assert_eq!(failure.code, Code::Cancelled, "{failure}");
        assert_eq!(report.warnings.len(), 1, "{report:?}");
        let failure = host.unload("m").await.unwrap_err();
        assert_eq!((failure.code, failure.hint), (Code::NotLoaded, None));
        assert!(!host.holds_models());
        // What is asked for afterwards runs.
        let again = begun(&host).await;
        host.remove_model("m").await.unwrap();
        assert_eq!(again.await.unwrap().unwrap_err().code, Code::Cancelled);
    }

    #[tokio::test]
    async fn closing_waits_for_no_load() {
        let folder = tempfile::tempdir().unwrap();
        let host = host_that_loads_forever(&folder);
        let loading = begun(&host).await;
        host.close(std::time::Duration::from_hours(1)).await.unwrap();
        let failure = loading.await.unwrap().unwrap_err();
        assert_eq!((failure.code, failure.message.as_str()), (Code::Cancelled, "the host is ending"));
    }

    #[test]
    fn a_conflict_names_what_differs() {
        let current = LoadOptions { shrink_every: Some(10), threads: Some(2), ..LoadOptions::default() };
        let asked = LoadOptions { threads: Some(2), ..LoadOptions::default() };
        let failure = loaded_otherwise("m", &current, &asked);
        assert_eq!(failure.code, Code::Conflict);
        assert!(failure.message.ends_with("(shrink_every)"), "{failure}");
    }
}
