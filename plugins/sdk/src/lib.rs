//! Write plugins for Ebb.
