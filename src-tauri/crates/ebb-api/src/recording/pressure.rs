//! When what the system has left is worth a line.

/// Bounds, in percent of the whole memory, that are told when they are crossed: a shortage begins below the first and ends
/// above the second.
const BOUNDS: [u64; 2] = [10, 15];

/// A change by so much, in percent of the whole memory, is told: more closely while memory is short, when policies act on it.
const CHANGE_WHILE_SHORT: u64 = 1;
const CHANGE: u64 = 5;

/// What was told last.
#[derive(Debug, Default)]
pub(super) struct Pressure {
    told: Option<(u64, u64)>,
}

impl Pressure {
    /// Whether it is to be told; it is taken to be.
    pub(super) fn is_news(&mut self, available_bytes: u64, total_bytes: u64) -> bool {
        let news = self.told.is_none_or(|(available, total)| {
            let (was, is) = (level(available, total), level(available_bytes, total_bytes));
            let change = if is == BOUNDS.len() { CHANGE } else { CHANGE_WHILE_SHORT };
            let moved = u128::from(available.abs_diff(available_bytes)) * 100;
            was != is || moved >= u128::from(total_bytes) * u128::from(change) || total != total_bytes
        });
        if news {
            self.told = Some((available_bytes, total_bytes));
        }
        news
    }
}

/// How many of the bounds are reached.
fn level(available_bytes: u64, total_bytes: u64) -> usize {
    let reached =
        |bound: &&u64| u128::from(available_bytes) * 100 >= u128::from(total_bytes) * u128::from(**bound);
    BOUNDS.iter().filter(reached).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_told_closely_and_what_hardly_changes_is_not() {
        let mut pressure = Pressure::default();
        let looks = [500, 480, 449, 160, 151, 149, 145, 139, 101, 99, 95, 89, 120, 150, 160];
        let told: Vec<u64> =
            looks.into_iter().filter(|available| pressure.is_news(*available, 1_000)).collect();
        assert_eq!(told, [500, 449, 160, 149, 139, 101, 99, 89, 120, 150]);
        assert!(pressure.is_news(150, 2_000), "the limit of a container was changed");
    }
}
