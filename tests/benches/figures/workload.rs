//! The mixed workload: batches of 1–32 texts of 6–300 words, cut from real prose, the same in every run.

/// Public-domain prose that the demo uses too.
const PROSE: &str = include_str!("../../../src-tauri/crates/ebb-cli/demo/jargon.txt");

/// `count` batches of texts.
pub(crate) fn mixed(count: usize) -> Vec<Vec<String>> {
    let words: Vec<&str> = PROSE.split_whitespace().collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    (0..count)
        .map(|_| {
            let texts = dice.between(1, 32);
            (0..texts)
                .map(|_| {
                    let length = dice.between(6, 300);
                    let start = dice.between(0, words.len() - length);
                    words[start..start + length].join(" ")
                })
                .collect()
        })
        .collect()
}

/// `words` words of prose from somewhere in it, the same for the same `place`.
pub(crate) fn prose(place: usize, words: usize) -> String {
    let all: Vec<&str> = PROSE.split_whitespace().collect();
    let start = (place * 1_009) % (all.len() - words);
    all[start..start + words].join(" ")
}

/// A xorshift generator: the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn between(&mut self, low: usize, high: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (self.0 % (high - low + 1) as u64) as usize
    }
}
