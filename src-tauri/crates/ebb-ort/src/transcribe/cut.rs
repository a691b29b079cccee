//! Where long audio is cut: at pauses, so that each stretch holds whole sentences and no more than the model takes.

use super::voice::FRAME_SAMPLES;

/// From this likelihood on someone begins to speak.
const SPEAKS: f32 = 0.5;

/// Below this one, a voice has ended: a little less, so that it does not come and go.
const PAUSES: f32 = 0.35;

/// Kept before and after a voice: words begin and end more quietly than a detector hears, 224 ms.
const PAD_FRAMES: usize = 7;

/// Less voice than this is a click, 256 ms: a word takes longer.
const LEAST_VOICED_FRAMES: usize = 8;

/// A pause that ends a stretch that is long enough, 416 ms.
const SHORT_PAUSE_FRAMES: usize = 13;

/// A pause that ends any stretch, 1.2 s: what is shorter joins what is tiny to what follows.
const LONG_PAUSE_FRAMES: usize = 38;

/// How long stretches are to be, in frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    /// A shorter one is not ended by a short pause.
    pub(super) enough: usize,
    /// None is longer.
    pub(super) most: usize,
    /// One with less voice than this is a noise.
    pub(super) least_voiced: usize,
}

impl Lengths {
    /// From seconds.
    pub(super) fn of_seconds(enough: usize, most: usize) -> Self {
        let frames = |seconds: usize| seconds * ebb_audio::SAMPLE_RATE_HZ as usize / FRAME_SAMPLES;
        Self { enough: frames(enough), most: frames(most), least_voiced: LEAST_VOICED_FRAMES }
    }
}

/// A stretch of speech.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stretch {
    /// Where the voice begins, in samples of the audio.
    pub(super) start: u64,
    /// Where it ends.
    pub(super) end: u64,
    /// Its samples, and some before and after.
    pub(super) samples: Vec<f32>,
}

impl Stretch {
    /// Two of it, cut where it is quietest in its middle half.
    pub(super) fn halves(self) -> (Self, Self) {
        let Self { start, end, mut samples } = self;
        let quarter = samples.len() / 4;
        let frames = samples[quarter..samples.len() - quarter].chunks(FRAME_SAMPLES).enumerate();
        let quietest = frames.min_by(|(_, a), (_, b)| loudness(a).total_cmp(&loudness(b)));
        let at = quarter + quietest.map_or(0, |(frame, _)| frame * FRAME_SAMPLES);
        let middle = (start + at as u64).min(end);
        let rest = samples.split_off(at);
        (Self { start, end: middle, samples }, Self { start: middle, end, samples: rest })
    }
}

/// A frame that has been judged.
#[derive(Debug)]
struct Frame {
    likely: f32,
    samples: Vec<f32>,
}

/// Cuts audio as it comes. It holds the stretch that is going on, and nothing else.
#[derive(Debug)]
pub(super) struct Cutter {
    lengths: Lengths,
    /// Samples that make no frame yet.
    rest: Vec<f32>,
    frames: Vec<Frame>,
    /// Frames dropped before them.
    dropped: usize,
    /// Where in `frames` the voice began; `None` while nobody speaks.
    began: Option<usize>,
    /// One past the last frame with voice.
    voiced_to: usize,
    /// Samples of the audio so far.
    taken: u64,
}

impl Cutter {
    pub(super) fn new(lengths: Lengths) -> Self {
        Self {
            lengths,
            rest: Vec::new(),
            frames: Vec::new(),
            dropped: 0,
            began: None,
            voiced_to: 0,
            taken: 0,
        }
    }

    /// Takes samples; [`Cutter::frame`] gives them back frame by frame.
    pub(super) fn push(&mut self, samples: &[f32]) {
        self.taken += samples.len() as u64;
        self.rest.extend_from_slice(samples);
    }

    /// Says that no more samples come: silence fills the last frame.
    pub(super) fn pad(&mut self) {
        self.rest.resize(self.rest.len().next_multiple_of(FRAME_SAMPLES), 0.0);
    }

