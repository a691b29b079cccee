//! The desktop app: a window over [`ebb_api::Host`], and the loopback server that other programs reach the same host by.
//!
//! It is a shell only. The window calls the server's own routes in this process, through `calls`; what a browser has no way
//! to (file dialogs, notifications, the tray) is all that is added here. Which commands there are is listed once, in
//! `commands`, granted in `capabilities/main.json`, and nothing else can be called by the page.

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

use std::{io::Write as _, panic::catch_unwind, process::ExitCode};

/// Opens the window and stays until the user quits, or whoever may shut the host down does.
pub fn run() -> ExitCode {
    display::prepare();
    log::begin();
    // Where there is no display to draw on, the toolkit panics.
    let built = catch_unwind(|| app::build(tauri::Builder::default()).build(app::context()));
    let why = match built {
        Ok(Ok(app)) => {
            app.run(app::happened);
            return ExitCode::SUCCESS;
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "there is no display".to_owned(),
    };
    tracing::error!(why, "the window could not be opened");
    // There is nowhere else to say it, and nobody may be there to read it.
    let _ = writeln!(
        std::io::stderr(),
        "ebb-desktop: the window could not be opened: {why}\nWithout a display, `ebb ui` prints the address of the same page for a browser."
    );
    ExitCode::FAILURE
}
