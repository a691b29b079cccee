use std::f64::consts::TAU;

use ebb_core::{Code, Failure};
use proptest::prelude::*;

use super::*;

const FLAC: &[u8] = include_bytes!("../../fixtures/tone.flac");
const MP3: &[u8] = include_bytes!("../../fixtures/tone.mp3");
const OGG: &[u8] = include_bytes!("../../fixtures/tone.ogg");

/// A WAV file, its header as it should be.
#[derive(Clone)]
struct Wav {
    code: u16,
    channels: u16,
    rate_hz: u32,
    bits: u16,
    data: Vec<u8>,
}

impl Wav {
    /// 16 bits, one channel.
    fn of(rate_hz: u32, samples: impl IntoIterator<Item = f64>) -> Self {
        let data = samples.into_iter().flat_map(|sample| ((sample * 32_767.0).round() as i16).to_le_bytes());
        Self { code: 1, channels: 1, rate_hz, bits: 16, data: data.collect() }
    }

    fn floats(samples: &[f32]) -> Self {
        let data = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        Self { code: 3, channels: 1, rate_hz: SAMPLE_RATE_HZ, bits: 32, data }
    }

    fn bytes(&self) -> Vec<u8> {
        self.with_len(self.data.len() as u32)
    }

    /// With a header that says that there are so many bytes of samples.
    fn with_len(&self, len_bytes: u32) -> Vec<u8> {
        let frame = self.channels.wrapping_mul(self.bits / 8);
        let mut bytes = b"RIFF".to_vec();
        bytes.extend(len_bytes.wrapping_add(36).to_le_bytes());
        bytes.extend(b"WAVEfmt \x10\0\0\0");
        bytes.extend(self.code.to_le_bytes());
        bytes.extend(self.channels.to_le_bytes());
        bytes.extend(self.rate_hz.to_le_bytes());
        bytes.extend(self.rate_hz.wrapping_mul(u32::from(frame)).to_le_bytes());
        bytes.extend(frame.to_le_bytes());
        bytes.extend(self.bits.to_le_bytes());
        bytes.extend(b"data");
        bytes.extend(len_bytes.to_le_bytes());
        bytes.extend(&self.data);
        bytes
    }
}

fn sine(rate_hz: u32, hz: f64, samples: usize) -> impl Iterator<Item = f64> {
    (0..samples).map(move |at| 0.5 * (TAU * hz * at as f64 / f64::from(rate_hz)).sin())
}

fn hear(bytes: impl Into<Bytes>) -> Vec<f32> {
    Audio::open(bytes.into(), None).unwrap().flatten().collect()
}

fn refused(bytes: impl Into<Bytes>) -> Failure {
    Audio::open(bytes.into(), None).unwrap_err().into()
}

/// How loud a tone is in samples at 16 kHz: its amplitude.
fn amplitude(samples: &[f32], hz: f64) -> f64 {
    let part = |turn: fn(f64) -> f64| {
        let sum = samples
            .iter()
            .enumerate()
            .map(|(at, &sample)| f64::from(sample) * turn(TAU * hz * at as f64 / f64::from(SAMPLE_RATE_HZ)));
        sum.sum::<f64>() * 2.0 / samples.len() as f64
    };
    part(f64::sin).hypot(part(f64::cos))
}

#[test]
fn any_rate_comes_out_as_the_same_tone_at_the_same_time() {
    for rate_hz in [16_000, 48_000, 44_100, 22_050, 8_000, 11_025, 32_000, 96_000, 44_101] {
        let frames = rate_hz as usize * 23 / 10 + 1;
        let heard = hear(Wav::of(rate_hz, sine(rate_hz, 440.0, frames)).bytes());
        let due = (frames * 16_000).div_ceil(rate_hz as usize);
        assert_eq!(heard.len(), due, "at {rate_hz}");
        let want = sine(16_000, 440.0, due).map(|sample| sample as f32);
        // The filter sees silence around the sound, so its edges ring.
        let inside = 400..due - 400;
        let differs = heard.iter().zip(want).map(|(got, want)| (got - want).abs());
        let most = differs.skip(inside.start).take(inside.len()).fold(0.0, f32::max);
        assert!(most < 0.002, "at {rate_hz}: {most}");
    }
}

