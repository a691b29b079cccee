//! The real window: the app as it is installed, on a display of its own, driven through WebDriver.

#![cfg(target_os = "linux")]

mod desk;
mod hand;
mod life;
mod notices;
mod page;
mod tray;
