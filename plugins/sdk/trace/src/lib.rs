//! Recordings of what models held.
