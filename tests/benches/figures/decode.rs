//! Chat against onnxruntime-genai on the same folder with the same threads: tokens a second, and the time to the first one.

use ebb_core::LoadOptions;

use crate::{THREADS, inprocess, paired, peer::Peer, workload};

const PAIRS: usize = 12;

/// Tokens generated after each prompt.
const TOKENS: u32 = 96;

/// Words of the prompts, in turns.
const PROMPT_WORDS: [usize; 3] = [20, 120, 400];

pub(crate) fn print() {
    let prompts: Vec<String> =
        (0..PAIRS).map(|pair| workload::prose(pair, PROMPT_WORDS[pair % PROMPT_WORDS.len()])).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut peer = Peer::chat(&ebb_tests::home::real_model("smollm2"), folder.path(), &prompts, THREADS);
    // No cache of the last prompt, which would make ours look faster than it is.
    let options =
        LoadOptions { threads: Some(THREADS), prefix_cache_bytes: Some(0), ..LoadOptions::default() };
    let mut session = inprocess::open_chat(options);
    inprocess::generate(&mut session, inprocess::generation("warm up", 4));
    let (mut ours, mut theirs) = (Rates::default(), Rates::default());
    for (pair, prompt) in prompts.iter().enumerate() {
        let mut own = || {
            let figures = inprocess::generate(&mut session, inprocess::generation(prompt, TOKENS));
            ours.add(&inprocess::generated(&figures, 0));
        };
        let mut other = || theirs.add(&peer.generate(pair, TOKENS));
        // The first of a pair alternates.
        if pair % 2 == 0 {
            own();
            other();
        } else {
            other();
            own();
        }
    }
    println!(
        "decode: {:.1} tokens/s, onnxruntime-genai {:.1}; ratio {}   (at least 1.0, aim 1.15)",
        paired::median(&ours.per_second),
        paired::median(&theirs.per_second),
        paired::ratio(&ours.per_second, &theirs.per_second)
    );
    println!(
        "first token: {:.0} ms, onnxruntime-genai {:.0} ms; ratio {}   (at most 1.0)",
        paired::median(&ours.first_us) / 1e3,
        paired::median(&theirs.first_us) / 1e3,
        paired::ratio(&ours.first_us, &theirs.first_us)
    );
}

/// Of one side, prompt by prompt.
#[derive(Default)]
struct Rates {
    per_second: Vec<f64>,
    first_us: Vec<f64>,
}

impl Rates {
    fn add(&mut self, generated: &crate::peer::Generated) {
        assert_eq!(generated.tokens, u64::from(TOKENS), "both make as many tokens");
        self.per_second.push(generated.tokens_per_second());
        self.first_us.push(generated.first_token_us);
    }
}
