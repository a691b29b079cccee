//! One process, one model: serves a session over frames.
