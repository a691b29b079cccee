//! How the app is put together.

use ebb_core::Places;
use tauri::{App, AppHandle, Builder, Context, RunEvent, Runtime};
use tauri_plugin_autostart::MacosLauncher;

use crate::{
    calls::Calls,
    commands::{answers, desktop},
    drops,
    files::SavePicks,
    preferences::Stored,
    quit::{self, Quit},
    start::{self, Start},
    tray, window,
};

/// The configuration, the page and the rights that were built in.
pub(crate) fn context<R: Runtime>() -> Context<R> {
    tauri::generate_context!()
}

/// The whole app.
pub(crate) fn build<R: Runtime>(builder: Builder<R>) -> Builder<R> {
    // First, so that a second start ends before it does anything.
    let builder = builder.plugin(tauri_plugin_single_instance::init(started_again));
    core(builder)
        .plugin(tauri_plugin_window_state::Builder::new().with_state_flags(window::kept()).build())
        .plugin(tauri_plugin_autostart::init(MacosLauncher::LaunchAgent, None))
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_dialog::init())
        // The page has no links that leave it: nothing is put into it for that.
        .plugin(tauri_plugin_opener::Builder::new().open_js_links_on_click(false).build())
        .on_window_event(window::happened)
        .setup(|app| Ok(set_up(app)?))
}

/// What the commands need, and the commands.
pub(crate) fn core<R: Runtime>(builder: Builder<R>) -> Builder<R> {
    builder
        .manage(Start::default())
        .manage(Calls::default())
        .manage(Quit::default())
        .manage(SavePicks::default())
        .manage(Stored::open(Places::from_env().ok().as_ref()))
        .manage(drops::Given::new(given()))
        .invoke_handler(tauri::generate_handler![
            answers::send,
            answers::read,
            answers::close,
            desktop::desktop_info,
            desktop::set_preference,
            desktop::pick,
            desktop::open_path,
            desktop::save_file,
            desktop::quit,
        ])
}

fn set_up<R: Runtime>(app: &mut App<R>) -> tauri::Result<()> {
    let app = app.handle();
    window::open(app)?;
    tray::add(app);
    tauri::async_runtime::spawn(start::serve(app.clone()));
    Ok(())
}

/// Paths that the app was started with.
fn given() -> Vec<String> {
    let folder = std::env::current_dir().unwrap_or_default();
    drops::among(std::env::args_os().skip(1).filter_map(|one| one.into_string().ok()), &folder)
}

/// Somebody started the app while it runs: the window comes forward, with what the other was given.
fn started_again<R: Runtime>(app: &AppHandle<R>, arguments: Vec<String>, folder: String) {
    window::show(app);
    drops::tell(app, drops::among(arguments.into_iter().skip(1), folder.as_ref()));
}

/// What happens to the app.
pub(crate) fn happened<R: Runtime>(app: &AppHandle<R>, event: RunEvent) {
    // The window was taken away. Workers end first, and then the app by itself.
    if let RunEvent::ExitRequested { code: None, api, .. } = event {
        api.prevent_exit();
        quit::now(app);
    }
}
