//! What was loaded, with which options: it comes back when the host starts again.

use std::collections::BTreeMap;

use ebb_core::{Failure, LoadOptions};
use serde::{Deserialize, Serialize};

use crate::stored::Stored;

/// The content of `state.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Memory {
    models: BTreeMap<String, Remembered>,
}

/// What is remembered of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remembered {
    /// Whether it was loaded, and so comes back.
    pub(crate) loaded: bool,
    /// The options that it is, or was last, loaded with, as the user gave them: a profile is laid under them anew.
    pub(crate) options: LoadOptions,
    /// Run options that were set since; an empty value was set to remove one.
    #[serde(default)]
    pub(crate) runtime_options: BTreeMap<String, String>,
}

impl Remembered {
    /// The options that bring the model back as it was.
    pub(crate) fn into_options(self) -> LoadOptions {
        let mut options = self.options;
        options.runtime_options.extend(self.runtime_options);
        options
    }

    /// The run options that stay where the model is loaded anew with other options: all that were set since, but for those
    /// of which the new options say something else than the former ones.
    pub(crate) fn standing_under(&self, options: &LoadOptions) -> BTreeMap<String, String> {
        let (former, now) = (&self.options.runtime_options, &options.runtime_options);
        let is_unsaid = |key: &String| former.get(key) == now.get(key);
        self.runtime_options.clone().into_iter().filter(|(key, _)| is_unsaid(key)).collect()
    }
}

/// The remembered models.
#[derive(Debug)]
pub(crate) struct State(Stored<Memory>);

impl State {
    /// Reads `state.json`. A broken one is set aside: a host that cannot bring models back is better than none.
    ///
    /// # Errors
    /// [`ebb_core::Code::Storage`] where even that is refused.
    pub(crate) fn open(places: &ebb_core::Places) -> Result<Self, Failure> {
        Stored::open_or_set_aside(places.state_file()).map(Self)
    }

    /// What is remembered of a model.
    pub(crate) fn of(&self, alias: &str) -> Remembered {
        self.0.read(|memory| memory.models.get(alias).cloned()).unwrap_or_default()
    }

    /// Models that come back, by alias.
    pub(crate) fn loaded(&self) -> Vec<String> {
        self.0.read(|memory| {
            memory.models.iter().filter(|(_, model)| model.loaded).map(|(alias, _)| alias.clone()).collect()
        })
    }

    /// The model is loaded with these options.
    pub(crate) fn set_loaded(&self, alias: &str, remembered: Remembered) -> Result<(), Failure> {
        self.0.update(|memory| {
            memory.models.insert(alias.to_owned(), remembered);
            Ok(())
        })
    }

    /// The user unloaded the model; its options stay for the next load on demand.
    pub(crate) fn set_unloaded(&self, alias: &str) -> Result<(), Failure> {
        self.change(alias, |model| model.loaded = false)
    }

    /// A run option was set; an empty value removes it.
    pub(crate) fn set_runtime_option(&self, alias: &str, key: &str, value: &str) -> Result<(), Failure> {
        self.change(alias, |model| {
            model.runtime_options.insert(key.to_owned(), value.to_owned());
        })
    }

    /// The model left the catalogue.
    pub(crate) fn forget(&self, alias: &str) -> Result<(), Failure> {
        self.0.update(|memory| {
            memory.models.remove(alias);
            Ok(())
        })
    }

    fn change(&self, alias: &str, change: impl FnOnce(&mut Remembered)) -> Result<(), Failure> {
        self.0.update(|memory| {
            if let Some(model) = memory.models.get_mut(alias) {
                change(model);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ebb_core::Places;

    use super::*;

    fn options(shrink_every: u32) -> LoadOptions {
        LoadOptions { shrink_every: Some(shrink_every), ..LoadOptions::default() }
    }

    fn remembered(shrink_every: u32) -> Remembered {
        Remembered { loaded: true, options: options(shrink_every), ..Remembered::default() }
    }

    /// C20: what was loaded comes back with its options, set-at-run-time ones included.
    #[test]
    fn a_restart_finds_what_was_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { home: folder.path().into(), cache: folder.path().into() };
        let state = State::open(&places).unwrap();
        state.set_loaded("a", remembered(10)).unwrap();
        state.set_loaded("b", remembered(3)).unwrap();
        state.set_unloaded("b").unwrap();
        state.set_loaded("c", remembered(1)).unwrap();
        state.forget("c").unwrap();
        state.set_runtime_option("a", "memory.enable_memory_arena_shrinkage", "cpu:0").unwrap();

        let again = State::open(&places).unwrap();
        assert_eq!(again.loaded(), ["a"]);
        let a = again.of("a").into_options();
        assert_eq!(a.shrink_every, Some(10));
        assert_eq!(a.runtime_options["memory.enable_memory_arena_shrinkage"], "cpu:0");
        assert_eq!(again.of("b"), Remembered { loaded: false, ..remembered(3) });
        assert_eq!(again.of("c"), Remembered::default());
    }

    #[test]
    fn what_was_set_since_stays_under_other_options_that_do_not_name_it() {
        let run = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let remembered = Remembered {
            options: LoadOptions { runtime_options: run(&[("a", "1"), ("b", "1")]), ..options(10) },
            runtime_options: run(&[("a", "2"), ("b", "2"), ("c", "2"), ("d", "")]),
            ..Remembered::default()
        };
        let now = LoadOptions { runtime_options: run(&[("a", "1"), ("b", "3")]), ..options(3) };
        assert_eq!(remembered.standing_under(&now), run(&[("a", "2"), ("c", "2"), ("d", "")]));
        let named = LoadOptions { runtime_options: run(&[("c", "4")]), ..options(3) };
        assert_eq!(remembered.standing_under(&named), run(&[("d", "")]), "a and b were taken away");
    }

    #[test]
    fn a_broken_file_does_not_keep_the_host_from_starting() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { home: folder.path().into(), cache: folder.path().into() };
        fs::write(places.state_file(), "{\"models\": {\"a\": {\"loaded\": tru").unwrap();
        let state = State::open(&places).unwrap();
        assert!(state.loaded().is_empty());
        assert!(folder.path().join("state.json.broken").exists());
        state.set_loaded("a", remembered(1)).unwrap();
        assert_eq!(State::open(&places).unwrap().loaded(), ["a"]);
    }
}
