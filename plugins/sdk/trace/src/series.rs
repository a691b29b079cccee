//! What the model holds over time, in as many points as a chart can show.

use serde::Serialize;

/// What the model holds at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Point {
    /// When.
    pub at_ms: u64,
    /// Reserved with the policy.
    pub with_bytes: u64,
    /// Reserved without it.
    pub without_bytes: u64,
}

/// The highest that was held in each of so many stretches of equal length.
#[derive(Debug)]
pub(crate) struct Series {
    stretch_ms: u64,
    highest: Vec<Option<u64>>,
}

impl Series {
    /// Of a time, in at most so many points.
    pub(crate) fn new(duration_ms: u64, most_points: usize) -> Self {
        if most_points == 0 {
            return Self { stretch_ms: 1, highest: Vec::new() };
        }
        let stretch_ms = (duration_ms / most_points as u64).saturating_add(1);
        let points = usize::try_from(duration_ms / stretch_ms + 1).unwrap_or(usize::MAX).min(most_points);
        Self { stretch_ms, highest: vec![None; points] }
    }

    /// Notes what was held from one moment to another.
    pub(crate) fn add(&mut self, from_ms: u64, to_ms: u64, bytes: u64) {
        let index = |ms: u64| usize::try_from(ms / self.stretch_ms).unwrap_or(usize::MAX);
        let last = self.highest.len().saturating_sub(1);
        let (from, to) = (index(from_ms).min(last), index(to_ms).min(last));
        for highest in self.highest.iter_mut().take(to + 1).skip(from) {
            *highest = (*highest).max(Some(bytes));
        }
    }

    /// The points, this one being with the policy.
    pub(crate) fn beside(&self, without: &Self) -> Vec<Point> {
        let both = self.highest.iter().zip(&without.highest);
        both.enumerate()
            .filter_map(|(index, (with, without))| {
                let at_ms = self.stretch_ms.saturating_mul(index as u64);
                Some(Point { at_ms, with_bytes: (*with)?, without_bytes: (*without)? })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_point_is_the_highest_of_its_stretch() {
        let (mut with, mut without) = (Series::new(99, 10), Series::new(99, 10));
        with.add(0, 45, 5);
        with.add(45, 45, 9);
        with.add(45, 99, 3);
        without.add(0, 99, 9);
        let points = with.beside(&without);
        assert_eq!(
            points.iter().map(|point| point.at_ms).collect::<Vec<_>>(),
            [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]
        );
        assert_eq!(
            points.iter().map(|point| point.with_bytes).collect::<Vec<_>>(),
            [5, 5, 5, 5, 9, 3, 3, 3, 3, 3]
        );
        assert!(points.iter().all(|point| point.without_bytes == 9));
    }

    #[test]
    fn there_are_never_more_points_than_asked_for() {
        for (duration_ms, most) in [(0, 3), (1, 3), (2, 3), (3, 3), (1_000_003, 2_000), (u64::MAX, 2), (9, 0)]
        {
            let mut series = Series::new(duration_ms, most);
            series.add(0, u64::MAX, 1);
            let points = series.beside(&series);
            assert!(
                points.len() <= most && points.is_empty() == (most == 0),
                "{duration_ms} {most}: {points:?}"
            );
        }
    }
}
