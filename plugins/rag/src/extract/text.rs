//! Plain text, and what encoding it is in.

use super::writer::Writer;

/// Text in whatever encoding it says by its first bytes, else UTF-8, else Windows-1252 (of which Latin-1 is a part). `None`:
/// it is no text.
pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => Some(String::from_utf8_lossy(rest).into_owned()),
        [0xff, 0xfe, rest @ ..] => Some(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(utf16(rest, u16::from_be_bytes)),
        _ => decode_utf8(bytes).or_else(|| {
            let is_text = !bytes.iter().any(|&byte| byte < b'\t' || (0x0e..0x1b).contains(&byte));
            is_text.then(|| bytes.iter().map(|&byte| windows_1252(byte)).collect())
        }),
    }
}

/// Text in UTF-8 that could be meant as such.
pub(super) fn decode_utf8(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then(|| text.to_owned())
}

fn utf16(bytes: &[u8], number: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| number([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// The character of a byte in Windows-1252. The five bytes that it does not use are control characters, as on the web.
pub(super) fn windows_1252(byte: u8) -> char {
    const UPPER: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => UPPER[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Lines as they are: an empty one ends a block.
pub(super) fn read(text: &str, writer: &mut Writer) {
    for line in text.lines() {
        if writer.is_full() {
            return;
        }
        let line = line.trim_end();
        if line.is_empty() {
            writer.block();
        } else {
            writer.line();
            writer.verbatim(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_by_their_first_bytes_or_by_what_fits() {
        for (bytes, text) in [
            (b"plain".to_vec(), "plain"),
            ("caf\u{e9} €".as_bytes().to_vec(), "café €"),
            (b"\xef\xbb\xbfmark".to_vec(), "mark"),
            (b"\xff\xfeh\0\xe9\0".to_vec(), "hé"),
            (b"\xfe\xff\0h\0\xe9".to_vec(), "hé"),
            (b"caf\xe9 \x80 \x93q\x94".to_vec(), "café € “q”"),
            (b"\xff\xfe\x00\xd8".to_vec(), "\u{fffd}"),
        ] {
            assert_eq!(decode(&bytes).as_deref(), Some(text), "{bytes:?}");
        }
        for binary in [&b"PK\x03\x04\x14\0\0\0\xff"[..], b"\x7fELF\0\0", b"\x89PNG\r\n\x1a\n\0"] {
            assert_eq!(decode(binary), None, "{binary:?}");
        }
    }
}
