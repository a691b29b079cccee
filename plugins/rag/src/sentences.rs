//! Where a text can be cut: after sentences, else lines, else words.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::extract::Heading;

/// Longest unit in bytes: about five hundred tokens.
const MAX_UNIT_BYTES: usize = 2_000;

/// The sentences of a text, as ranges of bytes that together are the whole of it. A heading, an item of a list, a row of a table
/// and a line of code are one each.
pub(crate) fn split(text: &str, headings: &[Heading]) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let mut at = 0;
    for heading in headings {
        blocks(text, at..heading.start, &mut units);
        let end = block_end(text, heading.end);
        units.push(heading.start..end);
        at = end;
    }
    blocks(text, at..text.len(), &mut units);
    let mut cut = Vec::with_capacity(units.len());
    for unit in units {
        halve_until(text, unit, |range| range.len() <= MAX_UNIT_BYTES, &mut cut);
    }
    cut
}

/// The end of the white space after a place.
fn block_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + rest.len() - rest.trim_start().len()
}

/// The sentences of the blocks in a range.
fn blocks(text: &str, range: Range<usize>, units: &mut Vec<Range<usize>>) {
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let end = rest.find("\n\n").map_or(range.end, |gap| block_end(&text[..range.end], at + gap));
        sentences(text, at..end, units);
        at = end;
    }
}

/// The sentences of one block. To the standard a line break ends a sentence; here a line goes on unless it begins like an item.
fn sentences(text: &str, block: Range<usize>, units: &mut Vec<Range<usize>>) {
    let mut flat = String::with_capacity(block.len());
    for line in text[block.clone()].split_inclusive('\n') {
        if !flat.is_empty() && !begins_item(line) {
            // The same length, so that places in it are places in the text.
            flat.pop();
            flat.push(' ');
        }
        flat.push_str(line);
    }
    let mut start = block.start;
    for (offset, sentence) in flat.split_sentence_bound_indices() {
        let end = block.start + offset + sentence.len();
        if !text[start..end].trim().is_empty() {
            units.push(start..end);
            start = end;
        }
    }
    if start < block.end {
        match units.last_mut().filter(|last| last.end == start && start > block.start) {
            Some(last) => last.end = block.end,
            None => units.push(start..block.end),
        }
    }
}

/// Whether a line begins an item of a list, a row of a table, or is set in as code is.
fn begins_item(line: &str) -> bool {
    let marks = ["- ", "* ", "• ", "+ ", "|", "  ", "\t", "> "];
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    marks.iter().any(|mark| line.starts_with(mark))
        || digits > 0 && digits < 4 && line[digits..].starts_with([')', '.'])
        || line.contains(" | ")
}

/// Cuts a range in halves, and those again, until each fits: at the line break nearest to the middle, else a space, else between
/// any two characters.
pub(crate) fn halve_until(
    text: &str,
    range: Range<usize>,
    fits: impl Fn(&Range<usize>) -> bool + Copy,
    into: &mut Vec<Range<usize>>,
) {
    let mut left = vec![range];
    while let Some(range) = left.pop() {
        match halve(text, &range).filter(|_| !fits(&range)) {
            Some((first, second)) => {
                left.push(second);
                left.push(first);
            }
            None => into.push(range),
        }
    }
}

/// Two parts of a range; `None` where it is one character.
pub(crate) fn halve(text: &str, range: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let part = &text[range.clone()];
    let mut middle = part.len() / 2;
    while !part.is_char_boundary(middle) {
        middle += 1;
    }
    // Not far from the middle, or a text of one long line would be cut off crumb by crumb.
    let reach = part.len() / 4;
    let near = |mark: char| {
        let before = part[..middle].rfind(mark).map(|at| at + mark.len_utf8());
        before.filter(|&at| middle - at <= reach && at > 0)
    };
    let at = near('\n').or_else(|| near(' ')).unwrap_or(middle);
    let cut = range.start + at;
    (cut > range.start && cut < range.end).then_some((range.start..cut, cut..range.end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, units: &[&str]) {
        let got: Vec<&str> = split(text, &[]).into_iter().map(|range| &text[range]).collect();
        assert_eq!(got, units);
    }

    #[test]
    fn units_are_sentences_items_and_lines_of_code() {
        check(
            "It rains. In the\nforest, e.g. here, it pours! Good.\n\nNext",
            &["It rains. ", "In the\nforest, e.g. here, it pours! ", "Good.\n\n", "Next"],
        );
        check("To do:\n- sow\n- reap", &["To do:\n", "- sow\n", "- reap"]);
        check("fn x() {\n    y\n}", &["fn x() {\n", "    y\n}"]);
        check("雨が降る。風が吹く。", &["雨が降る。", "風が吹く。"]);
    }

    #[test]
    fn a_heading_is_one() {
        let text = "What? Why?\n\nBecause.";
        let headings = [Heading { level: 1, start: 0, end: 10 }];
        assert_eq!(split(text, &headings), [0..12, 12..20]);
    }

    #[test]
    fn what_has_no_sentence_is_cut_at_words() {
        let text = "word ".repeat(2_000);
        let units = split(&text, &[]);
        assert!(
            units.iter().all(|unit| unit.len() <= MAX_UNIT_BYTES && text[unit.clone()].ends_with(' ')),
            "{units:?}"
        );
        let text = "ä".repeat(5_000);
        assert!(split(&text, &[]).iter().all(|unit| unit.len() <= MAX_UNIT_BYTES));
    }

    proptest! {
        #[test]
        fn units_are_the_whole_text_in_order(text in "([a-zé .!?\n-]|\n\n|1\\. ){0,300}", cut in 0usize..50) {
            let mut start = cut.min(text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
            let heading = Heading { level: 1, start, end };
            let headings = if text[start..end].trim().is_empty() { vec![] } else { vec![heading] };
            let mut at = 0;
            for unit in split(&text, &headings) {
                prop_assert_eq!(unit.start, at);
                prop_assert!(unit.end > at);
                at = unit.end;
            }
            prop_assert_eq!(at, text.len());
        }
    }
}
