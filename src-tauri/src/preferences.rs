//! What the user set for the app itself, kept in its home.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use ebb_core::{Code, Failure, Places};
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Runtime};
use tauri_plugin_autostart::ManagerExt as _;

/// What can be set, by the name that the page uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Preference {
    Notifications,
    Autostart,
    CloseToTray,
}

/// What is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Preferences {
    /// Whether the desktop is told of models near their cap and of crashes.
    pub(crate) notifications: bool,
    /// Whether the app starts when the user logs in.
    pub(crate) autostart: bool,
    /// Whether closing the window leaves the app in the tray.
    pub(crate) close_to_tray: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { notifications: true, autostart: false, close_to_tray: false }
    }
}

/// The preferences and their file.
#[derive(Debug)]
pub(crate) struct Stored {
    /// `None` where the user has no home: nothing can be kept then.
    file: Option<PathBuf>,
    now: Mutex<Preferences>,
}

impl Stored {
    /// Those of a home. A file that cannot be read counts as none: preferences are not worth a window that does not open.
    pub(crate) fn open(places: Option<&Places>) -> Self {
        let file = places.map(|places| places.home.join("desktop.json"));
        let read = file.as_deref().map(read).unwrap_or_default();
        Self { file, now: Mutex::new(read) }
    }

    pub(crate) fn get(&self) -> Preferences {
        *self.held()
    }

    /// Sets one, and does what it says.
    ///
    /// # Errors
    /// [`Code::Storage`]; [`Code::Unsupported`] where the system does not take the app among what it starts.
    pub(crate) fn set<R: Runtime>(
        &self,
        app: &AppHandle<R>,
        name: Preference,
        value: bool,
    ) -> Result<(), Failure> {
        if name == Preference::Autostart {
            let autostart = app.autolaunch();
            let done = if value { autostart.enable() } else { autostart.disable() };
            done.map_err(|error| {
                Failure::new(Code::Unsupported, format!("the system's list of programs to start: {error}"))
                    .hint("add Ebb in the settings of your desktop")
                    .param("autostart")
            })?;
        }
        self.keep(name, value)
    }

    fn keep(&self, name: Preference, value: bool) -> Result<(), Failure> {
        let mut now = self.held();
        let mut next = *now;
        match name {
            Preference::Notifications => next.notifications = value,
            Preference::Autostart => next.autostart = value,
            Preference::CloseToTray => next.close_to_tray = value,
        }
        if let Some(file) = &self.file {
            write(file, &next).map_err(|error| {
                Failure::new(Code::Storage, format!("cannot write {}: {error}", file.display()))
                    .hint("look whether the disk is full, and whether the folder may be written to")
                    .param(file.display().to_string())
            })?;
        }
        *now = next;
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, Preferences> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(file: &Path) -> Preferences {
    let Ok(text) = fs::read(file) else { return Preferences::default() };
    serde_json::from_slice(&text).unwrap_or_else(|error| {
        tracing::warn!(%error, "the preferences cannot be read; the defaults hold");
        Preferences::default()
    })
}

/// Whole or not at all.
fn write(file: &Path, preferences: &Preferences) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = file.with_extension("json.new");
    fs::write(&beside, serde_json::to_vec_pretty(preferences)?)?;
    fs::rename(&beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(folder: &Path) -> Places {
        Places { home: folder.join("home"), cache: folder.join("cache") }
    }

    #[test]
    fn what_is_set_is_there_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let stored = Stored::open(Some(&places));
        assert_eq!(stored.get(), Preferences::default());
        stored.keep(Preference::CloseToTray, true).unwrap();
        stored.keep(Preference::Notifications, false).unwrap();
        let again = Stored::open(Some(&places));
        assert_eq!(
            again.get(),
            Preferences { notifications: false, close_to_tray: true, ..Preferences::default() }
        );
    }

    #[test]
    fn a_broken_file_means_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        fs::create_dir(&places.home).unwrap();
        for text in ["", "[]", "{\"notifications\": 7}"] {
            fs::write(places.home.join("desktop.json"), text).unwrap();
            assert_eq!(Stored::open(Some(&places)).get(), Preferences::default(), "{text}");
        }
        fs::write(places.home.join("desktop.json"), "{\"close_to_tray\": true, \"later\": 1}").unwrap();
        assert!(Stored::open(Some(&places)).get().close_to_tray, "a newer version's words are passed over");
    }

    #[test]
    fn what_cannot_be_kept_does_not_hold() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        fs::write(&places.home, "a file where the folder should be").unwrap();
        let stored = Stored::open(Some(&places));
        let failure = stored.keep(Preference::CloseToTray, true).unwrap_err();
        assert_eq!(failure.code, Code::Storage);
        assert!(!stored.get().close_to_tray);
    }
}
