//! What a font's single bytes stand for where no map says so.

use super::super::text::windows_1252;
use super::lexer::Object;

/// The upper half of Mac OS Roman.
const MAC_ROMAN: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»… ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// Names of characters in fonts, besides single letters, `uniXXXX` and letters with accents.
const NAMES: &str = "exclam ! quotedbl \" numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright ) \
asterisk * plus + comma , hyphen - period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 \
colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \\ bracketright ] asciicircum ^ \
underscore _ grave ` braceleft { bar | braceright } asciitilde ~ exclamdown ¡ cent ¢ sterling £ currency ¤ yen ¥ \
brokenbar ¦ section § dieresis ¨ copyright © ordfeminine ª guillemotleft « logicalnot ¬ registered ® macron ¯ degree ° \
plusminus ± acute ´ mu µ paragraph ¶ periodcentered · cedilla ¸ ordmasculine º guillemotright » onequarter ¼ onehalf ½ \
threequarters ¾ questiondown ¿ AE Æ Eth Ð multiply × Oslash Ø Thorn Þ germandbls ß ae æ eth ð divide ÷ oslash ø thorn þ \
dotlessi ı Lslash Ł lslash ł OE Œ oe œ florin ƒ endash – emdash — quoteleft ‘ quoteright ’ quotesinglbase ‚ \
quotedblleft “ quotedblright ” quotedblbase „ dagger † daggerdbl ‡ bullet • ellipsis … perthousand ‰ guilsinglleft ‹ \
guilsinglright › fraction ⁄ Euro € trademark ™ minus − ff ff fi fi fl fl ffi ffi ffl ffl lessequal ≤ greaterequal ≥ \
notequal ≠ infinity ∞ arrowright → arrowleft ← sfthyphen -";

/// Accents as names end in them, and the letters with each, plain letter first.
const ACCENTS: [(&str, &str); 9] = [
    ("acute", "aáeéiíoóuúyýAÁEÉIÍOÓUÚYÝcćCĆnńNŃsśSŚzźZŹ"),
    ("grave", "aàeèiìoòuùAÀEÈIÌOÒUÙ"),
    ("circumflex", "aâeêiîoôuûAÂEÊIÎOÔUÛ"),
    ("dieresis", "aäeëiïoöuüyÿAÄEËIÏOÖUÜYŸ"),
    ("tilde", "aãnñoõAÃNÑOÕ"),
    ("caron", "cčsšzžeěrřCČSŠZŽEĚRŘ"),
    ("cedilla", "cçCÇsşSŞ"),
    ("ring", "aåuůAÅUŮ"),
    ("ogonek", "aąeęAĄEĘ"),
];

/// What a name stands for.
pub(super) fn glyph(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let name = name.split_once('.').map_or(name, |(base, _)| if base.is_empty() { name } else { base });
    let mut chars = name.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return only.is_ascii_alphanumeric().then(|| only.to_string());
    }
    if let Some(hex) =
        name.strip_prefix("uni").or_else(|| name.strip_prefix('u')).filter(|hex| hex.len() >= 4)
        && let Some(char) =
            u32::from_str_radix(hex.get(..hex.len().min(6))?, 16).ok().and_then(char::from_u32)
    {
        return Some(char.to_string());
    }
    named(name).or_else(|| accented(name))
}

fn named(name: &str) -> Option<String> {
    if matches!(name, "space" | "nbspace") {
        return Some(" ".into());
    }
    let mut words = NAMES.split_ascii_whitespace();
    while let (Some(word), Some(stands_for)) = (words.next(), words.next()) {
        if word == name {
            return Some(stands_for.into());
        }
    }
    None
}

fn accented(name: &str) -> Option<String> {
    let letter = name.chars().next()?;
    let (_, letters) = ACCENTS.iter().find(|(accent, _)| name[letter.len_utf8()..] == **accent)?;
    let mut letters = letters.chars();
    while let (Some(plain), Some(with)) = (letters.next(), letters.next()) {
        if plain == letter {
            return Some(with.to_string());
        }
    }
    None
}

/// What each byte stands for in an encoding by its name, with the font's own differences.
pub(super) fn table(base: &[u8], differences: &[Object]) -> Vec<String> {
    let mut table: Vec<String> = (0..=255u8).map(|byte| of_byte(base, byte)).collect();
    let mut code = 0;
    for object in differences {
        match object {
            Object::Number(number) => code = *number as usize,
            Object::Name(name) => {
                if let (Some(slot), Some(text)) = (table.get_mut(code), glyph(name)) {
                    *slot = text;
                }
                code += 1;
            }
            _ => {}
        }
    }
    table
}

fn of_byte(base: &[u8], byte: u8) -> String {
    let char = match (base, byte) {
        (_, 0..0x20) => return String::new(),
        (b"MacRomanEncoding", 0x80..) => MAC_ROMAN.chars().nth(usize::from(byte - 0x80)).unwrap_or(' '),
        // The standard encoding, which fonts have by themselves: what differs from Windows in what is printed.
        (b"", b'\'') => '’',
        (b"", b'`') => '‘',
        (b"", 0xae) => return "fi".into(),
        (b"", 0xaf) => return "fl".into(),
        (b"", 0xaa) => '“',
        (b"", 0xba) => '”',
        (b"", 0xb1) => '–',
        (b"", 0xd0) => '—',
        (b"", 0xb7) => '•',
        _ => windows_1252(byte),
    };
    match char {
        '\u{a0}' => " ".into(),
        'ﬁ' => "fi".into(),
        'ﬂ' => "fl".into(),
        char => char.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_glyphs_are_characters() {
        for (name, text) in [
            ("A", "A"),
            ("space", " "),
            ("ffi", "ffi"),
            ("uni20AC", "€"),
            ("u1F600", "😀"),
            ("adieresis", "ä"),
            ("Scaron", "Š"),
            ("quoteright", "’"),
            ("minus", "−"),
            ("sfthyphen", "-"),
            ("a.sc", "a"),
        ] {
            assert_eq!(glyph(name.as_bytes()).as_deref(), Some(text), "{name}");
        }
        assert_eq!(glyph(b"g123"), None);
        assert_eq!(MAC_ROMAN.chars().count(), 128);
    }

    #[test]
    fn differences_begin_at_a_number() {
        let differences =
            [Object::Number(65.0), Object::Name(b"eacute".to_vec()), Object::Name(b"B".to_vec())];
        let table = table(b"WinAnsiEncoding", &differences);
        assert_eq!((&table[65][..], &table[66][..], &table[67][..], &table[0x80][..]), ("é", "B", "C", "€"));
    }
}
