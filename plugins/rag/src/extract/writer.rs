//! Collects the text of a document: spaces as one, blocks apart, never more than was allowed.

use super::{Extracted, Heading, Unreadable};

/// What stands between the last word and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Block,
}

/// A document in the making.
#[derive(Debug)]
pub(super) struct Writer {
    made: Extracted,
    gap: Gap,
    heading: Option<(u8, Option<usize>)>,
    page: bool,
    item: bool,
    limit: usize,
    full: bool,
}

impl Writer {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            made: Extracted::default(),
            gap: Gap::None,
            heading: None,
            page: false,
            item: false,
            limit,
            full: false,
        }
    }

    /// What comes next is a block of its own.
    pub(super) fn block(&mut self) {
        self.gap = Gap::Block;
    }

    /// What comes next is a line of its own.
    pub(super) fn line(&mut self) {
        self.gap = self.gap.max(Gap::Line);
    }

    /// What comes next is an item of a list.
    pub(super) fn item(&mut self) {
        self.line();
        self.item = true;
    }

    /// What comes next is a word of its own.
    pub(super) fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// Words; spaces of any kind between them are one.
    pub(super) fn text(&mut self, text: &str) {
        for part in text.split_inclusive(is_space) {
            let word = part.trim_end_matches(is_space);
            self.word(word);
            if word.len() < part.len() {
                self.space();
            }
        }
    }

    /// Text whose spaces and lines matter; of empty lines, one.
    pub(super) fn verbatim(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.gap = if self.gap >= Gap::Line { Gap::Block } else { Gap::Line };
            }
            if !line.trim().is_empty() {
                line.split(|c: char| c.is_control() && c != '\t').for_each(|part| self.word(part));
            }
        }
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() || self.full {
            return;
        }
        if self.made.text.len() + word.len() > self.limit {
            self.full = true;
            return;
        }
        self.open();
        if let Some((_, start @ None)) = &mut self.heading {
            *start = Some(self.made.text.len());
        }
        self.made.text.push_str(word);
    }

    /// Writes what stands between the last word and the next one.
    fn open(&mut self) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if !self.made.text.is_empty() {
            self.made.text.push_str(match gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Block => "\n\n",
            });
        }
        if std::mem::take(&mut self.item) {
            self.made.text.push_str("- ");
        }
        if std::mem::take(&mut self.page) {
            self.made.pages.push(self.made.text.len());
        }
    }

    /// The next page begins. A page without text begins where the next one does.
    pub(super) fn page(&mut self) {
        if std::mem::replace(&mut self.page, true) {
            self.made.pages.push(self.made.text.len());
        }
        self.block();
    }

    /// What comes next is a heading.
    pub(super) fn heading(&mut self, level: u8) {
        self.block();
        self.heading = Some((level, None));
    }

    /// The heading ends.
    pub(super) fn end_heading(&mut self) {
        if let Some((level, Some(start))) = self.heading.take() {
            self.made.headings.push(Heading { level, start, end: self.made.text.len() });
        }
        self.block();
    }

    /// What the document calls itself; the first such name counts.
    pub(super) fn title(&mut self, title: &str) {
        let words: Vec<&str> = title.split(is_space).filter(|word| !word.is_empty()).collect();
        if self.made.title.is_none() && !words.is_empty() {
            self.made.title = Some(words.join(" "));
        }
    }

    /// Whether there is no room for more.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn finish(mut self) -> Result<Extracted, Unreadable> {
        if self.full {
            return Err(Unreadable::TooLong(self.limit));
        }
        let length = self.made.text.trim_end().len();
        self.made.text.truncate(length);
        self.made.pages.iter_mut().for_each(|page| *page = (*page).min(length));
        if self.made.text.is_empty() { Err(Unreadable::Empty) } else { Ok(self.made) }
    }
}

/// Control characters say nothing to a reader.
fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{feff}' | '\u{200b}')
}
