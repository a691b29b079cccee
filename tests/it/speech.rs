//! Speech: the words of a real speaker, with real models, through the session that a worker runs.

use std::collections::BTreeMap;

use bytes::Bytes;
use ebb_core::{
    Chunk, ChunkBody, Code, Failure, Figures, Job, JobKind, LoadOptions, LoadSpec, ModelKind, Progress,
    Segment, Session, Step, TranscribeFigures, Transcription,
};
use ebb_ort::OrtSession;
use ebb_tests::home::{real_model, runtime_library};

/// What the speaker reads: Dickens.
const SAID: &str = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of \
     foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of light, it was the \
     season of darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had \
     nothing before us, we were all going direct to heaven, we were all going direct the other way. In short, the period \
     was so far like the present period, that some of its noisiest authorities insisted on its being received, for good \
     or for evil, in the superlative degree of comparison only.";

fn moonshine(options: LoadOptions) -> OrtSession {
    let spec = LoadSpec {
        alias: "moonshine".to_owned(),
        path: real_model("moonshine"),
        options: LoadOptions { threads: Some(2), ..options },
        runtime_library: Some(runtime_library()),
        runtime_folders: Vec::new(),
    };
    ebb_ort::open(&spec, &mut |_| ()).expect("it loads")
}

fn reading() -> Bytes {
    std::fs::read(real_model("moonshine").join("two_cities.wav")).expect("the reading is there").into()
}

