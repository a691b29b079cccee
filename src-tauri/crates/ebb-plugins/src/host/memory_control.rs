//! Controls of loaded models' memory: capability `memory.control`.

use ebb_core::{ShrinkReport, Target};
use wasmtime::component::{HasSelf, Linker, Resource};

use crate::{
    bindings::{
        self,
        memory_control::{DroppedTarget, Host, HostRuntime, ShrinkReport as Report},
        types::Error,
    },
    guest::{Guest, allowed, given},
};

/// The controls of one model, as a guest holds them.
pub struct Runtime {
    /// The model's alias; none once it was closed.
    model: Option<String>,
}

impl Host for Guest {}

impl HostRuntime for Guest {
    async fn open(&mut self, model: String) -> wasmtime::Result<Result<Resource<Runtime>, Error>> {
        allowed!(self, MemoryControl, Some(&model));
        given!(self.plugin.models.latest(&model).map_err(Error::from));
        Ok(Ok(self.push(Runtime { model: Some(model) })?))
    }

    async fn shrink_arena(
        &mut self,
        runtime: Resource<Runtime>,
        devices: Vec<String>,
    ) -> wasmtime::Result<Result<Report, Error>> {
        let model = given!(self.model_of(&runtime)?);
        allowed!(self, MemoryControl, Some(&model));
        let targets = given!(targets(&devices));
        let shrunk = self.plugin.models.shrink(&model, targets).await;
        Ok(shrunk.map(report).map_err(Error::from))
    }

    async fn shrink_after_next_run(
        &mut self,
        runtime: Resource<Runtime>,
        devices: Vec<String>,
    ) -> wasmtime::Result<Result<(), Error>> {
        let model = given!(self.model_of(&runtime)?);
        allowed!(self, MemoryControl, Some(&model));
        let targets = given!(targets(&devices));
        Ok(self.plugin.models.shrink_after_next_run(&model, targets).await.map_err(Error::from))
    }

    async fn set_runtime_option(
        &mut self,
        runtime: Resource<Runtime>,
        key: String,
        value: Option<String>,
    ) -> wasmtime::Result<Result<(), Error>> {
        let model = given!(self.model_of(&runtime)?);
        allowed!(self, MemoryControl, Some(&model));
        let value = value.unwrap_or_default();
        Ok(self.plugin.models.set_runtime_option(&model, &key, &value).await.map_err(Error::from))
    }

    async fn runtime_options(
        &mut self,
        runtime: Resource<Runtime>,
    ) -> wasmtime::Result<Result<Vec<(String, String)>, Error>> {
        let model = given!(self.model_of(&runtime)?);
        allowed!(self, MemoryControl, Some(&model));
        let options = self.plugin.models.runtime_options(&model).await;
        let pairs = options.map(|lines| lines.into_iter().map(|line| (line.key, line.requested)).collect());
        Ok(pairs.map_err(Error::from))
    }

    async fn close(&mut self, runtime: Resource<Runtime>) -> wasmtime::Result<()> {
        self.limiter.count_host_call()?;
        self.table.get_mut(&runtime)?.model = None;
        Ok(())
    }

    async fn drop(&mut self, runtime: Resource<Runtime>) -> wasmtime::Result<()> {
        self.table.delete(runtime)?;
        Ok(())
    }
}

impl Guest {
    /// The model of open controls.
    fn model_of(&self, runtime: &Resource<Runtime>) -> wasmtime::Result<Result<String, Error>> {
        let model = self.table.get(runtime)?.model.clone();
        Ok(model.ok_or_else(|| Error::Invalid("these controls were closed".to_owned())))
    }
}

/// The arenas named; `None` where none is.
fn targets(devices: &[String]) -> Result<Option<Vec<Target>>, Error> {
    let targets: Result<Vec<Target>, _> = devices.iter().map(|device| Target::parse(device)).collect();
    let targets = targets.map_err(Error::from)?;
    Ok((!targets.is_empty()).then_some(targets))
}

fn report(report: ShrinkReport) -> Report {
    let pools = report.pools_dropped.iter().map(|pool| pool.bytes).sum();
    let dropped = report.dropped.into_iter();
    Report {
        freed_bytes: report.freed_bytes,
        reserved_before_bytes: report.reserved_before_bytes,
        reserved_after_bytes: report.reserved_after_bytes,
        resident_before_bytes: report.resident_before_bytes,
        resident_after_bytes: report.resident_after_bytes,
        took_us: report.took_us,
        targets: report.targets.iter().map(ToString::to_string).collect(),
        dropped: dropped
            .map(|one| DroppedTarget { target: one.target.to_string(), reason: one.reason })
            .collect(),
        more: vec![
            ("private-before-bytes".to_owned(), report.private_before_bytes),
            ("private-after-bytes".to_owned(), report.private_after_bytes),
            ("trim-us".to_owned(), report.trim_us),
            ("pools-dropped-bytes".to_owned(), pools),
        ],
    }
}

/// Offers it.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    bindings::memory_control::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}