    /// The next frame to be judged.
    pub(super) fn frame(&mut self) -> Option<Vec<f32>> {
        (self.rest.len() >= FRAME_SAMPLES).then(|| self.rest.drain(..FRAME_SAMPLES).collect())
    }

    /// Up to where all that was said has been given, in samples.
    pub(super) fn settled(&self) -> u64 {
        self.began.map_or(self.taken, |began| self.place(began))
    }

    /// Samples so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes a frame and how likely someone speaks in it; gives a stretch where one has ended with it.
    pub(super) fn judge(&mut self, samples: Vec<f32>, likely: f32) -> Option<Stretch> {
        self.frames.push(Frame { likely, samples });
        let now = self.frames.len();
        let Some(began) = self.began else {
            if likely >= SPEAKS {
                self.began = Some(now - 1);
                self.voiced_to = now;
            } else {
                self.drop_before(now.saturating_sub(PAD_FRAMES));
            }
            return None;
        };
        if likely >= PAUSES {
            self.voiced_to = now;
        }
        let pause = now - self.voiced_to;
        let enough = self.voiced_to - began >= self.lengths.enough && pause >= SHORT_PAUSE_FRAMES;
        if enough || pause >= LONG_PAUSE_FRAMES {
            self.began = None;
            let stretch = self.stretch(began, self.voiced_to, self.voiced_to + PAD_FRAMES);
            self.drop_before(now.saturating_sub(PAD_FRAMES));
            return stretch;
        }
        // The pads on both sides count as well.
        (now - began + 2 * PAD_FRAMES >= self.lengths.most).then(|| self.split(began)).flatten()
    }

    /// The stretch that is still going on, at the end of the audio.
    pub(super) fn finish(&mut self) -> Option<Stretch> {
        let began = self.began.take()?;
        self.stretch(began, self.voiced_to, self.voiced_to + PAD_FRAMES)
    }

    /// Ends a stretch that has grown too long where it is quietest in its second half.
    fn split(&mut self, began: usize) -> Option<Stretch> {
        let now = self.frames.len();
        let quiet = |at: &usize| {
            let around = &self.frames[at.saturating_sub(3).max(began)..(at + 4).min(now)];
            let voice = around.iter().map(|frame| frame.likely).sum::<f32>() / around.len() as f32;
            voice + around.iter().map(|frame| loudness(&frame.samples)).sum::<f32>() / around.len() as f32
        };
        let halfway = began + (now - began) / 2;
        let at = (halfway..now).min_by(|a, b| quiet(a).total_cmp(&quiet(b))).unwrap_or(halfway);
        let first = self.stretch(began, at.min(self.voiced_to).max(began + 1), at);
        // No pads here: what lies around is speech, and would be heard twice.
        self.drop_before(at);
        let voiced = |frame: &Frame| frame.likely >= PAUSES;
        self.began = self.frames.iter().position(voiced);
        self.voiced_to = self.frames.iter().rposition(voiced).map_or(0, |last| last + 1);
        first
    }

    /// The frames from `began` to `to` with some before them and those up to `until`; `None` where that is no speech.
    fn stretch(&self, began: usize, to: usize, until: usize) -> Option<Stretch> {
        let voiced = self.frames[began..to].iter().filter(|frame| frame.likely >= PAUSES).count();
        let with_pads = began.saturating_sub(PAD_FRAMES)..until.min(self.frames.len());
        (voiced >= self.lengths.least_voiced).then(|| Stretch {
            start: self.place(began),
            end: self.place(to).min(self.taken),
            samples: self.frames[with_pads].iter().flat_map(|frame| &frame.samples).copied().collect(),
        })
    }

    fn place(&self, frame: usize) -> u64 {
        ((self.dropped + frame) * FRAME_SAMPLES) as u64
    }

    fn drop_before(&mut self, frame: usize) {
        self.frames.drain(..frame);
        self.dropped += frame;
        self.voiced_to = self.voiced_to.saturating_sub(frame);
    }
}

fn loudness(samples: &[f32]) -> f32 {
    (samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32).sqrt()
}

#[cfg(test)]
mod tests;
