//! Random numbers from a seed. Written out here so that a seed gives the same text in every version of Ebb: the SplitMix64
//! generator, which is as good as one draw a token needs.

/// The generator.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to, but not including, 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let drawn = [random.next(), random.next(), random.next()];
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_are_spread_evenly_below_one() {
        let mut random = Random::new(0);
        let mut tenths = [0; 10];
        for _ in 0..10_000 {
            tenths[(random.unit() * 10.0) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| (900..1100).contains(count)), "{tenths:?}");
    }
}
