//! The real window: the app as it is installed, on a display of its own, driven through WebDriver.

#![cfg(target_os = "linux")]

mod chat;
mod consent;
mod crash;
mod desk;
mod first_run;
mod hand;
mod kept;
mod life;
mod loading;
mod notices;
mod page;
mod policies;
mod tray;
