//! Whether a value fits its key, and how ONNX Runtime wants it written.

use std::ops::RangeInclusive;

use super::{CatalogueEntry, ExtendStrategy, Scope, ValueType};
use crate::{Code, Failure, parse_bytes};

/// Longest key that ONNX Runtime takes, in bytes.
const MAX_KEY_BYTES: usize = 1024;

/// Longest value that ONNX Runtime takes, in bytes.
const MAX_VALUE_BYTES: usize = 8192;

/// Refuses what could not even be handed over.
pub(super) fn text(key: &str, value: &str) -> Result<(), Failure> {
    let invalid = |message: String, hint: &str| {
        let start: String = key.chars().take(80).collect();
        Err(Failure::new(Code::InvalidValue, message).hint(hint).param(start.replace('\0', "\\0")))
    };
    if key.trim().is_empty() {
        return invalid("an option has an empty key".to_owned(), "write options as key=value");
    }
    if key.contains('\0') || value.contains('\0') {
        return invalid("an option contains a NUL byte".to_owned(), "options are text without NUL bytes");
    }
    if key.len() > MAX_KEY_BYTES {
        let message = format!("an option's key has {} bytes, more than {MAX_KEY_BYTES}", key.len());
        return invalid(message, "shorten it: ONNX Runtime takes no longer keys");
    }
    if value.len() > MAX_VALUE_BYTES {
        let message = format!("the value of {key} has {} bytes, more than {MAX_VALUE_BYTES}", value.len());
        return invalid(message, "shorten it: ONNX Runtime takes no longer values");
    }
    Ok(())
}

/// The value as ONNX Runtime wants it: booleans as `1` and `0`, sizes in bytes, names in their own case.
///
/// # Errors
/// [`Code::InvalidValue`] with the values allowed. A name that is new to the catalogue is let through for a provider: its
/// build may know more than the catalogue.
pub(super) fn value(entry: &CatalogueEntry, key: &str, typed: &str) -> Result<String, Failure> {
    let value = typed.trim();
    let checked = match entry.r#type {
        ValueType::Bool => boolean(entry, value),
        ValueType::Int => integer(value).filter(|&number| allows(entry, number)).map(|n| n.to_string()),
        ValueType::Bytes => bytes(value).filter(|&number| allows(entry, number)).map(|n| n.to_string()),
        ValueType::Float => value.parse::<f64>().ok().filter(|n| n.is_finite()).map(|_| value.to_owned()),
        ValueType::Enum => name(entry, value),
        ValueType::Path | ValueType::String | ValueType::Json => Some(typed.to_owned()),
        ValueType::Pointer => matches!(value, "" | "0").then(|| value.to_owned()),
    };
    checked.ok_or_else(|| {
        Failure::new(Code::InvalidValue, format!("{key} cannot be '{typed}': it takes {}", takes(entry)))
            .hint(entry.description.clone())
            .param(key)
    })
}

/// Whether the catalogue lists a value, where it lists any.
pub(super) fn is_listed(entry: &CatalogueEntry, value: &str) -> bool {
    entry.r#type != ValueType::Enum || value.is_empty() || entry.allowed.iter().any(|known| known == value)
}

/// The bounds that a number or range in the catalogue means: `7`, `1..64`, `0..`.
pub(super) fn range(form: &str) -> Option<RangeInclusive<i128>> {
    match form.split_once("..") {
        None => form.parse().ok().map(|number: i128| number..=number),
        Some((from, "")) => Some(from.parse().ok()?..=i128::MAX),
        Some((from, to)) => Some(from.parse().ok()?..=to.parse().ok()?),
    }
}

/// A boolean as people write it.
pub(super) fn truth(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

/// A growth strategy by name or number.
pub(super) fn strategy(value: &str) -> Option<ExtendStrategy> {
    match value.to_ascii_lowercase().as_str() {
        "0" | "knextpoweroftwo" | "nextpoweroftwo" => Some(ExtendStrategy::NextPowerOfTwo),
        "1" | "ksameasrequested" | "sameasrequested" => Some(ExtendStrategy::SameAsRequested),
        _ => None,
    }
}

/// A graph optimization level as ONNX Runtime's own key names it.
fn optimization_level(value: &str) -> Option<&'static str> {
    let lower = value.to_ascii_lowercase();
    let short = lower.strip_prefix("ort_").unwrap_or(&lower);
    Some(match short.strip_prefix("enable_").unwrap_or(short) {
        "0" | "disable_all" | "disabled" | "none" => "disable_all",
        "1" | "basic" => "enable_basic",
        "2" | "extended" => "enable_extended",
        "3" | "layout" => "enable_layout",
        "99" | "all" => "enable_all",
        _ => return None,
    })
}

fn boolean(entry: &CatalogueEntry, value: &str) -> Option<String> {
    // ONNX Runtime compares most of its own keys with "1" alone: `true` would mean off.
    let in_words = entry.allowed.iter().any(|known| known == "true");
    truth(value).map(|on| if in_words { on.to_string() } else { u8::from(on).to_string() })
}

fn integer(value: &str) -> Option<i128> {
    value.parse::<i64>().map(i128::from).or_else(|_| value.parse::<u64>().map(i128::from)).ok()
}

fn bytes(value: &str) -> Option<i128> {
    if value == "-1" { Some(-1) } else { parse_bytes(value).ok().map(i128::from) }
}

