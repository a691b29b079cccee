//! `ebb chat` and `ebb complete`.

use std::str::FromStr;

use clap::Args;
use ebb_core::{Generation, ResponseFormat};

use super::RequestArgs;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Alias of the model, or its folder
    pub(crate) model: String,
    /// What to say, '-' for all of stdin. Without it a conversation begins where stdin is a terminal, and all of stdin is
    /// said where it is none
    pub(crate) text: Option<String>,
    /// Take each line of stdin as the next thing to say, also where stdin is no terminal
    #[arg(short, long, conflicts_with = "text")]
    pub(crate) interactive: bool,
    /// What the model is told before the conversation
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    #[command(flatten)]
    pub(crate) sampling: Box<SamplingArgs>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// Alias of the model, or its folder
    pub(crate) model: String,
    /// The text to go on from, '-' for all of stdin, which it also is without it
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) sampling: Box<SamplingArgs>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
}

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Generation options")]
pub(crate) struct SamplingArgs {
    /// Most tokens to generate; as many as there is room for where not given
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,
    /// A text at which generation ends; it is not part of the answer. May be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    stop: Vec<String>,
    /// Spread of the choice; 0: always the likeliest token
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    temperature: Option<f32>,
    /// Choose among so many of the likeliest tokens; 0: all
    #[arg(long, value_name = "N")]
    top_k: Option<u32>,
    /// Choose among the likeliest tokens that have this probability together; 1: all
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = finite)]
    top_p: Option<f32>,
    /// Choose among tokens that have at least this part of the likeliest one's probability; 0: all
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = finite)]
    min_p: Option<f32>,
    /// Divides the score of tokens that were there already; 1: none
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = finite)]
    repetition_penalty: Option<f32>,
    /// Taken off a token's score for each time that the answer has it; 0: none
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = finite)]
    frequency_penalty: Option<f32>,
    /// Taken off the score of every token that the answer has; 0: none
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = finite)]
    presence_penalty: Option<f32>,
    /// The same seed gives the same text; a random one where not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Added to the score of a token, by its id. May be repeated
    #[arg(long, value_name = "ID=X")]
    logit_bias: Vec<Bias>,
    /// The answer must be JSON that fits this schema
    #[arg(long, value_name = "FILE|JSON", conflicts_with = "regex")]
    pub(crate) json_schema: Option<String>,
    /// The answer as a whole must match this regular expression
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    regex: Option<String>,
}

/// What is added to the score of a token.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bias {
    token_id: u32,
    added: f32,
}

impl FromStr for Bias {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('=').and_then(|(id, added)| {
            Some(Self { token_id: id.trim().parse().ok()?, added: finite(added.trim()).ok()? })
        });
        parsed.ok_or_else(|| format!("'{text}' is not of the form ID=X, a token's number and what to add"))
    }
}

/// A number that JSON can carry: it has neither `nan` nor `inf`, and would leave the model's own value instead.
fn finite(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(number) if f32::is_finite(number) => Ok(number),
        _ => Err(format!("'{text}' is no number; give one like 0.7")),
    }
}

/// All but the schema, which may have to be read from a file.
impl From<SamplingArgs> for Generation {
    fn from(args: SamplingArgs) -> Self {
        Self {
            max_tokens: args.max_tokens,
            stop: args.stop,
            temperature: args.temperature,
            top_k: args.top_k,
            top_p: args.top_p,
            min_p: args.min_p,
            repetition_penalty: args.repetition_penalty,
            frequency_penalty: args.frequency_penalty,
            presence_penalty: args.presence_penalty,
            seed: args.seed,
            logit_bias: args.logit_bias.into_iter().map(|bias| (bias.token_id, bias.added)).collect(),
            response_format: args.regex.map(ResponseFormat::Regex),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use ebb_core::operations::RequestOptions;

    use super::*;
    use crate::args::{Cli, Command};

    fn chat(line: &[&str]) -> Result<ChatArgs, clap::Error> {
        let typed = ["ebb", "chat", "m"].iter().chain(line);
        match Cli::try_parse_from(typed)?.command {
            Command::Chat(args) => Ok(args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_become_the_fields_of_the_contract() {
        let line = "hello --max-tokens 5 --stop a --stop --- --temperature 0.5 --top-k 3 --top-p 0.25 --min-p 0.125 \
            --repetition-penalty 1.5 --frequency-penalty -0.5 --presence-penalty 0.75 --seed 7 --logit-bias 3=-100 \
            --logit-bias 4=1.5 --regex [a-z]+ --shrink-after --timeout 30s --keep-alive -1 --run-option a.b=1";
        let args = chat(&line.split_whitespace().collect::<Vec<_>>()).unwrap();
        let fields = serde_json::json!({
            "generation": Generation::from(*args.sampling),
            "options": RequestOptions::from(args.request),
        });
        insta::assert_json_snapshot!(fields, @r#"
        {
          "generation": {
            "messages": [],
            "prompt": null,
            "tools": [],
            "tool_choice": "auto",
            "max_tokens": 5,
            "stop": [
              "a",
              "---"
            ],
            "temperature": 0.5,
            "top_k": 3,
            "top_p": 0.25,
            "min_p": 0.125,
            "repetition_penalty": 1.5,
            "frequency_penalty": -0.5,
            "presence_penalty": 0.75,
            "seed": 7,
            "logit_bias": {
              "3": -100.0,
              "4": 1.5
            },
            "logprobs": null,
            "response_format": {
              "regex": "[a-z]+"
            },
            "template_options": {}
          },
          "options": {
            "shrink_after": [],
            "run_options": {
              "a.b": "1"
            },
            "timeout_ms": 30000,
            "keep_alive": "-1"
          }
        }
        "#);
    }

    #[test]
    fn what_contradicts_itself_is_a_usage_error() {
        for line in [
            &["--json-schema", "{}", "--regex", "a"][..],
            &["text", "--interactive"],
            &["--logit-bias", "a=1"],
            &["--logit-bias", "1=nan"],
            &["--temperature", "nan"],
            &["--temperature", "inf"],
            &["--top-p", "1e39"],
            &["--presence-penalty", "-inf"],
            &["--timeout", "0"],
        ] {
            assert_eq!(chat(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }
}