#[test]
fn what_16_khz_cannot_hold_is_taken_out_not_folded_back() {
    let heard = hear(Wav::of(48_000, sine(48_000, 10_000.0, 48_000)).bytes());
    assert!(amplitude(&heard, 6_000.0) < 0.001);
    let loudest = heard[400..15_600].iter().fold(0.0, |most: f32, sample| most.max(sample.abs()));
    assert!(loudest < 0.002, "{loudest}");
    let kept = hear(Wav::of(48_000, sine(48_000, 7_000.0, 48_000)).bytes());
    assert!((amplitude(&kept, 7_000.0) - 0.5).abs() < 0.01);
}

#[test]
fn each_format_gives_the_tone_that_went_in() {
    for (name, bytes) in [("flac", FLAC), ("mp3", MP3), ("ogg", OGG)] {
        for format in [None, Some(name), Some("wav")] {
            let audio = Audio::open(Bytes::from_static(bytes), format).unwrap();
            assert_eq!(audio.duration_ms(), Some(1_500), "{name}");
            let heard: Vec<f32> = audio.flatten().collect();
            assert_eq!(heard.len(), 24_000, "{name}");
            let got = amplitude(&heard[800..23_200], 440.0);
            assert!((got - 0.5).abs() < 0.01, "{name}: {got}");
        }
    }
}

#[test]
fn channels_are_mixed() {
    let data = [(0.5, -0.5), (0.25, 0.75), (1.0, 1.0)];
    let mut wav = Wav::of(16_000, data.iter().flat_map(|&(left, right)| [left, right]));
    wav.channels = 2;
    let heard = hear(wav.bytes());
    let want = [0.0, 0.5, 1.0];
    assert!(heard.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-4), "{heard:?}");
    assert_eq!(heard.len(), 3);
}

#[test]
fn samples_are_numbers_between_minus_one_and_one() {
    let wild = [0.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -3.0];
    assert_eq!(hear(Wav::floats(&wild).bytes()), [0.5, 0.0, 0.0, 0.0, 1.0, -1.0]);
}

#[test]
fn a_header_that_lies_about_the_length_hides_nothing() {
    let wav = Wav::of(16_000, sine(16_000, 440.0, 1_000));
    for len_bytes in [0, 10, 1_998, 2_000, 2_001, 50_000, u32::MAX - 1, u32::MAX] {
        let audio = Audio::open(wav.with_len(len_bytes).into(), None).unwrap();
        assert_eq!(audio.duration_ms(), Some(62), "{len_bytes}");
        assert_eq!(audio.flatten().count(), 1_000, "{len_bytes}");
    }
    let cut = wav.bytes()[..44 + 501].to_vec();
    assert_eq!(hear(cut).len(), 250, "half a sample is none");
    let mut tagged = wav.bytes();
    tagged.extend(b"LIST\x04\0\0\0INFO");
    assert_eq!(hear(tagged).len(), 1_000, "what follows an honest length is no sound");
}

#[test]
fn a_file_without_sound_is_told_apart() {
    let wav = Wav::of(16_000, []);
    for bytes in [wav.bytes(), wav.bytes()[..36].to_vec(), Vec::new()] {
        let failure = refused(bytes);
        assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidRequest, Some("file")));
        assert!(failure.message.contains("no sound"), "{failure}");
    }
}

#[test]
fn headers_that_cannot_be_are_named() {
    let wav = Wav::of(16_000, sine(16_000, 440.0, 100));
    for (broken, says) in [
        (Wav { channels: 0, ..wav.clone() }, "0 channels"),
        (Wav { channels: u16::MAX, ..wav.clone() }, "65535 channels"),
        (Wav { rate_hz: 0, ..wav.clone() }, "0 samples a second"),
        (Wav { rate_hz: 1, ..wav.clone() }, "1 samples a second"),
        (Wav { rate_hz: u32::MAX, ..wav.clone() }, "4294967295 samples a second"),
        (Wav { bits: 0, ..wav.clone() }, "damaged"),
        (Wav { bits: u16::MAX, ..wav.clone() }, "damaged"),
    ] {
        let failure = refused(broken.bytes());
        assert_eq!(failure.code, Code::InvalidRequest, "{says}: {failure}");
        assert!(failure.message.contains(says) && failure.hint.is_some(), "{says}: {failure}");
    }
    let unknown = refused(Wav { code: 0x55, ..wav }.bytes());
    assert_eq!(unknown.code, Code::Unsupported, "{unknown}");
}

