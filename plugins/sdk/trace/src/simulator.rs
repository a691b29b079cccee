//! Replays a recording against a simulated arena, with a policy and without.

use crate::{
    Asked, Decision, Event, Figures, Hook, Report, RunReport, Sample, Trace,
    arena::Arenas,
    figures::{Stretch, Tally},
    needs::{Need, needs},
    pressure::{AGAIN_MS, LOOK_MS, Machine},
    report::{Decided, Told},
    series::{Point, Series},
};

/// How often an idle model is asked.
const TICK_MS: u64 = 1_000;
/// A load, where the recording does not say how long it takes.
const LOAD_MS: u64 = 500;
/// Time that giving back a MiB takes, most of it in trimming the heap.
const SHRINK_US_PER_MIB: u64 = 350;
/// The run option that shrinks at the end of every request.
const SHRINK_KEY: &str = "memory.enable_memory_arena_shrinkage";

/// Replays a recording with a policy, and without. An error of the policy counts as [`Decision::Keep`] and is listed.
pub fn replay(trace: &Trace, policy: impl FnMut(Asked<'_>) -> Result<Decision, String>) -> Report {
    replay_over_time(trace, policy, 0).0
}

/// As [`replay`], with at most so many points of what the model holds over time; each is the highest of its stretch.
pub fn replay_over_time(
    trace: &Trace,
    mut policy: impl FnMut(Asked<'_>) -> Result<Decision, String>,
    most_points: usize,
) -> (Report, Vec<Point>) {
    let needs = needs(trace);
    let series = || Series::new(trace.entries.last().map_or(0, |entry| entry.at_ms), most_points);
    let (without, _, without_series) =
        Simulator::new(trace, |_: Asked<'_>| Ok(Decision::Keep), series()).run(&needs);
    let (with, told, with_series) = Simulator::new(trace, &mut policy, series()).run(&needs);
    let points = with_series.beside(&without_series);
    let estimated = needs.iter().filter(|needs| needs.iter().any(|need| need.estimated)).count();
    let Told { asked, decided, failed, decisions, failures } = told;
    let (runs, estimated_runs) = (needs.len() as u64, estimated as u64);
    let report = Report { without, with, runs, estimated_runs, asked, decided, failed, decisions, failures };
    (report, points)
}

struct Simulator<'a, P> {
    trace: &'a Trace,
    policy: P,
    arenas: Arenas,
    loaded: bool,
    loads: u64,
    loaded_at_ms: u64,
    now_ms: u64,
    idle_since_ms: u64,
    runs: u64,
    /// Arenas to shrink at the end of the next request, and of every one.
    after_next_run: Option<Vec<String>>,
    after_each_run: Option<Vec<String>>,
    machine: Machine,
    pressed_at_ms: Option<u64>,
    recorded_bytes: u64,
    tally: Tally,
    series: Series,
    told: Told,
}

impl<'a, P: FnMut(Asked<'_>) -> Result<Decision, String>> Simulator<'a, P> {
    fn new(trace: &'a Trace, policy: P, series: Series) -> Self {
        let arenas = Arenas::new(trace);
        let mut tally = Tally::default();
        tally.figures.after_load_bytes = arenas.reserved_bytes();
        Self {
            trace,
            policy,
            recorded_bytes: arenas.reserved_bytes(),
            arenas,
            loaded: true,
            loads: 0,
            loaded_at_ms: 0,
            now_ms: 0,
            idle_since_ms: 0,
            runs: 0,
            after_next_run: None,
            after_each_run: None,
            machine: Machine::default(),
            pressed_at_ms: None,
            tally,
            series,
            told: Told::default(),
        }
    }

    fn run(mut self, needs: &[Vec<Need>]) -> (Figures, Told, Series) {
        let mut needs = needs.iter();
        for entry in &self.trace.entries {
            match &entry.event {
                Event::Run(run) => {
                    let took_ms = run.took_us.div_ceil(1_000);
                    self.idle_until(entry.at_ms.saturating_sub(took_ms).max(self.now_ms));
                    self.request(run, needs.next().map_or(&[][..], Vec::as_slice), entry.at_ms);
                    self.recorded_bytes = run.after.reserved_bytes();
                }
                Event::Sample(sample) => {
                    self.idle_until(entry.at_ms);
                    self.recorded_bytes = sample.reserved_bytes();
                }
                Event::Shrink(shrink) => {
                    self.idle_until(entry.at_ms);
                    self.recorded_bytes = self.recorded_bytes.saturating_sub(shrink.report.freed_bytes);
                }
                Event::Pressure { available_bytes, total_bytes } => {
                    self.idle_until(entry.at_ms);
                    self.machine.hear(*available_bytes, *total_bytes, self.recorded_bytes);
                }
            }
        }
        let end_bytes = self.arenas.reserved_bytes();
        self.tally.figures.peak_bytes = self.tally.figures.peak_bytes.max(end_bytes);
        self.series.add(self.now_ms, self.now_ms, end_bytes);
        (self.tally.finish(end_bytes), self.told, self.series)
    }

    /// Lets time pass in which nothing changes.
    fn pass(&mut self, until_ms: u64, idle: bool) {
        let reserved_bytes = self.arenas.reserved_bytes();
        self.series.add(self.now_ms, until_ms, reserved_bytes);
        self.tally.add(Stretch {
            took_ms: until_ms.saturating_sub(self.now_ms),
            in_use_bytes: self.arenas.in_use_bytes(),
            reserved_bytes,
            idle,
            short: self.machine.is_short(reserved_bytes),
        });
        self.now_ms = self.now_ms.max(until_ms);
    }

    /// Asks once a second while nothing runs, and looks at the machine.
    fn idle_until(&mut self, until_ms: u64) {
        loop {
            let idle_ms = self.now_ms.saturating_sub(self.idle_since_ms);
            let tick_ms = self.idle_since_ms.saturating_add((idle_ms / TICK_MS + 1) * TICK_MS);
            let look_ms = (self.now_ms / LOOK_MS + 1) * LOOK_MS;
            let next_ms = tick_ms.min(look_ms);
            if next_ms > until_ms {
                return self.pass(until_ms, true);
            }
            self.pass(next_ms, true);
            if self.loaded && next_ms == tick_ms {
                let now = self.sample();
                let idle_ms = self.now_ms - self.idle_since_ms;
                self.ask(Hook::Idle { idle_ms, now: &now }, 0);
            }
            if next_ms == look_ms {
                self.press();
            }
        }
    }

    fn request(&mut self, run: &RunReport, needs: &[Need], end_ms: u64) {
        if !self.loaded {
            self.load();
        }
        self.arenas.begin(needs);
        let looked = self.now_ms / LOOK_MS < end_ms / LOOK_MS;
        self.pass(end_ms, false);
        self.arenas.end(&run.after);
        self.runs += 1;
        self.idle_since_ms = self.now_ms;
        // The policy sees what the model held before anything was given back.
        let report = RunReport { after: self.sample(), ..run.clone() };
        if let Some(devices) = self.after_next_run.take() {
            self.shrink(&devices);
        }
        if let Some(devices) = self.after_each_run.clone() {
            self.shrink(&devices);
        }
        self.ask(Hook::Run(&report), run.queued);
        if looked {
            // Models are asked between requests.
            self.press();
        }
    }

    /// Asks under pressure, if memory is short and it is time.
    fn press(&mut self) {
        let reserved_bytes = self.arenas.reserved_bytes();
        let lately = self.pressed_at_ms.is_some_and(|at_ms| self.now_ms < at_ms.saturating_add(AGAIN_MS));
        if !self.machine.is_short(reserved_bytes) || !self.loaded || lately {
            return;
        }
        self.pressed_at_ms = Some(self.now_ms);
        let now = self.sample();
        let available_bytes = self.machine.available_bytes(reserved_bytes);
        let total_bytes = self.machine.total_bytes();
        self.ask(Hook::Pressure { available_bytes, total_bytes, now: &now }, 0);
    }

    fn ask(&mut self, hook: Hook<'_>, queued: u32) {
        self.told.asked += 1;
        let model = self.trace.head.after_load.model.as_str();
        let asked = Asked { model, at_ms: self.now_ms, load: self.loads, hook };
        let decision = match (self.policy)(asked) {
            Ok(Decision::Keep) => return,
            Ok(decision) => decision,
            Err(reason) => return self.told.failed(self.now_ms, reason),
        };
        let (in_use_bytes, reserved_bytes) = (self.arenas.in_use_bytes(), self.arenas.reserved_bytes());
        self.apply(&decision, queued);
        self.told.decided(Decided {
            at_ms: self.now_ms,
            hook: hook.name(),
            decision,
            in_use_bytes,
            reserved_bytes,
            reserved_after_bytes: self.arenas.reserved_bytes(),
        });
    }

    fn apply(&mut self, decision: &Decision, queued: u32) {
        match decision {
            Decision::Shrink(devices) if queued == 0 => self.shrink(devices),
            Decision::Shrink(devices) | Decision::ShrinkAfterNextRun(devices) => {
                self.after_next_run = Some(devices.clone());
            }
            Decision::SetRuntimeOption { key, value } if key == SHRINK_KEY => {
                let devices = value.iter().flat_map(|value| value.split(';'));
                let devices: Vec<String> = devices.filter(|one| !one.is_empty()).map(str::to_owned).collect();
                self.after_each_run = (!devices.is_empty()).then_some(devices);
            }
            Decision::Reload => {
                self.unload();
                self.load();
            }
            Decision::Unload => self.unload(),
            Decision::Keep | Decision::SetRuntimeOption { .. } | Decision::Other(_) => {}
        }
    }

    fn shrink(&mut self, devices: &[String]) {
        let freed_bytes = self.arenas.shrink(devices);
        let figures = &mut self.tally.figures;
        figures.shrinks += 1;
        figures.freed_bytes = figures.freed_bytes.saturating_add(freed_bytes);
        figures.shrink_ms += (freed_bytes >> 20).saturating_mul(SHRINK_US_PER_MIB) / 1_000;
    }

    fn unload(&mut self) {
        self.arenas.unload();
        self.loaded = false;
        self.after_next_run = None;
        self.after_each_run = None;
        self.tally.figures.unloads += 1;
    }

    fn load(&mut self) {
        self.arenas.load();
        self.loaded = true;
        self.loads += 1;
        self.loaded_at_ms = self.now_ms;
        self.runs = 0;
        let figures = &mut self.tally.figures;
        figures.reloads += 1;
        figures.reload_ms = figures.reload_ms.saturating_add(self.trace.head.load_ms.unwrap_or(LOAD_MS));
    }

    /// What the simulated model holds.
    fn sample(&self) -> Sample {
        let after_load = &self.trace.head.after_load;
        let grown = |bytes: u64| {
            bytes.saturating_add(self.arenas.reserved_bytes()).saturating_sub(after_load.reserved_bytes())
        };
        Sample {
            model: after_load.model.clone(),
            at_ms: self.now_ms - self.loaded_at_ms,
            resident_bytes: grown(after_load.resident_bytes),
            private_bytes: grown(after_load.private_bytes),
            runs: self.runs,
            arenas: self.arenas.now().to_vec(),
            pools: after_load.pools.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
