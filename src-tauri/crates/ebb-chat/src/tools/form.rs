//! The form in which a model writes calls, and the grammar that holds it to the form.

use std::fmt::Write as _;

use ebb_core::Tool;
use serde_json::{Value, json};

use crate::vocabulary::Vocabulary;

/// A form of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `<tool_call>{"name", "arguments"}</tool_call>`: Hermes, Qwen, SmolLM and many more.
    Hermes,
    /// `[TOOL_CALLS] [{"name", "arguments"}]`.
    Mistral,
    /// `{"name", "parameters"}`.
    Llama,
    /// `<|tool_call|>[{"name", "arguments"}]<|/tool_call|>`.
    Phi,
}

impl Form {
    /// The form that a template asks for. One that knows no tools is told of them in Hermes' form.
    pub(crate) fn of(template: &str) -> Self {
        if template.contains("<tool_call>") {
            Self::Hermes
        } else if template.contains("[TOOL_CALLS]") {
            Self::Mistral
        } else if template.contains("<|tool_call|>") {
            Self::Phi
        } else if template.contains("<|python_tag|>") || template.contains("\"parameters\":") {
            Self::Llama
        } else {
            Self::Hermes
        }
    }

    /// Rules in llguidance's Lark for one call of one of these tools; the first is named `calls`. `limits` are options for
    /// the JSON.
    pub(crate) fn rules(self, tools: &[&Tool], vocabulary: &Vocabulary, options: &Value) -> String {
        let mark = |text: &str| match vocabulary.special_named(text) {
            Some(token) => format!("<[{token}]>"),
            None => Value::from(text).to_string(),
        };
        let frame = match self {
            Self::Hermes => format!("{} \"\\n\" call \"\\n\" {}", mark("<tool_call>"), mark("</tool_call>")),
            Self::Mistral => format!("{} \"[\" call \"]\"", mark("[TOOL_CALLS]")),
            Self::Phi => format!("{} \"[\" call \"]\" {}", mark("<|tool_call|>"), mark("<|/tool_call|>")),
            Self::Llama => "call".to_owned(),
        };
        let names: Vec<String> = (0..tools.len()).map(|place| format!("call_{place}")).collect();
        let mut rules = format!("calls: {frame}\ncall: {}\n", names.join(" | "));
        for (name, tool) in names.iter().zip(tools) {
            // Writing to a string cannot fail.
            let _ = writeln!(rules, "{name}: %json {}", self.schema(tool, options));
        }
        rules
    }

    fn schema(self, tool: &Tool, options: &Value) -> Value {
        let arguments = if self == Self::Llama { "parameters" } else { "arguments" };
        let mut schema = match &tool.parameters.0 {
            Value::Object(fields) => Value::Object(fields.clone()),
            _ => json!({"type": "object"}),
        };
        let mut whole = json!({
            "type": "object",
            "properties": {"name": {"const": tool.name}},
            "required": ["name", arguments],
            "additionalProperties": false,
            "x-guidance": options,
        });
        // References within the tool's own schema begin at its root.
        for definitions in ["$defs", "definitions"] {
            if let Some(moved) = schema.as_object_mut().and_then(|fields| fields.remove(definitions)) {
                whole[definitions] = moved;
            }
        }
        whole["properties"][arguments] = schema;
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_seen_in_the_template() {
        for (template, form) in [
            ("{{ '<tool_call>' }}", Form::Hermes),
            ("[TOOL_CALLS]", Form::Mistral),
            ("<|tool_call|>", Form::Phi),
            (r#"{"name": function name, "parameters": dictionary}"#, Form::Llama),
            ("{{ messages[0].content }}", Form::Hermes),
        ] {
            assert_eq!(Form::of(template), form);
        }
    }
}
