//! `ebb chat`: one question, or a conversation.

mod command;
mod conversation;
mod lines;

use ebb_core::{Code, Failure, Message, Places};

use self::{conversation::Conversation, lines::Lines};
use super::{complete::complete, generation, interrupt::or_interrupt, named::Named};
use crate::{args::ChatArgs, error::Result, host, render::Out};

pub(super) async fn run(args: ChatArgs, places: &Places, out: &mut Out) -> Result {
    let mut request = generation::request(*args.sampling, args.request)?;
    request.generation.messages.extend(args.system.map(|text| Message::new("system", text)));
    let said = if args.interactive { None } else { or_interrupt(generation::text(args.text)).await? };
    if said.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Failure::new(Code::InvalidRequest, "the question is empty")
            .hint("give it as TEXT, or on stdin; without both, on a terminal, a conversation begins")
            .into());
    }
    let client = host::connect(places).await?;
    let named = Named::find(&client, &args.model).await?;
    let done = match said {
        Some(text) => {
            request.generation.messages.push(Message::new("user", text));
            or_interrupt(complete(&named.model, request, out)).await
        }
        None => {
            let lines = Lines::open(&places.home, out)?;
            Conversation::new(named.model.clone(), request).go_on(lines, out).await
        }
    };
    // Where both fail, the first failure is the cause.
    let left = named.done().await;
    done.and(left)
}
