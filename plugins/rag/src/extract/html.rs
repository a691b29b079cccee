//! HTML: what a reader of the page would see. Read tag by tag without ever building a tree, so that nesting costs nothing.

use std::convert::Infallible;

use html5gum::{
    Readable as _, Reader as Bytes, Span, StringReader, Tokenizer,
    emitters::callback::{CallbackEmitter, CallbackEvent},
};

use super::writer::Writer;

/// Elements whose content no reader of the page looks for.
const HIDDEN: [&[u8]; 13] = [
    b"script",
    b"style",
    b"nav",
    b"template",
    b"noscript",
    b"svg",
    b"math",
    b"iframe",
    b"object",
    b"select",
    b"button",
    b"canvas",
    b"noembed",
];

/// Elements that begin and end a block.
const BLOCKS: [&[u8]; 27] = [
    b"p",
    b"div",
    b"section",
    b"article",
    b"main",
    b"header",
    b"footer",
    b"aside",
    b"ul",
    b"ol",
    b"dl",
    b"dt",
    b"table",
    b"thead",
    b"tbody",
    b"caption",
    b"blockquote",
    b"figure",
    b"figcaption",
    b"hr",
    b"form",
    b"fieldset",
    b"address",
    b"details",
    b"summary",
    b"body",
    b"pre",
];

/// Reads a page, or a part of one.
pub(super) fn read(html: &str, writer: &mut Writer) {
    let mut reader = Reader { writer, hidden: None, pre: 0, title: None };
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        reader.event(event);
        None
    });
    emitter.naively_switch_states(true);
    let bytes = Paced { bytes: html.to_reader(), paused: false };
    // Nothing comes of it but the events, and pauses.
    for _pause in Tokenizer::new_with_emitter(bytes, emitter) {}
}

/// The bytes of a page. From one quoted value of a tag to the next html5gum goes by calls within calls, which only end where a
/// byte cannot be had. So the first byte of a value is never to be had at once: html5gum returns, and goes on where it was.
struct Paced<'a> {
    bytes: StringReader<'a>,
    paused: bool,
}

/// A byte comes when it is asked for again.
#[derive(Debug, thiserror::Error)]
#[error("a pause")]
struct Pause;

impl Bytes for Paced<'_> {
    type Error = Pause;

    fn read_byte(&mut self) -> Result<Option<u8>, Pause> {
        self.bytes.read_byte().map_err(never)
    }

    fn try_read_string(&mut self, wanted: &[u8], case_sensitive: bool) -> Result<bool, Pause> {
        self.bytes.try_read_string(wanted, case_sensitive).map_err(never)
    }

    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        char_buf: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Pause> {
        // Only a value ends at a quote and holds references.
        self.paused = !self.paused && needle.contains(&b'"') && needle.contains(&b'&');
        if self.paused {
            return Err(Pause);
        }
        self.bytes.read_until(needle, char_buf).map_err(never)
    }
}

fn never(error: Infallible) -> Pause {
    match error {}
}

struct Reader<'a> {
    writer: &'a mut Writer,
    /// The hidden element that is open, and how many of its name.
    hidden: Option<(Vec<u8>, usize)>,
    pre: usize,
    title: Option<String>,
}

impl Reader<'_> {
    fn event(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => self.start(name),
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => {
                let text = String::from_utf8_lossy(value);
                if let Some(title) = &mut self.title {
                    title.push_str(&text);
                } else if self.hidden.is_some() || self.writer.is_full() {
                } else if self.pre > 0 {
                    self.writer.verbatim(&text);
                } else {
                    self.writer.text(&text);
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, name: &[u8]) {
        if let Some((open, depth)) = &mut self.hidden {
            // Who forgets to close a menu still wants the article read.
            if matches!(name, b"main" | b"article") && open == b"nav" {
                self.hidden = None;
            } else {
                *depth += usize::from(open == name);
                return;
            }
        }
        if HIDDEN.contains(&name) {
            self.hidden = Some((name.to_vec(), 1));
            self.writer.space();
            return;
        }
        match name {
            b"title" => self.title = Some(String::new()),
            [b'h', level @ b'1'..=b'6'] => self.writer.heading(level - b'0'),
            b"br" | b"tr" | b"dd" => self.writer.line(),
            b"li" => self.writer.item(),
            _ => self.block(name),
        }
        self.pre += usize::from(name == b"pre");
    }

    fn end(&mut self, name: &[u8]) {
        if let Some((open, depth)) = &mut self.hidden {
            if open == name {
                *depth -= 1;
                if *depth == 0 {
                    self.hidden = None;
                }
            }
            return;
        }
        match name {
            b"title" => {
                if let Some(title) = self.title.take() {
                    self.writer.title(&title);
                }
            }
            [b'h', b'1'..=b'6'] => self.writer.end_heading(),
            b"td" | b"th" => self.writer.text(" | "),
            b"tr" | b"li" => self.writer.line(),
            b"pre" => self.pre = self.pre.saturating_sub(1),
            _ => {}
        }
        self.block(name);
    }

    fn block(&mut self, name: &[u8]) {
        if BLOCKS.contains(&name) {
            self.writer.block();
        }
    }
}
