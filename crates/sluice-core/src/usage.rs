//! Tracks what requests use, while they run and after they end. Several run at the same time (agents, sub-agents,
//! summaries) and are told apart by their ids. What outlives a window is in `usage/history.rs`.

mod history;
mod status;

use std::collections::BTreeMap;

pub use history::History;
pub(crate) use status::in_and_out;
pub use status::preflight;

use crate::boundary::{
    Cost, CostBasis, Dollars, RequestEnd, RequestKind, RequestStart, RequestUsage, StatusLine, Totals,
};

/// The maximum number of open requests. Requests that never end are forgotten, the oldest first.
const MAX_OPEN: usize = 1000;
const MAX_CONVERSATIONS: usize = 200;
/// The ratio at which a smaller input means that the conversation was summarized or cut.
const SHRUNK: (u64, u64) = (7, 10);
/// The shortest streaming time from which a speed is computed. A faster answer arrived in one piece.
const MIN_STREAMING_MS: u64 = 100;
/// For how many answers after a summary the status line shows the freed tokens.
const SHOW_FREED: u8 = 2;

/// Tracks the requests of one window. For each request, call [`open`](Self::open), then [`finish`](Self::finish). Times are
/// milliseconds of any monotonic clock.
#[derive(Clone, Debug, Default)]
pub struct UsageTracker {
    open: BTreeMap<String, Open>,
    conversations: BTreeMap<String, ConversationUsage>,
    opened: u64,
    /// How many requests of each kind there were, whatever conversation they belonged to.
    kinds: Kinds,
}

/// The number of requests of each kind that aren't part of a conversation.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    utility: u64,
    summary: u64,
    sub_agent: u64,
    inline: u64,
}

/// A request that has not ended yet.
#[derive(Clone, Debug)]
struct Open {
    start: RequestStart,
    /// Later requests have higher numbers.
    number: u64,
    started_ms: u64,
}

#[derive(Clone, Debug, Default)]
struct ConversationUsage {
    totals: Totals,
    /// The number of the newest request of any kind.
    newest: u64,
    /// The newest main request that the server counted.
    counted: Option<Counted>,
    /// The newest main request that ended without a count, as long as there is no counted one.
    guessed: Option<RequestStart>,
    freed: Option<Freed>,
}

#[derive(Clone, Debug)]
struct Counted {
    number: u64,
    input_tokens: u64,
    context_window: Option<u64>,
    usage: RequestUsage,
}

/// The tokens that the last summary freed.
#[derive(Clone, Copy, Debug)]
struct Freed {
    tokens: u64,
    /// For how many more answers it is shown.
    answers: u8,
}

impl UsageTracker {
    /// Starts tracking a request.
    pub fn open(&mut self, start: RequestStart, now_ms: u64) {
        self.opened += 1;
        let number = self.opened;
        match start.kind {
            RequestKind::Main => {}
            RequestKind::Utility => self.kinds.utility += 1,
            RequestKind::Summary => self.kinds.summary += 1,
            RequestKind::SubAgent => self.kinds.sub_agent += 1,
            RequestKind::Inline => self.kinds.inline += 1,
        }
        self.conversations.entry(start.conversation.clone()).or_default().newest = number;
        let open = Open { number, started_ms: now_ms, start };
        self.open.insert(open.start.id.clone(), open);
        if self.open.len() > MAX_OPEN {
            let oldest = self.open.iter().min_by_key(|(_, open)| open.number).map(|(id, _)| id.clone());
            oldest.map(|id| self.open.remove(&id));
        }
        if self.conversations.len() > MAX_CONVERSATIONS {
            let oldest = self.conversations.iter().min_by_key(|(_, conversation)| conversation.newest);
            let oldest = oldest.map(|(id, _)| id.clone());
            oldest.map(|id| self.conversations.remove(&id));
        }
    }

