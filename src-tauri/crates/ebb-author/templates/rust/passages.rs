//! Cutting a text into passages.

const MOST_BYTES: usize = 1_200;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passage<'a> {
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    /// What it says.
    pub(crate) text: &'a str,
}

/// Paragraphs, short ones together.
pub(crate) fn passages(text: &str) -> Vec<Passage<'_>> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let (mut at, mut open) = (0, false);
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.trim_end().len());
        at += line.len();
        if line.trim().is_empty() {
            open = false;
            continue;
        }
        match spans.last_mut() {
            // A paragraph goes on, however long; another joins it while there is room.
            Some(last) if open || end - last.0 <= MOST_BYTES => last.1 = end,
            _ => spans.push((start, end)),
        }
        open = true;
    }
    spans
        .into_iter()
        .map(|(start, end)| Passage {
            start,
            text: &text[start..end],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_paragraphs_stay_together_and_long_ones_stand_alone() {
        assert_eq!(
            passages("ä\n\nb\n"),
            [Passage {
                start: 0,
                text: "ä\n\nb"
            }]
        );
        let long = "é".repeat(MOST_BYTES);
        let text = format!("{long}\n\nshort");
        assert_eq!(
            passages(&text),
            [
                Passage {
                    start: 0,
                    text: &long
                },
                Passage {
                    start: 2 * MOST_BYTES + 2,
                    text: "short"
                }
            ]
        );
        assert_eq!(passages(" \n\n "), []);
    }
}
