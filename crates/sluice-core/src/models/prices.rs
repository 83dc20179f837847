//! The price of tokens: as numbers, as text, and for a whole answer.

use crate::boundary::{Dollars, PriceCategory, PriceTier, Prices, Usage};
use crate::message::{Message, MessageCode};
use crate::numbers::short_count;
use crate::wire::{Pricing, Tier};

impl Prices {
    /// Returns `None` if the server publishes no price.
    pub(crate) fn of(pricing: &Pricing) -> Option<Self> {
        let from_zero = |tiers: &[Tier]| tiers.iter().find(|tier| tier.min == 0).map(|tier| tier.cost);
        let base = |price: Option<f64>, tiers: &[Tier]| price.or_else(|| from_zero(tiers)).map(per_million);
        let lists =
            [&pricing.input_tiers, &pricing.output_tiers, &pricing.cache_read_tiers, &pricing.cache_write_tiers];
        let mut starts: Vec<u64> = lists.iter().flat_map(|tiers| tiers.iter().map(|tier| tier.min)).collect();
        starts.sort_unstable();
        starts.dedup();
        // In each list, this finds the tier for a request of that length.
        let at = |tiers: &[Tier], start: u64, base: Option<f64>| {
            let within = tiers.iter().filter(|tier| tier.min <= start).max_by_key(|tier| tier.min);
            within.map(|tier| per_million(tier.cost)).or(base)
        };
        let mut prices = Self {
            input: base(pricing.input, &pricing.input_tiers),
            output: base(pricing.output, &pricing.output_tiers),
            cached_input: base(pricing.cache_read, &pricing.cache_read_tiers),
            cache_write: base(pricing.cache_write, &pricing.cache_write_tiers),
            tiers: Vec::new(),
        };
        let tier = |start: u64| PriceTier {
            from_input_tokens: start,
            input: at(&pricing.input_tiers, start, prices.input),
            output: at(&pricing.output_tiers, start, prices.output),
            cached_input: at(&pricing.cache_read_tiers, start, prices.cached_input),
            cache_write: at(&pricing.cache_write_tiers, start, prices.cache_write),
        };
        prices.tiers = starts.into_iter().filter(|start| *start > 0).map(tier).collect();
        (prices != Self::default()).then_some(prices)
    }

    /// Formats the price of a million input and output tokens: `$3 / $15`, or `Free`.
    pub fn in_and_out(&self) -> Option<Message> {
        let is_free = |price: Option<f64>| price == Some(0.0);
        if is_free(self.input)
            && is_free(self.output)
            && self.tiers.iter().all(|t| is_free(t.input) && is_free(t.output))
        {
            return Some(MessageCode::PriceFree.into());
        }
        pair(self.input, self.output).map(|pair| Message::new(MessageCode::Plain, [&pair]))
    }

    /// Formats the price of a million input tokens from the provider's cache: `$0.30`. Returns `None` if it is the same
    /// as the normal price.
    pub fn cached(&self) -> Option<String> {
        self.cached_input.filter(|cached| Some(*cached) != self.input).map(dollars)
    }

    /// Compares the price of output with other models.
    pub(crate) fn category(&self) -> Option<PriceCategory> {
        Some(match self.output? {
            price if price <= 3.0 => PriceCategory::Low,
            price if price <= 20.0 => PriceCategory::Medium,
            price if price <= 60.0 => PriceCategory::High,
            _ => PriceCategory::VeryHigh,
        })
    }

    /// Returns whether long requests have another price.
    pub fn has_tiers(&self) -> bool {
        self.tiers.iter().any(|tier| (tier.input, tier.output) != (self.input, self.output))
    }