    /// Ends a request and returns what it used, or `None` if no such request is open.
    pub fn finish(&mut self, id: &str, end: &RequestEnd, now_ms: u64) -> Option<RequestUsage> {
        let open = self.open.remove(id)?;
        let usage = open.used(end, now_ms);
        let conversation = self.conversations.entry(open.start.conversation.clone()).or_default();
        conversation.totals.add(&usage);
        if open.start.kind == RequestKind::Main {
            conversation.answered(&open, &usage);
        }
        Some(usage)
    }

    /// Forgets a request that isn't sent.
    pub(crate) fn forget(&mut self, id: &str) {
        self.open.remove(id);
    }

    /// Returns what the status bar shows for a conversation, or `None` if it had no request yet.
    pub fn status(&self, conversation: &str) -> Option<StatusLine> {
        let open: Vec<&Open> = self.open.values().filter(|open| open.start.conversation == conversation).collect();
        self.conversations.get(conversation).map(|known| status::line(known, &open, self.kinds))
    }

    /// Returns the sums over all finished requests of a conversation.
    pub fn conversation(&self, conversation: &str) -> Option<Totals> {
        self.conversations.get(conversation).map(|conversation| conversation.totals)
    }
}

impl Open {
    fn used(&self, end: &RequestEnd, now_ms: u64) -> RequestUsage {
        let usage = end.usage.as_ref();
        let cost = cost(end);
        let output_tokens = usage.and_then(|usage| usage.output_tokens);
        let reasoning_tokens = usage.and_then(crate::boundary::Usage::reasoning_tokens);
        // Hidden reasoning ended before the first part arrived.
        let hidden = if end.began_with_thinking { 0 } else { reasoning_tokens.unwrap_or(0) };
        let total_ms = now_ms.saturating_sub(self.started_ms);
        let streaming_ms =
            end.first_part_ms.map(|first| total_ms.saturating_sub(first)).filter(|ms| *ms >= MIN_STREAMING_MS);
        let streamed = output_tokens.map(|tokens| tokens.saturating_sub(hidden)).filter(|tokens| *tokens > 0);
        RequestUsage {
            id: self.start.id.clone(),
            conversation: self.start.conversation.clone(),
            model: self.start.model.clone(),
            kind: self.start.kind,
            effort: self.start.effort.clone(),
            is_answered: end.is_answered,
            estimate: self.start.estimate,
            // Servers that don't count report zero.
            input_tokens: usage.and_then(|usage| usage.input_tokens).filter(|tokens| *tokens > 0),
            cached_tokens: usage.and_then(crate::boundary::Usage::cached_tokens),
            output_tokens,
            reasoning_tokens,
            cost: cost.map(|cost| cost.usd),
            cost_basis: cost.map(|cost| cost.basis),
            first_part_ms: end.first_part_ms,
            total_ms,
            tokens_per_second: streamed.zip(streaming_ms).map(|(tokens, ms)| rate(tokens, ms)),
        }
    }
}

/// Returns the cost of a request. The gateway's own number is preferred: it includes discounts and the prices of the
/// provider that answered.
fn cost(end: &RequestEnd) -> Option<Cost> {
    let told = end.cost.as_deref().and_then(Dollars::parse);
    let more = end.usage.as_ref().map(|usage| &usage.more);
    let in_usage = || match more?.get("cost")? {
        serde_json::Value::String(cost) => Dollars::parse(cost),
        cost => Dollars::parse(&cost.to_string()),
    };
    // xAI counts in ticks of a ten-billionth of a dollar.
    let in_ticks = || more?.get("cost_in_usd_ticks")?.as_u64().map(|ticks| Dollars(ticks.div_ceil(10)));
    let reported = told.or_else(in_usage).or_else(in_ticks).map(|usd| Cost { usd, basis: CostBasis::Reported });
    let computed =
        || end.cost_by_prices.and_then(Dollars::from_f64).map(|usd| Cost { usd, basis: CostBasis::Computed });
    let cost = reported.or_else(computed)?;
    Some(if end.is_play { Cost { basis: CostBasis::Play, ..cost } } else { cost })
}

