//! How accurate forecasts are, with the simulator's prompt cache.

use sluice_core::CacheBreak;

use crate::support;

/// Checks invariant C4.
#[test]
fn forecasts_are_accurate() {
    let measured = support::forecast::measure();
    assert_eq!((measured.len(), measured.iter().filter(|one| one.is_first).count()), (70, 7));
    for one in measured {
        let (cost, cached) = (one.cost_error(), one.cached_error());
        let about = format!("{} {}: {cost:.1} %, {cached:.1} points", one.conversation, one.record.id);
        assert!(cached <= 5.0 && cost <= 10.0, "{about}: {:?} {:?}", one.record.forecast, one.record.usage);
    }
}

/// The simulator's cache counts the unchanged tokens at the beginning of a prompt independently of the core.
#[test]
fn the_cache_lens_finds_as_many_equal_tokens_as_the_simulator() {
    let mut broken = 0;
    for one in support::forecast::measure() {
        let (Some(lens), Some(cached)) = (&one.record.lens, one.record.usage.cached) else { continue };
        if cached == 0 || !matches!(lens.cause, Some(cause) if cause != CacheBreak::Expired) {
            continue;
        }
        broken += 1;
        // The cache has blocks of 128 tokens, and single pieces are counted with our own vocabulary.
        assert!(lens.same.abs_diff(cached) <= 128 + lens.same / 10, "{} {}: {lens:?}", one.conversation, one.record.id);
    }
    assert!(broken >= 5, "only {broken} requests broke a prefix");
}
