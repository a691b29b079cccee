//! What chat templates may call besides Jinja's own functions.

use std::time::{SystemTime, UNIX_EPOCH};

use minijinja::{Environment, Error, ErrorKind, Output, State, Value, escape_formatter, value::Kwargs};

use super::{date, json};

/// What a template says where it refuses a conversation.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Raised(pub(super) String);

/// Adds them.
pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
    environment.add_filter("tojson", tojson);
    environment.set_formatter(format);
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, "the template refuses").with_source(Raised(message)))
}

/// The time is told in UTC: a prompt must not depend on where the machine stands.
fn strftime_now(format: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date::strftime(format, now)
}

/// Python's `json.dumps`, which Hugging Face's libraries put in place of Jinja's filter: without HTML's escapes.
fn tojson(state: &State, value: &Value, indent: Option<Value>, args: Kwargs) -> Result<Value, Error> {
    let indent = match indent {
        Some(indent) => Some(indent),
        None => args.get::<Option<Value>>("indent")?,
    };
    let indent = indent.filter(|indent| !indent.is_none()).map(usize::try_from).transpose()?;
    let style = json::Style {
        // Python takes any number; more blanks than this serve nobody.
        indent: indent.map(|blanks| blanks.min(16)),
        separators: args.get::<Option<Vec<String>>>("separators")?.unwrap_or_default(),
        sort_keys: args.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        ensure_ascii: args.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
    };
    args.assert_all_used()?;
    let text = style.dump(value).map_err(|error| {
        Error::new(ErrorKind::BadSerialization, "this cannot be written as JSON").with_source(error)
    })?;
    state.consume_fuel(text.len() as u64 / 64)?;
    Ok(Value::from_safe_string(text))
}

/// Truth values and none as Python prints them.
fn format(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match bool::try_from(value.clone()) {
        Ok(true) if value.kind() == minijinja::value::ValueKind::Bool => {
            out.write_str("True").map_err(Error::from)
        }
        Ok(false) if value.kind() == minijinja::value::ValueKind::Bool => {
            out.write_str("False").map_err(Error::from)
        }
        _ if value.is_none() => out.write_str("None").map_err(Error::from),
        _ => escape_formatter(out, state, value),
    }
}
