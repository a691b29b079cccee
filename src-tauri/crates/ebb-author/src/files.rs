//! What a new folder holds: templates of the author's own files, and what is embedded of this repository.

use ebb_core::PluginWorld;

use crate::Lang;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Where the SDK lies in a folder of Rust.
pub(crate) const SDK_FOLDER: &str = "vendor/ebb-plugin-sdk";

/// A template of one file: its name, and its text with gaps.
type Template = (&'static str, &'static str);

macro_rules! template {
    ($name:literal, $file:literal) => {
        ($name, include_str!(concat!("../templates/", $file)))
    };
}

const POLICY: [Template; 2] =
    [template!("plugin.toml", "policy.toml"), template!("trace.jsonl", "trace.jsonl")];
const PIPELINE: [Template; 1] = [template!("plugin.toml", "pipeline.toml")];

const RUST: [Template; 2] =
    [template!("Cargo.toml", "rust/Cargo.toml.in"), template!(".gitignore", "rust/gitignore")];
const RUST_POLICY: [Template; 2] =
    [template!("src/lib.rs", "rust/policy.rs"), template!("README.md", "rust/policy.md")];
const RUST_PIPELINE: [Template; 3] = [
    template!("src/lib.rs", "rust/pipeline.rs"),
    template!("src/passages.rs", "rust/passages.rs"),
    template!("README.md", "rust/pipeline.md"),
];

const PYTHON: [Template; 1] = [template!(".gitignore", "python/gitignore")];
const PYTHON_POLICY: [Template; 4] = [
    template!("app.py", "python/policy/app.py"),
    template!("rule.py", "python/policy/rule.py"),
    template!("test_rule.py", "python/policy/test_rule.py"),
    template!("README.md", "python/policy/README.md"),
];
const PYTHON_PIPELINE: [Template; 5] = [
    template!("app.py", "python/pipeline/app.py"),
    template!("pipeline.py", "python/pipeline/pipeline.py"),
    template!("passages.py", "python/pipeline/passages.py"),
    template!("test_passages.py", "python/pipeline/test_passages.py"),
    template!("README.md", "python/pipeline/README.md"),
];

const JS: [Template; 2] =
    [template!("package.json", "js/package.json"), template!(".gitignore", "js/gitignore")];
const JS_POLICY: [Template; 4] = [
    template!("app.js", "js/policy/app.js"),
    template!("rule.js", "js/policy/rule.js"),
    template!("rule.test.js", "js/policy/rule.test.js"),
    template!("README.md", "js/policy/README.md"),
];
const JS_PIPELINE: [Template; 4] = [
    template!("app.js", "js/pipeline/app.js"),
    template!("passages.js", "js/pipeline/passages.js"),
    template!("passages.test.js", "js/pipeline/passages.test.js"),
    template!("README.md", "js/pipeline/README.md"),
];

/// The author's own files, by name, for a plugin called `id`.
pub(crate) fn templates(lang: Lang, world: PluginWorld, id: &str) -> Vec<(&'static str, String)> {
    let of_world: &[Template] = match world {
        PluginWorld::ShrinkPolicy => &POLICY,
        PluginWorld::RagPipeline => &PIPELINE,
    };
    let (of_lang, of_both): (&[Template], &[Template]) = match (lang, world) {
        (Lang::Rust, PluginWorld::ShrinkPolicy) => (&RUST, &RUST_POLICY),
        (Lang::Rust, PluginWorld::RagPipeline) => (&RUST, &RUST_PIPELINE),
        (Lang::Python, PluginWorld::ShrinkPolicy) => (&PYTHON, &PYTHON_POLICY),
        (Lang::Python, PluginWorld::RagPipeline) => (&PYTHON, &PYTHON_PIPELINE),
        (Lang::Js, PluginWorld::ShrinkPolicy) => (&JS, &JS_POLICY),
        (Lang::Js, PluginWorld::RagPipeline) => (&JS, &JS_PIPELINE),
    };
    let fill = |text: &str| text.replace("{{id}}", id).replace("{{name}}", &for_people(id));
    [of_world, of_lang, of_both].concat().into_iter().map(|(name, text)| (name, fill(text))).collect()
}

/// `quiet-hours` as `Quiet hours`.
fn for_people(id: &str) -> String {
    let words = id.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
