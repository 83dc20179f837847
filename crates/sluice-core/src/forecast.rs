//! What a request will probably use and cost, before it is sent.
//!
//! The input is counted. What the server will read from its cache follows from the earlier requests that this one begins
//! like, and from how this server has used its cache so far. The output is what the model usually writes.

use std::collections::BTreeMap;

use crate::boundary::{CostBasis, CostRange, Dollars, Forecast, Prices, RequestKind, RequestRecord, TokenUse};
use crate::lens::{BLOCK, USUAL_LIFE_MS, USUAL_MINIMUM};

/// The maximum number of models whose habits are remembered. They are not saved.
const MAX_HABITS: usize = 200;
/// How long a prompt stays in a cache that was asked to keep it for an hour.
const LONG_LIFE_MS: u64 = 60 * 60_000;
/// The weight of the latest answer in the usual length of answers.
const NEWEST: f64 = 0.3;
/// The lowest and the highest ratio of a reported cost to a computed one that is believed.
const MAX_RATIO: f64 = 10.0;
/// How many times longer than usual a long answer is, and how many times shorter a short one.
const SPREAD: u64 = 4;

/// How servers cache and how long models answer, by server, model and kind of request.
#[derive(Debug, Default)]
pub(crate) struct Habits {
    caches: BTreeMap<(String, String), CacheHabit>,
    /// The ratio of what a server reports as the cost to what follows from the prices.
    costs: BTreeMap<(String, String), f64>,
    outputs: BTreeMap<(String, RequestKind), OutputHabit>,
}

/// How a server caches the prompts of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CacheHabit {
    life_ms: u64,
    minimum: u64,
    /// Whether it ever said that it read something from its cache.
    is_used: bool,
    /// Whether it charges for what it writes to its cache.
    writes: bool,
}

/// How long the answers of a model are.
#[derive(Clone, Copy, Debug)]
struct OutputHabit {
    usual: f64,
    longest: u64,
}

/// What a forecast is made from.
pub(crate) struct Basis<'a> {
    pub input: u64,
    /// For every earlier request that this one begins like: how many tokens are the same, and when it ended.
    pub prefixes: Vec<(u64, u64)>,
    /// Whether the server was asked to keep prompts for an hour.
    pub has_long_cache: bool,
    pub prices: Option<&'a Prices>,
    /// The average number of tokens in the answers of this model so far, on other days or in other programs.
    pub average_output: Option<u64>,
    /// What a request to this model cost on average, for models without known prices.
    pub average_cost: Option<Dollars>,
    /// The limit for the answer.
    pub max_output: Option<u64>,
}

impl Habits {
    /// Makes a forecast for a request that is about to be sent.
    pub(crate) fn forecast(&self, record: &RequestRecord, basis: &Basis<'_>) -> Forecast {
        let habit = self.cache(record, basis.prices);
        let life_ms = if basis.has_long_cache { LONG_LIFE_MS } else { habit.life_ms };
        let alive = basis
            .prefixes
            .iter()
            .filter(|(same, ended_ms)| *same >= habit.minimum && record.started_ms.saturating_sub(*ended_ms) < life_ms);
        let longest = alive.map(|(same, _)| *same).max().unwrap_or(0);
        let cached = if habit.is_used { longest.min(basis.input) / BLOCK * BLOCK } else { 0 };
        let known = self.outputs.get(&(record.model.clone(), record.kind));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are small")]
        let usual = known.map(|known| known.usual.round() as u64).or(basis.average_output);
        let most = basis.max_output.unwrap_or(u64::MAX);
        let output = usual.unwrap_or(first_guess(record.kind)).min(most);
        let long = output.saturating_mul(SPREAD).max(known.map_or(0, |known| known.longest)).min(most);
        let ratio = self.costs.get(&(record.origin.clone(), record.model.clone())).copied().unwrap_or(1.0);
        let cost = |cached: u64, written: u64, output: u64, ratio: f64| {
            Dollars::from_f64(basis.prices?.cost_of(basis.input, cached, written, output)? * ratio)
        };
        let range = || {
            let written = if habit.writes { basis.input - cached } else { 0 };
            let low = cost(cached, written, output / SPREAD, ratio)?;
            let expected = cost(cached, written, output, ratio)?;
            // A server may charge for writing to its cache although it hasn't done so yet, and a discount may end.
            let most = ratio.max(1.0);
            let high = cost(0, 0, long, most)?.max(cost(0, basis.input, long, most)?);
            Some(CostRange { low, expected, high: high.max(expected) })
        };
        #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
        let by_average = |expected: Dollars| {
            let high = Dollars::from_f64(expected.as_f64() * SPREAD as f64)?;
            Some(CostRange { low: Dollars(expected.0 / SPREAD), expected, high })
        };
        let cost = range().or_else(|| basis.average_cost.and_then(by_average));
        Forecast { input: basis.input, cached, output, cost }
    }