impl ConversationUsage {
    /// Records the end of a main request. A newer one may have ended before it.
    fn answered(&mut self, open: &Open, usage: &RequestUsage) {
        if self.counted.as_ref().is_some_and(|counted| counted.number > open.number) {
            return;
        }
        let Some(input_tokens) = usage.input_tokens else {
            // The estimate of a failed request is only used if there is no count at all.
            if self.counted.is_none() {
                self.guessed = Some(open.start.clone());
            }
            return;
        };
        let freed = self.counted.as_ref().and_then(|before| freed(before.input_tokens, input_tokens));
        self.freed = match (freed, self.freed) {
            (Some(tokens), _) => Some(Freed { tokens, answers: SHOW_FREED }),
            (None, Some(freed)) if freed.answers > 1 => Some(Freed { answers: freed.answers - 1, ..freed }),
            (None, _) => None,
        };
        self.guessed = None;
        self.counted = Some(Counted {
            number: open.number,
            input_tokens,
            context_window: open.start.context_window,
            usage: usage.clone(),
        });
    }
}

/// Returns how many tokens a summary freed, if there was one.
fn freed(before: u64, after: u64) -> Option<u64> {
    let (part, whole) = SHRUNK;
    (after.saturating_mul(whole) <= before.saturating_mul(part)).then(|| before - after).filter(|freed| *freed > 0)
}

impl Totals {
    /// Adds one request to these sums.
    pub fn add(&mut self, usage: &RequestUsage) {
        let is_counted = usage.input_tokens.is_some() || usage.output_tokens.is_some();
        let mut one = Self {
            requests: 1,
            uncounted: u64::from(!is_counted),
            unpriced: u64::from(is_counted && usage.cost.is_none()),
            input_tokens: usage.input_tokens.unwrap_or(0),
            cached_tokens: usage.cached_tokens.unwrap_or(0),
            output_tokens: usage.output_tokens.unwrap_or(0),
            reasoning_tokens: usage.reasoning_tokens.unwrap_or(0),
            // Play money isn't spent.
            cost: usage.cost.filter(|_| usage.cost_basis != Some(CostBasis::Play)).unwrap_or_default(),
            first_parts: u64::from(usage.first_part_ms.is_some()),
            first_part_ms: usage.first_part_ms.unwrap_or(0),
            ..Self::default()
        };
        if let Some(rate) = usage.tokens_per_second {
            one.streaming_ms = usage.total_ms.saturating_sub(one.first_part_ms);
            one.streamed_tokens = tokens_at(rate, one.streaming_ms);
        }
        self.merge(&one);
    }

    /// Adds `other` to these sums.
    pub fn merge(&mut self, other: &Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.requests, other.requests);
        add(&mut self.uncounted, other.uncounted);
        add(&mut self.unpriced, other.unpriced);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
        add(&mut self.cost.0, other.cost.0);
        add(&mut self.first_parts, other.first_parts);
        add(&mut self.first_part_ms, other.first_part_ms);
        add(&mut self.streamed_tokens, other.streamed_tokens);
        add(&mut self.streaming_ms, other.streaming_ms);
    }

    /// Returns the average speed while answers were streaming.
    pub fn tokens_per_second(&self) -> Option<f64> {
        (self.streaming_ms > 0).then(|| rate(self.streamed_tokens, self.streaming_ms))
    }

    /// Returns the average time to the first part.
    pub fn first_part_after_ms(&self) -> Option<u64> {
        self.first_part_ms.checked_div(self.first_parts)
    }
}

#[allow(clippy::cast_precision_loss, reason = "for display")]
fn rate(tokens: u64, ms: u64) -> f64 {
    tokens as f64 * 1000.0 / ms as f64
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the inverse of `rate`, which was computed from a count"
)]
fn tokens_at(rate: f64, ms: u64) -> u64 {
    (rate * ms as f64 / 1000.0).round() as u64
}
