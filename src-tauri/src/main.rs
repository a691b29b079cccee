//! The program of the desktop app.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    ebb_desktop::run()
}
