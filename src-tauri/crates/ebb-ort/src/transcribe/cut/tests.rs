use proptest::prelude::*;

use super::*;

const LENGTHS: Lengths = Lengths { enough: 100, most: 400, least_voiced: 6 };

/// Cuts audio whose frames are so likely speech; each frame holds its own number.
fn cut(likely: &[f32]) -> (Vec<Stretch>, Cutter) {
    let mut cutter = Cutter::new(LENGTHS);
    let mut stretches = Vec::new();
    for (number, &likely) in likely.iter().enumerate() {
        cutter.push(&[number as f32 / 1e6; FRAME_SAMPLES]);
        let frame = cutter.frame().unwrap();
        stretches.extend(cutter.judge(frame, likely));
    }
    cutter.pad();
    assert!(cutter.frame().is_none());
    stretches.extend(cutter.finish());
    (stretches, cutter)
}

/// Stretches as frames: where the voice begins and ends, and the first and last frame that are given.
fn places(stretches: &[Stretch]) -> Vec<(u64, u64, usize, usize)> {
    let frame = FRAME_SAMPLES as u64;
    let number = |sample: Option<&f32>| (sample.unwrap() * 1e6).round() as usize;
    let place = |one: &Stretch| {
        (one.start / frame, one.end / frame, number(one.samples.first()), number(one.samples.last()))
    };
    stretches.iter().map(place).collect()
}

/// Runs of silence and speech, in turn, beginning with silence.
fn runs(lens: &[usize]) -> Vec<f32> {
    lens.iter().enumerate().flat_map(|(at, &len)| vec![if at % 2 == 0 { 0.01 } else { 0.9 }; len]).collect()
}

#[test]
fn speech_is_given_with_a_little_around_it() {
    let (stretches, cutter) = cut(&runs(&[50, 120, 50]));
    assert_eq!(places(&stretches), [(50, 170, 43, 176)]);
    assert_eq!((cutter.taken(), cutter.settled()), (220 * 512, 220 * 512));
    assert!(cutter.frames.len() <= PAD_FRAMES, "silence is not kept");
}

#[test]
fn silence_and_clicks_are_nothing() {
    assert!(cut(&runs(&[500])).0.is_empty());
    assert!(cut(&runs(&[40, 4, 60, 5, 60])).0.is_empty());
    assert!(cut(&[]).0.is_empty());
}

#[test]
fn a_short_pause_ends_what_is_long_enough_a_long_one_everything() {
    let (stretches, _) = cut(&runs(&[0, 110, 20, 30, 20, 30, 60, 9]));
    assert_eq!(places(&stretches), [(0, 110, 0, 116), (130, 210, 123, 216), (270, 279, 263, 278)]);
}

#[test]
fn a_detector_that_wavers_does_not_cut() {
    let mut likely = runs(&[10, 60]);
    for place in [20, 30, 40] {
        likely[place..place + 5].fill(0.4);
    }
    likely.extend(runs(&[50]));
    assert_eq!(places(&cut(&likely).0), [(10, 70, 3, 76)]);
}

#[test]
fn what_is_too_long_is_cut_where_it_is_quietest_and_nothing_is_heard_twice() {
    let mut likely = runs(&[0, 900]);
    likely[300..306].fill(0.1);
    let (stretches, _) = cut(&likely);
    let (first, second) = (&places(&stretches)[0], &places(&stretches)[1]);
    assert!((first.0, first.2) == (0, 0) && (300..306).contains(&first.3), "{first:?}");
    assert_eq!(second.2, first.3 + 1);
    let samples: usize = stretches.iter().map(|stretch| stretch.samples.len()).sum();
    assert!(samples.abs_diff(900 * FRAME_SAMPLES) <= 6 * FRAME_SAMPLES);
}

#[test]
fn the_end_is_no_later_than_the_audio() {
    let mut cutter = Cutter::new(LENGTHS);
    cutter.push(&[0.1; 20 * FRAME_SAMPLES + 100]);
    cutter.pad();
    while let Some(frame) = cutter.frame() {
        assert_eq!(cutter.judge(frame, 1.0), None);
        assert_eq!(cutter.settled(), 0);
    }
    let stretch = cutter.finish().unwrap();
    assert_eq!((stretch.start, stretch.end), (0, 20 * 512 + 100));
}

#[test]
fn halves_meet_where_it_is_quiet() {
    let mut samples = vec![0.5; 40 * FRAME_SAMPLES];
    samples[22 * FRAME_SAMPLES..23 * FRAME_SAMPLES].fill(0.0);
    let (first, second) = Stretch { start: 1_000, end: 21_000, samples }.halves();
    assert_eq!((first.start, second.end), (1_000, 21_000));
    assert_eq!((first.samples.len(), second.samples.len()), (22 * FRAME_SAMPLES, 18 * FRAME_SAMPLES));
    assert!(first.end == second.start && first.end == 1_000 + 22 * FRAME_SAMPLES as u64);
}

proptest! {
    /// Whatever is heard: stretches come in order, do not overlap, are no longer than they may be, and hold all speech.
    #[test]
    fn stretches_are_in_order_and_bounded(lens in prop::collection::vec(0_usize..700, 0..12)) {
        let likely = runs(&lens);
        let (stretches, _) = cut(&likely);
        let mut end = 0;
        for stretch in &stretches {
            prop_assert!(stretch.start >= end && stretch.end > stretch.start);
            prop_assert!(stretch.samples.len() <= (LENGTHS.most + PAD_FRAMES) * FRAME_SAMPLES);
            end = stretch.end;
        }
        for (number, _) in likely.iter().enumerate().filter(|(_, likely)| **likely > 0.5) {
            let place = (number * FRAME_SAMPLES) as u64;
            let alone = lens.iter().any(|&len| len < LENGTHS.least_voiced);
            let inside = stretches.iter().any(|one| (one.start..one.end).contains(&place));
            prop_assert!(inside || alone, "frame {} is lost", number);
        }
    }
}
