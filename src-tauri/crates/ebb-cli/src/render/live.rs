//! Text in the terminal that is drawn again and again in the same place.

use std::io;

use console::Term;

/// A block of lines that replaces itself. Dropped, it leaves what was drawn last where it is.
pub(crate) struct Live {
    term: Term,
    lines: usize,
}

impl Live {
    pub(crate) fn new() -> Self {
        let term = Term::buffered_stdout();
        // The cursor comes back in `drop`.
        let _ = term.hide_cursor();
        Self { term, lines: 0 }
    }

    /// Draws the block over the one before. A line that is too wide is cut, or it would take two.
    pub(crate) fn draw(&mut self, text: &str) -> io::Result<()> {
        let (rows, columns) = self.term.size();
        self.term.clear_last_lines(self.lines)?;
        self.lines = 0;
        for line in text.lines().take(usize::from(rows).saturating_sub(1)) {
            self.term.write_line(&console::truncate_str(line, usize::from(columns), "…"))?;
            self.lines += 1;
        }
        self.term.flush()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.term.show_cursor().and_then(|()| self.term.flush());
    }
}