    /// Learns from a request that has ended. `prefixes` are those of its forecast.
    pub(crate) fn learn(&mut self, record: &RequestRecord, prefixes: &[(u64, u64)], prices: Option<&Prices>) {
        if let Some(output) = record.usage.output.filter(|output| *output > 0) {
            bound(&mut self.outputs);
            #[expect(clippy::cast_precision_loss, reason = "counts are small")]
            let new = output as f64;
            let known = self.outputs.entry((record.model.clone(), record.kind));
            let known = known.or_insert(OutputHabit { usual: new, longest: output });
            known.usual += (new - known.usual) * NEWEST;
            known.longest = known.longest.max(output);
        }
        self.learn_cost(record, prices);
        let Some(cached) = record.usage.cached else { return };
        let mut habit = self.cache(record, prices);
        habit.writes |= record.usage.cache_write.is_some_and(|written| written > 0);
        habit.is_used |= cached > 0;
        let alike = prefixes.iter().max_by_key(|(same, ended_ms)| (*same, *ended_ms));
        if let Some((same, ended_ms)) = alike.filter(|(same, _)| *same > 0) {
            let gap_ms = record.started_ms.saturating_sub(*ended_ms);
            if cached > 0 && cached.saturating_add(BLOCK) >= *same {
                habit.life_ms = habit.life_ms.max(gap_ms.saturating_add(1));
                habit.minimum = habit.minimum.min(cached);
            } else if cached == 0 && gap_ms < habit.life_ms && *same < habit.minimum.saturating_mul(2) {
                habit.minimum = habit.minimum.max(same.saturating_add(1));
            } else if cached == 0 && gap_ms > USUAL_LIFE_MS / 5 {
                habit.life_ms = habit.life_ms.min(gap_ms);
            }
        }
        bound(&mut self.caches);
        self.caches.insert((record.origin.clone(), record.model.clone()), habit);
    }

    /// Learns how far off the prices are. A server may have discounts, surcharges, or other prices than it lists.
    fn learn_cost(&mut self, record: &RequestRecord, prices: Option<&Prices>) {
        let TokenUse { input: Some(input), output: Some(output), cached, cache_write, .. } = record.usage else {
            return;
        };
        let Some(reported) = record.cost.filter(|cost| cost.basis == CostBasis::Reported) else { return };
        let cached = cached.unwrap_or(0).min(input);
        let written = cache_write.unwrap_or(0).min(input - cached);
        let computed = prices.and_then(|prices| prices.cost_of(input, cached, written, output));
        let Some(computed) = computed.filter(|computed| *computed > 0.0) else { return };
        let ratio = (reported.usd.as_f64() / computed).clamp(MAX_RATIO.recip(), MAX_RATIO);
        bound(&mut self.costs);
        let known = self.costs.entry((record.origin.clone(), record.model.clone())).or_insert(ratio);
        *known += (ratio - *known) * NEWEST;
    }

    /// Until a server has answered, a lower price for cached tokens means that it caches.
    fn cache(&self, record: &RequestRecord, prices: Option<&Prices>) -> CacheHabit {
        let known = self.caches.get(&(record.origin.clone(), record.model.clone()));
        let cheaper = prices.is_some_and(|prices| prices.cached_input.is_some() && prices.cached_input != prices.input);
        let guess = CacheHabit { life_ms: USUAL_LIFE_MS, minimum: USUAL_MINIMUM, is_used: cheaper, writes: false };
        known.copied().unwrap_or(guess)
    }
}

fn bound<K: Ord, V>(map: &mut BTreeMap<K, V>) {
    if map.len() >= MAX_HABITS {
        map.pop_first();
    }
}

/// Returns the length of an answer if nothing is known about the model.
fn first_guess(kind: RequestKind) -> u64 {
    match kind {
        RequestKind::Main | RequestKind::SubAgent => 500,
        RequestKind::Summary => 2_000,
        RequestKind::Utility => 30,
        RequestKind::Inline => 300,
    }
}
