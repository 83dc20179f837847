//! Arithmetic with token counts: medians, rounding, and rounding that keeps a sum.

/// Returns the median of values with weights.
pub(super) fn median(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut before = 0.0;
    let reaches_half = |(_, weight): &&(f64, f64)| {
        before += weight;
        before > half
    };
    values.iter().find(reaches_half).map(|(value, _)| *value)
}

/// Rounds costs to whole tokens. The running sum is rounded, so that the results add up to the whole.
pub(super) fn shares(costs: impl Iterator<Item = (u128, f64)>) -> Vec<(u128, u32)> {
    let (mut exact, mut given) = (0.0, 0);
    let share = |(print, cost)| {
        exact += cost;
        let share = whole(exact).saturating_sub(given);
        given += share;
        (print, share)
    };
    costs.map(share).collect()
}

#[allow(clippy::cast_precision_loss, reason = "counts are small")]
pub(super) fn tokens(count: u64) -> f64 {
    count as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate; counts are small")]
pub(super) fn whole(tokens: f64) -> u32 {
    tokens.round() as u32
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate; counts are small")]
pub(super) fn ceil(tokens: f64) -> u64 {
    tokens.ceil() as u64
}
