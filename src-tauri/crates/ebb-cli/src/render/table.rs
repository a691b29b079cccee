//! Tables without lines: columns are told apart by space, as in most tools whose output is also cut up by others.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};

use super::Look;

/// A table that is filled row by row. Names and values are there to be copied: no column is narrower than what it holds,
/// but for those of sentences, which wrap at words.
pub(crate) struct Table {
    inner: comfy_table::Table,
    /// Columns of sentences.
    wrapped: Vec<usize>,
}

impl Table {
    /// A heading may start with `>`: its column is aligned to the right; or with `~`: its column holds sentences.
    pub(crate) fn new(look: Look, heads: &[&str]) -> Self {
        let mut inner = comfy_table::Table::new();
        inner
            .load_style(comfy_table::presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(look.width)
            .set_header(heads.iter().map(|head| head.trim_start_matches(['>', '~'])));
        let mut wrapped = Vec::new();
        for (index, (column, head)) in inner.column_iter_mut().zip(heads).enumerate() {
            column.set_padding((0, 2));
            if head.starts_with('>') {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if head.starts_with('~') {
                wrapped.push(index);
            } else {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        Self { inner, wrapped }
    }

    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        for &index in &self.wrapped {
            let longest = cells.get(index).map_or(0, |cell| longest_word(cell));
            let Some(column) = self.inner.column_mut(index) else { continue };
            let before = match column.constraint() {
                Some(ColumnConstraint::LowerBoundary(Width::Fixed(width))) => *width,
                _ => 0,
            };
            // The padding is a part of the width.
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(before.max(longest + 2))));
        }
        self.inner.add_row(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Each line ends with a line end and has no blanks before it.
    pub(crate) fn text(&self, look: Look) -> String {
        let mut text = String::new();
        for (index, line) in self.inner.lines().enumerate() {
            let line = line.trim_end();
            if index == 0 && !line.is_empty() {
                text += &look.dim(line);
            } else {
                text += line;
            }
            text.push('\n');
        }
        text
    }
}

fn longest_word(text: &str) -> u16 {
    let longest = text.split_whitespace().map(console::measure_text_width).max().unwrap_or(0);
    u16::try_from(longest).unwrap_or(u16::MAX - 2)
}

/// A text in lines of whole words.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            if line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            } else {
                lines.push(word.to_owned());
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sentences_wrap_and_only_between_words() {
        let mut table = Table::new(Look::of_width(80), &["name", ">bytes", "~what it is"]);
        let name = "session.a_rather_long_key.of_a_session.that_is_copied";
        let sentence =
            "a sentence of some length, with incomprehensibilities in it, which has to go somewhere";
        table.row([name, "1000000", sentence]);
        table.row(["short", "1", "short"]);
        insta::assert_snapshot!(table.text(Look::of_width(80)), @r"
        name                                                     bytes  what it is
        session.a_rather_long_key.of_a_session.that_is_copied  1000000  a sentence of some
                                                                        length, with
                                                                        incomprehensibilities
                                                                        in it, which has to
                                                                        go somewhere
        short                                                        1  short
        ");
        let wide = Look::of_width(u16::MAX);
        let mut table = Table::new(wide, &["name", "~what it is"]);
        table.row([name, &sentence.repeat(10)]);
        assert_eq!(table.text(wide).lines().count(), 2, "in a pipe nothing wraps");
    }
}
