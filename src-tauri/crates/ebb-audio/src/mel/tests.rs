use super::*;

/// Two seconds of a tone and a saw.
fn signal() -> Vec<f32> {
    let tone = |at: usize| 0.5 * (2.0 * PI * 440.0 * at as f64 / 16_000.0).sin();
    let saw = |at: usize| (at * 37 % 200) as f64 / 400.0 - 0.25;
    (0..32_000).map(|at| (tone(at) + saw(at)) as f32).collect()
}

/// Values that NumPy gives: its own FFT, `hanning(401)` without its last, dense filters by Slaney's formula.
#[test]
fn values_are_those_of_an_independent_computation() {
    let check = |bands: usize, frames: usize, want: &[(usize, usize, f32)], mean: f32| {
        let mel = Mel::new(bands).log_mel(&signal(), frames);
        assert_eq!(mel.len(), bands * frames);
        for &(band, frame, want) in want {
            let got = mel[band * frames + frame];
            assert!((got - want).abs() < 1e-3, "band {band} of {bands}, frame {frame}: {got}, not {want}");
        }
        let got = mel.iter().sum::<f32>() / mel.len() as f32;
        assert!((got - mean).abs() < 1e-3, "mean {got}, not {mean}");
    };
    // More frames than there is sound.
    let want = [
        (0, 0, 0.984_545),
        (5, 1, 0.484_331),
        (10, 100, 1.347_51),
        (17, 50, 0.540_364),
        (40, 199, 0.728_894),
        (79, 150, 0.586_060),
        (79, 299, -0.560_785),
    ];
    check(80, 300, &want, 0.158_537);
    // Just as many, so that the end is mirrored.
    let want = [
        (0, 0, 0.908_786),
        (5, 1, 0.405_075),
        (10, 100, 0.231_161),
        (17, 50, 1.336_335),
        (40, 199, 0.334_203),
        (127, 150, 0.537_453),
        (127, 199, 0.538_872),
    ];
    check(128, 200, &want, 0.464_929);
}

#[test]
fn silence_and_nothing_are_even() {
    let mel = Mel::new(80);
    assert_eq!(mel.bands(), 80);
    for samples in [&[][..], &[0.0; 1_000], &[0.0; 100_000]] {
        let values = mel.log_mel(samples, 100);
        assert_eq!(values.len(), 8_000);
        assert!(values.iter().all(|&value| (value - -1.5).abs() < 1e-6));
    }
    assert!(mel.log_mel(&[0.1; 500], 0).is_empty());
}
