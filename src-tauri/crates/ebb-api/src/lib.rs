//! The one list of operations that every shell calls: host, catalogue, profiles, state.
