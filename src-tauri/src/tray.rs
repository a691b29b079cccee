//! The tray: memory at a glance, and one click to give it back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ebb_core::operations::ShrinkRequest;
use tauri::{
    AppHandle, Manager as _, Runtime,
    menu::{Menu, MenuBuilder, MenuEvent, MenuItem, MenuItemBuilder},
    tray::TrayIconBuilder,
};

use crate::{memory::Held, quit, start::Start, window};

/// The line of the menu that says what the models hold.
struct Glance<R: Runtime>(MenuItem<R>);

const ID: &str = "ebb";

/// Puts the app into the tray. A desktop without one has only the window.
pub(crate) fn add<R: Runtime>(app: &AppHandle<R>) {
    // Where the system lacks the library for it, the crate that loads it panics.
    let added = catch_unwind(AssertUnwindSafe(|| build(app)));
    match added {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the tray cannot be used"),
        Err(_) => tracing::warn!("the tray cannot be used: the system has no library for it"),
    }
}

/// Whether the app is in the tray.
pub(crate) fn there<R: Runtime>(app: &AppHandle<R>) -> bool {
    app.tray_by_id(ID).is_some()
}

/// Shows what the models hold.
pub(crate) fn show<R: Runtime>(app: &AppHandle<R>, held: &Held) {
    let text = held.to_string();
    if let Some(glance) = app.try_state::<Glance<R>>() {
        // Neither is worth more than a look: a tray that is gone has nobody looking.
        let _ = glance.0.set_text(&text);
    }
    if let Some(tray) = app.tray_by_id(ID) {
        let _ = tray.set_tooltip(Some(format!("Ebb: {text}")));
    }
}

fn build<R: Runtime>(app: &AppHandle<R>) -> tauri::Result<()> {
    let glance = MenuItemBuilder::with_id("glance", Held::default().to_string()).enabled(false).build(app)?;
    let menu = menu(app, &glance)?;
    let mut tray = TrayIconBuilder::with_id(ID).menu(&menu).tooltip("Ebb").on_menu_event(chosen);
    if let Some(icon) = app.default_window_icon() {
        tray = tray.icon(icon.clone());
    }
    tray.build(app)?;
    app.manage(Glance(glance));
    Ok(())
}

fn menu<R: Runtime>(app: &AppHandle<R>, glance: &MenuItem<R>) -> tauri::Result<Menu<R>> {
    MenuBuilder::new(app)
        .item(glance)
        .text("shrink", "Shrink all")
        .separator()
        .text("show", "Show Ebb")
        .text("quit", "Quit")
        .build()
}

fn chosen<R: Runtime>(app: &AppHandle<R>, event: MenuEvent) {
    match event.id().as_ref() {
        "shrink" => {
            tauri::async_runtime::spawn(shrink_all(app.clone()));
        }
        "show" => window::show(app),
        "quit" => quit::ask(app),
        _ => {}
    }
}

/// Gives back what every loaded model can spare. The window shows each as an event.
async fn shrink_all<R: Runtime>(app: AppHandle<R>) {
    let Some(serving) = app.state::<Start>().now() else { return };
    let Ok(status) = serving.host.status().await else { return };
    for model in status.models {
        if let Err(failure) = serving.host.shrink(&model, ShrinkRequest::default()).await {
            tracing::warn!(model, %failure, "could not be shrunk");
        }
    }
}
