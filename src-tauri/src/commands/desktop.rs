//! What only the desktop has.

use serde::Serialize;
use tauri::{AppHandle, Runtime, State, WebviewWindow, ipc::Request};

use super::{Answer, content, header};
use crate::{
    drops,
    files::{self, PickKind, SavePicks},
    preferences::{Preference, Preferences, Stored},
    quit::Quit,
    start::Start,
};
use ebb_core::ErrorFields;

/// What the page shows of the app itself.
#[derive(Debug, Serialize)]
pub(crate) struct DesktopInfo {
    version: &'static str,
    /// Address for other programs; `None` where the host could not be opened.
    server_url: Option<String>,
    /// A host that ran without a window ended in this one's favour: what to say of it.
    took_over: Option<String>,
    /// Why the host could not be opened.
    startup_error: Option<ErrorFields>,
    /// Paths that the app was started with, to be taken like dropped ones. They are told once.
    dropped: Vec<String>,
    preferences: Preferences,
}

/// What the page shows of the app itself, once the host is open or could not be opened.
///
/// # Errors
/// None today.
#[tauri::command]
pub(crate) async fn desktop_info(
    start: State<'_, Start>,
    stored: State<'_, Stored>,
    quit: State<'_, Quit>,
    given: State<'_, drops::Given>,
) -> Answer<DesktopInfo> {
    let serving = start.serving().await;
    quit.page_is_there();
    let (serving, startup_error) = match serving {
        Ok(serving) => (Some(serving), None),
        Err(failure) => (None, Some(ebb_core::ErrorBody::from(failure).error)),
    };
    Ok(DesktopInfo {
        version: env!("CARGO_PKG_VERSION"),
        server_url: serving.as_ref().map(|serving| serving.url.clone()),
        took_over: serving.and_then(|serving| serving.took_over.clone()),
        startup_error,
        dropped: given.take(),
        preferences: stored.get(),
    })
}

/// Sets a preference, which holds from now on and after the next start.
///
/// # Errors
/// [`Code::Storage`](ebb_core::Code::Storage) where it cannot be kept.
#[tauri::command]
pub(crate) async fn set_preference<R: Runtime>(
    app: AppHandle<R>,
    name: Preference,
    value: bool,
    stored: State<'_, Stored>,
) -> Answer<()> {
    Ok(stored.set(&app, name, value)?)
}

/// Has the user pick a file or folder; `None`: the user picked none.
///
/// # Errors
/// Where the dialog ends without an answer.
#[tauri::command]
pub(crate) async fn pick<R: Runtime>(
    window: WebviewWindow<R>,
    kind: PickKind,
    title: String,
    name: Option<String>,
    picks: State<'_, SavePicks>,
) -> Answer<Option<String>> {
    Ok(files::pick(&window, &picks, kind, &title, name).await?)
}

/// Opens a file or folder with the program that the system has for it.
///
/// # Errors
/// Where it is not there, or could run as a program.
#[tauri::command]
pub(crate) async fn open_path<R: Runtime>(app: AppHandle<R>, path: String) -> Answer<()> {
    Ok(files::open(&app, &path)?)
}

/// Writes the content into the file that the header `ebb-path` names, percent-encoded. It must have been picked for that.
///
/// # Errors
/// [`Code::Forbidden`](ebb_core::Code::Forbidden) where it was not picked; [`Code::Storage`](ebb_core::Code::Storage).
#[tauri::command]
pub(crate) async fn save_file(request: Request<'_>, picks: State<'_, SavePicks>) -> Answer<()> {
    Ok(picks.save(header(&request, "ebb-path")?, content(&request)?)?)
}

/// Ends the app, whatever runs: the page has asked the user.
#[tauri::command]
pub(crate) fn quit<R: Runtime>(app: AppHandle<R>) {
    crate::quit::now(&app);
}
