//! Messages and frames between the host and a worker process.