fn allows(entry: &CatalogueEntry, number: i128) -> bool {
    let mut ranges = entry.allowed.iter().filter_map(|form| range(form));
    let any = entry.allowed.is_empty() && (number >= 0 || entry.r#type == ValueType::Int);
    any || ranges.any(|range| range.contains(&number))
}

fn name(entry: &CatalogueEntry, value: &str) -> Option<String> {
    let known = |name: &str| entry.allowed.iter().find(|known| known.eq_ignore_ascii_case(name)).cloned();
    if entry.key.ends_with("extend_strategy") {
        return match strategy(value) {
            Some(meant) => known(meant.name()).or_else(|| known(meant.number())),
            None => known(value),
        };
    }
    let meant = match entry.key.as_str() {
        "session.graph_optimization_level" => optimization_level(value)?,
        "session.execution_mode" if value == "0" => "sequential",
        "session.execution_mode" if value == "1" => "parallel",
        _ => value,
    };
    let lenient = matches!(entry.scope, Scope::Provider(_)) || (value.is_empty() && entry.default.is_none());
    known(meant).or_else(|| lenient.then(|| value.to_owned()))
}

/// What a key takes, in words.
fn takes(entry: &CatalogueEntry) -> String {
    let allowed = entry.allowed.join(", ");
    match entry.r#type {
        ValueType::Bool => "0, 1, true or false".to_owned(),
        ValueType::Int if allowed.is_empty() => "a whole number".to_owned(),
        ValueType::Int => format!("a whole number of {allowed}"),
        ValueType::Bytes if allowed.is_empty() => "a size: bytes, 400MB, 2GiB".to_owned(),
        ValueType::Bytes => format!("a size of {allowed}: bytes, 400MB, 2GiB"),
        ValueType::Float => "a number".to_owned(),
        ValueType::Pointer => "an address inside the process, which text cannot give".to_owned(),
        _ => allowed,
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    fn check(scope: &str, key: &str, typed: &str) -> Result<String, String> {
        let entry = find(&scope.parse().unwrap(), key).unwrap();
        value(entry, key, typed).map_err(|failure| {
            assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some(key)));
            failure.message
        })
    }

    #[test]
    fn values_are_written_as_onnx_runtime_wants_them() {
        for (scope, key, typed, want) in [
            ("session", "session.disable_prepacking", "true", "1"),
            ("session", "session.disable_prepacking", " False ", "0"),
            ("provider.dml", "disable_metacommands", "1", "true"),
            ("session", "session.graph_optimization_level", "ORT_ENABLE_ALL", "enable_all"),
            ("session", "session.graph_optimization_level", "99", "enable_all"),
            ("session", "session.graph_optimization_level", "ORT_DISABLE_ALL", "disable_all"),
            ("session", "session.graph_optimization_level", "Extended", "enable_extended"),
            ("session", "session.load_model_format", "onnx", "ONNX"),
            ("session", "session.load_model_format", "", ""),
            ("session", "ep.cuda.arena.extend_strategy", "kSameAsRequested", "1"),
            ("session", "optimization.constant_folding_max_output_size_in_bytes", "1MiB", "1048576"),
            ("arena", "max_mem", "-1", "-1"),
            ("provider.cuda", "arena_extend_strategy", "1", "kSameAsRequested"),
            ("provider.cuda", "arena_extend_strategy", "knextpoweroftwo", "kNextPowerOfTwo"),
            ("provider.cuda", "gpu_mem_limit", "2GiB", "2147483648"),
            ("provider.cuda", "gpu_mem_limit", "18446744073709551615", "18446744073709551615"),
            ("provider.openvino", "precision", "FP8", "FP8"),
            ("provider.openvino", "precision", "fp16", "FP16"),
            ("provider.cuda", "user_compute_stream", "0", "0"),
        ] {
            assert_eq!(check(scope, key, typed).as_deref(), Ok(want), "{scope} {key}={typed}");
        }
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused_naming_what_does() {
        for (scope, key, typed, told) in [
            ("session", "session.enable_cpu_mem_arena", "banana", "0, 1, true or false"),
            ("session", "session.enable_cpu_mem_arena", "", "0, 1, true or false"),
            ("session", "session.intra_op.spin_backoff_max", "65", "1..64"),
            ("session", "session.intra_op_num_threads", "-1", "0.."),
            ("session", "session.intra_op_num_threads", "two", "whole number"),
            ("session", "session.graph_optimization_level", "7", "enable_basic"),
            ("session", "session.moe_expert_counter_alpha", "NaN", "a number"),
            ("arena", "max_mem", "lots", "400MB"),
            ("arena", "max_mem", "-2", "400MB"),
            ("arena", "initial_chunk_size_bytes", "3GiB", "2147483647"),
            ("arena", "arena_extend_strategy", "kBanana", "kSameAsRequested"),
            ("provider.cuda", "gpu_mem_limit", "banana", "2GiB"),
            ("provider.cuda", "user_compute_stream", "140737", "address"),
        ] {
            let message = check(scope, key, typed).unwrap_err();
            assert!(message.contains(told) && message.contains(typed), "{key}={typed}: {message}");
        }
    }

    #[test]
    fn what_cannot_be_handed_over_is_refused() {
        let long = |length| "k".repeat(length);
        for (key, value, fits) in [
            ("", "1".to_owned(), false),
            ("  ", "1".to_owned(), false),
            ("a\0b", "1".to_owned(), false),
            ("a", "1\0".to_owned(), false),
            (long(1024).as_str(), long(8192), true),
            (long(1025).as_str(), "1".to_owned(), false),
            ("a", long(8193), false),
            ("ключ", "значение".to_owned(), true),
        ] {
            let checked = text(key, &value);
            assert_eq!(checked.is_ok(), fits, "{}", key.len());
            assert!(fits || checked.is_err_and(|failure| failure.code == Code::InvalidValue));
        }
    }
}
