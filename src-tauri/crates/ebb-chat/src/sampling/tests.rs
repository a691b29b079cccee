use std::collections::BTreeMap;

use ebb_core::Generation;
use proptest::prelude::*;

use super::*;
use crate::folder::Defaults;

fn sampler(generation: &Generation, prompt: &[u32]) -> Sampler {
    let settings = Settings::new(generation, &Defaults::default(), 1000).unwrap();
    Sampler::new(settings, generation.seed.unwrap_or(7), prompt)
}

/// The tokens that come in many draws.
fn drawn(generation: &Generation, scores: &[f32]) -> BTreeMap<u32, u32> {
    let mut sampler = sampler(generation, &[]);
    let mut counts = BTreeMap::new();
    for _ in 0..4000 {
        *counts.entry(sampler.choose(scores).unwrap()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn temperature_zero_takes_the_likeliest_and_the_first_of_equals() {
    let mut sampler = sampler(&Generation::default(), &[]);
    assert_eq!(sampler.choose(&[0.5, 2.0, -1.0, 2.0]).unwrap(), 1);
    assert_eq!(sampler.choose(&[f32::NEG_INFINITY, -3.0]).unwrap(), 1);
}

#[test]
fn scores_that_are_no_numbers_are_an_error() {
    for temperature in [0.0, 1.0] {
        let generation = Generation { temperature: Some(temperature), ..Generation::default() };
        for scores in [
            vec![1.0, f32::NAN],
            vec![f32::NAN, 1.0],
            vec![f32::INFINITY, 1.0],
            vec![f32::NEG_INFINITY; 3],
            vec![],
        ] {
            let error = sampler(&generation, &[]).choose(&scores);
            assert!(matches!(error, Err(Error::Scores(_))), "{scores:?} {error:?}");
        }
    }
}

#[test]
fn tokens_come_as_often_as_their_probability_says() {
    // Probabilities 0.5, 0.25, 0.125, 0.125.
    let scores = [8_f32.ln(), 4_f32.ln(), 2_f32.ln(), 2_f32.ln()];
    let generation = Generation { temperature: Some(1.0), ..Generation::default() };
    let counts = drawn(&generation, &scores);
    for (token, expected) in [(0, 2000), (1, 1000), (2, 500), (3, 500)] {
        assert!(counts[&token].abs_diff(expected) < 150, "{counts:?}");
    }
    // At temperature 1/2 the probabilities are squared: 64, 16, 4 and 4 of 88.
    let counts = drawn(&Generation { temperature: Some(0.5), ..Generation::default() }, &scores);
    assert!(counts[&0].abs_diff(2909) < 150, "{counts:?}");
}

#[test]
fn top_k_top_p_and_min_p_leave_the_likeliest() {
    let scores = [2_f32.ln(), 8_f32.ln(), 2_f32.ln(), 4_f32.ln()];
    let warm = Generation { temperature: Some(1.0), ..Generation::default() };
    let left = |generation: Generation| drawn(&generation, &scores).into_keys().collect::<Vec<_>>();
    assert_eq!(left(warm.clone()), [0, 1, 2, 3]);
    assert_eq!(left(Generation { top_k: Some(2), ..warm.clone() }), [1, 3]);
    assert_eq!(left(Generation { top_k: Some(3), ..warm.clone() }), [0, 1, 3], "the first of equals stays");
    assert_eq!(left(Generation { top_k: Some(900), ..warm.clone() }), [0, 1, 2, 3]);
    assert_eq!(left(Generation { top_p: Some(0.49), ..warm.clone() }), [1]);
    assert_eq!(left(Generation { top_p: Some(0.7), ..warm.clone() }), [1, 3]);
    assert_eq!(left(Generation { top_p: Some(0.8), ..warm.clone() }), [0, 1, 3]);
    assert_eq!(left(Generation { min_p: Some(0.3), ..warm.clone() }), [1, 3]);
    assert_eq!(left(Generation { top_k: Some(2), top_p: Some(0.6), ..warm }), [1], "of what top-k left");
}

#[test]
fn top_p_looks_beyond_the_first_few_where_it_must() {
    let scores = vec![1.0_f32; 1000];
    let generation = Generation { temperature: Some(1.0), top_p: Some(0.9), ..Generation::default() };
    let tokens: Vec<u32> = drawn(&generation, &scores).into_keys().collect();
    assert!(tokens.len() > 800, "{}", tokens.len());
    assert!(*tokens.last().unwrap() <= 900, "{tokens:?}");
}

#[test]
fn the_same_seed_chooses_the_same() {
    let scores: Vec<f32> = (0..50).map(|place| (place % 7) as f32).collect();
    let run = |seed| {
        let generation = Generation { temperature: Some(1.5), seed: Some(seed), ..Generation::default() };
        let mut sampler = sampler(&generation, &[]);
        (0..40).map(|_| sampler.choose(&scores).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn penalties_change_the_scores_of_what_was_written() {
    let adjusted = |generation: Generation, prompt: &[u32], answer: &[u32]| {
        let mut sampler = sampler(&generation, prompt);
        for &token in answer {
            let mut scores = [0.0; 5];
            scores[token as usize] = 9.0;
            assert_eq!(sampler.choose(&scores).unwrap(), token);
        }
        let mut scores = [2.0, -2.0, 2.0, -2.0, 1.0];
        sampler.adjust(&mut scores);
        scores
    };
    let none = Generation::default();
    assert_eq!(adjusted(none.clone(), &[0, 1], &[2, 2]), [2.0, -2.0, 2.0, -2.0, 1.0]);
    let repetition = Generation { repetition_penalty: Some(2.0), ..none.clone() };
    assert_eq!(adjusted(repetition, &[0, 1, 999], &[2, 2]), [1.0, -4.0, 1.0, -2.0, 1.0]);
    let frequency = Generation { frequency_penalty: Some(0.5), ..none.clone() };
    assert_eq!(
        adjusted(frequency, &[0, 1], &[2, 2]),
        [2.0, -2.0, 1.0, -2.0, 1.0],
        "the prompt does not count"
    );
    let presence = Generation { presence_penalty: Some(-0.5), ..none.clone() };
    assert_eq!(adjusted(presence, &[0, 1], &[2, 2]), [2.0, -2.0, 2.5, -2.0, 1.0]);
    let bias = Generation { logit_bias: [(4, -100.0), (0, 1.5)].into(), ..none };
    assert_eq!(adjusted(bias, &[], &[]), [3.5, -2.0, 2.0, -2.0, -99.0]);
}

proptest! {
    #[test]
    fn what_is_chosen_is_possible(scores in prop::collection::vec(-20_f32..20.0, 1..200), seed: u64,
        temperature in 0.01_f32..3.0, top_k in 0_u32..10, top_p in 0.01_f32..=1.0, min_p in 0.0_f32..=1.0)
    {
        let generation = Generation { temperature: Some(temperature), top_k: Some(top_k), top_p: Some(top_p),
            min_p: Some(min_p), seed: Some(seed), ..Generation::default() };
        let mut sampler = sampler(&generation, &[]);
        let token = sampler.choose(&scores).unwrap();
        let score = scores[token as usize];
        let better = scores.iter().filter(|&&other| other > score).count();
        prop_assert!(top_k == 0 || better < top_k as usize);
        let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        prop_assert!(((score - most) / temperature).exp() >= min_p);
    }
}
