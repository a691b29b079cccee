//! A model's chat template: Jinja as Hugging Face's libraries run it, bounded so that no template can hang or fill the memory.

use std::{collections::BTreeMap, fmt, path::Path};

use ebb_core::Generation;
use minijinja::{Environment, ErrorKind, syntax::SyntaxConfig, value::Serde};
use minijinja_contrib::pycompat::unknown_method_callback;

use crate::Error;

mod conversation;
mod date;
mod functions;
mod json;

use conversation::Arguments;
pub(crate) use conversation::are_told;
use functions::Raised;

/// Work that one rendering may do; MiniJinja counts one for each instruction and each 64 bytes made. Real templates take
/// some hundreds for a message.
const FUEL: u64 = 4_000_000;
/// The template of all purposes, and the one that models which list several have for tools.
const DEFAULT: &str = "default";
const TOOL_USE: &str = "tool_use";

/// What to do where a template refused.
const REFUSED: &str = "the model's author wrote this rule into the template: change the messages as it says";
/// What to do where a template failed.
const FAILED: &str =
    "the template of this model cannot be run on these messages; `prompt` takes a text without the template";

/// The chat templates of a model.
pub(crate) struct Template {
    /// Templates are compiled when the model is loaded; one that cannot be fails with the first conversation, so that the
    /// model still takes bare prompts.
    environment: Result<Environment<'static>, String>,
    sources: BTreeMap<String, String>,
    special: BTreeMap<String, String>,
}

impl Template {
    /// The templates by name, with the special tokens that they may write. None where there is no template.
    pub(crate) fn new(
        templates: &BTreeMap<String, String>,
        special: BTreeMap<String, String>,
        folder: &Path,
    ) -> Result<Option<Self>, Error> {
        if templates.is_empty() {
            return Ok(None);
        }
        let sources: BTreeMap<String, String> =
            templates.iter().map(|(name, source)| (name.clone(), without_generation_marks(source))).collect();
        let environment = compile(&sources).map_err(|error| {
            tracing::warn!(folder = %folder.display(), %error, "the chat template cannot be compiled");
            describe(&error)
        });
        Ok(Some(Self { environment, sources, special }))
    }

    /// Whether it tells the model of tools by itself.
    pub(crate) fn takes_tools(&self) -> bool {
        self.source(true).contains("tools")
    }

    /// The source that is used with or without tools: which marks a model's calls have can be seen in it.
    pub(crate) fn source(&self, tools: bool) -> &str {
        self.sources.get(self.name(tools)).map_or("", String::as_str)
    }

    /// The text that the model reads.
    ///
    /// # Errors
    /// Where the template refuses the conversation, fails, or takes too long.
    pub(crate) fn render(&self, generation: &Generation) -> Result<String, Error> {
        let failed = |reason: String| Error::Template { reason, hint: FAILED };
        let environment = self.environment.as_ref().map_err(|reason| failed(reason.clone()))?;
        let tools = conversation::are_told(generation);
        let template =
            environment.get_template(self.name(tools)).map_err(|error| failed(describe(&error)))?;
        let written = |arguments| {
            let context = conversation::context(generation, self.source(tools), &self.special, arguments);
            template.render(Serde(&context))
        };
        let error = match written(Arguments::Objects) {
            Ok(text) => return Ok(text),
            Err(error) => error,
        };
        if let Some(Raised(reason)) = raised(&error) {
            return Err(Error::Template { reason: reason.clone(), hint: REFUSED });
        }
        // Some templates put the arguments of calls together as text, which an object is not.
        let called = generation.messages.iter().any(|message| !message.tool_calls.is_empty());
        let text = called.then(|| written(Arguments::Text).ok()).flatten();
        text.ok_or_else(|| failed(describe(&error)))
    }

    fn name(&self, tools: bool) -> &str {
        if tools && self.sources.contains_key(TOOL_USE) {
            return TOOL_USE;
        }
        if self.sources.contains_key(DEFAULT) {
            DEFAULT
        } else {
            self.sources.keys().next().map_or("", String::as_str)
        }
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("names", &self.sources.keys()).finish_non_exhaustive()
    }
}

fn compile(sources: &BTreeMap<String, String>) -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
    environment.set_syntax(syntax);
    environment.set_fuel(Some(FUEL));
    environment.set_unknown_method_callback(unknown_method_callback);
    functions::add(&mut environment);
    for (name, source) in sources {
        environment.add_template_owned(name.clone(), source.clone())?;
    }
    Ok(environment)
}

fn raised(error: &minijinja::Error) -> Option<&Raised> {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(raised) = error.downcast_ref() {
            return Some(raised);
        }
        cause = error.source();
    }
    None
}

/// What failed, in one line.
fn describe(error: &minijinja::Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        return "it does not come to an end".to_owned();
    }
    let place = error.line().map_or_else(String::new, |line| format!(" (line {line})"));
    match error.detail() {
        Some(detail) => format!("{}: {detail}{place}", error.kind()),
        None => format!("{}{place}", error.kind()),
    }
}

/// `{% generation %}` marks the model's own words for training; here it is a block like any other.
fn without_generation_marks(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let Some(length) = rest[start..].find("%}") else { break };
        let inner = &rest[start + 2..start + length];
        let word = inner.trim_matches(['-', '+']).trim();
        text.push_str(&rest[..start + 2]);
        match word {
            "generation" => text.push_str(&inner.replace(word, "if true")),
            "endgeneration" => text.push_str(&inner.replace(word, "endif")),
            _ => text.push_str(inner),
        }
        text.push_str("%}");
        rest = &rest[start + length + 2..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;
