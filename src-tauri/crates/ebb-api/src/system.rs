//! The machine, and who holds how much of it.

use ebb_core::{
    Failure, Probe,
    operations::{
        Device, DeviceMemory, HostProcess, ModelMemory, ModelState, RuntimeLibrary, System, SystemMemory,
    },
};
use ebb_host::ModelHandle;

use crate::{
    Host, folders,
    gpu::{self, Gpu},
    host::failed_task,
    probed::Found,
    process,
};

/// Providers that run on NVIDIA's graphics processors alone.
const OF_NVIDIA: [&str; 3] = ["cuda", "nvtensorrtrtx", "tensorrt"];

impl Host {
    /// The machine and what Ebb holds of it: cheap enough to be asked every second, but for the sizes of Ebb's folders.
    ///
    /// # Errors
    /// None today.
    pub async fn system(&self, with_folders: bool) -> Result<System, Failure> {
        let folders = if with_folders {
            let places = self.inner.places.clone();
            tokio::task::spawn_blocking(move || folders::sizes(&places)).await.map_err(failed_task)?
        } else {
            Vec::new()
        };
        let found = self.found().await;
        // The driver is a library that may take its time.
        let gpus = tokio::task::spawn_blocking(gpu::of_nvidia).await.map_err(failed_task)?;
        Ok(System {
            memory: self
                .memory_now()
                .map(|(available_bytes, total_bytes)| SystemMemory { total_bytes, available_bytes }),
            host: self.process().await?,
            devices: devices(&found, &gpus),
            runtimes: runtimes(&found),
            models: self.models_in_memory(),
            folders,
        })
    }

    async fn process(&self) -> Result<HostProcess, Failure> {
        let status = self.status().await?;
        Ok(HostProcess {
            pid: std::process::id(),
            resident_bytes: status.resident_bytes,
            private_bytes: process::private_bytes(),
            version: status.version,
            wasmtime_version: ebb_plugins::WASMTIME.to_owned(),
            uptime_ms: status.uptime_ms,
        })
    }

    fn models_in_memory(&self) -> Vec<ModelMemory> {
        let models = self.inner.supervisor.models().into_iter();
        models
            .filter_map(|(alias, state)| {
                let model = self.inner.supervisor.model(&alias)?;
                Some(model_memory(alias, state, &model))
            })
            .collect()
    }
}

fn model_memory(alias: String, state: ModelState, model: &ModelHandle) -> ModelMemory {
    // What a worker held that has ended is back.
    let (resident_bytes, private_bytes, arenas) = model
        .newest()
        .map_or_else(Default::default, |held| (held.resident_bytes, held.private_bytes, held.arenas));
    let arenas: Vec<DeviceMemory> = arenas
        .into_iter()
        .map(|arena| DeviceMemory {
            device: arena.device,
            reserved_bytes: arena.reserved_bytes,
            in_use_bytes: arena.in_use_bytes,
            limit_bytes: arena.limit_bytes,
        })
        .collect();
    ModelMemory {
        alias,
        state,
        pid: model.pid(),
        provider: model.info().provider,
        resident_bytes,
        private_bytes,
        reserved_bytes: arenas.iter().map(|arena| arena.reserved_bytes).sum(),
        in_use_bytes: arenas.iter().map(|arena| arena.in_use_bytes).sum(),
        arenas,
    }
}

/// What models can run on, the CPU first; then what is there and does not work.
fn devices(found: &Found, gpus: &[Gpu]) -> Vec<Device> {
    let Ok(Probe { devices, refused, providers, .. }) = &found.probe else { return Vec::new() };
    let mut all = Vec::new();
    for provider in providers {
        let mut of_gpus = 0;
        let own = devices.iter().filter(|one| one.provider == *provider);
        let before = all.len();
        for one in own {
            let is_nvidia = one.kind == "gpu" && one.vendor.to_ascii_lowercase().contains("nvidia");
            let known = gpu::counted(gpus, of_gpus).filter(|_| is_nvidia);
            of_gpus += usize::from(is_nvidia);
            all.push(device(provider, &one.kind, &one.vendor, known));
        }
        if all.len() == before && OF_NVIDIA.contains(&provider.as_str()) && !gpus.is_empty() {
            // Compiled in, it shows no devices of its own.
            all.extend(gpus.iter().map(|known| device(provider, "gpu", "NVIDIA", Some(known))));
        } else if all.len() == before {
            all.push(device(provider, if provider == "cpu" { "cpu" } else { "" }, "", None));
        }
    }
    all.sort_by_key(|one| one.kind != "cpu");
    all.extend(refused.iter().map(|(provider, reason)| Device {
        available: false,
        hint: Some(reason.clone()),
        ..device(provider, "", "", None)
    }));
    all
}

