//! The machine: who holds how much of it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ModelState;

/// The machine and what Ebb holds of it. It may be asked every second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct System {
    /// Memory of the machine, or of the container where that has less; `None` where the system does not tell.
    pub memory: Option<SystemMemory>,
    /// The host's own process.
    pub host: HostProcess,
    /// What models can run on, the CPU first. Providers that are there and do not load stand among them, with the reason.
    pub devices: Vec<Device>,
    /// Libraries of ONNX Runtime that were found, the one that is used first.
    pub runtimes: Vec<RuntimeLibrary>,
    /// Models in memory, by alias, as they were last sampled; also those whose worker ended by itself.
    pub models: Vec<ModelMemory>,
    /// Ebb's folders, where their sizes were asked for.
    pub folders: Vec<FolderSize>,
}

/// Memory of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SystemMemory {
    /// All of it.
    pub total_bytes: u64,
    /// What programs can still have.
    pub available_bytes: u64,
}

/// The host's own process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HostProcess {
    /// Its number.
    pub pid: u32,
    /// Resident memory.
    pub resident_bytes: u64,
    /// Resident less shared: what would come back if it ended; `None` where the system does not tell.
    pub private_bytes: Option<u64>,
    /// Its version of Ebb.
    pub version: String,
    /// Its version of wasmtime, in which plugins run.
    #[serde(default)]
    pub wasmtime_version: String,
    /// Since it started.
    pub uptime_ms: u64,
}

/// Something that models can run on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Device {
    /// What it is, for people: `NVIDIA H200`, `Intel CPU`.
    pub name: String,
    /// The execution provider that reaches it, by Ebb's name: `cpu`, `cuda`. One device may stand under several.
    pub provider: String,
    /// `cpu`, `gpu` or `npu`; empty where that is not known.
    pub kind: String,
    /// Its own memory; `None` where it has none of its own, or does not tell.
    pub memory_total_bytes: Option<u64>,
    /// What is free of that.
    pub memory_free_bytes: Option<u64>,
    /// Whether models can run on it now.
    pub available: bool,
    /// Why they cannot, and what helps.
    pub hint: Option<String>,
}

/// A library of ONNX Runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RuntimeLibrary {
    /// Its version; `None` where nothing but loading it would tell.
    pub version: Option<String>,
    /// Its file.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub path: PathBuf,
    /// The execution providers that it has, by Ebb's name; empty where it is not the one that is used.
    pub providers: Vec<String>,
    /// Whether models are loaded with it.
    pub used: bool,
}

/// What a model in memory holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelMemory {
    /// Its alias.
    pub alias: String,
    /// Whether it serves.
    pub state: ModelState,
    /// The process of its worker; `None` where that has ended: then the model holds nothing, and its figures are 0.
    #[serde(default)]
    pub pid: Option<u32>,
    /// The execution provider that it runs on, by Ebb's name.
    pub provider: String,
    /// Resident memory of its worker.
    pub resident_bytes: u64,
    /// Resident less shared.
    pub private_bytes: u64,
    /// Taken from the system by its arenas.
    pub reserved_bytes: u64,
    /// Of that, handed out to live tensors, weights included.
    pub in_use_bytes: u64,
    /// The same, by device: `cpu:0`, `gpu:0`.
    pub arenas: Vec<DeviceMemory>,
}

/// What a model's arena holds on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceMemory {
    /// Whose memory it is.
    pub device: crate::Target,
    /// Taken from it.
    pub reserved_bytes: u64,
    /// Of that, handed out to live tensors.
    pub in_use_bytes: u64,
    /// Hard cap, where one is set.
    pub limit_bytes: Option<u64>,
}

/// A folder of Ebb's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FolderSize {
    /// What lies in it: `models`, `plugins`, `runtimes`, `profiles`, `logs`, `cache`.
    pub name: String,
    /// Where it is.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub path: PathBuf,
    /// Size of its files; folders that can be entered twice (links) count once.
    pub bytes: u64,
}
