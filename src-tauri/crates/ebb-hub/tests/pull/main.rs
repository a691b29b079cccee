//! Downloads from a Hub that speaks the protocol on this machine, and fails as asked.

mod broken;
mod refused;
mod scene;
mod server;
mod whole;
