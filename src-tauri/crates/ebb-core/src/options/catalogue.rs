//! What is known about every option of ONNX Runtime and of Ebb's own arena, from the data file beside this one.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::Scope;

/// The type of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    /// `0`, `1`, `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A size in bytes; a unit may be given.
    Bytes,
    /// A number.
    Float,
    /// One of the allowed values.
    Enum,
    /// A path.
    Path,
    /// Free text.
    String,
    /// JSON text.
    Json,
    /// An address in the process: not for text options.
    Pointer,
}

/// What is known of one option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CatalogueEntry {
    /// What it belongs to.
    pub scope: Scope,
    /// Its key. `ep.<prefix>.` stands for any plug-in provider.
    pub key: String,
    /// Type of its value.
    pub r#type: ValueType,
    /// Value where none is given; `None`: none, or decided at run time.
    #[serde(default)]
    pub default: Option<String>,
    /// Values or forms allowed, numbers also as ranges `1..64`, `0..`; empty: any of the type.
    #[serde(default)]
    pub allowed: Vec<String>,
    /// Whether it changes what memory is held.
    #[serde(default)]
    pub memory: bool,
    /// Whether ONNX Runtime takes it without doing anything.
    #[serde(default)]
    pub no_op: bool,
    /// What it does.
    pub description: String,
    /// Version of ONNX Runtime that brought it; `None`: Ebb's own.
    #[serde(default)]
    pub since: Option<String>,
    /// What a person should know before using it.
    #[serde(default)]
    pub note: Option<String>,
}

/// Stands for the provider's part of a plug-in provider's keys.
pub(super) const ANY_PREFIX: &str = "<prefix>";

impl CatalogueEntry {
    /// Whether this is the entry for `key`, the scope being right.
    fn is_for(&self, key: &str) -> bool {
        match self.key.split_once(ANY_PREFIX) {
            None => self.key == key,
            Some((start, end)) => key
                .strip_prefix(start)
                .and_then(|rest| rest.strip_suffix(end))
                .is_some_and(|name| !name.is_empty() && !name.contains('.')),
        }
    }
}

static ENTRIES: LazyLock<Vec<CatalogueEntry>> =
    LazyLock::new(|| match serde_json::from_str(include_str!("catalogue.json")) {
        Ok(entries) => entries,
        // The file is part of the program and read by a test, so this is no state that a user can meet.
        Err(error) => unreachable!("catalogue.json: {error}"),
    });

/// Every known option.
pub fn catalogue() -> &'static [CatalogueEntry] {
    &ENTRIES
}

/// The entry for a key in a scope.
pub fn find(scope: &Scope, key: &str) -> Option<&'static CatalogueEntry> {
    catalogue().iter().find(|entry| entry.scope == *scope && entry.is_for(key))
}

/// Entries whose key, scope, description or note contain every word, case ignored; those with more of the words in their
/// key first. No words: every entry.
pub fn search(words: &str) -> Vec<&'static CatalogueEntry> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(usize, &CatalogueEntry)> = Vec::new();
    for entry in catalogue() {
        let key = entry.key.to_lowercase();
        let note = entry.note.as_deref().unwrap_or_default();
        let text = format!("{key} {} {} {note}", entry.scope, entry.description).to_lowercase();
        if words.iter().all(|word| text.contains(word)) {
            found.push((words.iter().filter(|word| !key.contains(*word)).count(), entry));
        }
    }
    found.sort_by_key(|(elsewhere, _)| *elsewhere);
    found.into_iter().map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::check;
    use super::*;

    #[test]
    fn every_scope_and_key_is_there_once() {
        let keys: BTreeSet<_> = catalogue().iter().map(|entry| (&entry.scope, &entry.key)).collect();
        assert_eq!(keys.len(), catalogue().len());
        assert!(catalogue().len() > 300, "{}", catalogue().len());
    }

    /// What an entry promises in its columns is what its own check takes.
    #[test]
    fn defaults_and_allowed_values_fit_their_type() {
        for entry in catalogue() {
            let name = format!("{} {}", entry.scope, entry.key);
            assert!(entry.r#type != ValueType::Enum || !entry.allowed.is_empty(), "{name}: no values");
            if matches!(entry.r#type, ValueType::Int | ValueType::Bytes) {
                for form in &entry.allowed {
                    assert!(check::range(form).is_some(), "{name}: {form} is neither number nor range");
                }
            }
            if let Some(default) = &entry.default {
                assert!(check::value(entry, &entry.key, default).is_ok(), "{name}: default {default}");
            }
            let version = |text: &str| text.split('.').count() == 3 && text.starts_with("1.");
            assert!(entry.since.as_deref().is_none_or(version), "{name}: since {:?}", entry.since);
        }
    }

    #[test]
    fn entries_say_what_they_do_and_to_memory() {
        const WORDS: &[&str] = &["memory", "bytes", "arena", "cop", "mapping", "mapped", "mib"];
        for entry in catalogue() {
            let text = format!("{} {}", entry.description, entry.note.as_deref().unwrap_or_default());
            assert!(entry.description.len() > 9 && text.trim_end().ends_with('.'), "{}: {text:?}", entry.key);
            if entry.memory {
                let lower = text.to_lowercase();
                assert!(WORDS.iter().any(|word| lower.contains(word)), "{}: {text:?}", entry.key);
            }
            assert!(!entry.no_op || entry.note.is_some(), "{} does nothing: say why", entry.key);
        }
    }

    #[test]
    fn a_plugin_providers_key_is_found_under_any_prefix() {
        let found = |key| find(&Scope::Session, key).map(|entry| entry.key.as_str());
        assert_eq!(found("ep.cuda.arena.max_mem"), Some("ep.<prefix>.arena.max_mem"));
        assert_eq!(found("ep.cuda.x.arena.max_mem"), None);
        assert_eq!(found("ep..arena.max_mem"), None);
        assert_eq!(find(&Scope::Run, "session.enable_mem_pattern"), None);
    }

    #[test]
    fn searching_takes_every_word_and_puts_keys_first() {
        let keys = |words| search(words).into_iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>();
        assert_eq!(keys("shrinkage"), ["memory.enable_memory_arena_shrinkage"]);
        assert_eq!(keys("GPU_mem limit"), ["gpu_mem_limit"]);
        assert_eq!(keys("spinning")[0], "session.intra_op.allow_spinning");
        assert!(keys("run shrink").contains(&"memory.enable_memory_arena_shrinkage"));
        assert!(keys("no such words").is_empty());
        assert_eq!(search("").len(), catalogue().len());
    }
}
