//! Files and folders that the user picked.
