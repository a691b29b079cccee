use std::sync::OnceLock;

use ebb_core::{Code, TranscribeFigures, options::ArenaPlan};

use super::*;
use crate::scene;

/// The first so many seconds of a reading, 48 kHz and 16 bits.
fn reading(seconds: usize) -> Bytes {
    static FILE: OnceLock<Bytes> = OnceLock::new();
    let folder = ebb_tests::home::real_model("moonshine");
    let file = FILE.get_or_init(|| fs_err::read(folder.join("two_cities.wav")).unwrap().into());
    file.slice(..44 + seconds * 96_000)
}

fn moonshine(working_mem_bytes: Option<u64>, detector: bool) -> Transcriber {
    let folder = ebb_tests::home::real_model("moonshine");
    let mut parts = Parts::find(&folder, &folder.join("decoder_model_merged.ort")).unwrap();
    if !detector {
        parts.detector = None;
    }
    let arena = ArenaPlan { working_mem_bytes, ..ArenaPlan::default() };
    let loaded = scene::load_all(&parts.files(), scene::with_arena(arena)).unwrap();
    Transcriber::open(&folder, &parts, loaded.into_iter()).unwrap()
}

fn begin(model: &mut Transcriber, data: Bytes) -> TranscribeRun {
    model.begin(&Transcription::default(), data, &BTreeMap::new()).unwrap()
}

/// A step of a job; what it gave is added to `text`.
fn step(model: &mut Transcriber, run: &mut TranscribeRun, text: &mut String) -> Result<Step, Error> {
    let mut chunks = Vec::new();
    let step = model.step(run, &mut chunks)?;
    for Chunk { body, data } in chunks {
        let ChunkBody::Segment(segment) = body else { panic!("{body:?}") };
        assert!(data.is_empty() && !segment.partial);
        text.push_str(&segment.text);
        text.push(' ');
    }
    Ok(step)
}

fn transcribe(model: &mut Transcriber, data: Bytes) -> Result<(String, TranscribeFigures), Error> {
    let (mut run, mut text) = (begin(model, data), String::new());
    loop {
        if let Step::Done(Figures::Transcribe(figures)) = step(model, &mut run, &mut text)? {
            return Ok((text, figures));
        }
    }
}

fn in_use_bytes(model: &Transcriber) -> u64 {
    model.encoder.held().cpu_stats().unwrap().in_use_bytes
}

const BEGINNING: &str = "It was the best of times";

/// C23: all files of the model are on one arena, and what a job holds is not in it between steps.
#[test]
fn jobs_share_the_model_and_leave_nothing_in_its_arena() {
    let mut model = moonshine(None, true);
    let idle_bytes = in_use_bytes(&model);
    let (alone, figures) = transcribe(&mut model, reading(12)).unwrap();
    assert!(alone.starts_with(BEGINNING), "{alone}");
    assert!(figures.peak_arena_bytes > idle_bytes && figures.cap_retries == 0, "{figures:?}");
    let mut jobs =
        [(begin(&mut model, reading(12)), String::new()), (begin(&mut model, reading(6)), String::new())];
    let mut dropped = begin(&mut model, reading(30));
    let (mut done, mut steps) = (0, 0);
    while done < jobs.len() {
        done = 0;
        for (run, text) in &mut jobs {
            done += usize::from(matches!(step(&mut model, run, text).unwrap(), Step::Done(_)));
            assert_eq!(in_use_bytes(&model), idle_bytes);
        }
        // The third is given up when it is in the middle of a text.
        if dropped.hearing.is_none() {
            step(&mut model, &mut dropped, &mut String::new()).unwrap();
        }
        steps += 1;
    }
    assert_eq!(jobs[0].1, alone);
    assert!(alone.starts_with(jobs[1].1.trim_end_matches([' ', '.', ','])), "{}", jobs[1].1);
    assert!(steps > 20 && dropped.hearing.is_some());
    drop((jobs, dropped));
    assert_eq!(in_use_bytes(&model), idle_bytes);
}

#[test]
fn without_a_detector_speech_is_found_by_its_loudness() {
    let mut model = moonshine(None, false);
    assert!(!model.info().voice_detector);
    let (text, figures) = transcribe(&mut model, reading(12)).unwrap();
    assert!(text.starts_with(BEGINNING) && text.contains("epoch of belief"), "{text}");
    assert!((8_000..12_000).contains(&figures.speech_ms), "{figures:?}");
}

/// C08: under a cap that a long stretch exceeds it is heard in halves, counted and shown.
#[test]
fn a_tight_cap_makes_shorter_stretches() {
    let (roomy, figures) = transcribe(&mut moonshine(None, true), reading(12)).unwrap();
    assert_eq!(figures.segments, 1, "{roomy}");
    let working_bytes = figures.peak_arena_bytes - in_use_bytes(&moonshine(None, true));
    let mut tight = moonshine(Some(working_bytes * 3 / 5), true);
    let (text, figures) = transcribe(&mut tight, reading(12)).unwrap();
    assert!(figures.segments > 1 && figures.cap_retries > 0, "{figures:?} {text}");
    assert!(text.starts_with(BEGINNING), "{text}");
}

/// C09: what does not fit in any way is a typed error, and the model lives on.
#[test]
fn a_stretch_above_the_cap_is_an_error_with_figures() {
    let mut model = moonshine(Some(2 << 20), true);
    let failure: Failure = transcribe(&mut model, reading(12)).unwrap_err().into();
    assert_eq!(failure.code, Code::ArenaLimit);
    assert!(failure.details.contains_key("requested_bytes"), "{failure:?}");
    let silence = [&reading(0)[..], &[0; 96_000]].concat();
    let (text, figures) = transcribe(&mut model, silence.into()).unwrap();
    assert_eq!((text.as_str(), figures.audio_ms), ("", 1_000));
}
