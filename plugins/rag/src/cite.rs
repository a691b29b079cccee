//! Citations that hold: numbers in an answer that no passage has are taken out while it streams.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

/// Longest citation that is waited for: `[12, 13, 14, 15]` and a little more.
const MAX_HELD: usize = 40;

/// Lets text through, but for citations of passages that there are not.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    passages: u32,
    has_cited: bool,
    /// Text from a space or a bracket on, of which it is not known yet whether it is a citation.
    held: String,
}

impl Filter {
    /// For an answer that rests on so many passages.
    pub(crate) fn new(passages: u32) -> Self {
        Self { passages, has_cited: false, held: String::new() }
    }

    /// What of a piece and those before it can be let through.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for char in piece.chars() {
            self.char(char, &mut out);
        }
        out
    }

    /// Whether a citation was let through.
    pub(crate) fn has_cited(&self) -> bool {
        self.has_cited
    }

    /// What is left at the end.
    pub(crate) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    fn char(&mut self, char: char, out: &mut String) {
        match char {
            ' ' if !self.is_open() => {
                out.push_str(&self.finish());
                self.held.push(' ');
            }
            '[' => {
                // A space before a citation goes with it.
                let space = if self.held == " " { self.finish() } else { String::new() };
                out.push_str(&self.finish());
                self.held = space + "[";
            }
            ']' if self.is_open() => {
                self.held.push(']');
                let held = self.finish();
                out.push_str(&self.kept(held));
            }
            char if self.is_open() && self.held.len() < MAX_HELD && is_part(char) => self.held.push(char),
            char => {
                out.push_str(&self.finish());
                out.push(char);
            }
        }
    }

    fn is_open(&self) -> bool {
        self.held.contains('[')
    }

    /// What stays of `[1, 7]` where there are three passages: `[1]`. Other brackets stay as they are.
    fn kept(&mut self, bracket: String) -> String {
        let (space, numbers) = bracket.split_at(bracket.len() - bracket.trim_start().len());
        let numbers = numbers.trim_matches(['[', ']']);
        let mut valid = Vec::new();
        for part in numbers.split([',', ';']) {
            let (first, last) = part.split_once(['-', '–']).unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) else {
                return bracket;
            };
            valid.extend((first.max(1)..=last.min(self.passages)).map(|number| number.to_string()));
        }
        self.has_cited |= !valid.is_empty();
        if valid.is_empty() { String::new() } else { format!("{space}[{}]", valid.join(", ")) }
    }
}

/// Whether a character can be part of a citation.
fn is_part(char: char) -> bool {
    char.is_ascii_digit() || matches!(char, ' ' | ',' | ';' | '-' | '–')
}

/// Part of an answer's words that a passage has to hold to be taken for where they come from.
const ENOUGH: f32 = 0.6;
/// Fewest words of which that can be said.
const FEW_WORDS: usize = 3;

/// The number of the passage that holds most of an answer's words. Small models forget to cite what they say; where most of it
/// stands in no passage, nothing is cited for it.
pub(crate) fn source<'a>(answer: &str, passages: impl Iterator<Item = &'a str>) -> Option<u32> {
    let said = words(answer);
    if said.len() < FEW_WORDS {
        return None;
    }
    let shares = passages.zip(1..).map(|(passage, number)| {
        let held = words(passage);
        (said.intersection(&held).count() as f32 / said.len() as f32, number)
    });
    let (share, number) = shares.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    (share >= ENOUGH).then_some(number)
}

/// Words that say something: those of four letters and more, and numbers.
fn words(text: &str) -> HashSet<String> {
    let words =
        text.unicode_words().filter(|word| word.len() > 3 || word.bytes().all(|byte| byte.is_ascii_digit()));
    words.map(str::to_lowercase).collect()
}

/// Text without citations: those of an earlier answer mean other passages.
pub(crate) fn without(text: &str) -> String {
    let mut filter = Filter::new(0);
    filter.push(text) + &filter.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filtered(pieces: &[&str]) -> String {
        let mut filter = Filter::new(3);
        let mut out: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        out.push_str(&filter.finish());
        out
    }

    #[test]
    fn only_numbers_of_passages_are_let_through() {
        for (text, kept) in [
            ("Owls hunt [1].", "Owls hunt [1]."),
            ("Owls hunt [4].", "Owls hunt."),
            ("Owls [2][9] hunt [0] [3, 8] [1-2] [2–7].", "Owls [2] hunt [3] [1, 2] [2, 3]."),
            ("An array a[i], a [note] and [ 2 ] and [", "An array a[i], a [note] and [2] and ["),
            ("[12", "[12"),
            ("two  spaces [", "two  spaces ["),
            ("[[7]] [1[2]", "[] [1[2]"),
            ("[99999999999] [1-4000000000]", "[99999999999] [1, 2, 3]"),
        ] {
            assert_eq!(filtered(&[text]), kept);
        }
        assert_eq!(without("Owls [1] hunt [2, 3]."), "Owls hunt.");
    }

    #[test]
    fn text_is_not_held_longer_than_it_may_be_a_citation() {
        let mut filter = Filter::new(3);
        assert_eq!(filter.push("Owls hunt"), "Owls hunt");
        assert_eq!(filter.push(" "), "");
        assert_eq!(filter.push("[1"), "");
        assert_eq!(filter.push("] at"), " [1] at");
        assert_eq!(filter.push(&format!("[{}", "1".repeat(MAX_HELD))).len(), MAX_HELD + 1);
    }

    #[test]
    fn an_answer_comes_from_the_passage_that_holds_its_words() {
        let passages =
            ["Owls hunt mice at night.", "Bees dance for clover in June.", "Bees dance for clover in June."];
        let source = |answer| source(answer, passages.into_iter());
        assert_eq!(source("In June, bees dance for clover."), Some(2));
        assert_eq!(source("Bees sing songs about clover honey."), None);
        assert_eq!(source("Owls."), None);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_an_answer_is_cut(text in "[ \\[\\]0-9,a\n-]{0,60}", cuts in prop::collection::vec(0usize..60, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(filtered(&pieces), filtered(&[&text]));
        }
    }
}
