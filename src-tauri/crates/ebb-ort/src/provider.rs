//! Choosing the execution provider, and handing it its options.

use std::{
    path::{Path, PathBuf},
    sync::PoisonError,
};

use ebb_core::{
    Target,
    options::{Provider, provider_name},
};
use ort::{
    device::Device,
    ep::{self, ArbitrarilyConfigurableExecutionProvider as _, ExecutionProvider},
    session::builder::{AutoDevicePolicy, SessionBuilder},
};

use crate::{
    Error,
    environment::Runtime,
    error::plain,
    library::{DEPTH, collect, library_name},
    sys,
};

/// What `auto` tries, best first, before the CPU. TensorRT and its kin are left out because they compile a model for minutes,
/// the others because they take over only parts of most models; both are there by name.
const AUTO: [&str; 3] = ["cuda", "dml", "webgpu"];

/// The provider that a model will run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Ebb's name for it.
    pub(crate) name: String,
    device: u32,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Cpu,
    /// Compiled into the library, or one that the library loads by itself.
    BuiltIn,
    /// From a library of its own, registered with the environment; the name that its devices carry.
    PlugIn(String),
}

/// The provider that a library should have, if there is a choice of libraries: the one that was named, or the first that
/// `auto` tries.
pub(crate) fn first_wanted(wanted: Option<&str>) -> String {
    match wanted.map(provider_name) {
        Some(name) if name != "auto" && !name.is_empty() => name,
        _ => AUTO[0].to_owned(),
    }
}

/// The providers to try, in order: the one that was named, or what `auto` means here.
///
/// # Errors
/// [`Error::Provider`] where the one that was named is not there.
pub(crate) fn candidates(
    runtime: &Runtime,
    wanted: Option<&str>,
    device: Option<u32>,
    folders: &[PathBuf],
) -> Result<Vec<Chosen>, Error> {
    let device = device.unwrap_or(0);
    let cpu = Chosen { name: "cpu".to_owned(), device: 0, kind: Kind::Cpu };
    match wanted.map(provider_name).as_deref() {
        None | Some("auto" | "") => {
            let mut found: Vec<Chosen> =
                AUTO.iter().filter_map(|name| find(runtime, name, device, folders).ok()).collect();
            found.push(cpu);
            Ok(found)
        }
        Some("cpu") => Ok(vec![cpu]),
        Some(name) => find(runtime, name, device, folders).map(|chosen| vec![chosen]),
    }
}

fn find(runtime: &Runtime, name: &str, device: u32, folders: &[PathBuf]) -> Result<Chosen, Error> {
    let chosen = |kind| Chosen { name: name.to_owned(), device, kind };
    if compiled_in().iter().any(|there| there == name) {
        return Ok(chosen(Kind::BuiltIn));
    }
    let plug_in = register_plug_in(runtime, name, folders);
    if let Some(ep_name) = ep_names(runtime).into_iter().find(|ep_name| provider_name(ep_name) == name) {
        return match devices(runtime, &ep_name).len() {
            count if (device as usize) < count => Ok(chosen(Kind::PlugIn(ep_name))),
            count => Err(unavailable(name, format!("there is no device {device}, it has {count}"))),
        };
    }
    Err(unavailable(
        name,
        match plug_in {
            Some(PlugIn { refused: Some(reason), path }) => {
                format!("{} does not load: {reason}", path.display())
            }
            Some(PlugIn { refused: None, path }) => {
                format!("{} finds no device that it can use", path.display())
            }
            None => format!(
                "{} is built with {} only, and no {} lies beside it or in the runtimes folder",
                runtime.library.path.display(),
                compiled_in().join(", "),
                library_name(&format!("onnxruntime_providers_{name}"))
            ),
        },
    ))
}

/// Providers compiled into the library that Ebb knows, by Ebb's names.
pub(crate) fn compiled_in() -> Vec<String> {
    let there = sys::available_providers();
    Provider::ALL
        .iter()
        .filter(|provider| there.iter().any(|name| name == provider.ort_name))
        .map(|provider| provider.name.to_owned())
        .collect()
}

/// Names that the environment's devices carry, each once.
pub(crate) fn ep_names(runtime: &Runtime) -> Vec<String> {
    let mut names: Vec<String> =
        runtime.environment.devices().filter_map(|device| Some(device.ep().ok()?.to_owned())).collect();
    names.sort();
    names.dedup();
    names
}

