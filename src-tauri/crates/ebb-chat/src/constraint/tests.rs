use ebb_core::{Code, Failure, FinishReason};
use proptest::prelude::*;

use super::*;
use crate::scene::{EOS, SIZE, Scene, Written, ask, weather, write_by};

fn language() -> Arc<Language> {
    Scene::byte_level().template("{{ messages[0].content }}").open()
}

/// Random scores, drawn from a seed.
fn noise(seed: u64) -> impl FnMut() -> Vec<f32> {
    let mut state = seed;
    move || {
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / 1_000_000.0
        };
        (0..SIZE).map(|_| draw()).collect()
    }
}

fn written(language: &Arc<Language>, format: ResponseFormat, seed: u64) -> Written {
    let generation = Generation { response_format: Some(format), ..ask("x") };
    write_by(&mut language.write(&generation, &[]).unwrap(), 400, noise(seed))
}

fn refused(format: ResponseFormat) -> Failure {
    let generation = Generation { response_format: Some(format), ..ask("x") };
    let refused = language().write(&generation, &[]).map(drop);
    refused.expect_err(&format!("{:?}", generation.response_format)).into()
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 8},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
            "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/point"}]},
        },
        "required": ["name", "age", "tags", "next"],
        "additionalProperties": false,
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "boolean"}}, "required": ["x"],
            "additionalProperties": false}},
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn whatever_the_model_wants_the_answer_fits_the_schema(seed: u64) {
        let written = written(&language(), ResponseFormat::JsonSchema(person().into()), seed);
        prop_assert_eq!(written.finish, Some(FinishReason::Stop));
        let value: Value = serde_json::from_str(&written.text).unwrap();
        prop_assert!(value["name"].as_str().unwrap().chars().count() <= 8);
        prop_assert!(value["age"].as_u64().unwrap() <= 150);
        prop_assert!(value["tags"].as_array().unwrap().len() <= 3);
        prop_assert!(value["next"].is_null() || value["next"]["x"].is_boolean());
        prop_assert_eq!(value.as_object().unwrap().len(), 4);
    }

    #[test]
    fn a_required_call_is_written_and_read(seed: u64) {
        let language = language();
        let mut other = weather();
        other.name = "wind".to_owned();
        for (choice, names) in [(ToolChoice::Required, &["weather", "wind"][..]), (ToolChoice::Tool("wind".to_owned()), &["wind"])] {
            let generation = Generation { tools: vec![weather(), other.clone()], tool_choice: choice, ..ask("x") };
            let written = write_by(&mut language.write(&generation, &[]).unwrap(), 400, noise(seed));
            prop_assert_eq!((written.finish, written.text.as_str()), (Some(FinishReason::ToolCalls), ""));
            prop_assert!(names.contains(&written.calls[0].name.as_str()));
            let arguments: Value = serde_json::from_str(&written.calls[0].arguments).unwrap();
            let cities = [json!({"city": "Rom"}), json!({"city": "Bern"})];
            prop_assert!(cities.contains(&arguments));
        }
    }
}

#[test]
fn an_answer_matches_the_expression_as_a_whole() {
    let language = language();
    for (expression, fits) in [
        ("^(yes|no)$", &["yes", "no"][..]),
        ("[0-1]/[0-1]", &["0/0", "0/1", "1/0", "1/1"]),
        (r"a\$", &["a$"]),
        ("é{2}", &["éé"]),
    ] {
        for seed in 0..8 {
            let written = written(&language, ResponseFormat::Regex(expression.to_owned()), seed);
            assert_eq!(written.finish, Some(FinishReason::Stop));
            assert!(fits.contains(&written.text.as_str()), "{expression}: {}", written.text);
        }
    }
}

#[test]
fn a_json_object_is_one() {
    let generation = Generation { response_format: Some(ResponseFormat::JsonObject), ..ask("x") };
    let mut writing = language().write(&generation, &[]).unwrap();
    let first = writing.next(&mut noise(1)()).unwrap();
    assert_eq!(language().vocabulary.bytes(first.token)[0], b'{');
    let mut end = vec![0.0; SIZE];
    end[EOS as usize] = 50.0;
    assert_ne!(writing.next(&mut end).unwrap().token, EOS, "an object that is open cannot end");
}

