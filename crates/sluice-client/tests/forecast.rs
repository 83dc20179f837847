//! How accurate forecasts are, with the simulator's prompt cache.

#[path = "support/forecast.rs"]
mod forecast;

/// Checks invariant C4.
#[test]
fn forecasts_are_accurate() {
    let measured = forecast::measure();
    assert_eq!(measured.len(), 70);
    for one in measured {
        let (cost, cached) = (one.cost_error(), one.cached_error());
        let about = format!("{} {}: {cost:.1} %, {cached:.1} points", one.conversation, one.record.id);
        // At first the input is only estimated, for a tokenizer that nobody else has.
        let most = if one.is_first { 20.0 } else { 10.0 };
        assert!(cached <= 5.0 && cost <= most, "{about}: {:?} {:?}", one.record.forecast, one.record.usage);
    }
}