/// A WAV file of one channel and 16 bits.
fn wav(rate_hz: u32, samples: impl Iterator<Item = f64>) -> Bytes {
    let data: Vec<u8> =
        samples.flat_map(|sample| ((sample.clamp(-1.0, 1.0) * 32_767.0) as i16).to_le_bytes()).collect();
    let mut bytes = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    bytes.extend(rate_hz.to_le_bytes());
    bytes.extend((rate_hz * 2).to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes.into()
}

/// What a job came to.
struct Heard {
    segments: Vec<Segment>,
    partial: Vec<Segment>,
    progress: Vec<Progress>,
    figures: TranscribeFigures,
}

impl Heard {
    fn text(&self) -> String {
        self.segments.iter().map(|segment| segment.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

fn transcribe(session: &mut OrtSession, data: Bytes, asked: Transcription) -> Result<Heard, Failure> {
    let mut run = session.begin(Job::new(JobKind::Transcribe(asked)), data, &BTreeMap::new())?;
    let (mut segments, mut partial, mut progress) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let mut chunks = Vec::new();
        let step = session.step(&mut run, &mut chunks)?;
        for Chunk { body, .. } in chunks {
            let ChunkBody::Segment(segment) = body else { panic!("{body:?}") };
            assert_eq!(segment.index as usize, segments.len());
            if segment.partial { partial.push(segment) } else { segments.push(segment) }
        }
        match step {
            Step::More(so_far) => progress.push(so_far),
            Step::Done(Figures::Transcribe(figures)) => {
                return Ok(Heard { segments, partial, progress, figures });
            }
            Step::Done(other) => panic!("{other:?}"),
        }
    }
}

/// Words as they sound.
fn words(text: &str) -> Vec<String> {
    let plain = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    text.chars().map(plain).collect::<String>().split_whitespace().map(str::to_owned).collect()
}

/// Words that were left out, added or changed.
fn word_errors(said: &str, heard: &str) -> usize {
    let (said, heard) = (words(said), words(heard));
    let mut row: Vec<usize> = (0..=heard.len()).collect();
    for (place, word) in said.iter().enumerate() {
        let mut before = row[0];
        row[0] = place + 1;
        for at in 1..row.len() {
            let changed = before + usize::from(heard[at - 1] != *word);
            before = row[at];
            row[at] = changed.min(row[at - 1] + 1).min(before + 1);
        }
    }
    row[heard.len()]
}

#[test]
fn word_errors_are_counted() {
    assert_eq!(word_errors("a b c d", "A, b! c d."), 0);
    assert_eq!(word_errors("a b c d", "a x c"), 2);
    assert_eq!(word_errors("a", "a b c"), 2);
}

/// C23: the whole way with all of its files: what is said, where, and what it took.
#[test]
fn a_reading_is_written_down() {
    let mut session = moonshine(LoadOptions::default());
    let info = session.info().clone();
    assert_eq!(info.kind, ModelKind::Audio);
    let audio = info.audio.expect("it is a speech model");
    assert_eq!(
        (audio.family.as_str(), audio.sample_rate_hz, audio.voice_detector),
        ("moonshine", 16_000, true)
    );
    assert!(info.weights_bytes > 45_000_000, "all files count: {}", info.weights_bytes);
    let heard = transcribe(&mut session, reading(), Transcription::default()).unwrap();
    let text = heard.text();
    let errors = word_errors(SAID, &text);
    assert!(errors <= 5, "{errors} of {} words are wrong: {text}", words(SAID).len());
    let mut end_ms = 0;
    for segment in &heard.segments {
        assert!(segment.start_ms >= end_ms && segment.end_ms > segment.start_ms, "{segment:?}");
        end_ms = segment.end_ms;
    }
    let figures = heard.figures;
    assert!(heard.segments[0].start_ms < 1_500 && (41_000..43_000).contains(&end_ms));
    assert_eq!((figures.audio_ms, figures.segments as usize), (44_374, heard.segments.len()));
    assert!((35_000..41_000).contains(&figures.speech_ms) && figures.tokens > 130, "{figures:?}");
    assert!(figures.first_segment_us > 0 && figures.first_segment_us < figures.took_us);
    assert!(figures.peak_arena_bytes > 40 << 20, "weights and more: {}", figures.peak_arena_bytes);
    assert_eq!(figures.language.as_deref(), Some("en"));
    assert!(heard.partial.is_empty(), "nobody asked for them");
    for pair in heard.progress.windows(2) {
        assert!(pair[0].done <= pair[1].done && pair[1].done <= pair[1].total, "{pair:?}");
    }
    assert_eq!(heard.progress.last().map(|last| (last.done, last.total)), Some((44_374, 44_374)));
}

#[test]
fn growing_segments_are_given_where_they_are_asked_for() {
    let mut session = moonshine(LoadOptions::default());
    let data = reading().slice(..44 + 8 * 96_000);
    let asked = Transcription { partial: true, language: Some("en".to_owned()), ..Transcription::default() };
    let heard = transcribe(&mut session, data, asked).unwrap();
    assert!(heard.partial.len() > 2, "{:?}", heard.partial);
    let (first, whole) = (&heard.partial[0].text, &heard.segments[0].text);
    assert!(
        !first.is_empty() && first.len() < whole.len() && whole.starts_with(first.as_str()),
        "{first} {whole}"
    );
}

#[test]
fn where_nobody_speaks_nothing_is_written() {
    let mut session = moonshine(LoadOptions::default());
    let mut seed = 7_u32;
    let mut noise = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1 << 23) - 1.0
    };
    let tone = |at: u32| 0.3 * (f64::from(at) * 0.2).sin();
    for (name, data) in [
        ("silence", wav(16_000, std::iter::repeat_n(0.0, 16_000 * 20))),
        ("noise", wav(16_000, std::iter::repeat_with(|| 0.02 * noise()).take(16_000 * 20))),
        ("a tone", wav(8_000, (0..8_000 * 10).map(tone))),
        ("an instant", wav(16_000, std::iter::once(0.5))),
    ] {
        let heard = transcribe(&mut session, data, Transcription::default()).unwrap();
        assert_eq!((heard.text().as_str(), heard.figures.segments), ("", 0), "{name}");
    }
}

/// C21: a file that cannot be heard is told why, and the next one is heard.
#[test]
fn what_cannot_be_heard_is_told_why() {
    let mut session = moonshine(LoadOptions::default());
    let mut refused = |data: Bytes, language: Option<&str>| {
        let asked = Transcription { language: language.map(str::to_owned), ..Transcription::default() };
        transcribe(&mut session, data, asked).err().expect("it is refused")
    };
    for (data, code) in [
        (Bytes::new(), Code::InvalidRequest),
        (wav(16_000, std::iter::empty()), Code::InvalidRequest),
        (Bytes::from_static(b"\0\0\0\x18ftypmp42 and so on"), Code::Unsupported),
        (Bytes::from_static(b"this is a text"), Code::Unsupported),
    ] {
        let failure = refused(data, None);
        assert_eq!((failure.code, failure.param.as_deref()), (code, Some("file")), "{failure}");
        assert!(failure.hint.is_some());
    }
    let failure = refused(reading(), Some("de"));
    assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some("language")));
    assert_eq!(failure.hint.as_deref(), Some("it knows en"));
    let job = Job::new(JobKind::Embed { texts: vec!["a".to_owned()] });
    let failure = session.begin(job, Bytes::new(), &BTreeMap::new()).unwrap_err();
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.hint.unwrap().contains("ebb transcribe"));
    let data = reading().slice(..44 + 4 * 96_000);
    let heard = transcribe(&mut session, data, Transcription::default()).unwrap();
    assert!(
        heard.text().starts_with("It was the best"),
        "a header that says more than there is: {}",
        heard.text()
    );
}

/// C01: a shrink reaches the arena that all of the model's sessions share.
#[test]
fn a_shrink_gives_back_what_a_reading_took() {
    let mut session = moonshine(LoadOptions::default());
    let reserved = |session: &OrtSession| {
        session.control().memory().expect("it can be measured").arenas[0].reserved_bytes
    };
    let after_load = reserved(&session);
    transcribe(&mut session, reading().slice(..44 + 20 * 96_000), Transcription::default()).unwrap();
    let grown = reserved(&session);
    assert!(grown > after_load + (8 << 20), "{after_load} {grown}");
    let report = session.control().shrink(None).unwrap();
    assert_eq!(report.freed_bytes, grown - reserved(&session));
    assert!(reserved(&session) <= after_load * 115 / 100, "{after_load} {}", reserved(&session));
}
