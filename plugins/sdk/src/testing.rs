//! A host for tests: policies and pipelines run natively against it, no Wasm needed.
//!
//! [`Host`] holds what the real one would: settings, samples, models, documents, a store. It grants everything, unless
//! [`Host::deny`] says otherwise, and lives in the thread that installed it.
//!
//! ```
//! use ebb_plugin_sdk::{setting_or, testing::Host};
//!
//! let host = Host::new().setting("ratio", 1.5).install();
//! assert_eq!(setting_or("ratio", 2.0), 1.5);
//!
//! ebb_plugin_sdk::info!("read the {}", "settings");
//! assert_eq!(host.logs(), ["read the settings"]);
//! ```

pub(crate) mod backend;
mod manifest;
mod models;
mod replay;
mod samples;
mod store;

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

pub use ebb_trace::{Figure, Figures, Report, Trace, Workload};
use serde::Serialize;

pub use self::{
    manifest::Promise,
    models::Model,
    replay::replay,
    samples::{run, sample},
};
use crate::{Error, Level, Sample, documents::Document};

thread_local! {
    static CURRENT: RefCell<Host> = RefCell::new(Host::new());
}

/// A host for tests. Clones are the same host.
#[derive(Debug, Clone, Default)]
pub struct Host(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    settings: BTreeMap<String, String>,
    denied: Vec<String>,
    models: BTreeMap<String, Model>,
    samples: BTreeMap<String, Vec<Sample>>,
    options: BTreeMap<String, BTreeMap<String, String>>,
    documents: BTreeMap<String, (Document, Vec<u8>)>,
    store: store::Store,
    now_ms: u64,
    logs: Vec<(Level, String)>,
    progress: Vec<(f32, String)>,
    calls: Vec<String>,
}

impl Host {
    /// A host that has nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A host with the settings' defaults of a manifest: `Host::of(include_str!("../plugin.toml"))`.
    ///
    /// # Panics
    /// Where the manifest cannot be read.
    pub fn of(manifest: &str) -> Self {
        manifest::defaults(manifest).fold(Self::new(), |host, (name, value)| host.setting(&name, value))
    }

    /// Makes it the host of this thread, and so of the plugin under test.
    pub fn install(self) -> Self {
        CURRENT.set(self.clone());
        self
    }

    pub(crate) fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
    }

    /// Gives a setting a value, as the user would.
    pub fn setting(self, name: &str, value: impl Serialize) -> Self {
        let json = serde_json::to_string(&value).expect("a setting can be written as JSON");
        self.0.borrow_mut().settings.insert(name.to_owned(), json);
        self
    }

    /// Refuses a capability, as if it had not been granted: `memory.read`, `store`, ...
    pub fn deny(self, capability: &str) -> Self {
        self.0.borrow_mut().denied.push(capability.to_owned());
        self
    }

    /// Adds a model that the plugin may use.
    pub fn model(self, model: Model) -> Self {
        self.0.borrow_mut().models.insert(model.alias().to_owned(), model);
        self
    }

    /// Adds the next sample of the model that it names.
    pub fn sample(self, sample: Sample) -> Self {
        self.0.borrow_mut().samples.entry(sample.model.clone()).or_default().push(sample);
        self
    }

    /// Adds a document, or changes it. Its id is its name.
    pub fn document(self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        let content = content.into();
        let mut state = self.0.borrow_mut();
        let document = Document {
            id: name.to_owned(),
            name: name.to_owned(),
            media_type: media_type(name).to_owned(),
            size_bytes: content.len() as u64,
            modified_ms: state.now_ms,
        };
        state.documents.insert(name.to_owned(), (document, content));
        drop(state);
        self
    }

    /// Takes a document away.
    pub fn without_document(self, name: &str) -> Self {
        self.0.borrow_mut().documents.remove(name);
        self
    }

    /// Sets the clock, in milliseconds since 1970.
    pub fn at_ms(self, now_ms: u64) -> Self {
        self.0.borrow_mut().now_ms = now_ms;
        self
    }

    /// The lines that the plugin logged, oldest first.
    pub fn logs(&self) -> Vec<String> {
        self.0.borrow().logs.iter().map(|(_, line)| line.clone()).collect()
    }

    /// The lines that the plugin logged, each with its level.
    pub fn leveled_logs(&self) -> Vec<(Level, String)> {
        self.0.borrow().logs.clone()
    }

    /// The progress that the plugin told.
    pub fn progress(&self) -> Vec<(f32, String)> {
        self.0.borrow().progress.clone()
    }

    /// The calls that need a capability, each with what it was about: `embed minilm 3`, `shrink-arena minilm`.
    pub fn calls(&self) -> Vec<String> {
        self.0.borrow().calls.clone()
    }

    /// Checks a capability, and notes the call.
    fn check(&self, capability: &str, call: String) -> Result<(), Error> {
        let mut state = self.0.borrow_mut();
        state.calls.push(call);
        match state.denied.iter().any(|denied| denied == capability) {
            true => Err(Error::Denied(capability.to_owned())),
            false => Ok(()),
        }
    }
}

/// As the real host guesses it.
fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default().to_lowercase().as_str() {
        "md" | "markdown" => "text/markdown",
        "txt" | "text" => "text/plain",
        "html" | "htm" => "text/html",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}
