//! Recordings: what a model held while it was really used, for policies to be tried on. No texts are in them.

mod pressure;

use std::{collections::VecDeque, time::Duration};

use ebb_core::{
    Event, EventKind, Failure, RunReport, Sample,
    operations::{RecordingEvent, RecordingHead, RecordingLine},
};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, Interval, MissedTickBehavior, interval},
};

use self::pressure::Pressure;
use crate::Host;

/// Between requests the model is looked at this often.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Version of the format, in its first line.
const VERSION: u32 = 1;

/// The lines of a recording, pulled, until the model is unloaded or the host ends.
#[derive(Debug)]
pub struct RecordingStream {
    host: Host,
    alias: String,
    began: Instant,
    ready: VecDeque<RecordingLine>,
    events: broadcast::Receiver<Event>,
    every: Interval,
    last: Sample,
    pressure: Pressure,
    over: bool,
}

impl Host {
    /// Records what a model holds from now on, and when the system is short of memory.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotFound`], [`ebb_core::Code::NotLoaded`].
    pub async fn record(&self, alias: &str) -> Result<RecordingStream, Failure> {
        let model = self.loaded(alias)?;
        // First the listening, so that nothing is missed between the two.
        let events = self.events();
        let stats = model.stats().await?;
        let info = model.info();
        let head = RecordingHead {
            version: VERSION,
            kind: info.kind,
            provider: info.provider,
            load_ms: info.load_ms,
            after_load: stats.after_load,
        };
        let mut every = interval(LOOK_EVERY);
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        every.reset();
        let mut recording = RecordingStream {
            host: self.clone(),
            alias: alias.to_owned(),
            began: Instant::now(),
            ready: VecDeque::from([RecordingLine { at_ms: None, event: RecordingEvent::Trace(head) }]),
            events,
            every,
            last: stats.now.clone(),
            pressure: Pressure::default(),
            over: false,
        };
        recording.tell(RecordingEvent::Sample(stats.now));
        recording.look_at_the_system();
        Ok(recording)
    }
}

impl RecordingStream {
    /// The next line; `None` once the model is unloaded or the host ends.
    pub async fn next(&mut self) -> Option<RecordingLine> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if self.over {
                return None;
            }
            tokio::select! {
                event = self.events.recv() => match event {
                    Ok(event) => self.hear(event),
                    // Too slow a reader: what it missed is not in the recording.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => self.over = true,
                },
                _ = self.every.tick() => {
                    // In this order: what the system has left is told beside what the model held then.
                    self.look_at_the_model().await;
                    self.look_at_the_system();
                }
            }
        }
    }

    fn hear(&mut self, event: Event) {
        let Event { model, kind, .. } = event;
        if model != self.alias {
            return;
        }
        match kind {
            EventKind::Run { outcome, took_us, items, queued, after, .. } => {
                let report = RunReport { model, outcome, took_us, items, queued, after };
                self.tell(RecordingEvent::Run(report));
            }
            EventKind::Shrink { cause, report } => self.tell(RecordingEvent::Shrink { cause, report }),
            EventKind::Unloaded { .. } => self.over = true,
            _ => {}
        }
    }

    async fn look_at_the_model(&mut self) {
        let Ok(model) = self.host.loaded(&self.alias) else { return };
        // Where it has none, its worker restarts: then events say so.
        let Ok(sample) = model.sample().await else { return };
        // While nothing changes a line a second says nothing.
        if !same(&sample, &self.last) {
            self.last = sample.clone();
            self.tell(RecordingEvent::Sample(sample));
        }
    }

    fn look_at_the_system(&mut self) {
        if let Some((available_bytes, total_bytes)) = self.host.memory_now()
            && self.pressure.is_news(available_bytes, total_bytes)
        {
            self.tell(RecordingEvent::Pressure { available_bytes, total_bytes });
        }
    }

    fn tell(&mut self, event: RecordingEvent) {
        let at_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.ready.push_back(RecordingLine { at_ms: Some(at_ms), event });
    }
}

/// Whether the two differ in nothing but their time.
fn same(one: &Sample, other: &Sample) -> bool {
    one.runs == other.runs && one.arenas == other.arenas && one.pools == other.pools
}