    /// Formats all prices: `$3 / $15 per M tokens`, `cached $0.30`, `above 200k: $6 / $22.50`.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let Some(first) = self.in_and_out() else { return Vec::new() };
        if first.code == MessageCode::PriceFree {
            return vec![first];
        }
        let mut messages = vec![Message { code: MessageCode::PricePerMillion, ..first }];
        messages.extend(self.cached().map(|cached| Message::new(MessageCode::PriceCached, [&cached])));
        let mut before = (self.input, self.output);
        for tier in &self.tiers {
            let here = (tier.input, tier.output);
            if let Some(pair) = pair(here.0, here.1).filter(|_| here != before) {
                let above = short_count(tier.from_input_tokens - 1);
                messages.push(Message::new(MessageCode::PriceAbove, [&above, &pair]));
            }
            before = here;
        }
        messages
    }

    /// Computes the cost of an answer in US dollars, for gateways that don't report it. Returns `None` if a price or a
    /// count is missing.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        let input = usage.input_tokens?;
        let output = usage.output_tokens?;
        let detail = |names: &[&str]| {
            let details = usage.input_tokens_details.as_ref();
            names.iter().find_map(|name| details?.count(name)).unwrap_or(0)
        };
        let cached = detail(&["cached_tokens", "cache_read_input_tokens"]).min(input);
        let written = detail(&["cache_creation_input_tokens", "cache_write_tokens"]).min(input - cached);
        self.cost_of(input, cached, written, output)
    }

    /// Returns the prices of requests whose prompts are cached for an hour. Writing them costs twice as much as reading them
    /// without a cache.
    pub(crate) fn with_long_cache(mut self) -> Self {
        let twice = |price: Option<f64>| price.map(|price| price * 2.0);
        self.cache_write = self.cache_write.and(twice(self.input));
        for tier in &mut self.tiers {
            tier.cache_write = tier.cache_write.and(twice(tier.input));
        }
        self
    }

    /// Computes the cost of a request in US dollars. `input` includes what is read from the cache and written to it.
    pub(crate) fn cost_of(&self, input: u64, cached: u64, written: u64, output: u64) -> Option<f64> {
        let [input_price, output_price, cached_price, write_price] = self.for_input(input);
        Some(
            part(input - cached - written, input_price)?
                + part(cached, cached_price.or(input_price))?
                + part(written, write_price.or(input_price))?
                + part(output, output_price)?,
        )
    }

    /// Returns how much more tokens cost because they were not read from the cache. `input` is the length of the request.
    pub(crate) fn uncached(&self, input: u64, tokens: u64) -> Option<Dollars> {
        let [input_price, _, cached_price, _] = self.for_input(input);
        Dollars::from_f64(part(tokens, input_price)? - part(tokens, cached_price)?)
    }

    /// Returns the prices of input, output, reading from the cache and writing to it, for a request of this length.
    fn for_input(&self, input: u64) -> [Option<f64>; 4] {
        match self.tiers.iter().rev().find(|tier| tier.from_input_tokens <= input) {
            Some(tier) => [tier.input, tier.output, tier.cached_input, tier.cache_write],
            None => [self.input, self.output, self.cached_input, self.cache_write],
        }
    }
}

/// Returns the price of tokens. Zero tokens cost nothing, even if there is no price.
fn part(tokens: u64, price: Option<f64>) -> Option<f64> {
    match (tokens, price) {
        (0, _) => Some(0.0),
        #[expect(clippy::cast_precision_loss, reason = "no answer has 2^53 tokens")]
        (tokens, price) => price.map(|price| tokens as f64 * price / 1e6),
    }
}

fn pair(input: Option<f64>, output: Option<f64>) -> Option<String> {
    let side = |price: Option<f64>| price.map_or_else(|| "?".to_owned(), dollars);
    (input.is_some() || output.is_some()).then(|| format!("{} / {}", side(input), side(output)))
}

/// Converts a price per token to a price per million. It is rounded to a millionth of a dollar, because floating-point
/// errors would be visible in a decimal price.
fn per_million(per_token: f64) -> f64 {
    (per_token * 1e12).round() / 1e6
}

/// Formats a price: `$3`, `$0.30`, `$1.25`, `$0.075`. If it isn't whole, it has all its decimals, but at least two.
fn dollars(price: f64) -> String {
    if price.fract() == 0.0 {
        return format!("${price}");
    }
    let digits = format!("{price:.6}");
    let short = digits.trim_end_matches('0');
    let decimals = short.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("${short}{}", "0".repeat(2_usize.saturating_sub(decimals)))
}