fn devices<'r>(runtime: &'r Runtime, ep_name: &str) -> Vec<Device<'r>> {
    runtime.environment.devices().filter(|device| device.ep().is_ok_and(|name| name == ep_name)).collect()
}

/// The library of a plug-in provider, and why it did not load, where it did not.
#[derive(Debug, Clone)]
pub(crate) struct PlugIn {
    pub(crate) path: PathBuf,
    pub(crate) refused: Option<String>,
}

/// Registers the library of a plug-in provider that lies beside ONNX Runtime's or in the folders, once for the process.
/// `None` where there is none.
pub(crate) fn register_plug_in(runtime: &Runtime, name: &str, folders: &[PathBuf]) -> Option<PlugIn> {
    let wanted = library_name(&format!("onnxruntime_providers_{name}"));
    let beside = runtime.library.path.parent().map(Path::to_owned);
    let mut found = Vec::new();
    for folder in beside.iter().chain(folders) {
        collect(folder, DEPTH, &mut found, |file| file.contains("onnxruntime_providers_"));
    }
    found.retain(|path| path.file_name().is_some_and(|file| file == wanted.as_str()));
    let mut registered = runtime.plug_ins.lock().unwrap_or_else(PoisonError::into_inner);
    let mut last = None;
    for path in found {
        let path = path.canonicalize().unwrap_or(path);
        let outcome = registered.entry(path.clone()).or_insert_with(|| {
            let result = runtime.environment.register_ep_library(format!("ebb.{name}"), &path);
            result.map_err(|error| plain(error.message()).to_owned())
        });
        let refused = outcome.clone().err();
        let loads = refused.is_none();
        last = Some(PlugIn { path, refused });
        if loads {
            break;
        }
    }
    last
}

fn unavailable(name: &str, reason: impl Into<String>) -> Error {
    Error::Provider {
        name: name.to_owned(),
        reason: plain(&reason.into()).to_owned(),
        hint: how_to_get(name).to_owned(),
    }
}

fn how_to_get(name: &str) -> &'static str {
    match name {
        "cuda" | "tensorrt" => {
            "it needs an NVIDIA GPU with its driver, CUDA 13 and cuDNN 9 on the library path, and the library of \
             `pip download --no-deps onnxruntime-gpu` (256 MB) in Ebb's runtimes folder; or load with the provider cpu"
        }
        "webgpu" => {
            "unpack the wheel of `pip download --no-deps onnxruntime-ep-webgpu` (7 MB) into Ebb's runtimes folder; it needs \
             a GPU with a Vulkan, Metal or D3D12 driver; or load with the provider cpu"
        }
        "openvino" => {
            "unpack the wheel of `pip download --no-deps onnxruntime-ep-openvino` (53 MB) into Ebb's runtimes folder; or \
             load with the provider cpu"
        }
        "dml" => {
            "it is there on Windows only, with the library of onnxruntime-directml; or load with the provider cpu"
        }
        "coreml" => "it is there on macOS only; or load with the provider cpu",
        _ => {
            "put an ONNX Runtime library that is built with it, or the provider's plug-in library, into Ebb's runtimes \
             folder; `ebb doctor` shows what is there; or load with the provider cpu"
        }
    }
}

impl Chosen {
    /// Whether the CPU provider alone runs the model.
    pub(crate) fn is_cpu(&self) -> bool {
        self.kind == Kind::Cpu
    }

    /// That this provider cannot be used, with how to get what is missing.
    pub(crate) fn unavailable(&self, reason: &str) -> Error {
        unavailable(&self.name, reason)
    }

    /// The GPU arena that a shrink reaches on this provider, with the name of its memory in ONNX Runtime.
    pub(crate) fn gpu_arena(&self) -> Option<(&'static str, u32)> {
        let has_arena = Provider::named(&self.name).is_some_and(|provider| provider.has_arena);
        match (&self.kind, self.name.as_str()) {
            (Kind::Cpu, _) => None,
            (_, "migraphx") if has_arena => Some(("Hip", self.device)),
            _ if has_arena => Some(("Cuda", self.device)),
            _ => None,
        }
    }

