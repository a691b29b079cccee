//! The prompt: as many of the passages and of what was said before as the model has room for.

use ebb_plugin_sdk::{Error, inference::Message};

use crate::{cite, host::Host, retrieve::Passage, sentences, settings::Settings};

/// Few words: small models lose themselves in many.
const SYSTEM: &str = "Answer the question from the passages alone, in one or two sentences. Cite the passage that says it by its \
number, like [1]. If no passage says it, answer: The documents do not say.";

/// Tokens of a context of which nothing is known.
const USUAL_CONTEXT: u32 = 2048;
/// Tokens that a model's template adds to each message, at most.
const TEMPLATE_TOKENS: u32 = 12;
/// Longest part of an earlier answer that is kept, in bytes.
const MAX_ANSWER_BYTES: usize = 600;

/// A prompt that fits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prompt {
    pub(crate) messages: Vec<Message>,
    /// The passages that are in it, numbered from 1 in this order.
    pub(crate) passages: Vec<Passage>,
    /// Tokens that are left for the answer.
    pub(crate) answer_tokens: u32,
}

/// Builds the prompt for a question.
///
/// # Errors
/// [`Error::Invalid`] where not even the question and a sentence of a passage have room.
pub(crate) fn build<H: Host>(
    host: &H,
    model: &str,
    settings: &Settings,
    question: &str,
    history: &[(String, String)],
    passages: Vec<Passage>,
) -> Result<Prompt, Error> {
    let earlier: Vec<(String, String)> = history
        .iter()
        .rev()
        .take(8)
        .map(|(question, answer)| (question.clone(), condensed(answer)))
        .collect();
    let mut texts = vec![SYSTEM.to_owned(), asked(question)];
    texts.extend(passages.iter().enumerate().map(|(index, passage)| numbered(index, passage)));
    texts.extend(earlier.iter().map(|(question, answer)| format!("{question}\n{answer}")));
    // The first call that needs the model: now it is known how much fits into it.
    let tokens = host.count_tokens(model, &texts)?;
    let context = crate::models::info(host, model)?.context_tokens.unwrap_or(USUAL_CONTEXT);
    let answer_tokens = settings.answer_tokens.min(context / 3);
    let of = |index: usize| tokens.get(index).copied().unwrap_or(0);
    let fixed = answer_tokens + of(0) + of(1) + 3 * TEMPLATE_TOKENS;
    let room = context.saturating_sub(fixed);

    let mut history_room = room / 4;
    let first = 2 + passages.len();
    let kept = (0..earlier.len()).take_while(|&index| {
        let needed = of(first + index) + 2 * TEMPLATE_TOKENS;
        let fits = needed <= history_room;
        history_room = history_room.saturating_sub(needed);
        fits
    });
    let kept = kept.count();
    let used: u32 = (0..kept).map(|index| of(first + index) + 2 * TEMPLATE_TOKENS).sum();

    let mut passage_room = (room - used).min(settings.prompt_tokens);
    let mut fitting: Vec<Passage> = Vec::new();
    for (index, passage) in passages.into_iter().enumerate() {
        // A little more than was counted: tokens of texts that are put together are not always those of each.
        let needed = of(2 + index) + 4;
        if needed <= passage_room {
            passage_room -= needed;
            fitting.push(passage);
        } else if fitting.is_empty() {
            let cut = shortened(host, model, passage, passage_room)?;
            passage_room = 0;
            fitting.extend(cut);
        }
    }
    if fitting.is_empty() {
        return Err(Error::Invalid(format!(
            "the question leaves no room for a passage among {model}'s {context} tokens"
        )));
    }
    let messages = messages(question, earlier.into_iter().take(kept), &fitting);
    Ok(Prompt { messages, passages: fitting, answer_tokens })
}

fn messages(
    question: &str,
    newest_first: impl DoubleEndedIterator<Item = (String, String)> + ExactSizeIterator,
    passages: &[Passage],
) -> Vec<Message> {
    let mut messages = vec![Message::system(SYSTEM)];
    for (question, answer) in newest_first.rev() {
        messages.push(Message::user(question));
        messages.push(Message::assistant(answer));
    }
    // The best one last: models heed most what stands next to the question.
    let passages: String =
        passages.iter().enumerate().rev().map(|(index, one)| numbered(index, one)).collect();
    messages.push(Message::user(passages + &asked(question)));
    messages
}

fn asked(question: &str) -> String {
    format!("Question: {question}")
}

fn numbered(index: usize, passage: &Passage) -> String {
    format!("[{}] {}\n{}\n\n", index + 1, passage.context, passage.text)
}

/// An earlier answer without its citations, and without its end where it is long.
fn condensed(answer: &str) -> String {
    let mut text = cite::without(answer);
    if text.len() > MAX_ANSWER_BYTES {
        let units = sentences::split(&text, &[]);
        let end = units.iter().map(|unit| unit.end).take_while(|&end| end <= MAX_ANSWER_BYTES).last();
        let mut end = end.unwrap_or(MAX_ANSWER_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text.trim().to_owned()
}

/// The first sentences of a passage that have room; `None` if none has.
fn shortened<H: Host>(
    host: &H,
    model: &str,
    mut passage: Passage,
    room: u32,
) -> Result<Option<Passage>, Error> {
    let units = sentences::split(&passage.text, &[]);
    let mut texts = vec![numbered(0, &Passage { text: String::new(), ..passage.clone() })];
    texts.extend(units.iter().map(|unit| passage.text[unit.clone()].to_owned()));
    let tokens = host.count_tokens(model, &texts)?;
    let mut left = room.checked_sub(tokens.first().copied().unwrap_or(0) + 4);
    let mut end = 0;
    for (unit, tokens) in units.iter().zip(tokens.iter().skip(1)) {
        left = left.and_then(|left| left.checked_sub(*tokens + 1));
        if left.is_none() {
            break;
        }
        end = unit.end;
    }
    passage.text.truncate(passage.text[..end].trim_end().len());
    Ok((!passage.text.is_empty()).then_some(passage))
}
