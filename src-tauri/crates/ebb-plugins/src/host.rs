//! What the host offers to plugins: one file an interface of `wit/`.

#![allow(unreachable_pub, reason = "the generated bindings export the types of resources again")]

pub(crate) mod documents;
pub(crate) mod inference;
pub(crate) mod memory_control;
pub(crate) mod memory_stats;
pub(crate) mod plugin_host;
pub(crate) mod store;
