//! HTTP over ebb-api.