#[test]
fn with_tools_an_answer_is_a_call_or_has_the_format() {
    let language = language();
    let format = ResponseFormat::JsonSchema(json!({"enum": ["ok"]}).into());
    let generation = Generation { tools: vec![weather()], response_format: Some(format), ..ask("x") };
    let mut finishes = Vec::new();
    for seed in 0..12 {
        let written = write_by(&mut language.write(&generation, &[]).unwrap(), 400, noise(seed));
        assert!(written.text == "\"ok\"" || written.calls.len() == 1, "{written:?}");
        finishes.extend(written.finish);
    }
    assert!(
        finishes.contains(&FinishReason::Stop) && finishes.contains(&FinishReason::ToolCalls),
        "{finishes:?}"
    );
}

#[test]
fn calls_take_the_form_of_the_template() {
    for (template, opening) in [
        ("[TOOL_CALLS] {{ tools }}", "[TOOL_CALLS]"),
        ("<|tool_call|> {{ tools }}", "<|tool_call|>"),
        ("<tool_call> {{ tools }}", "<tool_call>"),
        ("<|python_tag|> {{ tools }}", "{\""),
    ] {
        let language = Scene::byte_level().template(template).open();
        let generation = Generation { tools: vec![weather()], tool_choice: ToolChoice::Required, ..ask("x") };
        let mut writing = language.write(&generation, &[]).unwrap();
        let (mut bytes, mut scores, mut calls) = (Vec::new(), noise(5), 0);
        loop {
            let next = writing.next(&mut scores()).unwrap();
            bytes.extend_from_slice(language.vocabulary.bytes(next.token));
            if next.finish.is_some() {
                calls += next.chunks.len();
                break;
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with(opening), "{text}");
        assert_eq!(calls, 1, "{text}");
    }
}

#[test]
fn a_format_that_cannot_be_is_refused_with_the_reason() {
    let nested = (0..100).fold(json!({}), |inner, _| json!({"type": "array", "items": inner}));
    let wide: Vec<String> = (0..40_000).map(|n| format!("value {n}")).collect();
    for (format, reason) in [
        (
            ResponseFormat::JsonSchema(json!({"type": "string", "minLength": 5, "maxLength": 2}).into()),
            "minLength",
        ),
        (
            ResponseFormat::JsonSchema(json!({"type": "integer", "minimum": 5, "maximum": 2}).into()),
            "minimum",
        ),
        (ResponseFormat::JsonSchema(json!({"type": "sring"}).into()), "sring"),
        (ResponseFormat::JsonSchema(json!({"$ref": "https://example.com/schema"}).into()), "example.com"),
        (ResponseFormat::JsonSchema(json!({"not": {"type": "string"}}).into()), "not"),
        (ResponseFormat::JsonSchema(json!([1]).into()), "is no object"),
        (ResponseFormat::JsonSchema(nested.into()), "nested more than 64 levels"),
        (ResponseFormat::JsonSchema(json!({"enum": wide}).into()), "bytes; at most 262144"),
        (
            ResponseFormat::JsonSchema(json!({"enum": wide[..1001]}).into()),
            "a list of 1001 values; at most 1000",
        ),
        (ResponseFormat::Regex("(".to_owned()), "regex"),
        (ResponseFormat::Regex("^$".to_owned()), "is empty"),
        (ResponseFormat::Regex("a".repeat(300_000)), "bytes; at most 262144"),
        (ResponseFormat::Regex(r"(a)\1".to_owned()), "backreference"),
    ] {
        let failure = refused(format.clone());
        assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some("response_format")));
        assert!(failure.message.contains(reason), "{}", failure.message);
        assert!(failure.hint.is_some(), "{failure}");
        assert!(failure.message.len() < 300 && !failure.message.contains("answer: "), "{failure}");
    }
}

