//! {{name}}: answers questions about text files, with the passages that each answer rests on.

mod passages;

use std::collections::HashMap;

use ebb_plugin_sdk::{
    Answer, Citation, Error, Ingested, RagPipeline,
    documents::{self, Document},
    export_pipeline,
    inference::{self, GenerateOptions, Generation, Message},
    progress, setting_or,
    store::{Chunk, Collection, Hit, Query},
};

use passages::{Passage, passages};

const MOST_BYTES: u64 = 16 << 20;
const BATCH: usize = 16;
const PROMPT: &str = "Answer the question from the numbered passages alone, and name the passages you used, like [1]. \
    If they do not say, say so.";

/// What is to last belongs into the store: a value may be new for each call.
#[derive(Default)]
struct Pipeline;

export_pipeline!(Pipeline);

impl RagPipeline for Pipeline {
    type Answer = Grounded;

    fn ingest(&mut self) -> Result<Ingested, Error> {
        let model = model_for("embeddings")?;
        let dimensions = inference::embed(&model, &["a".to_owned()])?.dimensions;
        let index = Collection::open("passages", dimensions)?;
        let stored = index.documents()?.into_iter();
        let mut known: HashMap<_, _> = stored
            .map(|stored| (stored.document, stored.fingerprint))
            .collect();
        let mut done = Ingested::default();
        let granted = documents::granted()?;
        for (number, document) in granted.iter().enumerate() {
            progress(number as f32 / granted.len() as f32, &document.name);
            let before = known.remove(&document.name);
            match text_of(document) {
                Err(reason) => done
                    .skipped
                    .push((document.name.clone(), reason.to_string())),
                Ok(text) if before == Some(fingerprint(&text)) => done.unchanged += 1,
                Ok(text) => {
                    done.chunks += add(&index, &model, &document.name, &text)?;
                    done.documents += 1;
                }
            }
        }
        for gone in known.keys() {
            index.remove(gone)?;
            done.removed += 1;
        }
        Ok(done)
    }

    fn ask(&mut self, question: &str, history: &[(String, String)]) -> Result<Grounded, Error> {
        let vector = inference::embed(&model_for("embeddings")?, &[question.to_owned()])?;
        let index = Collection::open("passages", vector.dimensions)?;
        let found =
            index.search(&Query::hybrid(question, vector).limit(setting_or("passages", 4)))?;
        let numbered = found
            .iter()
            .enumerate()
            .map(|(index, hit)| format!("[{}] {}\n\n", index + 1, hit.text));
        let mut messages = vec![Message::system(PROMPT)];
        for (asked, answered) in history {
            messages.extend([Message::user(asked), Message::assistant(answered)]);
        }
        messages.push(Message::user(format!(
            "{}Question: {question}",
            numbered.collect::<String>()
        )));
        let options = GenerateOptions {
            max_tokens: Some(400),
            temperature: Some(0.0),
            ..GenerateOptions::default()
        };
        let generation = inference::generate(&model_for("chat")?, &messages, &options)?;
        Ok(Grounded { found, generation })
    }
}

/// The first model of a kind that was granted.
fn model_for(kind: &str) -> Result<String, Error> {
    let model = inference::models()?
        .into_iter()
        .find(|model| model.kind == kind);
    model
        .map(|model| model.alias)
        .ok_or_else(|| Error::NotFound(format!("no model for {kind} was granted")))
}

fn text_of(document: &Document) -> Result<String, Error> {
    if !document.media_type.starts_with("text/") {
        return Err(Error::Invalid(format!(
            "{} is not read",
            document.media_type
        )));
    }
    Ok(String::from_utf8_lossy(&document.read_all(MOST_BYTES)?).into_owned())
}

/// Changes whenever the text does (FNV-1a).
fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}-{hash:x}", text.len())
}

/// Cuts a document into passages and keeps them, all or none.
fn add(index: &Collection, model: &str, name: &str, text: &str) -> Result<u32, Error> {
    let passages = passages(text);
    for (batch, passages) in passages.chunks(BATCH).enumerate() {
        let texts: Vec<String> = passages
            .iter()
            .map(|passage| passage.text.to_owned())
            .collect();
        let vectors = inference::embed(model, &texts)?;
        let chunk = |(number, &Passage { start, text }): (usize, &Passage<'_>)| Chunk {
            id: (batch * BATCH + number).to_string(),
            text: text.to_owned(),
            metadata: format!(r#"{{"start": {start}}}"#),
        };
        index.stage(
            name,
            &passages.iter().enumerate().map(chunk).collect::<Vec<_>>(),
            &vectors,
        )?;
    }
    index.commit(name, &fingerprint(text))?;
    Ok(passages.len() as u32)
}

/// An answer in the making, with what it rests on.
struct Grounded {
    found: Vec<Hit>,
    generation: Generation,
}

impl Answer for Grounded {
    fn citations(&mut self) -> Result<Vec<Citation>, Error> {
        let citation = |(hit, number): (&Hit, u32)| {
            let digits = hit.metadata.trim_matches(|c: char| !c.is_ascii_digit());
            let start = digits
                .parse()
                .map_err(|_| format!("'{}' says no place", hit.metadata))?;
            Ok(Citation {
                number,
                document: hit.document.clone(),
                text: hit.text.clone(),
                start,
                end: start + hit.text.len() as u64,
                score: hit.score,
            })
        };
        self.found.iter().zip(1..).map(citation).collect()
    }

    fn next(&mut self) -> Result<Option<String>, Error> {
        self.generation.next().transpose()
    }
}

#[cfg(test)]
mod tests {
    use ebb_plugin_sdk::testing::{Host, Model};

    use super::*;

    #[test]
    fn it_answers_with_what_it_read() {
        let host = Host::new()
            .model(Model::embeddings("embedder", 8))
            .model(Model::chat("chat", |_| "Regions [1].".to_owned()))
            .document("a.md", "Regions that are wholly free go back.")
            .document("b.png", "x")
            .install();
        let done = Pipeline.ingest().unwrap();
        assert_eq!((done.documents, done.chunks, done.skipped.len()), (1, 1, 1));
        assert_eq!(
            Pipeline.ingest().unwrap().unchanged,
            1,
            "nothing is read twice"
        );

        let mut answer = Pipeline.ask("What goes back?", &[]).unwrap();
        let citations = answer.citations().unwrap();
        assert_eq!(
            (citations[0].number, citations[0].document.as_str()),
            (1, "a.md")
        );
        assert_eq!((citations[0].start, citations[0].end), (0, 37));
        assert!(answer.next().unwrap().is_some());

        let _host = host.without_document("a.md");
        assert_eq!(Pipeline.ingest().unwrap().removed, 1);
    }
}
