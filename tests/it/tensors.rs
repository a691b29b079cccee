//! Bare models on tensors.

use std::{collections::BTreeMap, path::Path};

use bytes::Bytes;
use ebb_core::{
    Chunk, ChunkBody, Code, DType, Failure, Job, JobKind, LoadOptions, LoadSpec, ModelKind, Session, Step,
    TensorSpec,
};
use ebb_ort::OrtSession;
use ebb_tests::{home::runtime_library, models};

fn open(path: &Path) -> Result<OrtSession, Failure> {
    let spec = LoadSpec {
        alias: "m".to_owned(),
        path: path.to_owned(),
        options: LoadOptions { threads: Some(1), ..LoadOptions::default() },
        runtime_library: Some(runtime_library()),
        runtime_folders: Vec::new(),
    };
    Ok(ebb_ort::open(&spec, &mut |_| ())?)
}

fn run(
    session: &mut OrtSession,
    inputs: &[TensorSpec],
    data: &[u8],
    outputs: &[&str],
) -> Result<Vec<(TensorSpec, Bytes)>, Failure> {
    let outputs = outputs.iter().map(|&name| name.to_owned()).collect();
    let job = Job::new(JobKind::Tensors { inputs: inputs.to_vec(), outputs });
    let mut run = session.begin(job, Bytes::copy_from_slice(data), &BTreeMap::new())?;
    let mut chunks = Vec::new();
    let step = session.step(&mut run, &mut chunks)?;
    assert!(matches!(step, Step::Done(_)));
    let taken = chunks.into_iter().map(|Chunk { body, data }| match body {
        ChunkBody::Tensor(spec) => (spec, data),
        other => panic!("{other:?}"),
    });
    Ok(taken.collect())
}

fn spec(name: &str, dtype: DType, shape: &[u64]) -> TensorSpec {
    TensorSpec { name: name.to_owned(), dtype, shape: shape.to_vec() }
}

const TYPES: [(&str, DType); 13] = [
    ("float16", DType::Float16),
    ("bfloat16", DType::BFloat16),
    ("float32", DType::Float32),
    ("float64", DType::Float64),
    ("int8", DType::Int8),
    ("int16", DType::Int16),
    ("int32", DType::Int32),
    ("int64", DType::Int64),
    ("uint8", DType::UInt8),
    ("uint16", DType::UInt16),
    ("uint32", DType::UInt32),
    ("uint64", DType::UInt64),
    ("bool", DType::Bool),
];

#[test]
fn every_type_goes_in_and_comes_out_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(&models::identity(folder.path())).unwrap();
    assert_eq!(session.info().kind, ModelKind::Tensors);
    for rows in [3, 0] {
        let inputs: Vec<TensorSpec> =
            TYPES.iter().map(|&(name, dtype)| spec(name, dtype, &[rows, 2])).collect();
        let mut data = Vec::new();
        for input in &inputs {
            let bytes = 0..input.len_bytes().unwrap();
            data.extend(bytes.map(|byte| (byte % if input.dtype == DType::Bool { 2 } else { 97 }) as u8));
        }
        let outputs = run(&mut session, &inputs, &data, &[]).unwrap();
        let mut all = Vec::new();
        for ((got, bytes), want) in outputs.iter().zip(&inputs) {
            assert_eq!(
                (&got.name, got.dtype, &got.shape),
                (&format!("{}_out", want.name), want.dtype, &want.shape)
            );
            all.extend_from_slice(bytes);
        }
        assert_eq!(all, data, "{rows} rows");
    }
}

#[test]
fn only_the_wanted_outputs_come_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(&models::identity(folder.path())).unwrap();
    let inputs: Vec<TensorSpec> = TYPES.iter().map(|&(name, dtype)| spec(name, dtype, &[1, 2])).collect();
    let bytes: usize = inputs.iter().map(|input| input.len_bytes().unwrap()).sum();
    let outputs = run(&mut session, &inputs, &vec![1; bytes], &["uint8_out", "float32_out"]).unwrap();
    let names: Vec<&str> = outputs.iter().map(|(spec, _)| spec.name.as_str()).collect();
    assert_eq!(names, ["uint8_out", "float32_out"]);
    assert_eq!(&outputs[0].1[..], [1, 1]);
}

#[test]
fn what_does_not_fit_is_refused_and_the_next_run_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(&models::mlp(folder.path(), 8, 2)).unwrap();
    let good = spec("X", DType::Float32, &[2, 8]);
    for (input, bytes, want) in [
        (spec("x", DType::Float32, &[2, 8]), 64, "no input 'x'"),
        (spec("X", DType::Float64, &[2, 8]), 128, "the model takes float32"),
        (spec("X", DType::Float32, &[2, 9]), 72, "the model takes [?, 8]"),
        (spec("X", DType::Float32, &[8]), 32, "the model takes [?, 8]"),
        (good.clone(), 63, "hold 63 bytes"),
    ] {
        let failure = run(&mut session, &[input], &vec![0; bytes], &[]).unwrap_err();
        assert_eq!(failure.code, Code::InvalidRequest);
        assert!(failure.message.contains(want), "{failure}");
    }
    let failure = run(&mut session, std::slice::from_ref(&good), &[0; 64], &["Z"]).unwrap_err();
    assert_eq!(failure.hint.as_deref(), Some("name some of Y float32 [?, 8]"));
    assert!(run(&mut session, &[], &[], &[]).unwrap_err().message.contains("'X' is missing"));
    assert_eq!(run(&mut session, &[good], &[0; 64], &[]).unwrap()[0].0.shape, [2, 8]);
}

#[test]
fn a_model_of_texts_is_shown_and_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(&models::strings(folder.path())).unwrap();
    assert_eq!(session.info().inputs[0].dtype, None);
    let failure = run(&mut session, &[spec("text", DType::UInt8, &[1, 2])], &[0; 2], &[]).unwrap_err();
    assert!(failure.message.contains("not a tensor of numbers"), "{failure}");
}

#[test]
fn what_is_no_model_or_not_all_of_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = models::garbage_model(&folder.path().join("a"));
    let cut = models::mlp(&folder.path().join("b"), 64, 2);
    models::truncate_half(&cut);
    let external = models::mlp_external(&folder.path().join("c"), 64, 2);
    assert!(open(&external).is_ok());
    models::remove_external_data(&external);
    for model in [garbage, cut, external] {
        let failure = open(&model).err().unwrap();
        assert_eq!(failure.code, Code::InvalidModel, "{failure}");
        assert!(failure.message.contains(&model.display().to_string()), "{failure}");
    }
}
