//! A font's map from codes to characters.

use super::lexer::{Lexer, Object};

/// Most ranges that are kept of a map.
const MAX_RANGES: usize = 20_000;

/// Codes and what they stand for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CMap {
    /// Bytes of a code; 0 where the map does not say.
    pub(super) width: usize,
    /// First code, last code, what the first stands for: the last unit of it counts up.
    ranges: Vec<(u32, u32, Vec<u16>)>,
}

impl CMap {
    /// Reads a map: the sections `codespacerange`, `bfchar` and `bfrange`.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::new(bytes, 0);
        let mut held: Vec<Object> = Vec::new();
        while let Some(object) = lexer.object() {
            let Object::Word(word) = &object else {
                if held.len() < MAX_RANGES {
                    held.push(object);
                }
                continue;
            };
            match &word[..] {
                b"endcodespacerange" => {
                    let widths = held.iter().filter_map(text).map(|code| code.len());
                    map.width = widths.max().unwrap_or(0).min(4);
                }
                b"endbfchar" => held.chunks_exact(2).for_each(|pair| map.range(&pair[0], &pair[0], &pair[1])),
                b"endbfrange" => held.chunks_exact(3).for_each(|row| map.range(&row[0], &row[1], &row[2])),
                _ => {}
            }
            held.clear();
        }
        map.ranges.sort_by_key(|(first, ..)| *first);
        map
    }

    fn range(&mut self, first: &Object, last: &Object, to: &Object) {
        let (Some(first), Some(last)) = (code(first), code(last)) else { return };
        let mut push = |first, last, to: &[u8]| {
            if self.ranges.len() < MAX_RANGES && to.len() <= 64 {
                self.ranges.push((first, last, units(to)));
            }
        };
        match to {
            Object::Text(to) => push(first, last, to),
            Object::Array(list) => {
                for (code, to) in (first..=last).zip(list.iter().filter_map(text)) {
                    push(code, code, to);
                }
            }
            _ => {}
        }
    }

    /// What a code stands for.
    pub(super) fn text_of(&self, code: u32) -> Option<String> {
        let after = self.ranges.partition_point(|(first, ..)| *first <= code);
        let (first, last, to) = self.ranges.get(after.checked_sub(1)?)?;
        if code > *last {
            return None;
        }
        let mut to = to.clone();
        let end = to.last_mut()?;
        *end = end.wrapping_add((code - first) as u16);
        Some(String::from_utf16_lossy(&to))
    }
}

fn text(object: &Object) -> Option<&Vec<u8>> {
    if let Object::Text(text) = object { Some(text) } else { None }
}

fn code(object: &Object) -> Option<u32> {
    let bytes = text(object).filter(|bytes| (1..=4).contains(&bytes.len()))?;
    Some(bytes.iter().fold(0, |code, &byte| code << 8 | u32::from(byte)))
}

fn units(bytes: &[u8]) -> Vec<u16> {
    match bytes {
        [byte] => vec![u16::from(*byte)],
        _ => bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_one_by_one_and_in_ranges() {
        let map = CMap::read(
            b"/CIDInit /ProcSet findresource begin 1 begincodespacerange <0000> <FFFF> endcodespacerange
              2 beginbfchar <0003> <0020> <0102> <D83DDE00> endbfchar
              2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<00660069> <0062>] endbfrange",
        );
        assert_eq!(map.width, 2);
        for (code, text) in [(3, " "), (0x102, "😀"), (0x10, "A"), (0x12, "C"), (0x20, "fi"), (0x21, "b")] {
            assert_eq!(map.text_of(code).as_deref(), Some(text), "{code}");
        }
        assert_eq!((map.text_of(0x13), map.text_of(0)), (None, None));
        assert_eq!(CMap::read(b"1 beginbfrange <00> <ffffffff> [").text_of(0), None);
    }
}
