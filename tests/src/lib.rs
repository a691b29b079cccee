//! What the end-to-end tests share: tiny models made on demand, and the reference that real vectors are compared with.

pub mod home;
pub mod models;
pub mod plugins;
pub mod reference;
