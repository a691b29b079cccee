//! Kinds of files that people send and that are not read. They are told by their first bytes: searched for the start of an
//! MP3, as any unknown file is, a video holds one by chance.

use crate::Error;

/// Where a mark stands, the mark, and what begins with it.
const MARKS: [(usize, &[u8], &str); 13] = [
    (4, b"ftyp", "an MP4 or M4A file"),
    (0, b"\x1a\x45\xdf\xa3", "a Matroska or WebM file"),
    (8, b"AVI ", "an AVI video"),
    (8, b"AIFF", "an AIFF file"),
    (8, b"AIFC", "an AIFF file"),
    (0, b"caff", "a CAF file"),
    (0, b"#!AMR", "an AMR file"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "a WMA or WMV file"),
    (0, b"FLV", "a Flash video"),
    (28, b"OpusHead", "an Opus file"),
    (0, b"%PDF", "a PDF"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, b"\x1f\x8b", "a gzip archive"),
];

/// Refuses a file of a kind that is known not to be read.
pub(crate) fn refuse(bytes: &[u8]) -> Result<(), Error> {
    let is =
        |(at, mark, _): &&(usize, &[u8], &str)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(mark));
    if let Some((_, _, kind)) = MARKS.iter().find(is) {
        return Err(Error::Foreign(kind));
    }
    // ADTS looks like MPEG audio but for its layer, which is 0.
    if let [0xff, second, ..] = bytes
        && second & 0xf6 == 0xf0
    {
        return Err(Error::Foreign("an AAC file"));
    }
    Ok(())
}
