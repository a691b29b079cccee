//! Functions that a model may ask to be called, and its calls.

use ebb_core::{Failure, Json, Tool, ToolCall, ToolChoice};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{bad_value, not_offered};

/// A tool that is offered to the model.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OfferedTool {
    /// `function`, the only kind that there is here.
    r#type: String,
    /// The function.
    function: Option<OfferedFunction>,
}

/// A function that is offered to the model.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OfferedFunction {
    /// Its name.
    pub(crate) name: String,
    /// What it does, for the model.
    pub(crate) description: Option<String>,
    /// JSON schema of its arguments.
    #[serde(default)]
    pub(crate) parameters: Json,
}

impl From<OfferedFunction> for Tool {
    fn from(function: OfferedFunction) -> Self {
        let OfferedFunction { name, description, parameters } = function;
        Self { name, description, parameters }
    }
}

/// Every tool, in order.
///
/// # Errors
/// For one that is no function.
pub(crate) fn read_all(tools: Vec<OfferedTool>) -> Result<Vec<Tool>, Failure> {
    let numbered = tools.into_iter().enumerate();
    numbered
        .map(|(place, tool)| {
            check_kind(&tool.r#type, &format!("tools[{place}].type"))?;
            let param = format!("tools[{place}].function");
            let missing = || bad_value(&param, format!("'{param}' is missing"));
            tool.function.map(Tool::from).ok_or_else(missing)
        })
        .collect()
}

/// Refuses tools that run on OpenAI's machines.
pub(crate) fn check_kind(kind: &str, param: &str) -> Result<(), Failure> {
    if kind == "function" {
        return Ok(());
    }
    let shown: String = kind.chars().take(40).collect();
    let message = format!("tools of the type '{}' are not offered", shown.escape_debug());
    Err(not_offered(param, message).hint("describe what is to be called as a function"))
}

/// Whether the model is to ask for a call.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected none, auto, required, or a function by its name")]
pub(crate) enum ChosenTool {
    /// `none`, `auto` or `required`.
    Mode(String),
    /// This function.
    Named(NamedTool),
}

/// A function by its name: `{"type": "function", "function": {"name": "..."}}`, or with the name beside the type.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NamedTool {
    r#type: String,
    name: Option<String>,
    function: Option<FunctionName>,
}

/// A function's name.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct FunctionName {
    name: String,
}

impl ChosenTool {
    /// The choice in Ebb's words.
    ///
    /// # Errors
    /// For a mode or kind that there is not.
    pub(crate) fn read(self) -> Result<ToolChoice, Failure> {
        const PARAM: &str = "tool_choice";
        match self {
            Self::Mode(mode) => match mode.as_str() {
                "none" => Ok(ToolChoice::None),
                "auto" => Ok(ToolChoice::Auto),
                "required" | "any" => Ok(ToolChoice::Required),
                _ => Err(bad_value(PARAM, "tool_choice must be none, auto, required, or name a function")),
            },
            Self::Named(tool) => {
                check_kind(&tool.r#type, PARAM)?;
                let name = tool.name.or(tool.function.map(|function| function.name));
                let missing = || bad_value("tool_choice.function.name", "tool_choice names no function");
                name.map(ToolChoice::Tool).ok_or_else(missing)
            }
        }
    }
}

/// A call that the model asked for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct CalledTool {
    /// Its place among the calls of the answer, in streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
    /// Names the call; the tool's message repeats it.
    id: String,
    /// `function`.
    #[serde(default = "function")]
    r#type: String,
    /// What is called.
    function: CalledFunction,
}

/// What is called.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct CalledFunction {
    /// The function's name.
    name: String,
    /// Its arguments: the text of a JSON object.
    arguments: String,
}

fn function() -> String {
    "function".to_owned()
}

impl CalledTool {
    /// The call in Ebb's words. `at` is where it stands.
    ///
    /// # Errors
    /// For one that is no function's.
    pub(crate) fn read(self, at: &str) -> Result<ToolCall, Failure> {
        check_kind(&self.r#type, &format!("{at}.type"))?;
        let CalledFunction { name, arguments } = self.function;
        Ok(ToolCall { id: self.id, name, arguments })
    }

    /// A call of an answer; `index` is its place in a stream.
    pub(crate) fn of(call: ToolCall, index: Option<u32>) -> Self {
        let ToolCall { id, name, arguments } = call;
        Self { index, id, r#type: function(), function: CalledFunction { name, arguments } }
    }
}
