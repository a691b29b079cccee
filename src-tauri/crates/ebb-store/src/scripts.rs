//! Scripts that are written without spaces between words, or, as Korean, with endings that belong to the word. The full-text
//! index splits at spaces alone and would take a whole sentence for one word: of these scripts it is given pairs of characters
//! instead, each that follows on another, so that any two characters of a word find it.

use std::borrow::Cow;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Characters of such a script, one after the other.
    Run(&'a str),
    /// Anything else.
    Other(&'a str),
}

/// The parts of a text, in order.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let in_run = is_unspaced(rest.chars().next()?);
        let end = rest.find(|one: char| is_unspaced(one) != in_run).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(if in_run { Part::Run(part) } else { Part::Other(part) })
    })
}

/// The pairs of a run: each character with the next one. A run of one character has none.
pub(crate) fn pairs(run: &str) -> impl Iterator<Item = &str> {
    let starts = run.char_indices().map(|(start, _)| start);
    let ends = run.char_indices().skip(2).map(|(end, _)| end).chain([run.len()]);
    // The last character begins no pair: there are as many ends as pairs.
    let pairs = run.chars().count().saturating_sub(1);
    starts.zip(ends).take(pairs).map(|(start, end)| &run[start..end])
}

/// A text as the full-text index is given it: runs as pairs, and the last character of each by itself, so that every
/// character begins something. What begins with a character is found where one is asked for alone.
pub(crate) fn indexed(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unspaced) {
        return Cow::Borrowed(text);
    }
    // A character of three bytes becomes two and a space.
    let mut indexed = String::with_capacity(text.len() * 2 + text.len() / 2);
    for part in parts(text) {
        match part {
            Part::Other(other) => indexed.push_str(other),
            Part::Run(run) => {
                let last = run.char_indices().next_back().map_or(0, |(last, _)| last);
                for term in pairs(run).chain([&run[last..]]) {
                    indexed.push(' ');
                    indexed.push_str(term);
                }
                indexed.push(' ');
            }
        }
    }
    Cow::Owned(indexed)
}

/// Whether it is a letter or a mark of a script without spaces between words. Digits and punctuation of these scripts are not.
fn is_unspaced(one: char) -> bool {
    matches!(one,
        // Thai, Lao, Burmese, Khmer.
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}'
        | '\u{e81}'..='\u{ebd}' | '\u{ec0}'..='\u{ece}' | '\u{edc}'..='\u{edf}'
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}'
        | '\u{1780}'..='\u{17d3}'
        // Korean: syllables, and the letters that they are made of.
        | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{ac00}'..='\u{d7a3}'
        // Japanese, and the signs of Chinese phonetics.
        | '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309a}' | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{3105}'..='\u{312f}'
        // Chinese characters.
        | '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_pairs_and_the_rest_stays() {
        assert!(matches!(indexed("Größe, naïve 123 🦀"), Cow::Borrowed("Größe, naïve 123 🦀")));
        assert_eq!(indexed("東京都"), " 東京 京都 都 ");
        assert_eq!(indexed("木"), " 木 ");
        assert_eq!(indexed("iPhone15を買う。LINE"), "iPhone15 を買 買う う 。LINE");
        assert_eq!(indexed("서울에서 만나"), " 서울 울에 에서 서   만나 나 ");
        assert_eq!(indexed("น้ำ ๕"), " น้ ้ำ ำ  ๕");
        assert_eq!(indexed("𠮷野家"), " 𠮷野 野家 家 ");
        assert_eq!(indexed(""), "");
    }

    #[test]
    fn parts_are_the_whole_text() {
        let text = "a東京、b 서울 c";
        let all: String = parts(text)
            .map(|part| match part {
                Part::Run(run) => run,
                Part::Other(other) => other,
            })
            .collect();
        assert_eq!(all, text);
        let runs: Vec<_> = parts(text).filter(|part| matches!(part, Part::Run(_))).collect();
        assert_eq!(runs, [Part::Run("東京"), Part::Run("서울")]);
        assert_eq!(pairs("東").count() + pairs("").count(), 0);
    }
}
