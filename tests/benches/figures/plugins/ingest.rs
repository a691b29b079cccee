//! What the sandbox costs an ingest: the pipeline that ships as a component, and the same code natively. Both read the same files,
//! write a store of their own, and ask one model in this process through the same calls.

mod local;
mod native;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use ebb_core::{Capability, operations::Grant};
use ebb_plugins::{Compiled, Component, Models, Plugin, PluginConfig, Sandbox, SandboxConfig};
use ebb_tests::plugins::shipped;
use tokio::runtime::Runtime;

use self::{local::Local, native::Native};
use crate::paired;

const PAIRS: usize = 12;

/// What an ingest came to.
#[derive(Debug, PartialEq)]
struct Ingested {
    documents: u32,
    chunks: u32,
    embedded_tokens: u64,
    batches: u64,
}

pub(super) fn print() {
    let home = tempfile::tempdir().expect("a folder");
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/rag/eval/docs");
    let documents = documents.canonicalize().expect("the documents that answers are judged by");
    let runtime = Runtime::new().expect("a runtime");
    let models = Arc::new(Local::open());
    let sandboxed = Sandboxed::new(home.path(), &documents, &models);
    let (mut native_ms, mut wasm_ms) = (Vec::new(), Vec::new());
    let mut whole = None;
    for pair in 0..=PAIRS {
        let native = || {
            let store = home.path().join(format!("native-{pair}.sqlite"));
            let began = Instant::now();
            let ingested = native(&store, &documents, &models, &runtime);
            (began.elapsed().as_secs_f64() * 1e3, ingested)
        };
        let wasm = || sandboxed.ingest(pair, &runtime);
        // Neither always goes first.
        let (native, wasm) = if pair % 2 == 0 {
            let native = native();
            (native, wasm())
        } else {
            let wasm = wasm();
            (native(), wasm)
        };
        assert_eq!(native.1, wasm.1, "both do the same");
        // The first pair warms up.
        if pair > 0 {
            native_ms.push(native.0);
            wasm_ms.push(wasm.0);
        }
        whole = Some(wasm.1);
    }
    let Ingested { documents, chunks, embedded_tokens, .. } = whole.expect("there are pairs");
    println!(
        "ingest of {documents} documents, {chunks} chunks, {embedded_tokens} tokens: {:.0} ms natively, {:.0} ms in the sandbox; \
         throughput {} of the native one   (at least 0.9)",
        paired::median(&native_ms),
        paired::median(&wasm_ms),
        paired::ratio(&native_ms, &wasm_ms)
    );
}

fn native(store: &Path, documents: &Path, models: &Local, runtime: &Runtime) -> Ingested {
    let host = Native::open(store, documents, models, runtime.handle());
    let ingested = rag::ingest(&host).expect("it is ingested");
    assert_eq!(ingested.skipped, []);
    let more: BTreeMap<String, u64> = ingested.more.into_iter().collect();
    Ingested {
        documents: ingested.documents,
        chunks: ingested.chunks,
        embedded_tokens: more["embedded_tokens"],
        batches: more["batches"],
    }
}

/// The component, compiled once.
struct Sandboxed {
    sandbox: Sandbox,
    compiled: Compiled,
    component: Component,
    grants: Vec<Grant>,
    home: PathBuf,
}

impl Sandboxed {
    fn new(home: &Path, documents: &Path, models: &Arc<Local>) -> Self {
        let bytes = std::fs::read(shipped().join("rag.wasm")).expect("rag was built");
        let config = SandboxConfig { compiled_folder: home.join("compiled") };
        let sandbox = Sandbox::new(config, Arc::clone(models) as Arc<dyn Models>).expect("a sandbox");
        let compiled = sandbox.compile(&bytes, &mut |_| {}).expect("it compiles");
        let component = Component::read(&bytes).expect("it is a plugin");
        let granted = |capability: Capability| Grant {
            capability,
            models: if capability.is_of_models() { vec![local::ALIAS.to_owned()] } else { Vec::new() },
            paths: if capability == Capability::Documents { vec![documents.to_owned()] } else { Vec::new() },
        };
        let grants = component.manifest.capabilities.iter().map(|asked| granted(asked.capability)).collect();
        Self { sandbox, compiled, component, grants, home: home.to_owned() }
    }

    /// Ingests into a store of its own; says how many milliseconds that took.
    fn ingest(&self, number: usize, runtime: &Runtime) -> (f64, Ingested) {
        let config = PluginConfig {
            manifest: self.component.manifest.clone(),
            data_folder: self.home.join(format!("wasm-{number}")),
            grants: self.grants.clone(),
            settings: BTreeMap::new(),
        };
        let plugin = Plugin::new(&self.sandbox, self.compiled.clone(), config).expect("a plugin");
        let pipeline = plugin.pipeline();
        let began = Instant::now();
        let ingested = runtime.block_on(pipeline.ingest(Box::new(|_| {}))).expect("it is ingested");
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        assert_eq!(ingested.skipped, []);
        let ingested = Ingested {
            documents: ingested.documents,
            chunks: ingested.chunks,
            embedded_tokens: ingested.more["embedded_tokens"],
            batches: ingested.more["batches"],
        };
        (took_ms, ingested)
    }
}
