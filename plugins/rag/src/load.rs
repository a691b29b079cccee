//! How much is embedded at once: what the settings say, less where the model's memory nears its cap.

use ebb_plugin_sdk::memory::Arena;

/// Most texts at once.
const MAX_TEXTS: usize = 64;
/// Fewest tokens at once.
const MIN_TOKENS: u32 = 128;
/// Part of its cap from which an arena is nearly full, and below which there is room again.
const NEARLY_FULL: f64 = 0.85;
const ROOM_AGAIN: f64 = 0.6;

/// How much the model is given at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Load {
    most: u32,
    tokens: u32,
    texts: usize,
}

impl Load {
    /// At most `most` tokens.
    pub(crate) fn new(most: u32) -> Self {
        Self { most, tokens: most, texts: MAX_TEXTS }
    }

    /// Tokens that are given now.
    pub(crate) fn tokens(&self) -> u32 {
        self.tokens
    }

    /// How many of the texts that wait with so many tokens each are given next: every one is padded to the longest.
    pub(crate) fn next(&self, waiting: impl Iterator<Item = u32>) -> usize {
        let mut longest = 0;
        let mut texts = 0;
        for tokens in waiting.take(self.texts) {
            longest = longest.max(tokens);
            if texts > 0 && longest.saturating_mul(texts + 1) > self.tokens {
                break;
            }
            texts += 1;
        }
        texts as usize
    }

    /// So many texts were too many: never again more than half.
    pub(crate) fn fewer_than(&mut self, texts: usize) {
        self.texts = (texts / 2).max(1);
    }

    fn halve(&mut self) {
        self.tokens = (self.tokens / 2).max(MIN_TOKENS).min(self.most);
    }

    /// Minds what the model's arenas hold.
    pub(crate) fn mind(&mut self, arenas: &[Arena]) {
        let full = |arena: &Arena| {
            let limit = arena.limit_bytes.filter(|&limit| limit > 0)?;
            Some(arena.reserved_bytes as f64 / limit as f64)
        };
        let fullest = arenas.iter().filter_map(full).fold(0.0, f64::max);
        if fullest > NEARLY_FULL {
            self.halve();
        } else if fullest < ROOM_AGAIN {
            self.tokens = self.tokens.saturating_mul(2).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arena(reserved_bytes: u64, limit_bytes: Option<u64>) -> Arena {
        Arena {
            device: "cpu:0".into(),
            in_use_bytes: 1,
            reserved_bytes,
            peak_in_use_bytes: 1,
            limit_bytes,
            regions: 1,
            shrinkages: 0,
        }
    }

    #[test]
    fn texts_count_as_long_as_the_longest() {
        let load = Load::new(100);
        assert_eq!(load.next([20, 30, 40, 10].into_iter()), 2, "three of 40 are more than 100");
        assert_eq!(load.next([500, 1].into_iter()), 1, "one is always given");
        assert_eq!(load.next([1; 500].into_iter()), MAX_TEXTS);
        assert_eq!(load.next([].into_iter()), 0);
        let mut load = Load::new(1000);
        load.fewer_than(8);
        assert_eq!(load.next([1; 500].into_iter()), 4);
    }

    #[test]
    fn it_gets_less_near_the_cap_and_more_again_when_there_is_room() {
        let mut load = Load::new(1000);
        load.mind(&[arena(10, Some(100)), arena(90, Some(100))]);
        assert_eq!(load.tokens(), 500);
        load.mind(&[arena(70, Some(100))]);
        assert_eq!(load.tokens(), 500);
        (0..9).for_each(|_| load.mind(&[arena(99, Some(100))]));
        assert_eq!(load.tokens(), MIN_TOKENS);
        (0..9).for_each(|_| load.mind(&[arena(1 << 40, None)]));
        assert_eq!(load.tokens(), 1000);
    }
}