    /// Why a shrink cannot reach a target on this provider that is not among its arenas.
    pub(crate) fn no_arena(&self, target: Target, arena_off: bool) -> String {
        match target {
            Target::Cpu(0) if arena_off => {
                "no arena here: the model's CPU arena is off, its tensors go back to the system as they are freed".to_owned()
            }
            Target::Cpu(_) => "no arena here: the only CPU arena is cpu:0".to_owned(),
            Target::Gpu(_) if self.is_cpu() => "no arena here: the model runs on the CPU".to_owned(),
            Target::Gpu(index) => match self.gpu_arena() {
                Some((_, device)) => format!("no arena here: the model runs on device {device}, not {index}"),
                None => format!(
                    "no arena here: {} keeps none that can be shrunk; reloading the model frees its memory",
                    self.name
                ),
            },
        }
    }

    /// Puts the provider, with its options as they are, on the session to be made.
    ///
    /// # Errors
    /// [`Error::Provider`] with what ONNX Runtime says.
    pub(crate) fn apply(
        &self,
        runtime: &Runtime,
        mut builder: SessionBuilder,
        options: &[(String, String)],
    ) -> Result<SessionBuilder, Error> {
        let refused = |error: ort::Error| self.unavailable(error.message());
        match &self.kind {
            // Without this, a device that a plug-in brought could take the model: `ort` asks for the most efficient one.
            Kind::Cpu => {
                builder.with_auto_device(AutoDevicePolicy::PreferCPU).map_err(|error| refused(error.into()))
            }
            Kind::BuiltIn => {
                self.append(&mut builder, &self.with_device(options)).map_err(refused)?;
                Ok(builder)
            }
            Kind::PlugIn(ep_name) => {
                let device = devices(runtime, ep_name).into_iter().nth(self.device as usize);
                let options: Vec<(String, String)> =
                    options.iter().map(|(key, value)| (format!("{ep_name}.{key}"), value.clone())).collect();
                builder.with_devices(device, Some(&options)).map_err(|error| refused(error.into()))
            }
        }
    }

    /// `--device` as the provider's own option, unless that was given.
    fn with_device(&self, options: &[(String, String)]) -> Vec<(String, String)> {
        let mut options = options.to_vec();
        let key = if self.name == "webgpu" { "deviceId" } else { "device_id" };
        if self.device > 0 && !options.iter().any(|(given, _)| given == key) {
            options.push((key.to_owned(), self.device.to_string()));
        }
        options
    }

    fn append(&self, builder: &mut SessionBuilder, options: &[(String, String)]) -> Result<(), ort::Error> {
        // These two take their options only through a struct of their own.
        macro_rules! own_struct {
            ($provider:expr) => {
                options
                    .iter()
                    .fold($provider, |ep, (key, value)| ep.with_arbitrary_config(key, value))
                    .register(builder)
            };
        }
        match self.name.as_str() {
            "cuda" => own_struct!(ep::CUDA::default()),
            "tensorrt" => own_struct!(ep::TensorRT::default()),
            name => {
                let ort_name = Provider::named(name).map_or(name, |provider| provider.ort_name);
                sys::append_provider(builder, ort_name, options)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(name: &str, device: u32) -> Chosen {
        Chosen { name: name.to_owned(), device, kind: Kind::BuiltIn }
    }

    #[test]
    fn a_target_without_an_arena_is_told_why() {
        let cpu = Chosen { name: "cpu".to_owned(), device: 0, kind: Kind::Cpu };
        for (chosen, target, arena_off, told) in [
            (&cpu, Target::cpu(0), true, "arena is off"),
            (&cpu, Target::cpu(1), false, "only CPU arena is cpu:0"),
            (&cpu, Target::gpu(0), false, "runs on the CPU"),
            (&on("cuda", 1), Target::gpu(0), false, "runs on device 1, not 0"),
            (&on("webgpu", 0), Target::gpu(0), false, "webgpu keeps none that can be shrunk"),
        ] {
            let reason = chosen.no_arena(target, arena_off);
            assert!(reason.contains(told), "{}: {reason}", chosen.name);
        }
    }

    #[test]
    fn the_device_becomes_the_provider_s_option_unless_that_was_given() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(on("cuda", 0).with_device(&[]), []);
        assert_eq!(on("cuda", 2).with_device(&[]), [pair("device_id", "2")]);
        assert_eq!(on("webgpu", 1).with_device(&[]), [pair("deviceId", "1")]);
        let given = [pair("device_id", "3")];
        assert_eq!(on("cuda", 2).with_device(&given), given);
    }
}
