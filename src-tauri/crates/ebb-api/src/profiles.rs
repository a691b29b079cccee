//! Load profiles: the built-in ones, and a user's own, one TOML file each, made to be edited by hand.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ebb_core::{
    Code, DEFAULT_PROFILE, Failure, LoadOptions, built_in_profiles,
    operations::{Profile, ProfileList},
    options::{self, Requested},
};
use serde::{Deserialize, Serialize};

use crate::{Host, atomic, names};

/// A profile's file. Its name is the file's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    #[serde(default)]
    description: String,
    #[serde(default)]
    options: LoadOptions,
    #[serde(default)]
    reasons: std::collections::BTreeMap<String, String>,
}

/// The folder of the user's profiles, with the built-in ones before them.
#[derive(Debug)]
pub(crate) struct Profiles {
    folder: PathBuf,
}

impl Host {
    /// Every profile: built-in ones first, then by name. A file that cannot be read is reported and hides no other.
    ///
    /// # Errors
    /// [`Code::Storage`] where the folder cannot be read.
    pub async fn profiles(&self) -> Result<ProfileList, Failure> {
        self.inner.profiles.list()
    }

    /// One profile.
    ///
    /// # Errors
    /// [`Code::NotFound`], with the names that there are; [`Code::Storage`] for a broken file.
    pub async fn profile(&self, name: &str) -> Result<Profile, Failure> {
        self.inner.profiles.get(name)
    }

    /// Saves a profile under its name, over the one that may be there.
    ///
    /// # Errors
    /// [`Code::Conflict`] for the name of a built-in one, [`Code::InvalidRequest`] for a name that is not plain,
    /// [`Code::InvalidValue`] for an option whose value does not fit, [`Code::Storage`].
    pub async fn save_profile(&self, profile: Profile) -> Result<Profile, Failure> {
        self.inner.profiles.save(profile)
    }

    /// Removes a profile of the user's.
    ///
    /// # Errors
    /// [`Code::Conflict`] for a built-in one, [`Code::NotFound`], [`Code::Storage`].
    pub async fn remove_profile(&self, name: &str) -> Result<Profile, Failure> {
        self.inner.profiles.remove(name)
    }
}

impl Profiles {
    /// Profiles of a folder, which need not exist.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Lays `options` over the profile that they name, the default one where they name none.
    pub(crate) fn resolve(&self, options: LoadOptions) -> Result<LoadOptions, Failure> {
        let name = options.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
        let profile = self.get(name).map_err(|failure| failure.param("profile"))?;
        let mut resolved = options.over(LoadOptions { profile: Some(profile.name), ..profile.options });
        // An empty value takes an option of the profile away; ONNX Runtime would take it for a value.
        resolved.runtime_options.retain(|_, value| !value.is_empty());
        Ok(resolved)
    }

    fn list(&self) -> Result<ProfileList, Failure> {
        let mut list = ProfileList { profiles: built_in_profiles().to_vec(), broken: Vec::new() };
        for name in self.saved_names()? {
            match self.read(&name) {
                Ok(Some(profile)) => list.profiles.push(profile),
                Ok(None) => {}
                Err(failure) => list.broken.push(failure.message),
            }
        }
        Ok(list)
    }

    fn get(&self, name: &str) -> Result<Profile, Failure> {
        if let Some(profile) = built_in(name) {
            return Ok(profile);
        }
        names::check("profile", "name", name)?;
        self.read(name)?.ok_or_else(|| self.unknown(name))
    }

    fn save(&self, profile: Profile) -> Result<Profile, Failure> {
        let Profile { name, description, options, reasons, .. } = profile;
        self.check_own("saved over", &name)?;
        if options.profile.is_some() {
            return Err(Failure::new(Code::InvalidRequest, "a profile cannot lie on another profile")
                .hint("leave `profile` out and give every option that you want")
                .param("options.profile"));
        }
        options::plan(&Requested::all(&options), options.provider.as_deref().unwrap_or("cpu"))?;
        let file = ProfileFile { description, options, reasons };
        atomic::write(&self.file(&name), to_toml(&file)?.as_bytes())?;
        let ProfileFile { description, options, reasons } = file;
        Ok(Profile { name, description, built_in: false, options, reasons })
    }

