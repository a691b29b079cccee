//! What the tests of this crate share: the real library, tiny models, and models loaded with a plan made by hand.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use ebb_core::options::{ArenaPlan, ExtendStrategy, Plan};
use ort::value::Tensor;
use tempfile::TempDir;

use crate::{
    Error,
    control::OrtControl,
    environment::{self, Runtime},
    provider::{self, Chosen},
    session::{Loaded, Opening},
    sys,
};

pub(crate) const MIB: u64 = 1 << 20;

/// The real library, loaded once.
pub(crate) fn runtime() -> Arc<Runtime> {
    sys::fix_heap_thresholds();
    environment::runtime(Some(&ebb_tests::home::runtime_library()), &[], "cpu").unwrap()
}

pub(crate) fn cpu() -> Chosen {
    provider::candidates(&runtime(), Some("cpu"), None, &[]).unwrap().remove(0)
}

fn models() -> &'static TempDir {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().unwrap())
}

/// `X` [batch, 512] → `Y` [batch, 512], 4 MiB of weights, 2 KiB a row and layer.
pub(crate) fn mlp() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| ebb_tests::models::mlp(&models().path().join("mlp"), 512, 4))
}

/// `X` [batch, 64] → `Y` [batch, 1], 2 MiB of weights, three times 32 KiB a row.
pub(crate) fn activations() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| ebb_tests::models::activations(&models().path().join("activations")))
}

pub(crate) fn with_arena(arena: ArenaPlan) -> Plan {
    Plan { arena: Some(arena), ..Plan::default() }
}

pub(crate) fn capped(max_mem_bytes: u64) -> Plan {
    with_arena(ArenaPlan { max_mem_bytes: Some(max_mem_bytes), ..ArenaPlan::default() })
}

pub(crate) fn growing(strategy: ExtendStrategy) -> Plan {
    with_arena(ArenaPlan { strategy, ..ArenaPlan::default() })
}

pub(crate) fn load(file: &Path, plan: Plan) -> Result<Loaded, Error> {
    load_all(&[file.to_owned()], plan).map(|mut loaded| loaded.remove(0))
}

pub(crate) fn load_all(files: &[PathBuf], mut plan: Plan) -> Result<Vec<Loaded>, Error> {
    let (runtime, provider) = (runtime(), cpu());
    let mut lines = std::mem::take(&mut plan.lines);
    let opening = Opening { runtime: &runtime, files, plan: &plan, provider: &provider, threads: Some(1) };
    Loaded::open(&opening, &mut lines)
}

pub(crate) fn controls(loaded: &Loaded) -> OrtControl {
    OrtControl::new("m", &cpu(), 0, Arc::clone(loaded.held()))
}

/// Runs a batch of so many rows and gives its first value.
pub(crate) fn run(loaded: &mut Loaded, rows: usize) -> Result<(f32, u32), Error> {
    let width = usize::try_from(loaded.inputs()[0].shape[1]).unwrap();
    let input = Tensor::from_array(([rows, width], vec![0.5_f32; rows * width])).unwrap();
    let ran = loaded.run(&[("X", (&input).into())], &[], &BTreeMap::new(), |outputs| {
        Ok(outputs["Y"].try_extract_tensor::<f32>().unwrap().1[0])
    })?;
    Ok((ran.value, ran.cap_retries))
}

pub(crate) fn reserved(loaded: &Loaded) -> u64 {
    loaded.held().cpu_stats().unwrap().reserved_bytes
}
