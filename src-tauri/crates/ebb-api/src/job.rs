//! A request at work: it finds its model, loading it on demand, runs, keeps its time, and leaves the model with how long it
//! is to stay.

use std::time::Duration;

use bytes::Bytes;
use ebb_core::{Code, Failure, Job, operations::RequestOptions};
use ebb_host::{RunItem, Running};
use tokio::time::{Instant, timeout_at};

use crate::{
    Host,
    tally::{Tallied, work},
};

/// A job that runs, until its time is up. Dropping it cancels the job.
#[derive(Debug)]
pub(crate) struct Answering {
    host: Host,
    of: Tallied,
    begun: Instant,
    running: Running,
    deadline: Option<Deadline>,
}

#[derive(Debug, Clone, Copy)]
struct Deadline {
    at: Instant,
    timeout_ms: u64,
}

impl Answering {
    /// The next item. The last one is [`RunItem::Done`] or [`RunItem::Failed`].
    pub(crate) async fn next(&mut self) -> RunItem {
        let next = match self.deadline {
            None => self.running.next().await,
            // Also where the next item lies ready: a reader may be what takes so long.
            Some(deadline) if deadline.at <= Instant::now() => {
                Some(RunItem::Failed(deadline.over(&self.of.0)))
            }
            Some(deadline) => match timeout_at(deadline.at, self.running.next()).await {
                Ok(next) => next,
                Err(_) => Some(RunItem::Failed(deadline.over(&self.of.0))),
            },
        };
        let next = next.unwrap_or_else(|| RunItem::Failed(self.no_answer()));
        match &next {
            RunItem::Done(figures) => {
                self.host.inner.tallies.answered(&self.of, figures, self.begun.elapsed())
            }
            RunItem::Failed(_) => self.host.inner.tallies.failed(&self.of),
            RunItem::Progress(_) | RunItem::Chunk(_) => {}
        }
        next
    }

    /// The failure for an item that does not belong to the job.
    pub(crate) fn no_answer(&self) -> Failure {
        no_answer(&self.of.0)
    }
}

impl Deadline {
    fn of(options: &RequestOptions) -> Option<Self> {
        let timeout_ms = options.timeout_ms?;
        // Further away than the clock counts is no deadline.
        let at = Instant::now().checked_add(Duration::from_millis(timeout_ms))?;
        Some(Self { at, timeout_ms })
    }

    fn over(self, alias: &str) -> Failure {
        Failure::new(Code::Timeout, format!("'{alias}' was not done within {} ms", self.timeout_ms))
            .hint("allow more with timeout_ms, or ask for less at once")
            .param("timeout_ms")
    }
}

impl Host {
    /// Begins a job on a model, which is loaded first, with the options that it last had, if it is not in memory.
    pub(crate) async fn begin(
        &self,
        alias: &str,
        mut job: Job,
        data: Bytes,
        options: RequestOptions,
    ) -> Result<Answering, Failure> {
        self.added(alias)?;
        let (of, begun) = ((alias.to_owned(), work(&job.kind)), Instant::now());
        let deadline = Deadline::of(&options);
        self.keep(alias, options.keep_alive);
        job.run_options = options.run_options;
        job.shrink_after = options.shrink_after;
        let running = self.begin_now(alias, job, data);
        let running = match deadline {
            None => running.await,
            Some(deadline) => match timeout_at(deadline.at, running).await {
                Ok(running) => running,
                Err(_) => Err(deadline.over(alias)),
            },
        };
        let running = running.inspect_err(|_| self.inner.tallies.failed(&of))?;
        Ok(Answering { host: self.clone(), of, begun, running, deadline })
    }

    async fn begin_now(&self, alias: &str, job: Job, data: Bytes) -> Result<Running, Failure> {
        match self.on_demand(alias).await?.run(&job, &data).await {
            // It was unloaded for being idle, or its worker ended, between the look and the run.
            Err(failure) if matches!(failure.code, Code::NotLoaded | Code::WorkerCrashed) => {
                self.on_demand(alias).await?.run(&job, &data).await
            }
            begun => begun,
        }
    }
}

fn no_answer(alias: &str) -> Failure {
    Failure::new(Code::Internal, format!("'{alias}' ended the job without an answer that fits it"))
        .hint("see the host's log: `ebb server logs`")
}
