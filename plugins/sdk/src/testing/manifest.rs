//! What of a plugin's manifest its tests need: the defaults of its settings, and its promise.

use std::collections::BTreeMap;

use ebb_trace::{Figure, Report};
use serde::Deserialize;
use serde_json::Value;

/// What a policy promises in its manifest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Promise {
    /// The figure.
    pub figure: Figure,
    /// The bound.
    pub at_most: f64,
    /// The promise in words.
    pub words: String,
}

#[derive(Deserialize)]
struct Manifest {
    settings: Option<Settings>,
    promise: Option<Promise>,
}

#[derive(Deserialize)]
struct Settings {
    #[serde(default)]
    properties: BTreeMap<String, Property>,
}

#[derive(Deserialize)]
struct Property {
    default: Option<Value>,
}

fn read(manifest: &str) -> Manifest {
    toml::from_str(manifest).unwrap_or_else(|error| panic!("plugin.toml: {error}"))
}

/// The defaults of the settings.
pub(crate) fn defaults(manifest: &str) -> impl Iterator<Item = (String, Value)> {
    let properties = read(manifest).settings.map(|settings| settings.properties).unwrap_or_default();
    properties.into_iter().filter_map(|(name, property)| Some((name, property.default?)))
}

impl Promise {
    /// The promise in a manifest: `Promise::of(include_str!("../plugin.toml"))`.
    ///
    /// # Panics
    /// Where the manifest cannot be read, or promises nothing.
    pub fn of(manifest: &str) -> Self {
        read(manifest).promise.expect("plugin.toml has no [promise]")
    }

    /// The figure in a replay.
    ///
    /// # Panics
    /// Where the promise is not kept, with the figures.
    pub fn assert_kept(&self, report: &Report) -> f64 {
        let figure = report.figure(self.figure).expect("the replay gives the figure a meaning");
        let Self { at_most, words, .. } = self;
        assert!(
            figure <= *at_most,
            "promised: {words} (at most {at_most}); measured: {figure}\nwith: {:#?}\nwithout: {:#?}",
            report.with,
            report.without
        );
        figure
    }
}
