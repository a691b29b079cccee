/// Numbers that look random and are the same on every machine (splitmix64).
#[derive(Debug, Clone)]
pub struct Noise(u64);

impl Noise {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// The next number in -1.0..1.0.
    pub fn next_f32(&mut self) -> f32 {
        // 24 bits fill a single's mantissa exactly.
        (self.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

impl Iterator for Noise {
    type Item = f32;

    fn next(&mut self) -> Option<f32> {
        Some(self.next_f32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_fixed_and_stays_in_its_range() {
        assert_eq!(Noise::new(0).next_u64(), 0xe220_a839_7b1d_cdaf);
        let values: Vec<f32> = Noise::new(7).take(10_000).collect();
        assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        assert!(mean.abs() < 0.05, "{mean}");
    }
}
