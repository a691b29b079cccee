use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::extract::{Limits, extract};

/// Counts words, as if each were a token.
fn words(texts: &[String]) -> Result<Vec<u32>, Infallible> {
    Ok(texts.iter().map(|text| text.split_whitespace().count() as u32).collect())
}

fn cut(source: &str, tokens: u32, overlap: u32) -> (Extracted, Vec<Chunk>) {
    let extracted = extract("text/markdown", "a.md", source.as_bytes(), &Limits::default()).unwrap();
    let Ok(chunks) = chunks(&extracted, "notes/a.md", Size { tokens, overlap }, words);
    (extracted, chunks)
}

#[test]
fn chunks_are_sentences_with_an_overlap_under_their_headings() {
    let source = "# Owls\n\nOwls hunt at night. They hear a mouse below snow. They fly without noise.\n\n## Food\n\n\
                  Mice and voles are what they eat most of. Some fish. Some eat insects in the summer months.";
    let (extracted, chunks) = cut(source, 20, 4);
    let got: Vec<_> =
        chunks.iter().map(|one| (&one.context[..], extracted.text[one.range.clone()].trim())).collect();
    assert_eq!(
        got,
        [
            (
                "notes/a.md",
                "Owls\n\nOwls hunt at night. They hear a mouse below snow. They fly without noise."
            ),
            ("notes/a.md > Owls", "Food\n\nMice and voles are what they eat most of. Some fish."),
            ("notes/a.md > Owls > Food", "Some fish. Some eat insects in the summer months."),
        ]
    );
}

#[test]
fn small_sections_are_joined() {
    let (extracted, chunks) = cut("# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree", 100, 0);
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].range, 0..extracted.text.len());
}

#[test]
fn many_sentences_are_counted_in_few_calls() {
    let source = "A sentence. ".repeat(5_000);
    let extracted = extract("text/plain", "a.txt", source.as_bytes(), &Limits::default()).unwrap();
    let mut calls = 0;
    let chunks = chunks(&extracted, "a", Size { tokens: 100, overlap: 10 }, |texts| {
        calls += 1;
        words(texts)
    });
    assert!(chunks.is_ok_and(|chunks| chunks.len() > 100));
    assert!(calls <= 12, "{calls}");
}

#[test]
fn pages_are_noted() {
    let extracted =
        Extracted { text: "one two three four".into(), pages: vec![0, 8], ..Extracted::default() };
    let Ok(chunks) = chunks(&extracted, "a.pdf", Size { tokens: 4, overlap: 0 }, words);
    let pages: Vec<_> = chunks.iter().map(|chunk| (chunk.range.start, chunk.page)).collect();
    assert_eq!(pages.first(), Some(&(0, Some(1))));
    assert!(pages.iter().all(|&(start, page)| page == Some(if start < 8 { 1 } else { 2 })), "{pages:?}");
}

proptest! {
    #[test]
    fn chunks_lie_within_the_text_hold_all_of_it_and_fit(
        source in "(# |## |[a-z]{1,8} |[a-zé]{1,5}\\. |\n\n|\n- |ä{1,300} ){1,200}",
        tokens in 8u32..60,
        overlap in 0u32..12,
    ) {
        let extracted = extract("text/markdown", "a.md", source.as_bytes(), &Limits::default());
        prop_assume!(extracted.is_ok());
        let (extracted, chunks) = cut(&source, tokens, overlap);
        let mut covered = 0;
        let mut last_start = None;
        for chunk in &chunks {
            // Slicing panics where a place is not between two characters.
            let text = &extracted.text[chunk.range.clone()];
            prop_assert!(!text.trim().is_empty());
            prop_assert!(chunk.range.start <= covered, "a gap before {}", chunk.range.start);
            prop_assert!(Some(chunk.range.start) > last_start && chunk.range.end > covered);
            let count = text.split_whitespace().count() + chunk.context.split_whitespace().count();
            // Of sections that were joined, later ones may have headings that are longer than was counted.
            prop_assert!(count as u32 <= tokens + tokens / 2, "{count} of {tokens}");
            (covered, last_start) = (chunk.range.end, Some(chunk.range.start));
        }
        prop_assert_eq!(covered, extracted.text.len());
    }
}
