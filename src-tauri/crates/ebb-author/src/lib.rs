//! What an author of a plugin needs.
