//! Text out of files. Nothing that a file holds is believed: every reader is bounded in what it allocates and in how often it
//! looks at the same byte, so that a hostile file costs its author's document and nothing else.

mod html;
mod markdown;
mod pdf;
mod text;
mod writer;

use writer::Writer;

/// What was made of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    /// What the file calls itself.
    pub title: Option<String>,
    /// Its text: blocks with an empty line between.
    pub text: String,
    /// Its headings, in order.
    pub headings: Vec<Heading>,
    /// Where each page begins, in bytes of the text; empty where there are none.
    pub pages: Vec<usize>,
}

/// A heading, as a range of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading {
    /// 1 is the highest.
    pub level: u8,
    /// First byte.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

/// What one document may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of its text.
    pub text_bytes: usize,
    /// Bytes that all its compressed parts come to.
    pub inflated_bytes: usize,
    /// How often larger than the file those may be.
    pub inflate_ratio: usize,
    /// Pages.
    pub pages: usize,
    /// Drawing operations of all pages.
    pub operations: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            text_bytes: 8 * 1024 * 1024,
            inflated_bytes: 64 * 1024 * 1024,
            inflate_ratio: 100,
            pages: 5_000,
            operations: 5_000_000,
        }
    }
}

/// Why a file gives no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is of another kind.
    #[error("it is not Markdown, text, HTML or PDF")]
    Kind,
    /// It says that it is text and is not.
    #[error("it is named as text but holds something else")]
    Binary,
    /// Nothing was found in it.
    #[error("it holds no text; pages that were scanned would need recognition first")]
    Empty,
    /// It has a password, or says so.
    #[error("it is encrypted; save it again without a password")]
    Encrypted,
    /// Its text is too long.
    #[error("its text is longer than {0} bytes; split it")]
    TooLong(usize),
    /// Its compressed parts are too long.
    #[error("its compressed parts come to more than {0} bytes")]
    Inflates(usize),
    /// It has too many pages.
    #[error("it has more than {0} pages; split it")]
    Pages(usize),
    /// Reading it would take too long.
    #[error("it is too complex to read")]
    Complex,
    /// It cannot be understood.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

/// The text of a file.
///
/// # Errors
/// Why there is none.
pub fn extract(media_type: &str, name: &str, bytes: &[u8], limits: &Limits) -> Result<Extracted, Unreadable> {
    let mut writer = Writer::new(limits.text_bytes);
    match kind(media_type, name, bytes) {
        Kind::Pdf => pdf::read(bytes, limits, &mut writer)?,
        Kind::Html => html::read(&decoded(bytes, limits)?, &mut writer),
        Kind::Markdown => markdown::read(&decoded(bytes, limits)?, &mut writer),
        Kind::Text => text::read(&decoded(bytes, limits)?, &mut writer),
        Kind::Unknown => text::read(&text::decode_utf8(bytes).ok_or(Unreadable::Kind)?, &mut writer),
        Kind::Other => return Err(Unreadable::Kind),
    }
    writer.finish()
}

/// Text of a file that holds text. A file many times as long as the text that it may give is not even looked at.
fn decoded(bytes: &[u8], limits: &Limits) -> Result<String, Unreadable> {
    if bytes.len() > limits.text_bytes.saturating_mul(4) {
        return Err(Unreadable::TooLong(limits.text_bytes));
    }
    text::decode(bytes).ok_or(Unreadable::Binary)
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Pdf,
    Html,
    Markdown,
    Text,
    /// The host does not know the name; it is text if it can be read as such.
    Unknown,
    Other,
}

/// What a file is: by its first bytes where they say so, then by what the host made of its name.
fn kind(media_type: &str, name: &str, bytes: &[u8]) -> Kind {
    let head = &bytes[..bytes.len().min(1024)];
    if head.windows(5).any(|window| window == b"%PDF-") {
        return Kind::Pdf;
    }
    let extension =
        name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    match (media_type, extension.as_str()) {
        ("application/pdf", _) => Kind::Pdf,
        ("text/html" | "application/xhtml+xml", _) | (_, "html" | "htm" | "xhtml") => Kind::Html,
        ("text/markdown", _) | (_, "md" | "markdown") => Kind::Markdown,
        (media_type, _) if media_type.starts_with("text/") => Kind::Text,
        (_, "txt" | "text" | "log" | "rst") => Kind::Text,
        ("application/octet-stream" | "", _) => Kind::Unknown,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests;
