//! From a document's text to the pieces that are embedded: whole sentences up to a number of the model's own tokens, with the
//! headings that they stand under, and a little of what came before.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    extract::{Extracted, Heading},
    sentences::{halve, split},
};

/// Texts whose tokens are counted in one call, at most, and their bytes.
const MAX_COUNTED: usize = 512;
const MAX_COUNTED_BYTES: usize = 256 * 1024;
/// Longest line of headings in bytes.
const MAX_CONTEXT_BYTES: usize = 160;

/// How large chunks are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Most tokens, headings included.
    pub tokens: u32,
    /// Of those, most that are repeated from the chunk before.
    pub overlap: u32,
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it lies in the document's text, in bytes.
    pub range: Range<usize>,
    /// The headings that it stands under.
    pub context: String,
    /// Its tokens, headings included.
    pub tokens: u32,
    /// Its page, from 1.
    pub page: Option<u32>,
}

/// What is kept with a chunk in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The document's name.
    pub name: String,
    /// Where the chunk begins in the document's text, in bytes.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// Bytes of headings that stand before it in the stored text.
    pub skip: usize,
    /// Its page, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

/// A sentence and its tokens.
#[derive(Debug, Clone)]
struct Unit {
    range: Range<usize>,
    tokens: u32,
}

/// The chunks of a document. `count` counts the tokens of texts, many at once.
///
/// # Errors
/// Those of `count`.
pub fn chunks<E>(
    extracted: &Extracted,
    name: &str,
    size: Size,
    mut count: impl FnMut(&[String]) -> Result<Vec<u32>, E>,
) -> Result<Vec<Chunk>, E> {
    let outline = Outline::new(extracted, name);
    let units = units(extracted, size.tokens / 2, &mut count)?;
    let sections = sections(&units, &extracted.headings, size.tokens);
    // Behind its first chunk, a section's own heading is no longer in the text: room is left for it.
    let longest: Vec<String> =
        sections.iter().map(|section| outline.path(units[section.start].range.start, true)).collect();
    let context_tokens = count_all(longest.iter().map(String::as_str), &mut count)?;
    let mut chunks = Vec::new();
    for (section, context_tokens) in sections.iter().zip(context_tokens) {
        // Headings that would take more room than the text do not help to find it.
        let context_tokens = Some(context_tokens).filter(|&tokens| tokens <= size.tokens / 2);
        let room = size.tokens - context_tokens.unwrap_or(0);
        for part in parts(&units[section.clone()], room, size.overlap) {
            let part = &units[section.start + part.start..section.start + part.end];
            let range = part[0].range.start..part[part.len() - 1].range.end;
            let context = context_tokens.map_or_else(String::new, |_| outline.path(range.start, false));
            let page = extracted.pages.partition_point(|&page| page <= range.start) as u32;
            let tokens = context_tokens.unwrap_or(0) + part.iter().map(|unit| unit.tokens).sum::<u32>();
            chunks.push(Chunk { range, context, tokens, page: (page > 0).then_some(page) });
        }
    }
    Ok(chunks)
}

/// The sentences of a text with their tokens, none of them longer than `most`.
fn units<E>(
    extracted: &Extracted,
    most: u32,
    count: &mut impl FnMut(&[String]) -> Result<Vec<u32>, E>,
) -> Result<Vec<Unit>, E> {
    let mut ranges = split(&extracted.text, &extracted.headings);
    let mut done: Vec<Unit> = Vec::with_capacity(ranges.len());
    // Each round halves what is too long; a character can be no shorter.
    while !ranges.is_empty() {
        let tokens = count_all(ranges.iter().map(|range| extracted.text[range.clone()].trim()), count)?;
        let mut longer = Vec::new();
        for (range, tokens) in ranges.into_iter().zip(tokens) {
            match halve(&extracted.text, &range).filter(|_| tokens > most) {
                Some((first, second)) => longer.extend([first, second]),
                None => done.push(Unit { range, tokens: tokens.max(1) }),
            }
        }
        ranges = longer;
    }
    done.sort_by_key(|unit| unit.range.start);
    Ok(done)
}