#[test]
fn files_of_other_kinds_are_refused_with_what_is_read() {
    let text = b"The quick brown fox jumps over the lazy dog. ".repeat(200);
    let zeros = vec![0; 10_000];
    let mp4 = [b"\0\0\0\x20ftypisom".to_vec(), MP3.to_vec()].concat();
    let webm = [b"\x1a\x45\xdf\xa3".to_vec(), MP3.to_vec()].concat();
    let avi = [b"RIFF\0\0\0\0AVI ".to_vec(), MP3.to_vec()].concat();
    for (bytes, says) in [
        (text, "no audio"),
        (zeros, "no audio"),
        (mp4, "MP4"),
        (webm, "WebM"),
        (avi, "AVI"),
        (vec![7], "no audio"),
    ] {
        let failure = refused(bytes);
        assert_eq!(failure.code, Code::Unsupported, "{failure}");
        assert!(failure.message.contains(says), "{failure}");
        assert!(failure.hint.unwrap().contains("WAV, FLAC, MP3 and OGG"));
    }
}

#[test]
fn a_cut_file_is_heard_until_the_cut() {
    for (name, bytes) in [("flac", FLAC), ("mp3", MP3)] {
        let heard = hear(Bytes::from_static(&bytes[..bytes.len() / 2 + 7]));
        assert!((4_000..20_000).contains(&heard.len()), "{name}: {}", heard.len());
        let got = amplitude(&heard[800..3_600], 440.0);
        assert!((got - 0.5).abs() < 0.02, "{name}: {got}");
    }
}

#[test]
fn files_put_one_after_the_other_are_heard_one_after_the_other() {
    let twice = [OGG, OGG].concat();
    let heard = hear(twice.clone());
    assert_eq!(heard.len(), 48_000);
    assert!((amplitude(&heard[24_800..47_200], 440.0) - 0.5).abs() < 0.01);
    // The page that was cut is lost, and with it the second file.
    assert_eq!(hear(twice[..OGG.len() * 3 / 2].to_vec()).len(), 24_000);
}

#[test]
fn a_file_cut_in_its_head_is_damaged() {
    for (name, bytes) in [("flac", FLAC), ("ogg", OGG)] {
        for len in [5, 30, 70] {
            let failure = refused(Bytes::from_static(&bytes[..len]));
            assert_eq!(failure.code, Code::InvalidRequest, "{name} cut at {len}: {failure}");
        }
    }
}

#[test]
fn an_hour_is_never_held_whole() {
    let mut wav = Wav::of(8_000, []);
    wav.data = vec![0; 2 * 8_000 * 600];
    let mut audio = Audio::open(wav.bytes().into(), None).unwrap();
    let (mut blocks, mut samples, mut most) = (0, 0, 0);
    while let Some(block) = audio.next() {
        blocks += 1;
        samples += block.len();
        most = most.max(audio.ready.capacity() + audio.decoded.capacity() + block.capacity());
    }
    assert_eq!((blocks, samples), (600, 600 * BLOCK_SAMPLES));
    assert!(most < 8 * BLOCK_SAMPLES, "{most} samples were held");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever a stranger does to a file, it is heard or refused.
    #[test]
    fn a_damaged_file_does_no_harm(
        which in 0_usize..4,
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        early in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let wav = Wav::of(16_000, sine(16_000, 440.0, 2_000)).bytes();
        let mut bytes = [FLAC, MP3, OGG, &wav][which].to_vec();
        for (place, value) in places {
            let reach = if early { bytes.len().min(200) } else { bytes.len() };
            bytes[place.index(reach)] = value;
        }
        bytes.truncate(cut.index(bytes.len() * 2).max(1));
        if let Ok(audio) = Audio::open(bytes.into(), None) {
            for block in audio.take(100) {
                prop_assert!(block.iter().all(|sample| (-1.0..=1.0).contains(sample)));
            }
        }
    }
}
