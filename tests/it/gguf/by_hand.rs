//! A decoder of the Llama family, one number at a time, with rows and rotations as GGUF files have them.

use std::collections::BTreeMap;

use ebb_tests::models::{GGUF_HEAD_SIZE, GgufModel, GgufTensor};

type Matrix = Vec<Vec<f64>>;

/// Scores of every token for the place after the last.
pub(super) fn scores(model: &GgufModel, tensors: &BTreeMap<String, GgufTensor>, tokens: &[i64]) -> Vec<f32> {
    let weights = Weights { model, tensors };
    let table = weights.rows("token_embd.weight");
    let mut hidden: Matrix = tokens.iter().map(|&token| table[token as usize].clone()).collect();
    for layer in 0..model.layers {
        hidden = weights.layer(layer, &hidden);
    }
    let last = weights.norm("output_norm", &hidden[tokens.len() - 1]);
    let output = if model.tied { "token_embd" } else { "output" };
    weights.linear(output, &last).into_iter().map(|score| score as f32).collect()
}

struct Weights<'a> {
    model: &'a GgufModel,
    tensors: &'a BTreeMap<String, GgufTensor>,
}

impl Weights<'_> {
    fn values(&self, name: &str) -> Option<Vec<f64>> {
        Some(self.tensors.get(name)?.1.iter().copied().map(f64::from).collect())
    }

    fn rows(&self, name: &str) -> Matrix {
        let width = self.tensors[name].0[1];
        self.values(name).unwrap().chunks_exact(width).map(<[f64]>::to_vec).collect()
    }

    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let product: Vec<f64> = self.rows(&format!("{name}.weight")).iter().map(|row| dot(row, x)).collect();
        match self.values(&format!("{name}.bias")) {
            Some(bias) => add(&product, &bias),
            None => product,
        }
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let scale = self.values(&format!("{name}.weight")).unwrap();
        let root = (dot(x, x) / x.len() as f64 + 1e-5).sqrt();
        x.iter().zip(scale).map(|(value, scale)| value / root * scale).collect()
    }

    fn layer(&self, layer: usize, tokens: &Matrix) -> Matrix {
        let at = |name: &str| format!("blk.{layer}.{name}");
        let normed: Matrix = tokens.iter().map(|token| self.norm(&at("attn_norm"), token)).collect();
        let each =
            |name: &str| -> Matrix { normed.iter().map(|token| self.linear(&at(name), token)).collect() };
        let turn = |rows: Matrix| -> Matrix {
            rows.into_iter().enumerate().map(|(place, row)| self.turned(place, row)).collect()
        };
        let (queries, keys, values) = (turn(each("attn_q")), turn(each("attn_k")), each("attn_v"));
        let finish = |(place, token): (usize, &Vec<f64>)| {
            let mixed = self.attend(&queries[place], &keys[..=place], &values[..=place]);
            let token = add(token, &self.linear(&at("attn_output"), &mixed));
            let normed = self.norm(&at("ffn_norm"), &token);
            let (gate, up) = (self.linear(&at("ffn_gate"), &normed), self.linear(&at("ffn_up"), &normed));
            let inner: Vec<f64> =
                gate.iter().zip(up).map(|(gate, up)| gate / (1.0 + (-gate).exp()) * up).collect();
            add(&token, &self.linear(&at("ffn_down"), &inner))
        };
        tokens.iter().enumerate().map(finish).collect()
    }

    /// Pairs of each head turned by the place: neighbours in a Llama's file, a value of each half in others.
    fn turned(&self, place: usize, mut row: Vec<f64>) -> Vec<f64> {
        let half = GGUF_HEAD_SIZE / 2;
        let factors = self.values("rope_freqs.weight").unwrap_or(vec![1.0; half]);
        for head in row.chunks_exact_mut(GGUF_HEAD_SIZE) {
            for (pair, factor) in factors.iter().enumerate() {
                let angle = place as f64 / 10_000f64.powf(pair as f64 / half as f64) / factor;
                let (a, b) = if self.model.architecture == "llama" {
                    (2 * pair, 2 * pair + 1)
                } else {
                    (pair, pair + half)
                };
                let (x, y) = (head[a], head[b]);
                head[a] = x * angle.cos() - y * angle.sin();
                head[b] = x * angle.sin() + y * angle.cos();
            }
        }
        row
    }

    /// What a token takes from itself and those before it; several heads of queries share one of keys.
    fn attend(&self, query: &[f64], keys: &[Vec<f64>], values: &[Vec<f64>]) -> Vec<f64> {
        let group = self.model.heads / self.model.kv_heads;
        let mut mixed = Vec::new();
        for (head, query) in query.chunks_exact(GGUF_HEAD_SIZE).enumerate() {
            let shared = head / group * GGUF_HEAD_SIZE..(head / group + 1) * GGUF_HEAD_SIZE;
            let score = |key: &Vec<f64>| dot(query, &key[shared.clone()]) / (GGUF_HEAD_SIZE as f64).sqrt();
            let powers: Vec<f64> = keys.iter().map(|key| score(key).exp()).collect();
            let all: f64 = powers.iter().sum();
            mixed.extend(shared.map(|column| {
                powers.iter().zip(values).map(|(power, value)| power / all * value[column]).sum::<f64>()
            }));
        }
        mixed
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}
