//! Figures that hold on a noisy machine: medians, and ratios pair by pair.

/// The median; 0 where there is none.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which `share` of the values lie.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
}

/// Median of the ratios `a / b`, with the interval that holds the median nine times in ten (by order statistics).
pub(crate) fn ratio(a: &[f64], b: &[f64]) -> String {
    let mut ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    let n = ratios.len() as f64;
    let half = (1.645 * n.sqrt() / 2.0).ceil();
    let at = |index: f64| ratios[(index.max(0.0) as usize).min(ratios.len() - 1)];
    let middle = (n - 1.0) / 2.0;
    format!(
        "{:.3} [{:.3}, {:.3}] of {} pairs",
        median(&ratios),
        at(middle - half),
        at(middle + half),
        ratios.len()
    )
}
