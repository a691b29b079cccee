//! What may differ between hosts.

use std::{path::PathBuf, sync::Arc, time::Duration};

use crate::{Launch, ProcessLaunch};

/// What may differ between hosts; the defaults are those of the product.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// The worker program.
    pub worker_program: PathBuf,
    /// How a worker is started: a seam for tests.
    pub launch: Arc<dyn Launch>,
    /// Jobs that a worker may have at once; they take turns there.
    pub places: u32,
    /// Requests that may wait for a place, unless a load says otherwise.
    pub queue: u32,
    /// Samples that are kept of a model.
    pub samples_kept: usize,
    /// How often memory is sampled, unless a load says otherwise.
    pub sample_every: Duration,
    /// Wait before a crashed worker is started again; doubles with each crash in a row.
    pub restart_first: Duration,
    /// The longest such wait.
    pub restart_most: Duration,
    /// A worker that ran this long starts with the first wait again.
    pub restart_forgiven: Duration,
    /// How long a worker may take to end before it is killed.
    pub close_grace: Duration,
}

impl HostConfig {
    /// The product's defaults, with this worker program.
    pub fn new(worker_program: PathBuf) -> Self {
        Self {
            launch: Arc::new(ProcessLaunch::new(worker_program.clone())),
            worker_program,
            places: 4,
            queue: 256,
            samples_kept: 3600,
            sample_every: Duration::from_secs(1),
            restart_first: Duration::from_millis(500),
            restart_most: Duration::from_secs(30),
            restart_forgiven: Duration::from_secs(60),
            close_grace: Duration::from_secs(3),
        }
    }
}
