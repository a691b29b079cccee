//! `ebb demo`: the same real work twice, once in the way that ONNX Runtime comes and once in Ebb's, with the memory of the
//! model's process drawn while it happens. What is shown was measured just then, on this machine; nothing is promised.

mod picture;
mod round;
mod workload;

use std::path::PathBuf;

use ebb_client::{Client, LoadOptions};
use ebb_core::{
    Code, Failure, ModelKind, Places,
    operations::{ModelEntry, ModelState},
};

use self::{
    picture::Screen,
    round::{Measured, Round},
    workload::Workload,
};
use super::{interrupt::or_interrupt, named::Named};
use crate::{
    args::DemoArgs,
    error::{Result, storage},
    host,
    render::Out,
};

/// No request is split because of its size, as in a program that calls ONNX Runtime itself.
const ONE_BATCH_TOKENS: u32 = 32 * 512;
const SHRINK_EVERY: u32 = 10;

pub(super) async fn run(args: &DemoArgs, places: &Places, out: &mut Out) -> Result {
    let client = host::connect(places).await?;
    let path = path_of(&client, &args.model).await?;
    // An alias of its own: a model that is loaded, and the options that it had, stay as they are.
    let named = Named::add(&client, path, "demo").await?;
    let done = or_interrupt(both_rounds(&client, &named, args, out)).await;
    // Where both fail, the first failure is the cause.
    let left = named.done().await;
    done.and(left)
}

async fn both_rounds(client: &Client, named: &Named, args: &DemoArgs, out: &mut Out) -> Result {
    let entry = named.model.info().await?;
    if entry.kind != ModelKind::Embeddings {
        let message = format!("'{}' is not an embedding model, and the demo makes vectors", args.model);
        return Err(Failure::new(Code::Unsupported, message).into());
    }
    let workload = Workload::new(args.requests);
    let others = loaded_besides(client, named.model.alias()).await?;
    let mut screen = Screen::new(out, &entry, &workload, &others)?;
    let mut measured: Vec<Measured> = Vec::new();
    for round in rounds() {
        measured.push(round.run(&named.model, &workload, &mut screen).await?);
    }
    screen.end(&measured)
}

/// Other models, whose work would disturb the figures.
async fn loaded_besides(client: &Client, own: &str) -> Result<Vec<ModelEntry>> {
    let mut models = client.models().await?.models;
    models.retain(|entry| entry.state == ModelState::Loaded && entry.alias != own);
    Ok(models)
}

fn rounds() -> [Round; 2] {
    let text = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
    [
        Round {
            name: "ONNX Runtime's defaults",
            about: "the arena doubles as it grows and keeps what it took",
            options: LoadOptions {
                arena_options: text("arena_extend_strategy", "kNextPowerOfTwo"),
                batch_tokens: Some(ONE_BATCH_TOKENS),
                shrink_every: Some(0),
                ..LoadOptions::default()
            },
        },
        Round {
            name: "Ebb, --shrink-every 10",
            about: "large requests are split, memory goes back every 10",
            options: LoadOptions { shrink_every: Some(SHRINK_EVERY), ..LoadOptions::default() },
        },
    ]
}

/// Where the model lies: by its alias, else as a path.
async fn path_of(client: &Client, typed: &str) -> Result<PathBuf> {
    let models = client.models().await?.models;
    if let Some(entry) = models.into_iter().find(|entry| entry.alias == typed) {
        return Ok(entry.path);
    }
    let path = PathBuf::from(typed);
    if path.exists() {
        return path.canonicalize().map_err(|error| storage("find", &path, &error));
    }
    let failure = Failure::new(Code::NotFound, format!("there is no model '{typed}', and no folder of that name"))
        .hint(
            "make one of a safetensors folder of MiniLM or another BERT: ebb model import SOURCE minilm, then: ebb demo \
             ./minilm (in a checkout of Ebb, 'cargo xtask run' does all of it)",
        )
        .param("model");
    Err(failure.into())
}
