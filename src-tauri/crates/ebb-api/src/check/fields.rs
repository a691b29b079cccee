//! Load options by the names of their fields, as they are sent.

use ebb_core::LoadOptions;
use serde_json::Value;

/// The field of each option of ONNX Runtime, in the order of [`ebb_core::options::Requested::all`].
pub(super) fn of_options(options: &LoadOptions) -> Vec<String> {
    let named = |map: &'static str| move |key: &String| format!("{map}.{key}");
    let of_providers = options.provider_options.iter().flat_map(|(provider, pairs)| {
        pairs.keys().map(move |key| format!("provider_options.{provider}.{key}"))
    });
    let session = options.session_options.keys().map(named("session_options"));
    let arena = options.arena_options.keys().map(named("arena_options"));
    let run = options.runtime_options.keys().map(named("runtime_options"));
    session.chain(arena).chain(of_providers).chain(run).collect()
}

/// The fields that differ.
pub(super) fn differing(one: &LoadOptions, other: &LoadOptions) -> Vec<String> {
    let json = |options: &LoadOptions| serde_json::to_value(options).unwrap_or_default();
    let mut fields = Vec::new();
    differ(&mut String::new(), &json(one), &json(other), &mut fields);
    fields
}

fn differ(name: &mut String, one: &Value, other: &Value, fields: &mut Vec<String>) {
    if one == other {
        return;
    }
    let (Value::Object(one), Value::Object(other)) = (one, other) else {
        fields.push(name.clone());
        return;
    };
    let only_there = other.keys().filter(|key| !one.contains_key(*key));
    for key in one.keys().chain(only_there) {
        let length = name.len();
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(key);
        let of = |side: &serde_json::Map<String, Value>| side.get(key).cloned().unwrap_or_default();
        differ(name, &of(one), &of(other), fields);
        name.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use ebb_core::options::Requested;

    use super::*;

    fn options(json: &str) -> LoadOptions {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn each_option_has_its_field_as_it_was_sent() {
        let options = options(
            r#"{"session_options": {"a.b": "1"}, "arena_options": {"max_mem": "2"}, "runtime_options": {"r": "5"},
            "provider_options": {"CUDAExecutionProvider": {"x": "3"}, "webgpu": {"y": "4"}}}"#,
        );
        let fields = of_options(&options);
        let values: Vec<String> = Requested::all(&options).into_iter().map(|option| option.value).collect();
        assert_eq!(values, ["1", "2", "3", "4", "5"]);
        let expected = [
            "session_options.a.b",
            "arena_options.max_mem",
            "provider_options.CUDAExecutionProvider.x",
            "provider_options.webgpu.y",
            "runtime_options.r",
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn what_differs_is_told_to_the_key() {
        let one =
            options(r#"{"threads": 2, "arena_options": {"max_mem": "1", "x": "1"}, "provider": "cpu"}"#);
        let other = options(
            r#"{"arena_options": {"max_mem": "2", "x": "1"}, "provider": "cpu", "provider_options": {"cuda": {"a": "1"}}}"#,
        );
        assert_eq!(differing(&one, &other), ["arena_options.max_mem", "provider_options.cuda", "threads"]);
        assert!(differing(&one, &one.clone()).is_empty());
    }
}
