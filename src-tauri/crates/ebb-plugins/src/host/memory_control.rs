//! Controls of loaded models' memory: capability `memory.control`.

use ebb_core::{Capability, ShrinkReport, Target};
use wasmtime::component::{HasSelf, Linker, Resource};

use crate::{
    bindings::{
        self,
        memory_control::{DroppedTarget, Host, HostRuntime, ShrinkReport as Report},
        types::Error,
    },
    guest::{Guest, allowed, given},
    host::answered,
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
        let model = given!(self.controls(&runtime)?);
        let targets = given!(targets(&devices));
        Ok(answered(self.plugin.models.shrink(&model, targets)).await.map(report))
    }

    async fn shrink_after_next_run(
        &mut self,
        runtime: Resource<Runtime>,
        devices: Vec<String>,
    ) -> wasmtime::Result<Result<(), Error>> {
        let model = given!(self.controls(&runtime)?);
        let targets = given!(targets(&devices));
        Ok(answered(self.plugin.models.shrink_after_next_run(&model, targets)).await)
    }

    async fn set_runtime_option(
        &mut self,
        runtime: Resource<Runtime>,
        key: String,
        value: Option<String>,
    ) -> wasmtime::Result<Result<(), Error>> {
        let model = given!(self.controls(&runtime)?);
        let value = value.unwrap_or_default();
        given!(self.fits(key.len().saturating_add(value.len())));
        Ok(answered(self.plugin.models.set_runtime_option(&model, &key, &value)).await)
    }

    async fn runtime_options(
        &mut self,
        runtime: Resource<Runtime>,
    ) -> wasmtime::Result<Result<Vec<(String, String)>, Error>> {
        let model = given!(self.controls(&runtime)?);
        let options = answered(self.plugin.models.runtime_options(&model)).await;
        Ok(options.map(|lines| lines.into_iter().map(|line| (line.key, line.requested)).collect()))
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
    /// The first line of each method: the model of open controls, where they may still be used.
    fn controls(&mut self, runtime: &Resource<Runtime>) -> wasmtime::Result<Result<String, Error>> {
        let Some(model) = self.table.get(runtime)?.model.clone() else {
            self.limiter.count_host_call()?;
            return Ok(Err(Error::Invalid("these controls were closed".to_owned())));
        };
        Ok(self.allow(Capability::MemoryControl, Some(&model))?.map(|()| model))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Scene, grant};

    fn scene() -> Scene {
        Scene::new(vec![grant(Capability::MemoryControl, &["m"])])
    }

    async fn open(guest: &mut Guest, model: &str) -> Result<Resource<Runtime>, Error> {
        HostRuntime::open(guest, model.to_owned()).await.unwrap()
    }

    /// The handle once more, as a guest has it.
    fn same(runtime: &Resource<Runtime>) -> Resource<Runtime> {
        Resource::new_own(runtime.rep())
    }

    #[tokio::test]
    async fn a_model_is_shrunk_as_it_was_asked() {
        let (scene, devices) = (scene(), vec!["cpu:0".to_owned()]);
        let mut guest = scene.guest();
        let runtime = open(&mut guest, "m").await.unwrap();
        let report = guest.shrink_arena(same(&runtime), devices.clone()).await.unwrap().unwrap();
        assert_eq!((report.freed_bytes, report.targets), (1, devices));
        guest.shrink_arena(same(&runtime), Vec::new()).await.unwrap().unwrap();
        guest.shrink_after_next_run(same(&runtime), Vec::new()).await.unwrap().unwrap();
        assert_eq!(scene.models.shrunk(), [Some(vec![Target::cpu(0)]), None, None]);
        let wrong = guest.shrink_arena(same(&runtime), vec!["disk:9".to_owned()]).await.unwrap();
        assert!(matches!(&wrong, Err(Error::Invalid(why)) if why.contains("disk:9")), "{wrong:?}");
        let (key, value) = ("key".to_owned(), Some("value".to_owned()));
        guest.set_runtime_option(same(&runtime), key, value).await.unwrap().unwrap();
        let options = guest.runtime_options(same(&runtime)).await.unwrap().unwrap();
        assert_eq!(options, [("key".to_owned(), "value".to_owned())]);
    }

    #[tokio::test]
    async fn controls_are_refused_once_closed_or_taken_back() {
        let scene = scene();
        let mut guest = scene.guest();
        assert!(matches!(open(&mut guest, "other").await, Err(Error::Denied(_))));
        let runtime = open(&mut guest, "m").await.unwrap();
        guest.close(same(&runtime)).await.unwrap();
        let closed = guest.runtime_options(same(&runtime)).await.unwrap();
        assert!(matches!(closed, Err(Error::Invalid(_))), "{closed:?}");
        let runtime = open(&mut guest, "m").await.unwrap();
        scene.plugin.grants.set(Vec::new());
        let denied = guest.shrink_arena(same(&runtime), Vec::new()).await.unwrap();
        assert!(matches!(denied, Err(Error::Denied(_))), "{denied:?}");
        HostRuntime::drop(&mut guest, same(&runtime)).await.unwrap();
        assert!(guest.runtime_options(runtime).await.is_err(), "no such handle: the guest is stopped");
    }
}