    fn remove(&self, name: &str) -> Result<Profile, Failure> {
        self.check_own("removed", name)?;
        let profile = match self.read(name) {
            Ok(profile) => profile.ok_or_else(|| self.unknown(name))?,
            // A broken one can be removed too.
            Err(failure) => Profile {
                name: name.to_owned(),
                description: failure.message,
                built_in: false,
                options: LoadOptions::default(),
                reasons: Default::default(),
            },
        };
        let file = self.file(name);
        fs::remove_file(&file).map_err(|error| atomic::refused("remove", &file, &error))?;
        Ok(profile)
    }

    fn check_own(&self, verb: &str, name: &str) -> Result<(), Failure> {
        names::check("profile", "name", name)?;
        if built_in(name).is_some() {
            return Err(Failure::new(
                Code::Conflict,
                format!("'{name}' ships with Ebb and cannot be {verb}"),
            )
            .hint("save a profile of your own under another name")
            .param("name"));
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> Failure {
        let mut known: Vec<_> = built_in_profiles().iter().map(|profile| profile.name.clone()).collect();
        known.extend(self.saved_names().unwrap_or_default());
        Failure::new(Code::NotFound, format!("there is no profile '{name}'"))
            .hint(format!("there are: {}", known.join(", ")))
            .param("name")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.toml"))
    }

    /// Names of the files that are there, sorted; one named as a built-in profile is reported by [`Self::read`].
    fn saved_names(&self) -> Result<Vec<String>, Failure> {
        let refused = |error: io::Error| atomic::refused("read the folder", &self.folder, &error);
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(refused)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let path = entry.map_err(refused)?.path();
            if path.extension().is_some_and(|extension| extension == "toml")
                && let Some(name) = path.file_stem()
            {
                names.push(name.to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn read(&self, name: &str) -> Result<Option<Profile>, Failure> {
        let path = self.file(name);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(atomic::refused("read the profile", &path, &error)),
        };
        if built_in(name).is_some() {
            let message = format!("{} is not used: '{name}' ships with Ebb; rename the file", path.display());
            return Err(Failure::new(Code::Conflict, message));
        }
        let file: ProfileFile = toml::from_str(&text).map_err(|error| broken(&path, &error))?;
        let ProfileFile { description, options, reasons } = file;
        Ok(Some(Profile { name: name.to_owned(), description, built_in: false, options, reasons }))
    }
}

fn built_in(name: &str) -> Option<Profile> {
    built_in_profiles().iter().find(|profile| profile.name == name).cloned()
}

fn broken(path: &Path, error: &toml::de::Error) -> Failure {
    let error = error.to_string();
    Failure::new(Code::Storage, format!("the profile {} is broken: {}", path.display(), error.trim_end()))
        .hint("repair the file, or remove the profile and save it again")
        .param(path.display().to_string())
}

/// The file's text, without the tables that hold nothing: a person reads it.
fn to_toml(file: &ProfileFile) -> Result<String, Failure> {
    let internal =
        |error: toml::ser::Error| Failure::new(Code::Internal, format!("cannot write TOML: {error}"));
    let mut table = toml::Table::try_from(file).map_err(internal)?;
    drop_empty_tables(&mut table);
    toml::to_string_pretty(&table).map_err(internal)
}

fn drop_empty_tables(table: &mut toml::Table) {
    table.retain(|_, value| match value {
        toml::Value::Table(inner) => {
            drop_empty_tables(inner);
            !inner.is_empty()
        }
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mine(name: &str) -> Profile {
        let text = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
        Profile {
            name: name.into(),
            description: "for the small machine".into(),
            built_in: false,
            options: LoadOptions {
                threads: Some(1),
                arena_options: text("arena_extend_strategy", "kSameAsRequested"),
                provider_options: [("cuda".to_owned(), text("gpu_mem_limit", "1073741824"))].into(),
                ..LoadOptions::default()
            },
            reasons: text("threads", "two cores only"),
        }
    }

    fn profiles(folder: &Path) -> Profiles {
        Profiles::new(folder.join("Profile für mich"))
    }

    #[test]
    fn a_saved_profile_is_a_file_that_a_person_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let profiles = profiles(folder.path());
        assert_eq!(profiles.save(mine("small")).unwrap(), mine("small"));
        let text = fs::read_to_string(profiles.file("small")).unwrap();
        assert!(text.contains("threads = 1") && !text.contains("session_options"), "{text}");
        assert_eq!(profiles.get("small").unwrap(), mine("small"));
        assert_eq!(profiles.list().unwrap().profiles.last().unwrap().name, "small");
        profiles.remove("small").unwrap();
        assert_eq!(profiles.get("small").unwrap_err().code, Code::NotFound);
    }

    #[test]
    fn options_lie_over_their_profile() {
        let folder = tempfile::tempdir().unwrap();
        let profiles = profiles(folder.path());
        let mut small = mine("small");
        small.options.runtime_options.insert("some.key".into(), "1".into());
        profiles.save(small).unwrap();
        let given = LoadOptions {
            profile: Some("small".into()),
            threads: Some(2),
            runtime_options: [("some.key".to_owned(), String::new())].into(),
            ..LoadOptions::default()
        };
        let resolved = profiles.resolve(given).unwrap();
        assert_eq!(resolved.threads, Some(2));
        assert_eq!(resolved.arena_options["arena_extend_strategy"], "kSameAsRequested");
        assert!(resolved.runtime_options.is_empty(), "an empty value takes the profile's away");
        assert_eq!(
            profiles.resolve(LoadOptions::default()).unwrap().profile.as_deref(),
            Some(DEFAULT_PROFILE)
        );
        let unknown = LoadOptions { profile: Some("smal".into()), ..LoadOptions::default() };
        let failure = profiles.resolve(unknown).unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        assert!(failure.hint.unwrap().contains("small"));
    }

    #[test]
    fn a_broken_file_is_named_and_the_others_still_work() {
        let folder = tempfile::tempdir().unwrap();
        let profiles = profiles(folder.path());
        profiles.save(mine("good")).unwrap();
        fs::write(profiles.file("bad"), "[options]\nsesion_options = {}\n").unwrap();
        fs::write(profiles.file(DEFAULT_PROFILE), "").unwrap();
        let list = profiles.list().unwrap();
        assert!(list.profiles.iter().any(|profile| profile.name == "good"));
        assert!(list.broken.iter().any(|line| line.contains("bad.toml") && line.contains("sesion_options")));
        assert!(list.broken.iter().any(|line| line.contains("ships with Ebb")));
        let failure = profiles.get("bad").unwrap_err();
        assert_eq!(failure.code, Code::Storage);
        assert!(profiles.get("good").is_ok());
        profiles.remove("bad").unwrap();
        assert!(!profiles.file("bad").exists());
    }

    #[test]
    fn no_name_leaves_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let profiles = profiles(folder.path());
        fs::write(folder.path().join("secret.toml"), "").unwrap();
        for name in ["../secret", "..", "/etc/x", "a/b", ""] {
            assert_eq!(profiles.get(name).unwrap_err().code, Code::InvalidRequest, "{name:?}");
            assert_eq!(profiles.remove(name).unwrap_err().code, Code::InvalidRequest, "{name:?}");
            assert_eq!(profiles.save(mine(name)).unwrap_err().code, Code::InvalidRequest, "{name:?}");
        }
        assert!(folder.path().join("secret.toml").exists());
    }

    #[test]
    fn what_ships_with_ebb_stays() {
        let folder = tempfile::tempdir().unwrap();
        let profiles = profiles(folder.path());
        assert_eq!(profiles.save(mine(DEFAULT_PROFILE)).unwrap_err().code, Code::Conflict);
        assert_eq!(profiles.remove(DEFAULT_PROFILE).unwrap_err().code, Code::Conflict);
        let nested = Profile {
            options: LoadOptions { profile: Some(DEFAULT_PROFILE.into()), ..LoadOptions::default() },
            ..mine("nested")
        };
        assert_eq!(profiles.save(nested).unwrap_err().param.as_deref(), Some("options.profile"));
    }

    /// C05: a value that is no truth value is refused when the profile is saved, not when it is used.
    #[test]
    fn a_value_that_does_not_fit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let profiles = profiles(folder.path());
        let mut bad = mine("bad");
        bad.options.session_options.insert("enable_cpu_mem_arena".into(), "banana".into());
        assert_eq!(profiles.save(bad).unwrap_err().code, Code::InvalidValue);
        assert!(!profiles.file("bad").exists());
    }
}
