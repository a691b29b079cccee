//! What is there and what is missing, each with how to get it.

use std::path::Path;

use ebb_core::{
    Failure, Probe, format_bytes,
    operations::{Check, CheckState, Doctor},
};
use sysinfo::Disks;

use crate::{Host, atomic, available::system_memory};

/// Less free memory than this is tight for any model.
const LITTLE_MEMORY_BYTES: u64 = 512 << 20;

/// Less room on disk than this does not hold a model.
const LITTLE_DISK_BYTES: u64 = 1 << 30;

impl Host {
    /// Looks at everything that Ebb needs. What is missing is a line of the answer, never an error.
    ///
    /// # Errors
    /// None today.
    pub async fn doctor(&self) -> Result<Doctor, Failure> {
        let mut checks = vec![worker(&self.inner.worker_program)];
        let places = &self.inner.places;
        match &self.find_anew().await.probe {
            Ok(probe) => checks.extend(runtime(probe)),
            Err(failure) => checks.push(missing("library", failure.clone())),
        }
        checks.push(memory());
        checks.push(home(&places.home));
        checks.push(disk(&places.home));
        Ok(Doctor { checks })
    }
}

fn check(name: impl Into<String>, state: CheckState, found: impl Into<String>, hint: Option<&str>) -> Check {
    Check { name: name.into(), state, found: found.into(), hint: hint.map(ToOwned::to_owned) }
}

fn missing(name: &str, failure: Failure) -> Check {
    Check { name: name.to_owned(), state: CheckState::Missing, found: failure.message, hint: failure.hint }
}

fn worker(program: &Path) -> Check {
    let found = program.display().to_string();
    if program.is_file() {
        return check("worker", CheckState::Ok, found, None);
    }
    let hint = "put `ebb-worker` beside `ebb`, or set EBB_WORKER to its path";
    check("worker", CheckState::Missing, format!("there is no {found}"), Some(hint))
}

/// The library, a line for each provider, a line for what no provider reaches.
fn runtime(probe: &Probe) -> Vec<Check> {
    let library = format!("ONNX Runtime {} at {}", probe.version, probe.library.display());
    let mut checks = vec![check("library", CheckState::Ok, library, None)];
    for provider in &probe.providers {
        let devices: Vec<_> = probe
            .devices
            .iter()
            .filter(|device| device.provider == *provider)
            .map(|device| format!("{} {}", device.vendor, device.kind).trim().to_owned())
            .collect();
        let found = if devices.is_empty() { "available".to_owned() } else { devices.join(", ") };
        checks.push(check(format!("provider.{provider}"), CheckState::Ok, found, None));
    }
    for (provider, reason) in &probe.refused {
        let hint = "see that the plug-in fits this ONNX Runtime and that its driver is installed";
        checks.push(check(format!("provider.{provider}"), CheckState::Warning, reason, Some(hint)));
    }
    if !probe.devices.iter().any(|device| device.kind == "gpu") {
        let hint = "models run on the CPU; for a GPU put a runtime or plug-in provider for it into Ebb's `runtimes` folder";
        checks.push(check("gpu", CheckState::Warning, "no provider sees a GPU", Some(hint)));
    }
    checks
}

fn memory() -> Check {
    let (available_bytes, machine_bytes) = match system_memory() {
        Ok(memory) => memory,
        Err(failure) => return check("memory", CheckState::Warning, failure.message, None),
    };
    let found = format!("{} free of {}", format_bytes(available_bytes), format_bytes(machine_bytes));
    if available_bytes >= LITTLE_MEMORY_BYTES {
        return check("memory", CheckState::Ok, found, None);
    }
    let hint = "unload models or shrink them, or close other programs";
    check("memory", CheckState::Warning, found, Some(hint))
}

/// Whether Ebb's data can be written: by writing.
fn home(home: &Path) -> Check {
    let trial = home.join("run").join("doctor.tmp");
    let written = atomic::write(&trial, b"can be removed").and_then(|()| {
        std::fs::remove_file(&trial).map_err(|error| atomic::refused("remove", &trial, &error))
    });
    match written {
        Ok(()) => check("home", CheckState::Ok, home.display().to_string(), None),
        Err(failure) => missing("home", failure),
    }
}

fn disk(home: &Path) -> Check {
    let disks = Disks::new_with_refreshed_list().ok();
    // The innermost mount that holds the folder.
    let mount = disks.as_ref().and_then(|disks| {
        let around = disks.iter().filter(|disk| home.starts_with(disk.mount_point()));
        around.max_by_key(|disk| disk.mount_point().components().count())
    });
    let Some(disk) = mount else {
        return check("disk", CheckState::Warning, "the free space cannot be told", None);
    };
    let found = format!("{} free at {}", format_bytes(disk.available_space()), disk.mount_point().display());
    if disk.available_space() >= LITTLE_DISK_BYTES {
        return check("disk", CheckState::Ok, found, None);
    }
    check("disk", CheckState::Warning, found, Some("free some disk space before adding or importing models"))
}

#[cfg(test)]
mod tests {
    use ebb_core::ProbedDevice;

    use super::*;

    #[test]
    fn what_is_missing_says_how_to_get_it() {
        let worker = worker(Path::new("/no/such/ebb-worker"));
        assert_eq!(worker.state, CheckState::Missing);
        assert!(worker.hint.unwrap().contains("EBB_WORKER"));

        let probe = Probe {
            library: "/lib/libonnxruntime.so".into(),
            version: "1.31.1".into(),
            providers: vec!["cpu".into()],
            devices: Vec::new(),
            refused: [("webgpu".to_owned(), "no adapter".to_owned())].into(),
        };
        let checks = runtime(&probe);
        let names: Vec<_> = checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names, ["library", "provider.cpu", "provider.webgpu", "gpu"]);
        assert!(checks.iter().all(|check| (check.state == CheckState::Ok) == check.hint.is_none()));

        let gpu = ProbedDevice { provider: "cuda".into(), kind: "gpu".into(), vendor: "NVIDIA".into() };
        let with_gpu = Probe {
            providers: vec!["cuda".into()],
            devices: vec![gpu],
            refused: Default::default(),
            ..probe
        };
        let checks = runtime(&with_gpu);
        assert_eq!(checks.last().unwrap().found, "NVIDIA gpu");
    }

    #[test]
    fn a_home_that_cannot_be_written_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let own = home(&folder.path().join("neu und groß"));
        assert_eq!((own.state, own.hint), (CheckState::Ok, None));
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let refused = home(&file.join("home"));
        assert_eq!(refused.state, CheckState::Missing);
        assert!(refused.hint.is_some());
    }
}
