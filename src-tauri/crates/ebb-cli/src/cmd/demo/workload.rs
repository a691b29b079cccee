//! Mixed work on real text, the same on every machine.

/// Public domain; see `demo/README.md`.
const TEXT: &str = include_str!("../../../demo/jargon.txt");

const MOST_TEXTS: u32 = 32;
const WORDS: std::ops::RangeInclusive<u32> = 6..=300;

/// Every so many requests one is large, as where a batch job runs beside a search box.
const BULK_EVERY: u32 = 50;

/// Requests of 1 to 32 texts of 6 to 300 words each, most of them small, as such work is.
pub(super) struct Workload {
    pub(super) requests: Vec<Vec<String>>,
}

impl Workload {
    pub(super) fn new(requests: u32) -> Self {
        let words: Vec<&str> = TEXT.split_whitespace().collect();
        let mut dice = Dice(0x0EBB_0EBB_0EBB_0EBB);
        let request = |index| {
            if index % BULK_EVERY == BULK_EVERY / 2 {
                bulk(&words, &mut dice)
            } else {
                request(&words, &mut dice)
            }
        };
        Self { requests: (0..requests).map(request).collect() }
    }

    pub(super) fn texts(&self) -> usize {
        self.requests.iter().map(Vec::len).sum()
    }
}

/// One text of each length in words.
pub(super) fn texts_of(lengths: &[u32]) -> Vec<String> {
    let words: Vec<&str> = TEXT.split_whitespace().collect();
    let mut dice = Dice(0x0EBB_0EBB_0EBB_0EBB);
    lengths.iter().map(|length| text(&words, *length, &mut dice)).collect()
}

fn bulk(words: &[&str], dice: &mut Dice) -> Vec<String> {
    let text = |dice: &mut Dice| {
        let length = WORDS.end() - dice.up_to(WORDS.end() / 3, 1);
        text(words, length, dice)
    };
    (0..MOST_TEXTS).map(|_| text(dice)).collect()
}

fn request(words: &[&str], dice: &mut Dice) -> Vec<String> {
    let count = 1 + dice.up_to(MOST_TEXTS - 1, 3);
    let span = WORDS.end() - WORDS.start();
    // Texts of one request are of one kind: titles, paragraphs, pages.
    let longest = dice.up_to(span, 2);
    let text = |dice: &mut Dice| {
        let length = WORDS.start() + dice.up_to(longest, 1);
        text(words, length, dice)
    };
    (0..count).map(|_| text(dice)).collect()
}

/// So many words in a row, from anywhere.
fn text(words: &[&str], length: u32, dice: &mut Dice) -> String {
    let length = length as usize;
    let from = dice.up_to((words.len() - length) as u32, 1) as usize;
    words[from..from + length].join(" ")
}

/// Numbers that look random and are always the same (splitmix64).
struct Dice(u64);

impl Dice {
    /// A number from 0 to `most`; the higher the power, the likelier a small one.
    fn up_to(&mut self, most: u32, power: i32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let unit = ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        (unit.powi(power) * f64::from(most + 1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_length_asked_for() {
        let texts = texts_of(&[20, 1_000]);
        let words: Vec<_> = texts.iter().map(|text| text.split_whitespace().count()).collect();
        assert_eq!(words, [20, 1_000]);
    }

    #[test]
    fn it_is_mixed_and_always_the_same() {
        let work = Workload::new(150);
        let counts: Vec<_> = work.requests.iter().map(Vec::len).collect();
        let words: Vec<_> =
            work.requests.iter().flatten().map(|text| text.split_whitespace().count()).collect();
        assert_eq!(counts.len(), 150);
        assert!(counts.iter().all(|count| (1..=32).contains(count)), "{counts:?}");
        assert!(counts.contains(&1) && counts.iter().any(|count| *count > 28), "{counts:?}");
        assert!(words.iter().all(|words| (6..=300).contains(words)));
        assert!(words.iter().any(|words| *words < 10) && words.iter().any(|words| *words > 280));
        assert_eq!(Workload::new(150).requests, work.requests);
        assert_eq!(Workload::new(7).requests, work.requests[..7]);
    }
}
