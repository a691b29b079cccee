//! Load options as a person would type them.

use std::collections::BTreeMap;

use ebb_core::{KeepAlive, LoadOptions};

/// The command line that loads a model so, quoted for a shell; `None` where an option cannot be written on one.
pub(super) fn cli(alias: &str, options: &LoadOptions) -> Option<String> {
    let mut line = Line { words: vec!["ebb model load".to_owned(), quoted(alias)?] };
    line.flag("--provider", options.provider.as_deref())?;
    line.flag("--device", options.device)?;
    line.flag("--profile", options.profile.as_deref())?;
    line.pairs("--session-option", "", &options.session_options)?;
    line.pairs("--arena-option", "", &options.arena_options)?;
    for (provider, pairs) in &options.provider_options {
        // On the command line its name ends at the first dot.
        if provider.is_empty() || provider.contains('.') {
            return None;
        }
        line.pairs("--provider-option", &format!("{provider}."), pairs)?;
    }
    line.pairs("--runtime-option", "", &options.runtime_options)?;
    line.flag("--shrink-every", options.shrink_every)?;
    line.flag("--threads", options.threads)?;
    line.flag("--batch-tokens", options.batch_tokens)?;
    line.flag("--context-tokens", options.context_tokens)?;
    line.flag("--prefill-tokens", options.prefill_tokens)?;
    line.flag("--prefix-cache", options.prefix_cache_bytes)?;
    line.flag("--keep-alive", options.keep_alive)?;
    line.flag("--variant", options.variant.as_deref())?;
    line.flag("--queue", options.queue)?;
    // It takes its value with a sign alone.
    line.words.extend(options.restart.map(|restart| format!("--restart={restart}")));
    line.flag("--sample-ms", options.sample_ms)?;
    Some(line.words.join(" "))
}

/// A command line in the making.
struct Line {
    words: Vec<String>,
}

impl Line {
    fn flag(&mut self, flag: &str, value: Option<impl ToString>) -> Option<()> {
        let Some(value) = value.map(|value| value.to_string()) else { return Some(()) };
        let word = quoted(&value)?;
        // What looks like a flag is taken for a value only behind the sign.
        self.words.push(if value.starts_with('-') {
            format!("{flag}={word}")
        } else {
            format!("{flag} {word}")
        });
        Some(())
    }

    fn pairs(&mut self, flag: &str, before: &str, pairs: &BTreeMap<String, String>) -> Option<()> {
        for (key, value) in pairs {
            // A key ends at the first sign, and blanks around it do not count.
            if key.is_empty() || key.contains('=') || key.trim() != key {
                return None;
            }
            self.flag(flag, Some(format!("{before}{key}={value}")))?;
        }
        Some(())
    }
}

