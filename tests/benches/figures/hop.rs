//! What the worker process costs: a one-text embed through it against the same in-process, in turns.

use ebb_core::LoadOptions;

use crate::{THREADS, hosted, inprocess, paired};

const PAIRS: usize = 400;

pub(crate) async fn print() {
    let options = LoadOptions { threads: Some(THREADS), ..LoadOptions::default() };
    let mut here = inprocess::open(options.clone());
    let supervisor = hosted::supervisor();
    let there = hosted::load(&supervisor, "minilm", options).await;
    let text = ["a short sentence about giving memory back".to_owned()];
    for _ in 0..20 {
        inprocess::embed_us(&mut here, &text);
        hosted::embed_us(&there, &text).await;
    }
    let (mut here_us, mut there_us, mut added_us) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let here = inprocess::embed_us(&mut here, &text);
        let there = hosted::embed_us(&there, &text).await;
        here_us.push(here);
        there_us.push(there);
        added_us.push(there - here);
    }
    println!(
        "one text: in-process {:.0} us, through the worker {:.0} us at the median",
        paired::median(&here_us),
        paired::median(&there_us)
    );
    println!(
        "the hop adds {:.0} us at the median of {PAIRS} pairs   (at most 100)",
        paired::median(&added_us)
    );
    supervisor.close(std::time::Duration::ZERO).await;
}
