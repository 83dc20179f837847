//! What the gateway keeps between requests. Everything is bounded, and the oldest entries are removed first.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::cache::PromptCache;
use crate::models::{Model, dollars};
use crate::resource::Usage;

/// The maximum number of stored conversations, and of finished generations.
const KEPT: usize = 256;
/// The maximum size of all stored conversations, in bytes of text.
const KEPT_BYTES: usize = 16 << 20;
/// The maximum number of different requests for which failures are counted.
const KEPT_FAILURES: usize = 10_000;
/// The initial balance of the demo account, in billionths of a dollar.
const CREDIT: u64 = 100_000_000_000;

#[derive(Debug, Default)]
pub struct Memory {
    /// The number of requests so far. It gives each request its own random numbers.
    requests: u64,
    conversations: Conversations,
    generations: VecDeque<Generation>,
    /// How often a request with this fingerprint has failed.
    failures: BTreeMap<u64, u64>,
    spent: u64,
    cache: PromptCache,
}

/// Conversations by the id of their last response. Each contains all items up to that response.
#[derive(Debug, Default)]
pub struct Conversations(VecDeque<Conversation>);

#[derive(Debug)]
struct Conversation {
    id: String,
    items: Vec<Value>,
    bytes: usize,
}

impl Conversations {
    pub fn get(&self, id: &str) -> Option<&Vec<Value>> {
        self.0.iter().find(|known| known.id == id).map(|known| &known.items)
    }

    /// Stores a conversation and removes the oldest ones to make room. A conversation that is too large on its own
    /// isn't stored.
    pub fn keep(&mut self, id: &str, items: Vec<Value>) {
        let bytes = items.iter().map(text_bytes).sum();
        if bytes > KEPT_BYTES {
            return;
        }
        self.0.push_back(Conversation { id: id.to_owned(), items, bytes });
        while self.0.len() > KEPT || self.0.iter().map(|known| known.bytes).sum::<usize>() > KEPT_BYTES {
            self.0.pop_front();
        }
    }

    pub fn forget(&mut self, id: &str) {
        self.0.retain(|known| known.id != id);
    }

    /// Returns an item by its own id, for references to it.
    pub fn item(&self, id: &str) -> Option<&Value> {
        self.0.iter().flat_map(|known| &known.items).find(|item| item["id"] == id)
    }
}

/// Estimates the memory that a value takes.
fn text_bytes(value: &Value) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.iter().map(|(name, field)| name.len() + text_bytes(field)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[derive(Debug)]
pub struct Generation {
    pub id: String,
    pub model: &'static Model,
    pub usage: Usage,
    pub created_ms: u64,
    pub took_ms: u64,
    pub streamed: bool,
    pub status: String,
    asked: bool,
}

impl Generation {
    pub fn new(
        id: String,
        model: &'static Model,
        usage: Usage,
        created_ms: u64,
        streamed: bool,
        status: String,
    ) -> Self {
        Self { id, model, usage, created_ms, took_ms: 0, streamed, status, asked: false }
    }
}

impl Memory {
    pub fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    pub fn conversations(&mut self) -> &mut Conversations {
        &mut self.conversations
    }

    pub fn cache(&mut self) -> &mut PromptCache {
        &mut self.cache
    }

    pub fn finished(&mut self, generation: Generation) {
        self.spent += generation.model.cost(generation.usage);
        self.generations.push_back(generation);
        if self.generations.len() > KEPT {
            self.generations.pop_front();
        }
    }

    /// Returns whether a request that should fail `times` times fails again. After the last failure, counting starts
    /// over.
    pub fn fails_again(&mut self, fingerprint: u64, times: u64) -> bool {
        if self.failures.len() >= KEPT_FAILURES {
            self.failures.clear();
        }
        let failed = self.failures.entry(fingerprint).or_default();
        if *failed < times {
            *failed += 1;
            return true;
        }
        self.failures.remove(&fingerprint);
        false
    }

    /// `GET /v1/credits`
    pub fn credits(&self) -> Value {
        json!({ "balance": dollars(CREDIT.saturating_sub(self.spent)), "total_used": dollars(self.spent) })
    }

    /// Responds to `GET /v1/generation`. As in the real gateway, a generation isn't found at first.
    pub fn generation(&mut self, id: &str) -> Option<Value> {
        let generation = self.generations.iter_mut().find(|generation| generation.id == id)?;
        if !std::mem::replace(&mut generation.asked, true) {
            return None;
        }
        let Generation { model, usage, created_ms, took_ms, streamed, status, .. } = generation;
        let cost: f64 = dollars(model.cost(*usage)).parse().unwrap_or(0.0);
        let finish_reason = match status.as_str() {
            "completed" => "stop",
            "incomplete" => "length",
            _ => "error",
        };
        Some(json!({ "data": {
            "id": id,
            "total_cost": cost,
            "upstream_inference_cost": 0,
            "usage": cost,
            "created_at": iso_date(*created_ms),
            "model": model.id,
            "is_byok": false,
            "provider_name": "sluice",
            "streamed": streamed,
            "finish_reason": finish_reason,
            "latency": 250,
            "generation_time": took_ms,
            "tokens_prompt": usage.input,
            "tokens_completion": usage.output,
            "native_tokens_prompt": usage.input,
            "native_tokens_completion": usage.output,
            "native_tokens_reasoning": usage.reasoning,
            "native_tokens_cached": usage.cached,
            "native_tokens_cache_creation": 0,
            "billable_web_search_calls": 0,
        } }))
    }
}

/// Formats a time as `2026-04-24T00:00:00.000Z`. Days are counted from the first of March of the year 0.
fn iso_date(ms: u64) -> String {
    let days = ms / 86_400_000 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second, rest) = (ms / 3_600_000 % 24, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest:03}Z")
}

#[cfg(test)]
mod tests {
    use super::iso_date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(iso_date(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_date(951_782_400_123), "2000-02-29T00:00:00.123Z");
        assert_eq!(iso_date(1_776_988_800_000), "2026-04-24T00:00:00.000Z");
    }
}
