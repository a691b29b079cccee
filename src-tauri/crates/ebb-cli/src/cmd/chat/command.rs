//! What may be typed in a conversation.

/// Shown by `/help`.
pub(super) const HELP: &str = "\
/system TEXT  tell the model what it should be, from now on; without TEXT nothing
/clear        begin anew
/stats        show what the model holds
/shrink       give its free memory back
/save FILE    write the conversation as JSON
/exit         leave; so do Ctrl-D and Ctrl-C twice

Ctrl-C stops an answer. A line that ends with \\ goes on in the next. A line that begins with a blank is said as it is.
";

/// A line, understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed<'a> {
    /// Nothing.
    Nothing,
    /// To be said to the model.
    Said(&'a str),
    Help,
    Exit,
    Clear,
    System(&'a str),
    Stats,
    Shrink,
    Save(&'a str),
    /// It looks like a command and is none, or lacks what it needs.
    Wrong(&'a str),
}

impl<'a> Typed<'a> {
    pub(super) fn read(line: &'a str) -> Self {
        let text = line.trim();
        if text.is_empty() {
            return Self::Nothing;
        }
        if !line.starts_with('/') {
            return Self::Said(text);
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match (word, rest) {
            ("/system", text) => Self::System(text),
            ("/save", file) if !file.is_empty() => Self::Save(file),
            ("/help" | "/?", "") => Self::Help,
            ("/exit" | "/quit" | "/bye", "") => Self::Exit,
            ("/clear", "") => Self::Clear,
            ("/stats", "") => Self::Stats,
            ("/shrink", "") => Self::Shrink,
            _ => Self::Wrong(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_said_or_a_command() {
        for (line, typed) in [
            ("  \t", Typed::Nothing),
            (" hello ", Typed::Said("hello")),
            ("/exit ", Typed::Exit),
            ("/system  be brief ", Typed::System("be brief")),
            ("/system", Typed::System("")),
            ("/save a file.json", Typed::Save("a file.json")),
            ("/save", Typed::Wrong("/save")),
            ("/stats now", Typed::Wrong("/stats now")),
            ("/usr/bin", Typed::Wrong("/usr/bin")),
            (" /usr/bin", Typed::Said("/usr/bin")),
        ] {
            assert_eq!(Typed::read(line), typed, "{line:?}");
        }
    }
}