fn device(provider: &str, kind: &str, vendor: &str, known: Option<&Gpu>) -> Device {
    let made = format!("{vendor} {}", kind.to_uppercase());
    let name = known.map_or(made.trim(), |known| known.name.as_str());
    Device {
        name: if name.is_empty() { provider } else { name }.to_owned(),
        provider: provider.to_owned(),
        kind: kind.to_owned(),
        memory_total_bytes: known.map(|known| known.total_bytes),
        memory_free_bytes: known.map(|known| known.free_bytes),
        available: true,
        hint: None,
    }
}

/// The library that is used first, then the others that were found.
fn runtimes(found: &Found) -> Vec<RuntimeLibrary> {
    let used = found.probe.as_ref().ok();
    let same = |path: &std::path::Path| {
        used.is_some_and(|probe| {
            path == probe.library
                || path
                    .canonicalize()
                    .is_ok_and(|path| probe.library.canonicalize().is_ok_and(|used| used == path))
        })
    };
    let others = found.libraries.iter().filter(|library| !same(&library.path));
    let first = used.map(|probe| RuntimeLibrary {
        version: Some(probe.version.clone()),
        path: probe.library.clone(),
        providers: probe.providers.clone(),
        used: true,
    });
    first
        .into_iter()
        .chain(others.map(|library| RuntimeLibrary {
            version: library.version.clone(),
            path: library.path.clone(),
            providers: Vec::new(),
            used: false,
        }))
        .collect()
}

#[cfg(test)]
mod tests {
    use ebb_core::ProbedDevice;

    use super::*;

    fn found(devices: &[(&str, &str, &str)]) -> Found {
        let device = |(provider, kind, vendor): &(&str, &str, &str)| ProbedDevice {
            provider: (*provider).to_owned(),
            kind: (*kind).to_owned(),
            vendor: (*vendor).to_owned(),
        };
        Found::of(Probe {
            library: "/r/libonnxruntime.so".into(),
            version: "1.31.1".into(),
            providers: vec!["cuda".into(), "cpu".into()],
            devices: devices.iter().map(device).collect(),
            refused: [("webgpu".to_owned(), "no adapter".to_owned())].into(),
        })
    }

    fn h200() -> Gpu {
        Gpu { name: "NVIDIA H200".into(), total_bytes: 141 << 30, free_bytes: 140 << 30 }
    }

    #[test]
    fn devices_carry_their_memory_and_what_does_not_work_says_why() {
        let with_own = found(&[("cpu", "cpu", "Intel"), ("cuda", "gpu", "NVIDIA")]);
        let silent = found(&[]);
        for (found, cpu) in [(with_own, "Intel CPU"), (silent, "CPU")] {
            let [first, gpu, refused] = devices(&found, &[h200()]).try_into().unwrap();
            assert_eq!((first.name.as_str(), first.memory_total_bytes), (cpu, None));
            assert_eq!((gpu.name.as_str(), gpu.provider.as_str()), ("NVIDIA H200", "cuda"));
            assert_eq!((gpu.memory_total_bytes, gpu.memory_free_bytes), (Some(141 << 30), Some(140 << 30)));
            assert_eq!((refused.name.as_str(), refused.available), ("webgpu", false));
            assert_eq!(refused.hint.as_deref(), Some("no adapter"));
        }
        let unknown = devices(&found(&[("cuda", "gpu", "NVIDIA"), ("cpu", "cpu", "Intel")]), &[]);
        assert_eq!((unknown[1].name.as_str(), unknown[1].memory_total_bytes), ("NVIDIA GPU", None));
    }

    #[test]
    fn the_library_that_is_used_stands_first_and_once() {
        let library =
            |path: &str| crate::runtimes::Library { path: path.into(), version: Some("1.30.0".into()) };
        let libraries = vec![library("/r/libonnxruntime.so"), library("/other/libonnxruntime.so")];
        let found = Found { libraries, ..found(&[]) };
        let told: Vec<(String, bool)> =
            runtimes(&found).into_iter().map(|one| (one.path.display().to_string(), one.used)).collect();
        assert_eq!(
            told,
            [("/r/libonnxruntime.so".to_owned(), true), ("/other/libonnxruntime.so".to_owned(), false)]
        );
    }
}
