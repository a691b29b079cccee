//! The sandbox: one wasmtime engine for all plugins, what it links them to, and what it has compiled.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

use wasmtime::{
    Engine,
    component::{Component as Code, InstancePre, Linker},
};

use crate::{
    Component, Error, Models, PluginWorld,
    cache::{self, Cache},
    engine,
    guest::Guest,
    host, sys,
    ticker::Ticker,
};

/// How often a compilation tells how far it is.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// How a sandbox is set up.
#[derive(Debug, Clone, Default)]
pub struct SandboxConfig {
    /// Where compiled code is kept, for the user alone. Where it is empty, nothing is kept.
    pub compiled_folder: PathBuf,
}

/// Where plugins run. Cheap to clone; all clones are the same sandbox.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    engine: Engine,
    functions: Arc<engine::Compiled>,
    /// One compilation at a time: each takes every processor as it is, and the functions counted are its own.
    compiling: Mutex<()>,
    ticker: Ticker,
    cache: Option<Cache>,
    models: Arc<dyn Models>,
    /// For policies without WASI: nothing that they call waits, so they need no stack of their own.
    policies: Linker<Guest>,
    /// For policies that bring WASI.
    wasi_policies: Linker<Guest>,
    pipelines: Linker<Guest>,
}

/// A plugin's compiled code, linked. Cheap to clone.
#[derive(Clone)]
pub struct Compiled {
    pub(crate) linked: InstancePre<Guest>,
    pub(crate) brings_wasi: bool,
}

impl Sandbox {
    /// Sets an engine up.
    ///
    /// # Errors
    /// Where wasmtime does not run here. A folder that cannot be used is none: then each start compiles anew.
    pub fn new(config: SandboxConfig, models: Arc<dyn Models>) -> Result<Self, Error> {
        let (engine, functions) = engine::new()?;
        let ticker = Ticker::start(&engine)?;
        let folder = config.compiled_folder;
        let cache = if folder.as_os_str().is_empty() {
            None
        } else {
            Cache::open(&folder, &engine)
                .inspect_err(|error| {
                    tracing::warn!(folder = %folder.display(), %error, "compiled plugins are not kept");
                })
                .ok()
        };
        let link = |add: &dyn Fn(&mut Linker<Guest>) -> wasmtime::Result<()>| {
            let mut linker = Linker::new(&engine);
            add(&mut linker).map_err(|error| Error::Engine(error.into()))?;
            Ok::<_, Error>(linker)
        };
        let inner = Inner {
            policies: link(&host::add_policy)?,
            wasi_policies: link(&|linker| {
                wasmtime_wasi::p2::add_to_linker_async(linker)?;
                host::add_policy(linker)
            })?,
            pipelines: link(&|linker| {
                wasmtime_wasi::p2::add_to_linker_async(linker)?;
                host::add_pipeline(linker)
            })?,
            engine,
            functions,
            compiling: Mutex::new(()),
            ticker,
            cache,
            models,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Compiles a component, or takes what was compiled of it before from the disk. `progress` hears how far it is, 0 to 1.
    /// It may take seconds: an interpreter is large.
    ///
    /// # Errors
    /// As [`Component::read`], and where it cannot be compiled or linked.
    pub fn compile(&self, bytes: &[u8], progress: &mut dyn FnMut(f32)) -> Result<Compiled, Error> {
        let about = Component::read(bytes)?;
        let name = cache::name(bytes);
        let code = match self.kept(&name) {
            Some(code) => code,
            None => self.compile_anew(bytes, &name, about.functions, progress)?,
        };
        progress(1.0);
        let brings_wasi = about.brings_wasi();
        let linker = match about.world {
            PluginWorld::ShrinkPolicy if brings_wasi => &self.0.wasi_policies,
            PluginWorld::ShrinkPolicy => &self.0.policies,
            PluginWorld::RagPipeline => &self.0.pipelines,
        };
        let linked = linker.instantiate_pre(&code).map_err(Error::unusable("linked"))?;
        Ok(Compiled { linked, brings_wasi })
    }

    /// The models that plugins may ask for.
    pub(crate) fn models(&self) -> &Arc<dyn Models> {
        &self.0.models
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn ticker(&self) -> &Ticker {
        &self.0.ticker
    }

    /// What was compiled before.
    fn kept(&self, name: &str) -> Option<Code> {
        let code = self.0.cache.as_ref()?.get(name)?;
        sys::load(&self.0.engine, &code)
            .inspect_err(|error| tracing::debug!(%error, "kept code does not fit; it is compiled again"))
            .ok()
    }

    fn compile_anew(
        &self,
        bytes: &[u8],
        name: &str,
        functions: u64,
        progress: &mut dyn FnMut(f32),
    ) -> Result<Code, Error> {
        let _alone = self.0.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = self.kept(name) {
            // Somebody else compiled it meanwhile.
            return Ok(code);
        }
        let before = self.0.functions.functions();
        let (done, result) = mpsc::channel();
        let engine = &self.0.engine;
        let code = std::thread::scope(|scope| {
            scope.spawn(move || {
                // Whoever asked waits below.
                let _heard = done.send(Code::new(engine, bytes));
            });
            loop {
                match result.recv_timeout(TELL_EVERY) {
                    Ok(code) => break code.map_err(Error::unusable("compiled")),
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        let done = self.0.functions.functions() - before;
                        progress((done as f32 / functions.max(1) as f32).min(0.99));
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => {
                        break Err(Error::Unusable {
                            step: "compiled",
                            source: "the compiler panicked".into(),
                        });
                    }
                }
            }
        })?;
        if let Some(cache) = &self.0.cache {
            let kept = code.serialize().map_err(|error| std::io::Error::other(error.to_string()));
            if let Err(error) = kept.and_then(|compiled| cache.put(name, &compiled)) {
                tracing::warn!(%error, "compiled code is not kept: the next start compiles it again");
            }
        }
        Ok(code)
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").finish_non_exhaustive()
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").field("brings_wasi", &self.brings_wasi).finish_non_exhaustive()
    }
}
