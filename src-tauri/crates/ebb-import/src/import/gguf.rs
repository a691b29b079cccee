use std::{fs, path::Path};

use ebb_core::ModelKind;

use super::{Imported, MODEL_FILE, OnProgress, Options, Stage, steps::Steps};
use crate::{
    Error, genai,
    gguf::Gguf,
    llama::{self, Config},
    onnx::Model,
    staging::Staging,
    vocabulary::Vocabulary,
};

/// Keys of a GGUF that go into the ONNX file: what it is, and what may be done with it.
const NOTES: [&str; 3] = ["general.name", "general.basename", "general.license"];

/// Makes an ONNX chat model from a GGUF file of the Llama family.
pub fn import_gguf(
    src: &Path,
    dest: &Path,
    options: Options,
    progress: &mut OnProgress<'_>,
) -> Result<Imported, Error> {
    let mut steps = Steps::new(progress);
    steps.enter(Stage::Checking)?;
    let mut gguf = Gguf::open(src)?;
    let config = Config::read(&mut gguf)?;
    let built = llama::build(&config, &gguf)?;
    let vocabulary = Vocabulary::read(&gguf, config.vocabulary_size)?;
    let files = files(&gguf, &config, &vocabulary)?;
    let files_bytes = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();

    let notes = notes(&config, built.requantised);
    let mut model = Model::new(built.graph, llama::OPSET).with_operators(llama::CONTRIB, 1);
    for key in NOTES {
        if let Some(value) = gguf.text(key)? {
            model = model.with_note(key, value);
        }
    }
    let weights_bytes = model.weights_bytes();
    let staging = Staging::beside(dest, src, options.force)?;
    steps.plan(weights_bytes, files_bytes);
    staging.check_space(weights_bytes + files_bytes)?;

    let parameters = gguf.tensors().values().map(|tensor| tensor.values()).sum();
    let model_bytes = steps.write_model(model, &staging.folder().join(MODEL_FILE), |index, sink| {
        // Weights and their sources were made together.
        built.sources.get(index).map_or(Ok(()), |source| source.fill(&mut gguf, sink))
    })?;
    for (name, bytes) in files {
        let path = staging.folder().join(name);
        fs::write(&path, &bytes).map_err(|source| Error::io(&path, source))?;
        steps.advance(Stage::Files, bytes.len() as u64)?;
    }
    let folder = staging.publish()?;
    steps.finish();
    tracing::info!(folder = %folder.display(), model_bytes, "model imported");

    Ok(Imported {
        folder,
        kind: ModelKind::Chat,
        architecture: config.family.class().to_owned(),
        hidden_size: config.hidden_size as u64,
        layers: config.layers as u64,
        parameters,
        model_bytes,
        notes,
    })
}

/// All files but the model. Made before it, so that a tokenizer that cannot be rebuilt is told early.
fn files(
    gguf: &Gguf,
    config: &Config,
    vocabulary: &Vocabulary,
) -> Result<Vec<(&'static str, Vec<u8>)>, Error> {
    let text = |value: serde_json::Value| format!("{value:#}\n").into_bytes();
    Ok(vec![
        ("tokenizer.json", vocabulary.tokenizer(gguf)?),
        ("tokenizer_config.json", text(vocabulary.tokenizer_config(config.positions))),
        ("config.json", text(genai::config(config, vocabulary, gguf.text("general.license")?))),
        ("generation_config.json", text(genai::generation_config(vocabulary))),
        ("genai_config.json", text(genai::genai_config(config, vocabulary, MODEL_FILE))),
    ])
}

/// In what the model differs from the file.
fn notes(config: &Config, requantised: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if config.trained_positions > config.positions as u64 {
        notes.push(format!(
            "the context is {} tokens, of {} that the file names: its tables and cache would not pay",
            config.positions, config.trained_positions
        ));
    }
    if requantised > 0 {
        notes.push(format!("{requantised} tensors were quantised anew, to blocks of 32 with 8 bits"));
    }
    notes
}
