//! What the host keeps for one instance of a plugin: the data of its wasmtime store.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use ebb_core::{Capability, format_bytes, operations::PluginProgress};
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::{
    Stop, bindings::types, host::documents::Known, limits::Limiter, log::About, plugin::Shared, wasi,
};

/// The state of one instance. The interfaces in `host` are implemented on it.
pub(crate) struct Guest {
    /// What all instances of the plugin share.
    pub(crate) plugin: Arc<Shared>,
    /// Its open handles; the number is limited.
    pub(crate) table: ResourceTable,
    /// The call that it is in.
    pub(crate) call: Call,
    /// Holds it to its limits.
    pub(crate) limiter: Limiter,
    /// The documents that it was told of.
    pub(crate) documents: Known,
    wasi: WasiCtx,
    /// The number of its call, for what it prints.
    request: Arc<AtomicU64>,
}

/// The call that a guest is in.
#[derive(Default)]
pub(crate) struct Call {
    /// Its number, in the plugin's log.
    pub(crate) request: u64,
    /// The model that it is about, where it is about one.
    pub(crate) model: Option<Arc<str>>,
    /// Who hears of its progress.
    pub(crate) progress: Option<Box<dyn FnMut(PluginProgress) + Send>>,
    /// What it last said that it was at.
    pub(crate) at: String,
}

impl Guest {
    pub(crate) fn new(plugin: Arc<Shared>) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(usize::try_from(plugin.limits.handles).unwrap_or(usize::MAX));
        let limiter = Limiter::new(Arc::clone(&plugin.limits), Arc::clone(&plugin.consumption));
        let request = Arc::new(AtomicU64::new(0));
        let wasi = wasi::empty(plugin.manifest().world, &plugin.log, &request);
        Self { plugin, table, call: Call::default(), limiter, documents: Known::new(), wasi, request }
    }

    /// A call begins.
    pub(crate) fn begin(&mut self, call: Call) {
        self.request.store(call.request, Ordering::Relaxed);
        self.call = call;
        self.limiter.hit = None;
    }

    /// The first line of each call of the host that needs a capability, on a model where the capability is of models.
    /// Counts the call. The inner error is the guest's.
    ///
    /// # Errors
    /// Where there were too many calls: the guest is to be stopped.
    pub(crate) fn allow(
        &mut self,
        capability: Capability,
        model: Option<&str>,
    ) -> wasmtime::Result<Result<(), types::Error>> {
        self.limiter.count_host_call()?;
        Ok(self.plugin.grants.check(capability, model).map_err(types::Error::Denied))
    }

    /// Refuses what is larger than one call may hand over.
    ///
    /// # Errors
    /// The guest's.
    pub(crate) fn fits(&self, bytes: usize) -> Result<(), types::Error> {
        let most = self.plugin.limits.payload_bytes;
        if bytes as u64 <= most {
            return Ok(());
        }
        let (bytes, most) = (format_bytes(bytes as u64), format_bytes(most));
        Err(types::Error::Invalid(format!("{bytes} at once; this plugin may hand over {most} in one call")))
    }

    /// Gives the guest a handle.
    ///
    /// # Errors
    /// Where it has too many: the guest is to be stopped.
    pub(crate) fn push<T: Send + 'static>(&mut self, entry: T) -> wasmtime::Result<Resource<T>> {
        let handles = self.plugin.limits.handles;
        self.table.push(entry).map_err(|_full| self.limiter.stop(Stop::Handles(handles)))
    }

    /// What a line of the log is about.
    pub(crate) fn about(&self) -> About<'_> {
        About { request: self.call.request, model: self.call.model.as_deref() }
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Leaves a call of the host that the plugin may not make: see [`Guest::allow`].
macro_rules! allowed {
    ($guest:expr, $capability:ident, $model:expr) => {
        if let Err(denied) = $guest.allow(ebb_core::Capability::$capability, $model)? {
            return Ok(Err(denied));
        }
    };
}

/// Leaves a call of the host with the guest's error.
macro_rules! given {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}

pub(crate) use {allowed, given};
