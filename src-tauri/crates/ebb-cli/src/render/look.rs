//! Colours and width.

use anstyle::{AnsiColor, Style};

use crate::args::Color;

/// How text for people is dressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    color: bool,
    /// Columns that a line may take; [`u16::MAX`]: any number.
    pub(crate) width: u16,
}

impl Look {
    /// Colours as asked; left to us, where it is a terminal that shows them and `NO_COLOR` is not set.
    pub(crate) fn of(color: Color, terminal: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let color = Option::<bool>::from(color).unwrap_or(terminal && !set("NO_COLOR") && !dumb);
        let shown = if terminal { console::Term::stdout().size_checked() } else { None };
        let columns = shown.map(|(_, columns)| columns).or_else(columns);
        Self { color, width: columns.map_or(u16::MAX, |columns| columns.max(40)) }
    }

    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { color: false, width: 100 }
    }

    #[cfg(test)]
    pub(crate) fn of_width(width: u16) -> Self {
        Self { color: false, width }
    }

    #[cfg(test)]
    pub(crate) fn colored() -> Self {
        Self { color: true, width: 100 }
    }

    pub(crate) fn bold(self, text: impl std::fmt::Display) -> String {
        self.dressed(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: impl std::fmt::Display) -> String {
        self.dressed(Style::new().dimmed(), text)
    }

    pub(crate) fn good(self, text: impl std::fmt::Display) -> String {
        self.dressed(AnsiColor::Green.on_default().bold(), text)
    }

    pub(crate) fn warn(self, text: impl std::fmt::Display) -> String {
        self.dressed(AnsiColor::Yellow.on_default().bold(), text)
    }

    pub(crate) fn bad(self, text: impl std::fmt::Display) -> String {
        self.dressed(AnsiColor::Red.on_default().bold(), text)
    }

    fn dressed(self, style: Style, text: impl std::fmt::Display) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

/// What the user, or a program that shows our output, says of the width.
fn columns() -> Option<u16> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok()
}
