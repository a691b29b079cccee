//! `test`: a recording is replayed through the real component, in the sandbox that it would have in a host.

mod absent;
mod policy;

use std::{
    collections::BTreeMap,
    io::BufReader,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use ebb_core::{Json, PluginManifest, PluginWorld, PromiseFigure};
use ebb_plugins::Component;
use ebb_trace::{Figure, Point, Report, Trace};
use serde::Serialize;

use crate::{
    Error,
    folder::{built, read},
};

/// What a policy did over a recording.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayReport {
    /// The plugin.
    pub plugin: String,
    /// What the recorded model is for.
    pub kind: String,
    /// Where it ran.
    pub provider: String,
    /// Decisions, and what the model held with the policy and without.
    #[serde(flatten)]
    pub replay: Report,
    /// Median time of a call, in the sandbox.
    pub call_us: Option<u64>,
    /// Why a host would have detached it, where it failed too often.
    pub given_up: Option<String>,
    /// What it promises, held against the recording.
    pub promise: Option<Promised>,
}

impl ReplayReport {
    /// Whether its promise was kept, if it makes one, and a host would have left it attached.
    pub fn is_good(&self) -> bool {
        self.given_up.is_none() && self.promise.as_ref().is_none_or(|promise| promise.kept)
    }
}

/// A promise, held against a recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Promised {
    /// In words.
    pub words: String,
    /// The figure that it is about.
    pub figure: PromiseFigure,
    /// The bound.
    pub at_most: f64,
    /// What the replay came to; nothing where the recording leaves it without a meaning.
    pub value: Option<f64>,
    /// Whether it is within the bound. What cannot be broken is kept.
    pub kept: bool,
}

/// Replays the trace through the policy at `path`: a component, or a folder in which it was built. It is granted what it asks
/// for; there are no models but the recorded one.
///
/// # Errors
/// Where there is no policy or no trace, or no sandbox can be made. What the policy itself fails with stands in the report.
pub fn test(path: &Path, trace: &Path) -> Result<ReplayReport, Error> {
    let bytes = read(&built(path)?)?;
    // Before the trace: for another plugin none is needed.
    manifest_of_policy(&bytes)?;
    let how = How { settings: BTreeMap::new(), most_points: 0, given_up: &AtomicBool::new(false) };
    Ok(replay(&bytes, &recorded(trace)?, how)?.0)
}

/// How a recording is replayed.
#[derive(Debug)]
pub struct How<'a> {
    /// Settings of the policy, over its defaults; the policy's own schema was asked whether they fit.
    pub settings: BTreeMap<String, Json>,
    /// How many points of what the model holds over time are wanted at most.
    pub most_points: usize,
    /// Once it is true, the policy is not asked any more: nobody waits for the report.
    pub given_up: &'a AtomicBool,
}

/// As [`test`](fn@test), of a component and a trace that were read, with what the model holds over time.
///
/// # Errors
/// Where it is no policy, or no sandbox can be made. What the policy itself fails with stands in the report.
pub fn replay(component: &[u8], trace: &Trace, how: How<'_>) -> Result<(ReplayReport, Vec<Point>), Error> {
    let manifest = manifest_of_policy(component)?;
    let policy::Outcome { replay, points, call_us, given_up } =
        policy::replay(component, &manifest, trace, how)?;
    let report = ReplayReport {
        plugin: manifest.id.clone(),
        kind: trace.head.kind.clone(),
        provider: trace.head.provider.clone(),
        promise: promised(&manifest, &replay),
        replay,
        call_us,
        given_up,
    };
    Ok((report, points))
}

fn manifest_of_policy(component: &[u8]) -> Result<PluginManifest, Error> {
    let Component { manifest, world, .. } = Component::read(component)?;
    if world == PluginWorld::ShrinkPolicy {
        Ok(manifest)
    } else {
        Err(Error::NoPolicy { plugin: manifest.id })
    }
}

fn recorded(path: &Path) -> Result<Trace, Error> {
    let failed = |source| Error::Read { path: PathBuf::from(path), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    Trace::read(BufReader::new(file))
        .map_err(|error| Error::Trace { path: path.to_owned(), reason: error.to_string() })
}

fn promised(manifest: &PluginManifest, replay: &Report) -> Option<Promised> {
    let promise = manifest.promise.as_ref()?;
    let value = replay.figure(match promise.figure {
        PromiseFigure::MeanReservedRatio => Figure::MeanReservedRatio,
        PromiseFigure::EndReservedRatio => Figure::EndReservedRatio,
        PromiseFigure::OverTwiceInUse => Figure::OverTwiceInUse,
        PromiseFigure::IdleSlackMs => Figure::IdleSlackMs,
        PromiseFigure::ReliefMs => Figure::ReliefMs,
    });
    Some(Promised {
        words: promise.words.clone(),
        figure: promise.figure,
        at_most: promise.at_most,
        value,
        kept: value.is_none_or(|value| value <= promise.at_most),
    })
}
