use std::collections::BTreeMap;

use ebb_core::{
    Chunk, ChunkBody, Code, Failure, Figures, FinishReason, GenerateFigures, Generation, Job, JobKind,
    LoadOptions, LoadSpec, Message, Session, Step,
};
use ebb_tests::models::ChatModel;
use tempfile::TempDir;

use crate::{OrtRun, OrtSession, open};

mod memory;
mod refused;

/// A loaded chat model with its folder.
struct Chat {
    session: OrtSession,
    _folder: TempDir,
}

impl Chat {
    fn new(model: ChatModel) -> Self {
        Self::with(model, LoadOptions::default())
    }

    fn with(model: ChatModel, options: LoadOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        model.write(folder.path());
        Self { session: load(&folder, options).unwrap(), _folder: folder }
    }

    fn begin(&mut self, generation: Generation) -> Result<OrtRun, Failure> {
        let job = Job::new(JobKind::Generate(Box::new(generation)));
        self.session.begin(job, bytes::Bytes::new(), &BTreeMap::new())
    }

    /// Runs a generation to its end: its text and figures.
    fn answer(&mut self, generation: Generation) -> Result<(String, GenerateFigures), Failure> {
        let mut run = self.begin(generation)?;
        let mut text = String::new();
        loop {
            if let Some(figures) = self.step(&mut run, &mut text)? {
                return Ok((text, figures));
            }
        }
    }

    fn step(&mut self, run: &mut OrtRun, text: &mut String) -> Result<Option<GenerateFigures>, Failure> {
        let mut chunks = Vec::new();
        let step = self.session.step(run, &mut chunks)?;
        text.extend(chunks.iter().map(piece));
        Ok(match step {
            Step::Done(Figures::Generate(figures)) => Some(figures),
            _ => None,
        })
    }

    /// Bytes of a pool.
    fn pool(&self, name: &str) -> u64 {
        let pools = self.session.control().memory().unwrap().pools;
        pools.iter().find(|pool| pool.name == name).unwrap().bytes
    }

    fn in_use(&self) -> u64 {
        self.session.control().memory().unwrap().arenas[0].in_use_bytes
    }
}

fn load(folder: &TempDir, options: LoadOptions) -> Result<OrtSession, Failure> {
    ebb_tests::home::runtime_library();
    let spec = LoadSpec {
        alias: "m".to_owned(),
        path: folder.path().to_owned(),
        options: LoadOptions { provider: Some("cpu".to_owned()), threads: Some(1), ..options },
        runtime_library: Some(ebb_tests::home::runtime_library()),
        runtime_folders: Vec::new(),
    };
    open(&spec, &mut |_| ()).map_err(Failure::from)
}

fn piece(chunk: &Chunk) -> &str {
    match &chunk.body {
        ChunkBody::Piece(piece) => &piece.text,
        _ => "",
    }
}

/// The text to continue, and how far.
fn after(prompt: &str, max_tokens: u32) -> Generation {
    Generation { prompt: Some(prompt.to_owned()), max_tokens: Some(max_tokens), ..Generation::default() }
}

/// `abcd` and on, so many letters.
fn letters(count: usize) -> String {
    "abcd".chars().cycle().take(count).collect()
}

/// Every way that the model may be laid out.
fn every_layout() -> Vec<ChatModel> {
    let model = ChatModel::default();
    let optimum = ChatModel { genai: false, in_place: false, ..model };
    vec![
        model,
        ChatModel { half: true, ..model },
        ChatModel { all_scores: true, ..model },
        ChatModel { genai: false, ..model },
        ChatModel { in_place: false, ..model },
        optimum,
        ChatModel { half: true, all_scores: true, ..optimum },
        ChatModel { merged: true, ..optimum },
    ]
}

/// C22: room for what is there, grown by steps.
#[test]
fn every_layout_is_continued_exactly_past_several_growths_of_the_cache() {
    for model in every_layout() {
        let mut chat = Chat::new(model);
        let info = chat.session.info().chat.clone().unwrap();
        assert_eq!(info.kv_bytes_per_token, model.kv_bytes_per_token());
        assert_eq!((info.kv_shared, info.context_tokens, info.template), (model.in_place, 4096, true));
        let (text, figures) = chat.answer(after(&letters(8), 700)).unwrap();
        assert_eq!(text, letters(700), "{model:?}");
        assert_eq!((figures.prompt_tokens, figures.completion_tokens), (8, 700));
        assert_eq!((figures.finish_reason, figures.cached_tokens), (FinishReason::Length, 0));
        // Where the cache is not taken in place it is there twice while it runs.
        let copies = if model.in_place { 1 } else { 2 };
        let tokens = figures.kv_bytes / model.kv_bytes_per_token() / copies;
        assert!(
            (707..1000).contains(&tokens),
            "room for what is there, not for the whole context: {figures:?}"
        );
        assert!(figures.peak_arena_bytes >= figures.kv_bytes, "{figures:?}");
        assert!(figures.first_token_us > 0 && figures.took_us > figures.first_token_us);
        assert!(figures.tokens_per_second > 0.0);
    }
}

