//! What the host keeps for one instance of a plugin: the data of its wasmtime store.

use std::sync::Arc;

use ebb_core::operations::PluginProgress;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::{limits::Limiter, plugin::Shared, wasi};

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
    wasi: WasiCtx,
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
}

impl Guest {
    pub(crate) fn new(plugin: Arc<Shared>, call: Call) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(usize::try_from(plugin.limits.handles).unwrap_or(usize::MAX));
        let limiter = Limiter::new(Arc::clone(&plugin.limits), Arc::clone(&plugin.consumption));
        let wasi = wasi::empty(plugin.manifest().world);
        Self { plugin, table, call, limiter, wasi }
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}
