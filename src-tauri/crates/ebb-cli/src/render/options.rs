//! The catalogue of options, and profiles.

use std::fmt::Write as _;

use ebb_core::{
    operations::{OptionList, Profile, ProfileList},
    options::CatalogueEntry,
};

use super::{Look, Table, given::settings, model::word, table::wrapped};

/// With this many hits or fewer, all that is known of each is shown.
const IN_FULL: usize = 12;

/// Options that were found.
pub(crate) fn option_list(list: &OptionList, look: Look) -> String {
    if list.options.is_empty() {
        return "no option matches; any key can be given all the same, and is forwarded\n".into();
    }
    if list.options.len() <= IN_FULL {
        let entries: Vec<_> = list.options.iter().map(|entry| in_full(entry, look)).collect();
        return entries.join("\n");
    }
    let mut table = Table::new(look, &["scope", "key", "type", "default", "memory"]);
    for entry in &list.options {
        table.row([
            entry.scope.to_string(),
            entry.key.clone(),
            word(&entry.r#type),
            entry.default.clone().unwrap_or_else(|| "-".into()),
            if entry.memory { "yes".into() } else { String::new() },
        ]);
    }
    let count = list.options.len();
    table.text(look)
        + &format!("\n{count} options; 'ebb options WORD...' finds fewer and tells more of each\n")
}

fn in_full(entry: &CatalogueEntry, look: Look) -> String {
    let mut text = format!(
        "{}  {} {}{}\n",
        look.bold(&entry.key),
        entry.scope,
        word(&entry.r#type),
        match (entry.no_op, entry.memory) {
            (true, _) => ", taken by ONNX Runtime without doing anything",
            (false, true) => ", changes what memory is held",
            (false, false) => "",
        },
    );
    let mut line = |name: &str, value: &str| {
        for (index, piece) in wrapped(value, usize::from(look.width).saturating_sub(12)).iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            let _ = writeln!(text, "  {name:<9} {piece}");
        }
    };
    line("", &entry.description);
    if let Some(default) = &entry.default {
        line("default", default);
    }
    if !entry.allowed.is_empty() {
        line("allowed", &entry.allowed.join(", "));
    }
    if let Some(since) = &entry.since {
        line("since", since);
    }
    if let Some(note) = &entry.note {
        line("note", note);
    }
    text
}

/// Every profile.
pub(crate) fn profile_list(list: &ProfileList, look: Look) -> String {
    let mut table = Table::new(look, &["profile", "", "~what it is for"]);
    for profile in &list.profiles {
        let built_in = if profile.built_in { "built in" } else { "" };
        table.row([profile.name.as_str(), built_in, &profile.description]);
    }
    let mut text = table.text(look);
    for broken in &list.broken {
        let _ = writeln!(text, "{} {broken}", look.warn("cannot be used:"));
    }
    text
}

/// One profile: what it sets, and why.
pub(crate) fn profile(profile: &Profile, look: Look) -> String {
    let mut text = format!("{}  {}\n\n", look.bold(&profile.name), profile.description);
    let mut table = Table::new(look, &["option", "value", "~why"]);
    for (name, value) in settings(&profile.options) {
        let key = name.split_once(' ').map_or(name.as_str(), |(_, key)| key);
        let reason = profile.reasons.get(&name).or_else(|| profile.reasons.get(key));
        table.row([name.clone(), value, reason.cloned().unwrap_or_default()]);
    }
    if table.is_empty() {
        return text + "sets nothing\n";
    }
    text += &table.text(look);
    text
}

#[cfg(test)]
mod tests {
    use ebb_core::{
        LoadOptions,
        options::{Scope, ValueType},
    };

    use super::*;

    fn entry(key: &str) -> CatalogueEntry {
        CatalogueEntry {
            scope: Scope::Session,
            key: key.into(),
            r#type: ValueType::Bool,
            default: Some("1".into()),
            allowed: vec!["0".into(), "1".into()],
            memory: true,
            no_op: false,
            description:
                "Whether the session takes memory from an arena, which keeps what it once took so that the \
                next request need not ask the system again."
                    .into(),
            since: Some("1.28".into()),
            note: None,
        }
    }

    #[test]
    fn few_options_are_shown_in_full_and_many_in_a_table() {
        let few = OptionList { options: vec![entry("session.a")] };
        insta::assert_snapshot!(option_list(&few, Look::plain()), @r"
        session.a  session bool, changes what memory is held
                    Whether the session takes memory from an arena, which keeps what it once took so that
                    the next request need not ask the system again.
          default   1
          allowed   0, 1
          since     1.28
        ");
        let many = OptionList { options: (0..13).map(|n| entry(&format!("session.{n}"))).collect() };
        let text = option_list(&many, Look::plain());
        assert_eq!(text.lines().count(), 1 + 13 + 2, "{text}");
        assert!(option_list(&OptionList { options: vec![] }, Look::plain()).contains("no option matches"));
    }

    #[test]
    fn a_profile_gives_its_reasons() {
        let options = LoadOptions {
            shrink_every: Some(10),
            arena_options: [("arena_extend_strategy".to_owned(), "kSameAsRequested".to_owned())].into(),
            ..LoadOptions::default()
        };
        let low = Profile {
            name: "low-memory".into(),
            description: "gives back soon".into(),
            built_in: true,
            options,
            reasons: [("shrink_every".to_owned(), "often enough".to_owned())].into(),
        };
        insta::assert_snapshot!(profile(&low, Look::plain()), @r"
        low-memory  gives back soon

        option                       value             why
        shrink_every                 10                often enough
        arena arena_extend_strategy  kSameAsRequested
        ");
    }
}