/// Tokens of texts, with as few calls as their number and length allow.
fn count_all<'a, E>(
    texts: impl Iterator<Item = &'a str>,
    count: &mut impl FnMut(&[String]) -> Result<Vec<u32>, E>,
) -> Result<Vec<u32>, E> {
    let mut tokens = Vec::new();
    let mut batch: Vec<String> = Vec::new();
    let mut bytes = 0;
    for text in texts {
        if batch.len() == MAX_COUNTED || bytes + text.len() > MAX_COUNTED_BYTES && !batch.is_empty() {
            tokens.extend(count(&batch)?);
            batch.clear();
            bytes = 0;
        }
        bytes += text.len();
        batch.push(text.to_owned());
    }
    if !batch.is_empty() {
        tokens.extend(count(&batch)?);
    }
    Ok(tokens)
}

/// What belongs together, as ranges of units: from heading to heading, small ones joined with what follows.
fn sections(units: &[Unit], headings: &[Heading], tokens: u32) -> Vec<Range<usize>> {
    let mut sections: Vec<Range<usize>> = Vec::new();
    let sum = |range: &Range<usize>| units[range.clone()].iter().map(|unit| unit.tokens).sum::<u32>();
    let is_heading =
        |unit: &Unit| headings.binary_search_by_key(&unit.range.start, |heading| heading.start).is_ok();
    let mut start = 0;
    for end in 1..=units.len() {
        if end < units.len() && !is_heading(&units[end]) {
            continue;
        }
        let next = start..end;
        start = end;
        match sections.last_mut() {
            // With room left for what stands before it.
            Some(last) if sum(last) < tokens / 4 && sum(last) + sum(&next) <= tokens * 3 / 4 => {
                last.end = next.end
            }
            _ => sections.push(next),
        }
    }
    sections
}

/// Cuts units into parts of at most `room` tokens, each with up to `overlap` tokens of the one before.
fn parts(units: &[Unit], room: u32, overlap: u32) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < units.len() {
        let mut end = start + 1;
        let mut tokens = units[start].tokens;
        while end < units.len() && tokens + units[end].tokens <= room {
            tokens += units[end].tokens;
            end += 1;
        }
        parts.push(start..end);
        if end == units.len() {
            break;
        }
        // Never so much that the next part would hold nothing new.
        let (mut next, mut repeated) = (end, 0);
        while next > start + 1 {
            let more = repeated + units[next - 1].tokens;
            if more > overlap || more + units[end].tokens > room {
                break;
            }
            repeated = more;
            next -= 1;
        }
        start = next;
    }
    parts
}

/// Which heading stands under which.
struct Outline<'a> {
    text: &'a str,
    title: &'a str,
    headings: &'a [Heading],
    /// For each heading, the one above it.
    above: Vec<Option<usize>>,
}

impl<'a> Outline<'a> {
    fn new(extracted: &'a Extracted, name: &'a str) -> Self {
        let Extracted { title, text, headings, .. } = extracted;
        let mut above = Vec::with_capacity(headings.len());
        let mut open: Vec<usize> = Vec::new();
        for (index, heading) in headings.iter().enumerate() {
            while open.last().is_some_and(|&last| headings[last].level >= heading.level) {
                open.pop();
            }
            above.push(open.last().copied());
            open.push(index);
        }
        Self { text, title: title.as_deref().unwrap_or(name), headings, above }
    }

    /// Title and headings above a place. A heading that begins right there is in the text that follows: it is left out unless
    /// `own`.
    fn path(&self, at: usize, own: bool) -> String {
        let before = self.headings.partition_point(|heading| heading.start < at);
        let mut next = match self.headings.get(before) {
            Some(heading) if heading.start == at && own => Some(before),
            Some(heading) if heading.start == at => self.above[before],
            _ => before.checked_sub(1),
        };
        let mut names = Vec::new();
        while let Some(index) = next {
            names.push(&self.text[self.headings[index].start..self.headings[index].end]);
            next = self.above[index];
        }
        if names.last() != Some(&self.title) {
            names.push(self.title);
        }
        names.reverse();
        let mut path = names.join(" > ").replace('\n', " ");
        let mut end = path.len().min(MAX_CONTEXT_BYTES);
        while !path.is_char_boundary(end) {
            end -= 1;
        }
        path.truncate(end);
        path
    }
}

#[cfg(test)]
mod tests;
