//! Answers a question from the passages that fit it.

use ebb_plugin_sdk::{Citation, Error, inference::GenerateOptions};

use crate::{
    cite::{self, Filter},
    host::{Generation, Host},
    models::{self, Use},
    prompt::{self, Prompt},
    retrieve::{Found, Passage, retrieve},
    settings::Settings,
};

/// The answer where no passage fits.
pub const NOTHING_FITS: &str = "The documents do not say: nothing in them fits the question.";

/// An answer in the making.
pub struct Answer<H: Host> {
    citations: Vec<Citation>,
    text: Text<H::Generation>,
}

/// Where the answer's text comes from.
enum Text<G> {
    /// The model, through what keeps its citations right, and what it said so far.
    Model(G, Filter, String),
    /// It is known.
    Known(String),
    Over,
}

/// Begins to answer. `history`: earlier questions and their answers, oldest first.
///
/// # Errors
/// [`Error::Invalid`] where there is no question or no room for it; a capability that was not granted; a model that fails.
pub fn ask<H: Host>(host: &H, question: &str, history: &[(String, String)]) -> Result<Answer<H>, Error> {
    let question = question.trim();
    if question.is_empty() {
        return Err(Error::Invalid("there is no question".into()));
    }
    let settings = Settings::read(host);
    host.progress(0.0, "searching");
    let before = history.last().map(|(question, _)| &question[..]);
    let passages = match retrieve(host, &settings, question, before)? {
        Found::Passages(passages) => passages,
        Found::Nothing => return Ok(Answer::known(NOTHING_FITS)),
        Found::NotIndexed(model) => {
            let text = format!(
                "No document has been indexed with the model {model} yet: ingest the documents first."
            );
            return Ok(Answer::known(&text));
        }
    };
    let model = models::pick(host, &settings.chat_model, Use::Chat)?;
    host.progress(0.5, "reading the passages");
    let Prompt { messages, passages, answer_tokens } =
        prompt::build(host, &model, &settings, question, history, passages)?;
    let options = GenerateOptions {
        max_tokens: Some(answer_tokens),
        temperature: Some(settings.temperature),
        // Against small models' loops. It counts what was answered alone: words of the passages stay as likely as they are.
        more: vec![("frequency_penalty".into(), "0.3".into())],
        ..GenerateOptions::default()
    };
    let generation = host.generate(&model, &messages, &options)?;
    let filter = Filter::new(passages.len() as u32);
    let citations =
        passages.into_iter().zip(1..).map(|(passage, number)| citation(number, passage)).collect();
    Ok(Answer { citations, text: Text::Model(generation, filter, String::new()) })
}

fn citation(number: u32, passage: Passage) -> Citation {
    let end = passage.end();
    let Passage { document, text, start, score, .. } = passage;
    Citation { number, document, text, start, end, score }
}

impl<H: Host> Answer<H> {
    fn known(text: &str) -> Self {
        Self { citations: Vec::new(), text: Text::Known(text.to_owned()) }
    }

    /// The passages that it rests on.
    pub fn citations(&self) -> &[Citation] {
        &self.citations
    }

    /// The next piece of text; `None` at the end.
    ///
    /// # Errors
    /// Where the model fails.
    pub fn piece(&mut self) -> Result<Option<String>, Error> {
        loop {
            let piece = match &mut self.text {
                Text::Model(generation, filter, said) => match generation.next()? {
                    Some(piece) => {
                        let piece = filter.push(&piece);
                        said.push_str(&piece);
                        piece
                    }
                    None => {
                        let mut rest = filter.finish();
                        said.push_str(&rest);
                        let passages = self.citations.iter().map(|citation| &citation.text[..]);
                        if !filter.has_cited()
                            && let Some(number) = cite::source(said, passages)
                        {
                            rest.push_str(&format!(" [{number}]"));
                        }
                        self.text = Text::Over;
                        rest
                    }
                },
                Text::Known(text) => {
                    let text = std::mem::take(text);
                    self.text = Text::Over;
                    text
                }
                Text::Over => return Ok(None),
            };
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
    }

    /// Ends it now.
    pub fn cancel(&mut self) {
        if let Text::Model(generation, ..) = &mut self.text {
            generation.cancel();
        }
        self.text = Text::Over;
    }
}

#[cfg(test)]
mod tests;