#[test]
fn a_prompt_that_is_read_in_parts_is_continued_as_one_that_is_not() {
    for model in every_layout() {
        let options = LoadOptions { prefill_tokens: Some(7), ..LoadOptions::default() };
        let mut chat = Chat::with(model, options);
        let mut run = chat.begin(after(&letters(30), 3)).unwrap();
        let (mut text, mut steps) = (String::new(), 0);
        while chat.step(&mut run, &mut text).unwrap().is_none() {
            steps += 1;
        }
        // Five parts, of which the last gives the first letter; two more, the last of which ends it.
        assert_eq!((text.as_str(), steps), ("cda", 6), "{model:?}");
    }
}

#[test]
fn a_conversation_ends_with_the_model_s_own_end() {
    let mut chat = Chat::new(ChatModel::default());
    let messages = vec![Message::new("user", "hello")];
    let (text, figures) = chat.answer(Generation { messages, ..Generation::default() }).unwrap();
    assert_eq!((text.as_str(), figures.finish_reason), ("o", FinishReason::Stop));
    assert_eq!(figures.completion_tokens, 2, "the end is a token too");
}

#[test]
fn the_next_turn_goes_on_from_the_cache_of_the_one_before() {
    for model in every_layout() {
        let mut chat = Chat::new(model);
        let (first, _) = chat.answer(after(&letters(400), 10)).unwrap();
        let turn = letters(400) + &first + "wxyz";
        let (text, figures) = chat.answer(after(&turn, 6)).unwrap();
        assert_eq!(text, "wxyzwx", "{model:?}");
        assert_eq!((figures.prompt_tokens, figures.cached_tokens), (414, 409), "{model:?}");
        // The same again: all but the last two tokens are there, and what came after it is cut off.
        let (text, figures) = chat.answer(after(&turn, 6)).unwrap();
        assert_eq!((text.as_str(), figures.cached_tokens), ("wxyzwx", 412), "{model:?}");
        // A shorter part of it belongs to another conversation, which copies it.
        let (text, figures) = chat.answer(after(&(letters(100) + "1234"), 5)).unwrap();
        assert_eq!((text.as_str(), figures.cached_tokens), ("12341", 100), "{model:?}");
        let (_, figures) = chat.answer(after(&turn, 6)).unwrap();
        assert_eq!(figures.cached_tokens, 412, "and leaves it: {model:?}");
    }
}

#[test]
fn generations_in_turns_write_what_each_writes_alone() {
    for model in every_layout() {
        let mut chat = Chat::new(model);
        let prompts = ["abcd".to_owned(), "12345678".repeat(40) + "wxyz", "-+*/".repeat(70)];
        let alone: Vec<String> =
            prompts.iter().map(|prompt| Chat::new(model).answer(after(prompt, 300)).unwrap().0).collect();
        let mut runs: Vec<(OrtRun, String, bool)> = prompts
            .iter()
            .map(|prompt| (chat.begin(after(prompt, 300)).unwrap(), String::new(), false))
            .collect();
        while runs.iter().any(|(.., ended)| !ended) {
            for (run, text, ended) in runs.iter_mut().filter(|(.., ended)| !ended) {
                *ended = chat.step(run, text).unwrap().is_some();
            }
        }
        let together: Vec<String> = runs.into_iter().map(|(_, text, _)| text).collect();
        assert_eq!(together, alone, "{model:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_text() {
    let mut chat = Chat::new(ChatModel::default());
    let hot = |seed| Generation { temperature: Some(5.0), seed, ..after("abcd", 40) };
    let (text, figures) = chat.answer(hot(Some(7))).unwrap();
    assert_eq!((chat.answer(hot(Some(7))).unwrap().0, figures.seed), (text.clone(), 7));
    let (other, figures) = chat.answer(hot(None)).unwrap();
    assert_ne!(other, text);
    assert_eq!(
        chat.answer(hot(Some(figures.seed))).unwrap().0,
        other,
        "the seed that was told gives it again"
    );
}

#[test]
fn the_context_bounds_prompt_and_answer() {
    let options = LoadOptions { context_tokens: Some(32), ..LoadOptions::default() };
    let mut chat = Chat::with(ChatModel::default(), options);
    assert_eq!(chat.session.info().chat.as_ref().unwrap().context_tokens, 32);
    let (text, figures) = chat.answer(after(&letters(24), 100)).unwrap();
    assert_eq!((text, figures.finish_reason), (letters(8), FinishReason::Length));
    let (text, _) = chat.answer(Generation { max_tokens: None, ..after(&letters(31), 0) }).unwrap();
    assert_eq!(text, "d");
    for (tokens, over) in [(32, "1 more"), (50, "19 more")] {
        let failure = chat.answer(after(&letters(tokens), 1)).unwrap_err();
        assert_eq!(failure.code, Code::InvalidRequest);
        assert!(failure.message.contains(over) && failure.message.contains("32"), "{failure}");
    }
}

#[test]
fn no_tokens_at_all_are_refused() {
    let mut chat = Chat::new(ChatModel::default());
    let failure = chat.answer(after("abcd", 0)).unwrap_err();
    assert!(matches!(failure.code, Code::InvalidRequest | Code::InvalidValue), "{failure}");
}
