//! The one window.

use tauri::{
    AppHandle, DragDropEvent, Manager as _, Runtime, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
    Window, WindowEvent,
    webview::{NewWindowResponse, PageLoadEvent, PageLoadPayload},
};
use tauri_plugin_window_state::{AppHandleExt as _, StateFlags};

use crate::{calls::Calls, drops, preferences::Stored, quit, quit::Quit, tray};

/// Its label.
pub(crate) const MAIN: &str = "main";

/// Opens it. Nothing waits for the host: the page shows that it is being opened.
///
/// # Errors
/// Where the system has no display, or no web view.
pub(crate) fn open<R: Runtime>(app: &AppHandle<R>) -> tauri::Result<WebviewWindow<R>> {
    WebviewWindowBuilder::new(app, MAIN, WebviewUrl::App("index.html".into()))
        .title("Ebb")
        .inner_size(1180.0, 780.0)
        .min_inner_size(640.0, 420.0)
        .on_navigation(is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_page_load(loaded)
        .build()
}

/// Whether an address is the app's own page: the window never shows anything else.
fn is_ours(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match url.scheme() {
        "tauri" => host == "localhost",
        "http" | "https" => host == "tauri.localhost",
        _ => false,
    }
}

/// A page that begins to load takes the place of one that is gone.
fn loaded<R: Runtime>(window: WebviewWindow<R>, page: PageLoadPayload<'_>) {
    if page.event() == PageLoadEvent::Started {
        window.state::<Calls>().close_all();
        window.state::<Quit>().page_is_gone();
    }
}

/// Brings the window before the user.
pub(crate) fn show<R: Runtime>(app: &AppHandle<R>) {
    let Some(window) = app.get_webview_window(MAIN) else { return };
    let shown = window.show().and_then(|()| window.unminimize()).and_then(|()| window.set_focus());
    if let Err(error) = shown {
        tracing::warn!(%error, "the window cannot be shown");
    }
}

/// Takes the window from the screen for good, and keeps where it was.
pub(crate) fn leave<R: Runtime>(app: &AppHandle<R>) {
    if let Err(error) = app.save_window_state(kept()) {
        tracing::warn!(%error, "the window's place cannot be kept");
    }
    if let Some(window) = app.get_webview_window(MAIN) {
        let _ = window.hide();
    }
}

/// What of the window is kept: not whether it was hidden, or it might never be seen again.
pub(crate) fn kept() -> StateFlags {
    StateFlags::all() - StateFlags::VISIBLE
}

/// What happens to the window.
pub(crate) fn happened<R: Runtime>(window: &Window<R>, event: &WindowEvent) {
    let app = window.app_handle();
    match event {
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            if app.state::<Stored>().get().close_to_tray && tray::there(app) {
                let _ = window.hide();
            } else {
                quit::ask(app);
            }
        }
        WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => drops::tell(app, drops::named(paths)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_shows_the_apps_own_page_and_no_other() {
        for (url, ours) in [
            ("tauri://localhost/index.html#/models", true),
            ("http://tauri.localhost/", true),
            ("https://example.org/", false),
            ("http://localhost/", false),
            ("tauri://elsewhere/", false),
            ("file:///etc/passwd", false),
            ("data:text/html,x", false),
        ] {
            assert_eq!(is_ours(&url.parse().unwrap()), ours, "{url}");
        }
    }
}
