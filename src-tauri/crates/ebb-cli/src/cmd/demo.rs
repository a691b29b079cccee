//! `ebb demo`: real work, with the memory of the model's process drawn while it happens. Vectors are made twice, once in the
//! way that ONNX Runtime comes and once in Ebb's; then, where there are models for it, a chat model is talked to and a
//! recording written down, and one shrink gives back what that took. What is shown was measured just then, on this machine;
//! nothing is promised.

mod chat;
mod embeddings;
mod picture;
mod round;
mod shrunk;
mod speech;
mod workload;

use std::path::PathBuf;

use ebb_client::{Client, Model};
use ebb_core::{
    Code, Failure, Places,
    operations::{ModelEntry, ModelState},
};
use serde::Serialize;

use self::{chat::Chatted, embeddings::Embedded, picture::Screen, speech::Heard};
use super::{interrupt::or_interrupt, named::Named};
use crate::{
    args::DemoArgs,
    error::{Result, storage},
    host,
    render::Out,
};

/// The aliases of the demo's models, which are used where they are there.
const CHAT: &str = "smollm2";
const SPEECH: &str = "moonshine";

/// The demo as JSON.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    embedded: Embedded,
    chat: Option<Chatted>,
    speech: Option<Heard>,
}

pub(super) async fn run(args: &DemoArgs, places: &Places, out: &mut Out) -> Result {
    let client = host::connect(places).await?;
    let known = client.models().await?.models;
    let embedder = path_of(&known, &args.model)?;
    let chat = optional(&known, args.chat.as_deref(), CHAT)?;
    let speech = optional(&known, args.speech.as_deref(), SPEECH)?;
    let mut screen = Screen::new(out, &loaded(&known))?;

    let embedded =
        with_model(&client, embedder, async |model| embeddings::run(model, args.requests, &mut screen).await)
            .await?;
    let chat = match chat {
        Some(path) => {
            Some(with_model(&client, path, async |model| chat::run(model, &mut screen).await).await?)
        }
        None => screen.left_out("chat", CHAT)?,
    };
    let speech = match speech {
        Some(path) => {
            let audio = args.audio.clone().or_else(|| speech::recording_in(&path));
            with_model(&client, path, async |model| speech::run(model, audio, &mut screen).await).await?
        }
        None => screen.left_out("speech", SPEECH)?,
    };
    screen.end(&Report { embedded, chat, speech })
}

/// Does the work on a model under an alias of its own: one that is loaded, and the options that it had, stay as they are.
async fn with_model<T>(
    client: &Client,
    path: PathBuf,
    work: impl AsyncFnOnce(&Model) -> Result<T>,
) -> Result<T> {
    let named = Named::add(client, path, "demo").await?;
    let done = or_interrupt(work(&named.model)).await;
    // Where both fail, the first failure is the cause.
    let left = named.done().await;
    let done = done?;
    left.map(|()| done)
}

/// Models whose work would disturb the figures.
fn loaded(known: &[ModelEntry]) -> Vec<String> {
    let loaded = known.iter().filter(|entry| entry.state == ModelState::Loaded);
    loaded.map(|entry| entry.alias.clone()).collect()
}

/// The model that was asked for, else the one of the demo's own alias if it is there.
fn optional(known: &[ModelEntry], typed: Option<&str>, own: &str) -> Result<Option<PathBuf>> {
    match typed {
        Some(typed) => path_of(known, typed).map(Some),
        None => Ok(known.iter().find(|entry| entry.alias == own).map(|entry| entry.path.clone())),
    }
}

/// Where the model lies: by its alias, else as a path.
fn path_of(known: &[ModelEntry], typed: &str) -> Result<PathBuf> {
    if let Some(entry) = known.iter().find(|entry| entry.alias == typed) {
        return Ok(entry.path.clone());
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

/// That a model is of another kind than a part of the demo needs.
fn other_kind(entry: &ModelEntry, needed: &str) -> crate::error::Error {
    let message = format!("{} is not {needed}", entry.path.display());
    Failure::new(Code::Unsupported, message).hint("'ebb demo --help' tells which model is for what").into()
}