/// As a shell takes it for one word; `None` where nothing could be handed over so.
fn quoted(text: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/:._-+@=,%".contains(c);
    if text.contains('\0') {
        None
    } else if !text.is_empty() && text.chars().all(plain) {
        Some(text.to_owned())
    } else if cfg!(windows) {
        Some(format!("\"{}\"", text.replace('"', "\\\"")))
    } else {
        Some(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

/// The lines of Python that load a model so.
pub(super) fn python(alias: &str, options: &LoadOptions) -> String {
    let LoadOptions {
        provider,
        device,
        profile,
        session_options,
        arena_options,
        provider_options,
        runtime_options,
        shrink_every,
        threads,
        batch_tokens,
        context_tokens,
        prefill_tokens,
        prefix_cache_bytes,
        keep_alive,
        variant,
        queue,
        restart,
        sample_ms,
    } = options;
    let mut call = Call::default();
    call.text("provider", provider.as_deref());
    call.number("device", *device);
    call.text("profile", profile.as_deref());
    call.map("session_options", session_options);
    call.map("arena_options", arena_options);
    if !provider_options.is_empty() {
        let providers =
            provider_options.iter().map(|(name, pairs)| format!("{}: {}", string(name), dict(pairs)));
        call.argument("provider_options", &format!("{{{}}}", providers.collect::<Vec<_>>().join(", ")));
    }
    call.map("runtime_options", runtime_options);
    call.number("shrink_every", *shrink_every);
    call.number("threads", *threads);
    call.number("batch_tokens", *batch_tokens);
    call.number("context_tokens", *context_tokens);
    call.number("prefill_tokens", *prefill_tokens);
    call.number("prefix_cache_bytes", *prefix_cache_bytes);
    call.text("keep_alive", keep_alive.as_ref().map(KeepAlive::to_string).as_deref());
    call.text("variant", variant.as_deref());
    call.number("queue", *queue);
    if let Some(restart) = restart {
        call.argument("restart", if *restart { "True" } else { "False" });
    }
    call.number("sample_ms", *sample_ms);
    format!("import ebb\n\nmodel = ebb.connect().model({})\nmodel.load({})\n", string(alias), call.written())
}

/// The arguments of a call.
#[derive(Default)]
struct Call {
    arguments: String,
}

impl Call {
    fn argument(&mut self, name: &str, value: &str) {
        self.arguments += &format!("    {name}={value},\n");
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.argument(name, &string(value));
        }
    }

    fn number(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.argument(name, &value.to_string());
        }
    }

    fn map(&mut self, name: &str, pairs: &BTreeMap<String, String>) {
        if !pairs.is_empty() {
            self.argument(name, &dict(pairs));
        }
    }

    fn written(self) -> String {
        if self.arguments.is_empty() { String::new() } else { format!("\n{}", self.arguments) }
    }
}

fn dict(pairs: &BTreeMap<String, String>) -> String {
    let pairs = pairs.iter().map(|(key, value)| format!("{}: {}", string(key), string(value)));
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

/// A text as Python reads it: what JSON escapes, and how, is an escape there too.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: serde_json::Value) -> LoadOptions {
        serde_json::from_value(json).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_command_line_is_quoted_where_a_shell_would_read_it_otherwise() {
        let given = options(serde_json::json!({
            "provider": "cuda", "profile": "my own", "keep_alive": "-1", "restart": false,
            "session_options": {"session.log_id": "it's $HOME\n`x`", "a": ""},
            "arena_options": {"max_mem": "-1"},
            "provider_options": {"cuda": {"a.b": "c;d"}},
        }));
        let expected = "ebb model load m --provider cuda --profile 'my own' --session-option a= \
            --session-option 'session.log_id=it'\\''s $HOME\n`x`' --arena-option max_mem=-1 \
            --provider-option 'cuda.a.b=c;d' --keep-alive=-1 --restart=false";
        assert_eq!(cli("m", &given).unwrap(), expected);
        assert_eq!(cli("m", &LoadOptions::default()).unwrap(), "ebb model load m");
    }

    #[test]
    fn what_cannot_be_written_on_a_command_line_is_not() {
        for given in [
            serde_json::json!({"session_options": {"a=b": "1"}}),
            serde_json::json!({"session_options": {" a": "1"}}),
            serde_json::json!({"session_options": {"": "1"}}),
            serde_json::json!({"session_options": {"a": "\u{0}"}}),
            serde_json::json!({"provider_options": {"my.own": {"a": "1"}}}),
        ] {
            let given = options(given);
            assert_eq!(cli("m", &given), None, "{given:?}");
            assert!(python("m", &given).starts_with("import ebb\n"));
        }
    }

    #[test]
    fn python_has_its_own_words_for_truth_and_its_own_form() {
        let given = options(serde_json::json!({
            "threads": 2, "restart": true, "arena_options": {"max_mem": "400MB"},
            "provider_options": {"cuda": {"a": "\"quoted\" \\ \u{1} ü"}},
        }));
        let expected = r#"import ebb

model = ebb.connect().model("m")
model.load(
    arena_options={"max_mem": "400MB"},
    provider_options={"cuda": {"a": "\"quoted\" \\ \u0001 ü"}},
    threads=2,
    restart=True,
)
"#;
        assert_eq!(python("m", &given), expected);
        let bare = "import ebb\n\nmodel = ebb.connect().model(\"m\")\nmodel.load()\n";
        assert_eq!(python("m", &LoadOptions::default()), bare);
    }
}
