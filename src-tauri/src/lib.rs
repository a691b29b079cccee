//! The desktop app: a window over [`ebb_api::Host`], and the loopback server that other programs reach the same host by.
//!
//! It is a shell only. The window calls the server's own routes in this process, through [`calls`]; what a browser has no way
//! to (file dialogs, notifications, the tray) is all that is added here. Which commands there are is listed once, in
//! [`commands`], granted in `capabilities/main.json`, and nothing else can be called by the page.

mod app;
mod calls;
mod commands;
mod display;
mod drops;
mod files;
mod log;
mod memory;
mod notices;
mod preferences;
mod quit;
mod shipped;
mod start;
mod takeover;
mod tray;
mod window;

use std::process::ExitCode;

/// Opens the window and stays until the user quits, or whoever may shut the host down does.
pub fn run() -> ExitCode {
    display::prepare();
    log::begin();
    match app::build(tauri::Builder::default()).build(app::context()) {
        Ok(app) => {
            app.run(app::happened);
            ExitCode::SUCCESS
        }
        Err(error) => {
            tracing::error!(%error, "the app could not be opened");
            ExitCode::FAILURE
        }
    }
}
