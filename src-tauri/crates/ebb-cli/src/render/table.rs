//! Tables without lines: columns are told apart by space, as in most tools whose output is also cut up by others.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement};

use super::Look;

/// A table that is filled row by row.
pub(crate) struct Table {
    inner: comfy_table::Table,
}

impl Table {
    /// A heading may start with `>`: its column is aligned to the right.
    pub(crate) fn new(look: Look, heads: &[&str]) -> Self {
        let mut inner = comfy_table::Table::new();
        inner
            .load_style(comfy_table::presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(look.width)
            .set_header(heads.iter().map(|head| head.trim_start_matches('>')));
        for (column, head) in inner.column_iter_mut().zip(heads) {
            column.set_padding((0, 2));
            if head.starts_with('>') {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        // Names are there to be copied: other columns are wrapped first.
        if let Some(first) = inner.column_mut(0) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        Self { inner }
    }

    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.inner.add_row(cells.into_iter().map(Into::into));
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
