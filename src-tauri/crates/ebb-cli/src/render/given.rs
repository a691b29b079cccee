//! Options: as they were given, and what they came to.

use std::fmt::Write as _;

use ebb_core::{
    LoadOptions,
    operations::RuntimeOptions,
    options::{OptionLine, Requested},
};

use super::{Look, Table, table::wrapped};

/// Columns that a note is given at least, or it stands below.
const LEAST_NOTE: usize = 32;

/// Every option as requested, as forwarded, and as it came out. Notes stand beside it, or below where they would be squeezed.
pub(super) fn option_lines(lines: &[OptionLine], look: Look) -> String {
    let rows: Vec<[String; 5]> = lines.iter().map(option_row).collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count() + 2).max().unwrap_or(0);
    let taken: usize = (0..4).map(widest).sum();
    let beside = taken + LEAST_NOTE <= usize::from(look.width);
    let heads = ["option", "requested", "forwarded", "effective", "~note"];
    let columns = if beside { 5 } else { 4 };
    let mut table = Table::new(look, &heads[..columns]);
    for row in &rows {
        table.row(row[..columns].iter().cloned());
    }
    let mut text = table.text(look);
    for [option, .., note] in rows.iter().filter(|[.., note]| !beside && !note.is_empty()) {
        let lines = wrapped(&format!("{option}: {note}"), usize::from(look.width).saturating_sub(2));
        let _ = writeln!(text, "{}", lines.join("\n  "));
    }
    text
}

fn option_row(line: &OptionLine) -> [String; 5] {
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let as_typed = format!("{}={}", line.key, line.requested);
    let forwarded =
        if line.forwarded.as_ref() == Some(&as_typed) { "as typed".into() } else { or(&line.forwarded) };
    let requested = if line.requested.is_empty() { "(default)" } else { &line.requested };
    [
        format!("{} {}", line.scope, line.key),
        requested.to_owned(),
        forwarded,
        or(&line.effective),
        line.note.clone().unwrap_or_default(),
    ]
}

/// Load options as they were given.
pub(super) fn given(options: &LoadOptions, look: Look) -> String {
    let mut table = Table::new(look, &["option", "value"]);
    for (key, value) in settings(options) {
        table.row([key, value]);
    }
    table.text(look)
}

/// What is set besides options of ONNX Runtime, on one line: those have lines of their own.
pub(super) fn plain(options: &LoadOptions) -> Option<String> {
    let set: Vec<_> = fields(options).iter().map(|(name, value)| format!("{name} {value}")).collect();
    (!set.is_empty()).then(|| set.join(", "))
}

/// Everything that is set, as a name and a value each.
pub(super) fn settings(options: &LoadOptions) -> Vec<(String, String)> {
    let mut all = fields(options);
    let typed = Requested::all(options).into_iter();
    all.extend(typed.map(|option| (format!("{} {}", option.scope, option.key), option.value)));
    all
}

/// The fields of one value each, as they are called in JSON.
fn fields(options: &LoadOptions) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(options) {
        for (name, value) in fields {
            match value {
                serde_json::Value::Null | serde_json::Value::Object(_) => {}
                serde_json::Value::String(text) => all.push((name, text)),
                other => all.push((name, other.to_string())),
            }
        }
    }
    all
}

/// Run options that hold.
pub(crate) fn runtime_options(options: &RuntimeOptions, look: Look) -> String {
    if options.options.is_empty() {
        return format!("{}  no run options are set\n", look.bold(&options.model));
    }
    option_lines(&options.options, look)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::model::tests::info;

    #[test]
    fn where_it_is_narrow_notes_stand_below() {
        let mut info = info();
        info.options[0].key = "session.use_device_allocator_for_initializers".into();
        info.options[0].note =
            Some("set by Ebb: it gives the model an arena of its own, which can be shrunk".into());
        insta::assert_snapshot!(option_lines(&info.options, Look::of_width(80)), @r"
        option                                               requested  forwarded      effective
        arena session.use_device_allocator_for_initializers  400MB      max_mem=400MB  400000000
        arena max_men                                        1          as typed       -
        arena session.use_device_allocator_for_initializers: set by Ebb: it gives the
          model an arena of its own, which can be shrunk
        arena max_men: no known effect; did you mean max_mem?
        ");
    }
}
