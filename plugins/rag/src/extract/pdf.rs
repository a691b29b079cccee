//! PDF: the text of its pages in the order in which it is drawn, lines put together by where they stand. Lines that are set larger
//! than the rest are headings.

mod cmap;
mod content;
mod encoding;
mod file;
mod filters;
mod font;
mod lexer;

use std::collections::BTreeMap;

use content::{Drawer, Piece};

use super::{Limits, Unreadable, writer::Writer};

/// How much larger than most of the text a heading is at least.
const HEADING: f64 = 1.15;
/// Most lines of a document.
const MAX_LINES: usize = 400_000;
/// Most letters of a heading.
const MAX_HEADING: usize = 120;

/// Reads a file.
pub(super) fn read(bytes: &[u8], limits: &Limits, writer: &mut Writer) -> Result<(), Unreadable> {
    let mut file = file::File::read(bytes, limits)?;
    let pages = file.pages(limits.pages)?;
    if pages.len() > limits.pages {
        return Err(Unreadable::Pages(limits.pages));
    }
    if pages.is_empty() {
        return Err(Unreadable::Damaged("there is no page in it"));
    }
    let mut drawer = Drawer::new(&mut file, limits);
    let mut set = Vec::with_capacity(pages.len());
    let (mut letters, mut count) = (0, 0);
    for page in &pages {
        let page = lines(drawer.page(*page)?);
        count += page.len();
        letters += page.iter().map(|line| line.text.len()).sum::<usize>();
        if letters > limits.text_bytes || count > MAX_LINES {
            return Err(Unreadable::TooLong(limits.text_bytes));
        }
        set.push(page);
    }
    let usual = usual_size(&set);
    for page in &set {
        writer.page();
        write(page, usual, writer);
    }
    Ok(())
}

/// A line of a page.
#[derive(Debug, PartialEq)]
struct Line {
    text: String,
    y: f64,
    size: f64,
    end_x: f64,
}

/// Puts pieces together into lines.
fn lines(pieces: Vec<Piece>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if (line.y - piece.y).abs() < 0.5 * line.size.max(piece.size).max(1.0) => {
                let gap = piece.x - line.end_x;
                // Pieces that go back on their line were not meant to follow it word by word.
                let apart = gap > 0.15 * piece.size || gap < -2.0 * piece.size;
                if apart && !line.text.ends_with(' ') && !piece.text.starts_with(' ') {
                    line.text.push(' ');
                }
                line.text.push_str(&piece.text);
                line.end_x = piece.end_x;
                line.size = line.size.max(piece.size);
            }
            _ => lines.push(Line { text: piece.text, y: piece.y, size: piece.size, end_x: piece.end_x }),
        }
    }
    lines.retain(|line| !line.text.trim().is_empty());
    // A number that stands alone at either end of a page is the page's.
    let is_number = |line: &Line| line.text.trim().bytes().all(|byte| byte.is_ascii_digit());
    if lines.len() > 1 && lines.last().is_some_and(is_number) {
        lines.pop();
    }
    if lines.len() > 1 && lines.first().is_some_and(is_number) {
        lines.remove(0);
    }
    lines
}

/// The size in which most letters are set.
fn usual_size(pages: &[Vec<Line>]) -> f64 {
    let mut letters: BTreeMap<i64, usize> = BTreeMap::new();
    for line in pages.iter().flatten() {
        *letters.entry((line.size * 10.0).round() as i64).or_default() += line.text.len();
    }
    letters.iter().max_by_key(|(_, letters)| **letters).map_or(0.0, |(size, _)| *size as f64 / 10.0)
}

fn write(lines: &[Line], usual: f64, writer: &mut Writer) {
    let level = |line: &Line| {
        let large = line.size >= HEADING * usual && line.text.len() <= MAX_HEADING;
        large.then_some(if line.size >= 1.6 * usual { 1 } else { 2 })
    };
    let mut previous: Option<&Line> = None;
    let mut open = None;
    let mut glued = false;
    for (index, line) in lines.iter().enumerate() {
        let text = line.text.trim();
        let gap = previous.map_or(0.0, |previous| (previous.y - line.y).abs());
        let is_far = gap > 1.7 * line.size.max(1.0);
        let own = level(line);
        if open.is_some() && (own != open || is_far) {
            writer.end_heading();
            open = None;
        }
        match own {
            Some(level) if open.is_none() => {
                writer.heading(level);
                open = own;
            }
            Some(_) => writer.space(),
            None if glued => {}
            None if is_far => writer.block(),
            None => writer.line(),
        }
        // A word that was broken at the end of its line.
        let broken = text.strip_suffix('-').filter(|word| {
            let next = lines.get(index + 1).and_then(|next| next.text.trim_start().chars().next());
            word.ends_with(char::is_alphabetic) && next.is_some_and(char::is_lowercase)
        });
        writer.text(broken.unwrap_or(text));
        glued = broken.is_some();
        previous = Some(line);
    }
    if open.is_some() {
        writer.end_heading();
    }
}

#[cfg(test)]
mod tests;
