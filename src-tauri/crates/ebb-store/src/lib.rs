//! A plugin's durable store.
