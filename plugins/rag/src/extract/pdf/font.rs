//! From the bytes that a page shows to the characters that a reader sees.

use super::super::Unreadable;
use super::{
    cmap::CMap,
    encoding,
    file::File,
    lexer::{Dict, Object},
};

/// Width of a character of which nothing is known, in thousandths of the font's size.
const USUAL_WIDTH: f64 = 500.0;
/// Most ranges of widths that are kept of a font.
const MAX_WIDTHS: usize = 20_000;

/// A font of a page.
#[derive(Debug, Default)]
pub(super) struct Font {
    map: CMap,
    /// What each byte stands for; empty for fonts whose codes are longer.
    table: Vec<String>,
    /// Bytes of a code.
    code_bytes: usize,
    /// Codes are UTF-16.
    is_utf16: bool,
    /// First code, last code, width; sorted.
    widths: Vec<(u32, u32, f64)>,
    default_width: f64,
}

impl Font {
    /// What a font's dictionary says.
    pub(super) fn read(file: &mut File<'_>, dict: &Dict) -> Result<Self, Unreadable> {
        let map = match file.stream(dict.get("ToUnicode"))? {
            Some((_, bytes)) => CMap::read(&bytes),
            None => CMap::default(),
        };
        let mut font = Self { map, default_width: USUAL_WIDTH, ..Self::default() };
        if dict.is("Subtype", "Type0") {
            font.composite(file, dict)?
        } else {
            font.simple(file, dict)?
        }
        font.widths.sort_by_key(|(first, ..)| *first);
        Ok(font)
    }

    fn simple(&mut self, file: &mut File<'_>, dict: &Dict) -> Result<(), Unreadable> {
        self.code_bytes = 1;
        self.table = match file.resolve(dict.get("Encoding"))? {
            Object::Name(name) => encoding::table(&name, &[]),
            Object::Dict(own) => {
                let base = own.get("BaseEncoding").name().unwrap_or_default().to_vec();
                encoding::table(&base, &file.array(&own, "Differences")?)
            }
            _ => encoding::table(b"", &[]),
        };
        let first = file.resolve(dict.get("FirstChar"))?.count().unwrap_or(0) as u32;
        for (code, width) in file.array(dict, "Widths")?.iter().take(256).enumerate() {
            if let Some(width) = width.number() {
                self.width_of(first.saturating_add(code as u32), None, width);
            }
        }
        if dict.is("Subtype", "Type3") {
            // Widths of these are in a space of their own; only that there is one matters here.
            self.widths.clear();
        }
        Ok(())
    }

    fn composite(&mut self, file: &mut File<'_>, dict: &Dict) -> Result<(), Unreadable> {
        let encoding = file.resolve(dict.get("Encoding"))?.name().unwrap_or_default().to_vec();
        let says = |what: &[u8]| encoding.windows(what.len()).any(|window| window == what);
        self.is_utf16 = says(b"UCS2") || says(b"UTF16");
        self.code_bytes = 2;
        self.default_width = 1000.0;
        let descendants = file.array(dict, "DescendantFonts")?;
        let Object::Dict(descendant) = file.resolve(descendants.first().unwrap_or(&Object::Null))? else {
            return Ok(());
        };
        if let Some(width) = descendant.get("DW").number() {
            self.default_width = width;
        }
        let widths = file.array(&descendant, "W")?;
        let mut at = 0;
        while let Some(first) = widths.get(at).and_then(Object::count) {
            match (widths.get(at + 1), widths.get(at + 2)) {
                (Some(Object::Array(list)), _) => {
                    for (index, width) in list.iter().enumerate() {
                        let code = (first as u32).saturating_add(index as u32);
                        self.width_of(code, None, width.number().unwrap_or(self.default_width));
                    }
                    at += 2;
                }
                (Some(Object::Number(last)), Some(Object::Number(width))) => {
                    self.width_of(first as u32, Some(*last as u32), *width);
                    at += 3;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn width_of(&mut self, first: u32, last: Option<u32>, width: f64) {
        if self.widths.len() < MAX_WIDTHS {
            self.widths.push((first, last.unwrap_or(first), width));
        }
    }

    fn width(&self, code: u32) -> f64 {
        let after = self.widths.partition_point(|(first, ..)| *first <= code);
        let range = after.checked_sub(1).and_then(|index| self.widths.get(index));
        range.filter(|(_, last, _)| code <= *last).map_or(self.default_width, |(.., width)| *width)
    }

    /// The characters of a string, and its width in thousandths of the font's size; how many codes, and how many of them
    /// single spaces.
    pub(super) fn show(&self, bytes: &[u8]) -> Shown {
        let mut shown = Shown::default();
        let wide =
            if self.map.width > 0 && self.table.is_empty() { self.map.width } else { self.code_bytes.max(1) };
        for chunk in bytes.chunks(wide) {
            let code = chunk.iter().fold(0u32, |code, &byte| code << 8 | u32::from(byte));
            shown.codes += 1;
            shown.spaces += usize::from(wide == 1 && code == 32);
            shown.width += self.width(code);
            if let Some(text) = self.map.text_of(code) {
                shown.text.push_str(&text);
            } else if let Some(text) = self.table.get(code as usize) {
                shown.text.push_str(text);
            } else if self.is_utf16 {
                shown.text.extend(char::from_u32(code));
            }
        }
        shown
    }
}

/// What a string comes to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Shown {
    pub(super) text: String,
    /// In thousandths of the font's size.
    pub(super) width: f64,
    pub(super) codes: usize,
    /// Codes that are a single space.
    pub(super) spaces: usize,
}
