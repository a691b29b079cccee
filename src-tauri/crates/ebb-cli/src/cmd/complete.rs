//! `ebb complete`

use ebb_client::Model;
use ebb_core::{
    Code, Failure, Places,
    operations::{GenerateAnswer, GenerateRequest},
};

use super::{generation, interrupt::or_interrupt, named::Named};
use crate::{args::CompleteArgs, error::Result, host, render::Out};

pub(super) async fn run(args: CompleteArgs, places: &Places, out: &mut Out) -> Result {
    let mut request = generation::request(*args.sampling, args.request)?;
    let prompt = or_interrupt(generation::text(args.text)).await?.ok_or_else(|| {
        Failure::new(Code::InvalidRequest, "there is no text to go on from")
            .hint("ebb complete MODEL 'Once upon a time', or a text on stdin")
    })?;
    request.generation.prompt = Some(prompt);
    let client = host::connect(places).await?;
    let named = Named::find(&client, &args.model).await?;
    let done = or_interrupt(complete(&named.model, request, out)).await;
    // Where both fail, the first failure is the cause.
    let left = named.done().await;
    done.and(left)
}

/// One request, answered as text while it is generated, or as one piece of JSON.
pub(super) async fn complete(model: &Model, request: GenerateRequest, out: &mut Out) -> Result {
    let mut answer = GenerateAnswer::default();
    generation::stream(model, request, &mut answer, out).await?;
    if out.json { out.show(&answer, |_, _| String::new()) } else { generation::end(&answer, out) }
}
