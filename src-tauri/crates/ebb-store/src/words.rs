//! What a person wrote becomes a query that the full-text index takes: words alone, no syntax.

use std::collections::HashSet;

/// How much of a text is looked at.
const MAX_QUERY_BYTES: usize = 16 << 10;
/// How many different words are looked for.
const MAX_WORDS: usize = 64;

/// The words of a text, each once, in the order in which they come. The index splits them further as it split the texts: a word
/// here is at least one there.
pub(crate) fn split(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
    let mut seen = HashSet::new();
    text.split(|character: char| character.is_ascii() && !character.is_ascii_alphanumeric())
        .flat_map(str::split_whitespace)
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(str::to_lowercase)
        .filter(|word| seen.insert(word.clone()))
        .take(MAX_WORDS)
        .collect()
}

/// The query of chunks that have any of the words; none where there is no word. Within quotes FTS5 knows no operators, and
/// [`split`] leaves no quotes.
pub(crate) fn any_of(words: &[String]) -> Option<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Option<String> {
        any_of(&split(text))
    }

    #[test]
    fn only_words_remain() {
        assert_eq!(
            query(" What's the arena's size? ").unwrap(),
            r#""what" OR "s" OR "the" OR "arena" OR "size""#
        );
        assert_eq!(query(r#"a" OR text:b* NEAR(c,2) ^d {e}-f"#).unwrap().matches('"').count(), 2 * 10);
        assert_eq!(query("naïve\u{a0}Größe").unwrap(), r#""naïve" OR "größe""#);
        for nothing in ["", " \n\t", "\"'*()", "🦀 👩‍👩‍👧", "\0\0", "—…"] {
            assert_eq!(query(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let words = split(&"ä1 ö2 ".repeat(1 << 20));
        assert_eq!(words, ["ä1", "ö2"]);
        let many: String = (0..1_000).map(|number| format!("w{number} ")).collect();
        assert_eq!(split(&many).len(), MAX_WORDS);
        assert_eq!(split(&"ä".repeat(1 << 20)).len(), 1);
    }
}
