//! Imported models compute what their weights say: a tiny random BERT, in ONNX Runtime and by hand.

use std::{collections::BTreeMap, fs, ops::ControlFlow, path::Path};

use bytes::Bytes;
use ebb_core::{Job, JobKind, LoadOptions, LoadSpec, Session, Step};
use ebb_import::Options;
use ebb_tests::{
    home::runtime_library,
    models::{BertFolder, bert_folder},
    reference::cosine,
};
use safetensors::SafeTensors;

const TEXTS: [&str; 4] = ["a", "ebb and flow", "äöü ß 漢字", "a longer text, so that the others are padded"];

#[test]
fn a_model_is_what_its_weights_say() {
    let folder = tempfile::tempdir().unwrap();
    let source = bert_folder(&folder.path().join("source"));
    let vectors = embed(&imported(&source, folder.path()));
    for (text, vector) in TEXTS.iter().zip(&vectors) {
        let expected = by_hand(&source, text);
        let likeness = cosine(vector, &expected);
        assert!(likeness > 0.999_999, "{text}: {likeness}");
    }
    assert!(cosine(&vectors[0], &vectors[1]) < 0.99, "different texts have different vectors");
}

#[test]
fn a_model_with_a_task_head_is_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let plain = bert_folder(&folder.path().join("plain"));
    let headed = BertFolder { prefix: "bert.", ..BertFolder::default() }.write(&folder.path().join("headed"));
    let plain = embed(&imported(&plain, &folder.path().join("a")));
    let headed = embed(&imported(&headed, &folder.path().join("b")));
    assert_eq!(plain, headed);
}

fn imported(source: &Path, folder: &Path) -> std::path::PathBuf {
    let destination = folder.join("imported model");
    ebb_import::import(source, &destination, Options::default(), &mut |_| ControlFlow::Continue(()))
        .expect("it can be imported")
        .folder
}

fn embed(model: &Path) -> Vec<Vec<f32>> {
    let spec = LoadSpec {
        alias: "tiny".to_owned(),
        path: model.to_owned(),
        options: LoadOptions { threads: Some(1), ..LoadOptions::default() },
        runtime_library: Some(runtime_library()),
        runtime_folders: Vec::new(),
    };
    let mut session = ebb_ort::open(&spec, &mut |_| ()).expect("the model loads");
    let texts = TEXTS.map(str::to_owned).to_vec();
    let job = Job::new(JobKind::Embed { texts });
    let mut run = session.begin(job, Bytes::new(), &BTreeMap::new()).expect("the job fits");
    let mut chunks = Vec::new();
    while let Step::More(_) = session.step(&mut run, &mut chunks).expect("the model runs") {}
    let data: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.data.iter().copied()).collect();
    let values: Vec<f32> = data.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
    values.chunks_exact(BertFolder::default().hidden_size).map(<[f32]>::to_vec).collect()
}

/// The same vector from the safetensors file, one number at a time.
fn by_hand(source: &Path, text: &str) -> Vec<f32> {
    let file = fs::read(source.join("model.safetensors")).expect("the weights are there");
    let weights = Weights(SafeTensors::deserialize(&file).expect("they can be read"));
    let BertFolder { hidden_size, layers, .. } = BertFolder::default();

    // The byte-level tokenizer: three special tokens, then the bytes.
    let words = weights.rows("embeddings.word_embeddings.weight", hidden_size);
    let places = weights.rows("embeddings.position_embeddings.weight", hidden_size);
    let kinds = weights.rows("embeddings.token_type_embeddings.weight", hidden_size);
    let embedded = text
        .bytes()
        .zip(&places)
        .map(|(byte, place)| add(&add(&words[usize::from(byte) + 3], place), &kinds[0]));
    let mut tokens: Matrix = embedded.map(|token| weights.norm("embeddings.LayerNorm", &token)).collect();
    for layer in 0..layers {
        tokens = weights.layer(&format!("encoder.layer.{layer}"), &tokens);
    }
    let mean = |column: usize| tokens.iter().map(|token| token[column]).sum::<f64>() / tokens.len() as f64;
    (0..hidden_size).map(|column| mean(column) as f32).collect()
}

type Matrix = Vec<Vec<f64>>;

struct Weights<'a>(SafeTensors<'a>);

impl Weights<'_> {
    fn values(&self, name: &str) -> Vec<f64> {
        let tensor = self.0.tensor(name).expect(name);
        tensor.data().as_chunks().0.iter().map(|value| f64::from(f32::from_le_bytes(*value))).collect()
    }

    fn rows(&self, name: &str, width: usize) -> Matrix {
        self.values(name).chunks_exact(width).map(<[f64]>::to_vec).collect()
    }

    fn dense(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let rows = self.rows(&format!("{name}.weight"), x.len());
        let products: Vec<f64> = rows.iter().map(|row| dot(row, x)).collect();
        add(&products, &self.values(&format!("{name}.bias")))
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let spread = x.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / x.len() as f64;
        let scale = self.values(&format!("{name}.weight"));
        let scaled: Vec<f64> = x
            .iter()
            .zip(scale)
            .map(|(value, scale)| (value - mean) / (spread + 1e-12).sqrt() * scale)
            .collect();
        add(&scaled, &self.values(&format!("{name}.bias")))
    }

    fn layer(&self, at: &str, tokens: &[Vec<f64>]) -> Matrix {
        let each = |role: &str| -> Matrix {
            tokens.iter().map(|token| self.dense(&format!("{at}.attention.self.{role}"), token)).collect()
        };
        let (queries, keys, values) = (each("query"), each("key"), each("value"));
        let finish = |(token, query): (&Vec<f64>, &Vec<f64>)| {
            let mixed = attend(query, &keys, &values);
            let projected = self.dense(&format!("{at}.attention.output.dense"), &mixed);
            let attended = self.norm(&format!("{at}.attention.output.LayerNorm"), &add(&projected, token));
            let inner = self.dense(&format!("{at}.intermediate.dense"), &attended);
            let inner: Vec<f64> = inner.into_iter().map(gelu).collect();
            let outer = self.dense(&format!("{at}.output.dense"), &inner);
            self.norm(&format!("{at}.output.LayerNorm"), &add(&outer, &attended))
        };
        tokens.iter().zip(&queries).map(finish).collect()
    }
}

/// One token's view of all tokens, by two heads.
fn attend(query: &[f64], keys: &[Vec<f64>], values: &[Vec<f64>]) -> Vec<f64> {
    let size = query.len() / 2;
    let mut mixed = vec![0.0; query.len()];
    for head in [0..size, size..2 * size] {
        let score = |key: &Vec<f64>| dot(&query[head.clone()], &key[head.clone()]) / (size as f64).sqrt();
        let powers: Vec<f64> = keys.iter().map(|key| score(key).exp()).collect();
        let all: f64 = powers.iter().sum();
        for (power, value) in powers.iter().zip(values) {
            for column in head.clone() {
                mixed[column] += power / all * value[column];
            }
        }
    }
    mixed
}

fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + erf(x / std::f64::consts::SQRT_2))
}

/// The error function by its power series, which converges fast for the small values here.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..100 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}
