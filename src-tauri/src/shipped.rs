//! What was installed with the app. Where it lies beside the program, the host finds it by itself; on macOS it lies in the
//! bundle's folder of resources.

use std::path::Path;

use ebb_api::Settings;
use tauri::{AppHandle, Manager as _, Runtime};

/// How the host is to be opened in this installation.
pub(crate) fn settings<R: Runtime>(app: &AppHandle<R>) -> Settings {
    let beside = std::env::current_exe().ok();
    let beside = beside.as_deref().and_then(Path::parent);
    let resources = app.path().resource_dir().ok();
    let apart = resources.filter(|resources| Some(resources.as_path()) != beside);
    let named = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let Some(resources) = apart else { return Settings::default() };
    let there = |name: &str| Some(resources.join(name)).filter(|path| path.is_dir());
    Settings {
        bundled_plugins: there("plugins").filter(|_| !named("EBB_PLUGINS")),
        runtime_library: there("runtime").filter(|_| !named("ORT_DYLIB_PATH")),
        ..Settings::default()
    }
}
