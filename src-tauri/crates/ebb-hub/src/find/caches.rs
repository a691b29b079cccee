//! Where other programs keep their models.

use std::{
    fs,
    path::{Path, PathBuf},
};

use directories::BaseDirs;
use serde_json::Value;

use super::walk::small_json;

/// Folders that may hold models; one that is not there is passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caches {
    /// Of the Hub's programs: folders with `models--ORG--NAME` in them.
    pub hub: Vec<PathBuf>,
    /// Of Foundry Local, of the AI Toolkit, and of programs made with Foundry Local's SDK.
    pub foundry: Vec<PathBuf>,
    /// Of Ollama: folders with `manifests` and `blobs` in them.
    pub ollama: Vec<PathBuf>,
    /// Of LM Studio: folders with `PUBLISHER/MODEL` in them.
    pub lm_studio: Vec<PathBuf>,
}

impl Caches {
    /// Where the environment and those programs' own settings say, else where they are by default.
    pub fn from_env() -> Self {
        let home = BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        let in_home = |path: &str| home.iter().map(|home| home.join(path)).collect::<Vec<_>>();
        let hub = variable("HF_HUB_CACHE").or_else(|| variable("HUGGINGFACE_HUB_CACHE"));
        let hub = hub.or_else(|| Some(hub_home()?.join("hub")));
        Self {
            hub: hub.into_iter().collect(),
            foundry: home.as_deref().map(foundry).unwrap_or_default(),
            ollama: variable("OLLAMA_MODELS").map_or_else(|| in_home(".ollama/models"), |path| vec![path]),
            lm_studio: [in_home(".lmstudio/models"), in_home(".cache/lm-studio/models")].concat(),
        }
    }
}

/// Where the Hub's programs keep what is the user's: caches, the token.
pub(crate) fn hub_home() -> Option<PathBuf> {
    let cache = || variable("XDG_CACHE_HOME").or_else(|| Some(BaseDirs::new()?.home_dir().join(".cache")));
    variable("HF_HOME").or_else(|| Some(cache()?.join("huggingface")))
}

/// The caches of Foundry Local and of the AI Toolkit, those that their settings name, and those of programs made with
/// Foundry Local's SDK: it gives each a hidden folder in the user's home.
fn foundry(home: &Path) -> Vec<PathBuf> {
    let mut folders = vec![home.join(".foundry/cache/models"), home.join(".aitk/models")];
    for place in [".foundry", ".aitk"] {
        let settings = fs::read_dir(home.join(place)).into_iter().flatten().flatten().take(64);
        for path in settings
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
        {
            folders.extend(small_json(&path).ok().as_ref().and_then(cache_directory));
        }
    }
    for entry in fs::read_dir(home).into_iter().flatten().flatten().take(4096) {
        let models = entry.path().join("cache/models");
        if entry.file_name().to_string_lossy().starts_with('.') && models.is_dir() {
            folders.push(models);
        }
    }
    let mut seen = Vec::new();
    folders.retain(|folder| {
        let new = !seen.contains(folder);
        seen.push(folder.clone());
        new
    });
    folders
}

/// Settings hold it at the top or one level below.
fn cache_directory(settings: &Value) -> Option<PathBuf> {
    let at = |value: &Value| {
        let path = PathBuf::from(value.get("cacheDirectoryPath")?.as_str()?);
        path.is_absolute().then_some(path)
    };
    at(settings).or_else(|| settings.as_object()?.values().find_map(at))
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foundrys_folders_are_those_of_its_settings_too() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = home.path().join("elsewhere");
        let settings = home.path().join(".foundry/foundry.config.json");
        fs::create_dir_all(home.path().join(".foundry")).unwrap();
        fs::create_dir_all(home.path().join(".my-app/cache/models")).unwrap();
        let text = serde_json::json!({"serviceSettings": {"cacheDirectoryPath": elsewhere}}).to_string();
        fs::write(&settings, text).unwrap();
        fs::write(home.path().join(".foundry/broken.json"), "{").unwrap();
        let found = foundry(home.path());
        assert!(found.contains(&elsewhere), "{found:?}");
        assert!(found.contains(&home.path().join(".my-app/cache/models")));
        assert!(found.contains(&home.path().join(".foundry/cache/models")));
    }
}