#[test]
fn a_format_that_nothing_fits_is_the_requests_fault() {
    let language = language();
    let branches = |n: usize| -> serde_json::Map<String, Value> {
        (0..30)
            .map(|m| (format!("a{m}"), json!({"type": if n < 20 { "integer" } else { "string" }})))
            .collect()
    };
    let branching: Vec<Value> =
        (0..40).map(|n| json!({"type": "object", "properties": branches(n)})).collect();
    for (format, reason) in [
        (ResponseFormat::JsonSchema(json!({"$ref": "#"}).into()), "no text fits it"),
        (ResponseFormat::Regex(r"[^\s\S]".to_owned()), "no text fits it"),
        (ResponseFormat::JsonSchema(json!({"oneOf": branching}).into()), "max is 2000"),
    ] {
        let generation = Generation { response_format: Some(format.clone()), ..ask("x") };
        let mut writing = language.write(&generation, &[]).unwrap();
        let mut scores = noise(3);
        let failure = (0..30).find_map(|_| writing.next(&mut scores()).err()).map(Failure::from);
        let failure = failure.unwrap_or_else(|| panic!("{format:?}"));
        let told = (failure.code, failure.param.as_deref());
        assert_eq!(told, (Code::InvalidValue, Some("response_format")), "{failure}");
        assert!(failure.message.contains(reason) && failure.hint.is_some(), "{failure}");
    }
}

#[test]
fn a_hostile_format_costs_no_more_than_its_limits() {
    let language = language();
    let alternatives: Vec<String> = (0..300).map(|n| format!("(a|b)*a(a|b){{{n}}}c")).collect();
    let recursive = json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "array",
        "items": {"$ref": "#/$defs/a"}}]}}});
    let all = (0..14).fold(json!({"type": "object"}), |inner, n| {
        json!({"anyOf": [{"type": "object", "properties": {(format!("p{n}")): inner.clone()}}, {"type": "string"}]})
    });
    let wide: serde_json::Map<String, Value> =
        (0..1000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let product: Vec<Value> = (0..8)
        .map(|n| json!({"anyOf": (0..8).map(|m| json!({"type": "object", "properties": {(format!("p{n}")): {"const": m}}, "required": [format!("p{n}")]})).collect::<Vec<_>>()}))
        .collect();
    let words: Vec<String> = (0..20_000).map(|n| format!("w{n}x")).collect();
    for format in [
        ResponseFormat::JsonSchema(json!({"enum": (0..1000).collect::<Vec<_>>()}).into()),
        ResponseFormat::JsonSchema(json!({"type": "object", "properties": wide}).into()),
        ResponseFormat::JsonSchema(json!({"allOf": product}).into()),
        ResponseFormat::JsonSchema(json!({"oneOf": product}).into()),
        ResponseFormat::Regex(words.join("|")),
        ResponseFormat::Regex("(.*a){20}.{500}".to_owned()),
        ResponseFormat::Regex("((a{1,999}){1,999}){1,999}b".to_owned()),
        ResponseFormat::Regex(alternatives.join("|")),
        ResponseFormat::JsonSchema(json!({"type": "array", "minItems": 1_000_000_000}).into()),
        ResponseFormat::JsonSchema(json!({"type": "string", "minLength": 1_000_000_000}).into()),
        ResponseFormat::JsonSchema(json!({"type": "string", "pattern": "(x+x+)+y"}).into()),
        ResponseFormat::JsonSchema(recursive.into()),
        ResponseFormat::JsonSchema(all.into()),
    ] {
        let generation = Generation { response_format: Some(format.clone()), ..ask("x") };
        let failure = match language.write(&generation, &[]) {
            Err(error) => Failure::from(error),
            Ok(mut writing) => {
                let mut scores = noise(3);
                match (0..30).try_for_each(|_| writing.next(&mut scores()).map(drop)) {
                    Ok(()) => continue,
                    Err(error) => Failure::from(error),
                }
            }
        };
        assert_eq!(failure.code, Code::InvalidValue, "{failure}");
        assert!(!failure.message.contains("panic"), "{failure}");
    }
}
