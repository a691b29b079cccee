//! What is there: the library, its providers, and devices, without loading a model.

use std::path::{Path, PathBuf};

use ebb_core::{Probe, ProbedDevice, options::provider_name};
use ort::memory::DeviceType;

use crate::{Error, environment, provider};

/// Plug-in providers that are looked for.
const PLUG_INS: [&str; 2] = ["webgpu", "openvino"];

/// Loads ONNX Runtime, with the plug-in providers that lie beside it or in `folders`, and says what it offers.
///
/// # Errors
/// [`Error::Library`].
pub fn probe(named: Option<&Path>, folders: &[PathBuf]) -> Result<Probe, Error> {
    let runtime = environment::runtime(named, folders, provider::first_wanted(None).as_str())?;
    let refused = PLUG_INS
        .iter()
        .filter_map(|name| {
            let reason = provider::register_plug_in(&runtime, name, folders)?.refused?;
            Some(((*name).to_owned(), reason))
        })
        .collect();
    let devices: Vec<ProbedDevice> = runtime
        .environment
        .devices()
        .filter_map(|device| {
            let hardware = device.hardware_device();
            Some(ProbedDevice {
                provider: provider_name(device.ep().ok()?),
                kind: match hardware.ty() {
                    DeviceType::CPU => "cpu",
                    DeviceType::GPU => "gpu",
                    DeviceType::NPU => "npu",
                    DeviceType::FPGA => "fpga",
                }
                .to_owned(),
                vendor: hardware.vendor().unwrap_or_default().to_owned(),
            })
        })
        .collect();
    let mut providers = provider::compiled_in();
    for device in &devices {
        if !providers.contains(&device.provider) {
            providers.push(device.provider.clone());
        }
    }
    Ok(Probe {
        library: runtime.library.path.clone(),
        version: runtime.library.version.clone(),
        providers,
        devices,
        refused,
    })
}
