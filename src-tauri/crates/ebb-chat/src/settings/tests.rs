use ebb_core::{Code, Failure};

use super::*;

fn refused(generation: Generation) -> Failure {
    Settings::new(&generation, &Defaults::default(), 100).unwrap_err().into()
}

#[test]
fn a_value_out_of_its_range_names_its_field() {
    let none = Generation::default();
    for (generation, field, message) in [
        (
            Generation { temperature: Some(-0.1), ..none.clone() },
            "temperature",
            "temperature is -0.1; it goes from 0 to 10",
        ),
        (
            Generation { temperature: Some(f32::NAN), ..none.clone() },
            "temperature",
            "temperature is NaN; it goes from 0 to 10",
        ),
        (Generation { top_p: Some(0.0), ..none.clone() }, "top_p", "top_p is 0; it is above 0 and at most 1"),
        (
            Generation { top_p: Some(1.1), ..none.clone() },
            "top_p",
            "top_p is 1.1; it is above 0 and at most 1",
        ),
        (Generation { min_p: Some(2.0), ..none.clone() }, "min_p", "min_p is 2; it goes from 0 to 1"),
        (
            Generation { repetition_penalty: Some(0.0), ..none.clone() },
            "repetition_penalty",
            "repetition_penalty is 0; it is above 0 and at most 10",
        ),
        (
            Generation { frequency_penalty: Some(3.0), ..none.clone() },
            "frequency_penalty",
            "frequency_penalty is 3; it goes from -2 to 2",
        ),
        (
            Generation { presence_penalty: Some(-3.0), ..none.clone() },
            "presence_penalty",
            "presence_penalty is -3; it goes from -2 to 2",
        ),
        (
            Generation { logit_bias: [(100, 1.0)].into(), ..none.clone() },
            "logit_bias.100",
            "logit_bias names token 100; the model has 100",
        ),
        (
            Generation { logit_bias: [(3, 101.0)].into(), ..none.clone() },
            "logit_bias.3",
            "logit_bias.3 is 101; it goes from -100 to 100",
        ),
        (Generation { logprobs: Some(21), ..none }, "logprobs", "logprobs is 21; at most 20 are told"),
    ] {
        let failure = refused(generation);
        assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some(field)));
        assert_eq!(failure.message, message);
    }
}

#[test]
fn the_request_comes_before_the_model() {
    let own = Defaults { temperature: Some(0.6), top_k: Some(20), top_p: Some(0.95), ..Defaults::default() };
    let asked = Generation { temperature: Some(0.0), top_k: Some(5), ..Generation::default() };
    let settings = Settings::new(&asked, &own, 100).unwrap();
    assert_eq!((settings.temperature, settings.top_k, settings.top_p), (0.0, 5, 0.95));
    let settings = Settings::new(&Generation::default(), &Defaults::default(), 100).unwrap();
    assert_eq!((settings.temperature, settings.top_k, settings.repetition_penalty), (0.0, 0, 1.0));
}
