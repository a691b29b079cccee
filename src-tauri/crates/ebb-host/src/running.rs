//! A job that runs, as its caller sees it.

use ebb_core::{Chunk, Failure, Figures, Progress};
use tokio::sync::mpsc;

use crate::worker::Sender;

/// Chunks that may lie unread before the worker waits for the reader.
pub(crate) const WINDOW: u32 = 4;

/// What comes of a job.
#[derive(Debug)]
pub enum RunItem {
    /// How far it is.
    Progress(Progress),
    /// A part of the answer, in order.
    Chunk(Chunk),
    /// The end.
    Done(Figures),
    /// It failed.
    Failed(Failure),
}

/// A job that runs. Dropping it cancels the job.
#[derive(Debug)]
pub struct Running {
    pub(crate) id: u64,
    pub(crate) items: mpsc::UnboundedReceiver<RunItem>,
    pub(crate) sender: Sender,
    /// Chunks that were taken and not yet told of.
    pub(crate) taken: u32,
    pub(crate) over: bool,
}

impl Running {
    /// What comes next; `None` after [`RunItem::Done`] or [`RunItem::Failed`]. Taking a chunk lets the worker go on.
    pub async fn next(&mut self) -> Option<RunItem> {
        if self.over {
            return None;
        }
        let item = self.items.recv().await;
        match &item {
            Some(RunItem::Chunk(_)) => {
                self.taken += 1;
                // Not for each one: telling costs a write, and wakes the worker.
                if self.taken >= WINDOW / 2 {
                    self.sender.credit(self.id, std::mem::take(&mut self.taken));
                }
            }
            Some(RunItem::Progress(_)) => {}
            Some(RunItem::Done(_) | RunItem::Failed(_)) | None => self.over = true,
        }
        item
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            self.sender.cancel(self.id);
        }
    }
}
