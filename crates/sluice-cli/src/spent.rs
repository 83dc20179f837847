//! What requests used: the sum over the requests of an answer, or of a conversation.

use sluice_core::Outcome;

#[derive(Clone, Debug, Default)]
pub struct Spent {
    pub requests: u32,
    input: Option<u64>,
    cached: u64,
    output: Option<u64>,
    reasoning: u64,
    cost: Option<f64>,
    /// The cost of answers from the embedded gateway, whose money isn't real.
    play: Option<f64>,
}

impl Spent {
    pub fn add(&mut self, outcome: &Outcome) {
        self.requests += 1;
        // LiteLLM reports the cost among the token counts.
        let counted = || outcome.usage.as_ref()?.more.get("cost")?.as_f64();
        let cost = outcome.gateway.as_ref().and_then(|gateway| gateway.cost.as_ref()?.parse().ok()).or_else(counted);
        let total = if outcome.is_play() { &mut self.play } else { &mut self.cost };
        *total = sum(*total, cost, |a, b| a + b);
        let Some(usage) = &outcome.usage else { return };
        self.input = sum(self.input, usage.input_tokens, u64::saturating_add);
        self.output = sum(self.output, usage.output_tokens, u64::saturating_add);
        let count = |details: &Option<sluice_core::TokenDetails>, name: &str| {
            details.as_ref().and_then(|details| details.count(name)).unwrap_or_default()
        };
        self.cached = self.cached.saturating_add(count(&usage.input_tokens_details, "cached_tokens"));
        self.reasoning = self.reasoning.saturating_add(count(&usage.output_tokens_details, "reasoning_tokens"));
    }

    /// Returns the counts and the cost, such as ` · 5 tokens in (2 cached) · 3 out · $0.01`.
    pub fn words(&self) -> String {
        let mut words = String::new();
        if self.requests > 1 {
            words.push_str(&format!(" · {} requests", self.requests));
        }
        let detail = |count: u64, label: &str| if count > 0 { format!(" ({count} {label})") } else { String::new() };
        if let Some(input) = self.input {
            words.push_str(&format!(" · {input} tokens in{}", detail(self.cached, "cached")));
        }
        if let Some(output) = self.output {
            words.push_str(&format!(" · {output} out{}", detail(self.reasoning, "reasoning")));
        }
        for (cost, label) in [(self.cost, ""), (self.play, " (play money)")] {
            let Some(cost) = cost else { continue };
            // The sum of several decimal fractions isn't exact.
            let cost = format!("{cost:.8}");
            words.push_str(&format!(" · ${}{label}", cost.trim_end_matches('0').trim_end_matches('.')));
        }
        words
    }
}

fn sum<T>(sum: Option<T>, value: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (sum, value) {
        (Some(sum), Some(value)) => Some(add(sum, value)),
        (sum, value) => sum.or(value),
    }
}
