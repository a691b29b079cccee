//! Markdown: what a reader of the page would see, with its headings.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{html, writer::Writer};

/// Reads CommonMark with tables, footnotes, task lists and a head of metadata, which is left out.
pub(super) fn read(markdown: &str, writer: &mut Writer) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut reader = Reader { writer, verbatim: false, hidden: false, html: None };
    for event in Parser::new_ext(markdown, options) {
        if reader.writer.is_full() {
            return;
        }
        reader.event(event);
    }
}

struct Reader<'a> {
    writer: &'a mut Writer,
    verbatim: bool,
    hidden: bool,
    /// A block of HTML comes line by line; only the whole of it can be read.
    html: Option<String>,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            _ if self.hidden => {}
            Event::Text(text) if self.verbatim => self.writer.verbatim(&text),
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.writer.text(&text);
            }
            Event::Html(text) => match &mut self.html {
                Some(html) => html.push_str(&text),
                None => html::read(&text, self.writer),
            },
            Event::SoftBreak => self.writer.space(),
            Event::HardBreak => self.writer.line(),
            Event::Rule => self.writer.block(),
            Event::TaskListMarker(done) => self.writer.text(if done { "[x] " } else { "[ ] " }),
            Event::InlineHtml(_) | Event::FootnoteReference(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.writer.heading(level_of(level)),
            Tag::Paragraph | Tag::BlockQuote(_) | Tag::Table(_) | Tag::FootnoteDefinition(_) => self.block(),
            Tag::CodeBlock(_) => {
                self.block();
                self.verbatim = true;
            }
            Tag::Item => self.writer.item(),
            Tag::List(_) | Tag::TableHead | Tag::TableRow => self.writer.line(),
            Tag::HtmlBlock => self.html = Some(String::new()),
            Tag::MetadataBlock(_) => self.hidden = true,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.writer.end_heading(),
            TagEnd::Paragraph | TagEnd::BlockQuote(_) | TagEnd::Table | TagEnd::FootnoteDefinition => {
                self.block()
            }
            TagEnd::CodeBlock => {
                self.verbatim = false;
                self.block();
            }
            TagEnd::List(_) => self.block(),
            TagEnd::TableCell => self.writer.text(" | "),
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                html::read(&html, self.writer);
            }
            TagEnd::MetadataBlock(_) => self.hidden = false,
            _ => {}
        }
    }

    fn block(&mut self) {
        self.writer.block();
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
