//! The catalogue as a page to read.

use std::fmt::Write as _;

use super::{CatalogueEntry, Scope, ValueType, catalogue};

/// How the page begins.
const HEAD: &str = "# Options

Every option that Ebb knows, with what it does and what that means for memory. Any other key is forwarded as typed and
reported as unknown. This page is made from Ebb's catalogue; `ebb options WORD` searches it.

Booleans are `0`, `1`, `true` or `false`. Sizes are bytes or carry a unit: `400MB`, `2GiB`. `session.` may be left out.
**M** marks options that change what memory is held. *Since* is the version of ONNX Runtime that brought the option.
";

/// The whole catalogue in Markdown, a table for each scope.
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    let mut scope = None;
    for entry in catalogue() {
        if scope != Some(&entry.scope) {
            scope = Some(&entry.scope);
            // Writing to a string cannot fail.
            let _ = write!(page, "\n## {}\n\n{}\n\n", entry.scope, about(&entry.scope));
            page.push_str("| Key | Takes | Default | | Since | What it does |\n|---|---|---|---|---|---|\n");
        }
        row(&mut page, entry);
    }
    page
}

fn about(scope: &Scope) -> String {
    match scope {
        Scope::Session => "Given with `--session-option` when a model is loaded.".to_owned(),
        Scope::Arena => {
            "The model's own CPU arena. Given with `--arena-option` when a model is loaded.".to_owned()
        }
        Scope::Run => "Hold for each run. Set with `ebb model set-runtime-option`.".to_owned(),
        Scope::Environment => {
            "Belong to a whole process; Ebb sets them up, no model can change them.".to_owned()
        }
        Scope::Provider(name) => {
            format!("Given with `--provider-option {name}.KEY=VALUE`; without effect on any other provider.")
        }
    }
}

fn row(page: &mut String, entry: &CatalogueEntry) {
    let kind = match entry.r#type {
        ValueType::Bool => "boolean",
        ValueType::Int => "whole number",
        ValueType::Bytes => "size",
        ValueType::Float => "number",
        ValueType::Enum => "",
        ValueType::Path => "path",
        ValueType::String => "text",
        ValueType::Json => "JSON",
        ValueType::Pointer => "address (not as text)",
    };
    let allowed = entry.allowed.iter().map(|value| code(value)).collect::<Vec<_>>().join(", ");
    let takes = if kind.is_empty() || allowed.is_empty() {
        [kind, &allowed].concat()
    } else {
        format!("{kind}: {allowed}")
    };
    let default = entry.default.as_deref().map(code).unwrap_or_default();
    let memory = if entry.memory { "**M**" } else { "" };
    let since = entry.since.as_deref().unwrap_or("Ebb");
    let mut says = entry.description.clone();
    if let Some(note) = &entry.note {
        says = format!("{says} {note}");
    }
    // A bar would end the cell, an angle bracket could begin an HTML tag.
    let says = says.replace('|', "\\|").replace('<', "&lt;");
    let _ = writeln!(page, "| {} | {takes} | {default} | {memory} | {since} | {says} |", code(&entry.key));
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set `UPDATE_DOCS=1` to write the page anew.
    #[test]
    fn the_page_equals_what_the_catalogue_gives() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/docs")).unwrap();
            std::fs::write(path, markdown()).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap();
        assert!(page == markdown(), "docs/options.md is out of date: UPDATE_DOCS=1 cargo test -p ebb-core");
    }

    #[test]
    fn every_entry_has_a_whole_row() {
        let page = markdown();
        let rows = page.lines().filter(|line| line.starts_with("| `")).collect::<Vec<_>>();
        assert_eq!(rows.len(), catalogue().len());
        for row in rows {
            assert_eq!(row.replace("\\|", "").matches('|').count(), 7, "{row}");
        }
    }
}
