//! What was requested, what it used, and what is known about its tokens.
//!
//! A [`Ledger`] follows every request of a program from [`begin`](Ledger::begin) to [`end`](Ledger::end). Before a
//! request, it estimates the number of tokens. After it, it learns what the server counted, so that the next estimate
//! is better, and adds up the usage. A shell keeps the ledger's bytes in a file ([`Memory`]) and shows what it returns,
//! but decides nothing.

mod entry;
mod recent;
mod spend;
mod tree;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::boundary::{
    ChatMessage, ChatPart, ChatRequest, Cost, CostBasis, Dollars, Estimate, FileState, Finish, Forecast, Preflight,
    Prices, RequestEnd, RequestKind, RequestRecord, RequestStart, RequestUsage, Role, Route, StatusLine, Timeline,
    TokenUse, Totals, Usage,
};
use crate::forecast::{Basis, Habits};
use crate::lens::Prefix;
use crate::limits::Spending;
use crate::memory::Memory;
use crate::send::{Parameter, Prompt, Purpose, extra_fields, purpose, reasoning_options};
use crate::tokens::{Calibration, Counter, InstallKey, Piece, scale};
use crate::usage::{History, UsageTracker, preflight};
pub use entry::LedgerEntry;
use recent::Recent;
pub use spend::SpendCheck;
use spend::is_play;
use tree::RequestTree;
pub use tree::TreeNode;

/// Counts, costs and history of one installation. Times are milliseconds since 1970, of a clock that isn't set back while
/// a request runs.
#[derive(Debug)]
pub struct Ledger {
    counter: Counter,
    memory: Memory,
    tracker: UsageTracker,
    tree: RequestTree,
    recent: Recent,
    habits: Habits,
    spending: Spending,
    /// The requests that have begun but not ended, by id.
    running: BTreeMap<String, Running>,
    /// The conversation that the user probably sees. Editors don't say which one is visible, but a question is asked in
    /// one that is. An agent may continue another one in the background.
    visible: String,
}

#[derive(Debug)]
struct Running {
    prompt: Prompt,
    model: LedgerModel,
    /// What is known of the record so far.
    record: RequestRecord,
    /// How it compares with an earlier request of its conversation.
    prefix: Option<Prefix>,
    /// See [`Basis::prefixes`].
    prefixes: Vec<(u64, u64)>,
}

/// What the ledger has to know about a model in addition to its id.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct LedgerModel {
    /// The origin of the server. Correction factors are learned for each model of each server.
    pub origin: String,
    /// How many tokens a request may have.
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub max_input_tokens: Option<u64>,
    /// How many tokens a request and its answer may have together.
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub context_window: Option<u64>,
    /// The prices, for servers that don't report costs.
    pub prices: Option<Prices>,
    /// The parameters that are not sent, see [`ChatModel::refused`](crate::ChatModel::refused).
    #[cfg_attr(test, ts(as = "Option<Vec<Parameter>>"))]
    pub refused: Vec<Parameter>,
}

/// What is known when a request begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Begun {
    /// How many input tokens the request is expected to have.
    pub estimate: Estimate,
    /// What the request is for.
    pub kind: RequestKind,
    /// What the request is for, in a few English words: `chat title`.
    pub purpose: &'static str,
    /// A warning for the user before the request is sent.
    pub warning: Option<Preflight>,
    /// What the request is expected to use and to cost.
    pub forecast: Forecast,
    /// The status line of the conversation that the user probably sees.
    pub status: Option<StatusLine>,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ended {
    /// What the request used.
    pub used: RequestUsage,
    /// Everything that is known about the request. The shell keeps it.
    pub record: RequestRecord,
    /// The status line of the conversation that the user probably sees.
    pub status: Option<StatusLine>,
    /// The sums of its conversation.
    pub conversation: Option<Totals>,
}

impl Ledger {
    /// Returns an empty ledger. `key` belongs to the installation; hashes made with it mean nothing elsewhere.
    pub fn new(counter: Counter, key: InstallKey) -> Self {
        Self::with_memory(counter, Memory::new(key))
    }

    /// Returns a ledger with the contents of a file, and the state of that file.
    pub fn read(counter: Counter, key: InstallKey, file: Option<&[u8]>) -> (Self, FileState) {
        let (memory, state) = Memory::read(key, file);
        (Self::with_memory(counter, memory), state)
    }

    /// Returns a ledger with this memory.
    pub fn with_memory(counter: Counter, memory: Memory) -> Self {
        let (tracker, tree, running) = (UsageTracker::default(), RequestTree::default(), BTreeMap::new());
        let (recent, habits, spending) = (Recent::default(), Habits::default(), Spending::default());
        Self { counter, memory, tracker, tree, recent, habits, spending, running, visible: String::new() }
    }

    /// A request begins. `id` is any name that no other running request has.
    pub fn begin(
        &mut self,
        id: &str,
        conversation: &str,
        chat: ChatRequest,
        mut model: LedgerModel,
        now_ms: u64,
    ) -> Begun {
        let prompt = Prompt::of(&chat).at(&model.origin);
        let extra_fields = extra_fields(&chat.options.extra_body, &mut Vec::new());
        let extra_fields =
            if extra_fields.is_empty() { String::new() } else { Value::Object(extra_fields).to_string() };
        let has_long_cache = chat.options.has_long_cache(&model.origin);
        if has_long_cache {
            model.prices = model.prices.map(Prices::with_long_cache);
        }
        let max_output = chat.options.max_output_tokens;
        let estimate = self.memory.estimate(&prompt, &|piece| self.counter.piece(piece));
        let warning = preflight(&chat.model, estimate.tokens, model.max_input_tokens);
        let Purpose { name: purpose, kind } = purpose(&chat);
        let effort = Parameter::effort_without(reasoning_options(&chat.options, kind).effort, &model.refused);
        let mut since_answer = chat.messages.iter().rev().take_while(|message| message.role != Role::Assistant);
        let is_tool_round =
            since_answer.any(|message| message.content.iter().any(|part| matches!(part, ChatPart::ToolResult { .. })));
        if kind == RequestKind::Main && (self.visible.is_empty() || !is_tool_round) {
            conversation.clone_into(&mut self.visible);
        }
        let start = RequestStart {
            id: id.to_owned(),
            conversation: conversation.to_owned(),
            model: chat.model,
            kind,
            effort: effort.clone(),
            estimate: Some(estimate.tokens),
            context_window: model.context_window,
        };
        self.tracker.open(start, now_ms);
        let parent = self.tree.begin(conversation, id, self.memory.known().chain(&prompt));
        // Requests that have only the frame, the tools and the instructions in common don't continue each other.
        let fixed = 1 + prompt.tools.len() + usize::from(prompt.instructions.is_some());
        let parent = parent.filter(|(_, shared)| *shared > fixed).map(|(id, _)| id);
        let factor = self.memory.calibration().factor(&Calibration::scope(&model.origin, &prompt.model));
        let raw = |piece: Piece<'_>| self.counter.piece(piece);
        let mut record = RequestRecord {
            version: RequestRecord::VERSION,
            id: id.to_owned(),
            conversation: conversation.to_owned(),
            parent,
            kind,
            purpose: purpose.to_owned(),
            model: prompt.model.clone(),
            origin: model.origin.clone(),
            effort,
            must_call: prompt.must_call,
            extra_fields: self.memory.known().text_print(&extra_fields),
            started_ms: now_ms,
            timeline: Timeline::default(),
            pieces: self.memory.known().records(&prompt, estimate.tokens, factor, &raw),
            usage: TokenUse::default(),
            cost: None,
            forecast: None,
            lens: None,
            retries: Vec::new(),
            routing: Route::default(),
            notes: Vec::new(),
            finish: Finish::default(),
        };
        let (prefix, prefixes) = self.recent.compare(&record, &prompt, self.counter);
        let (average_output, average_cost) = self.memory.averages(&record.model);
        let prices = model.prices.as_ref();
        let input = estimate.tokens;
        let basis = Basis { input, prefixes, has_long_cache, prices, average_output, average_cost, max_output };
        let forecast = self.habits.forecast(&record, &basis);
        record.forecast = Some(forecast);
        let prefixes = basis.prefixes;
        self.running.insert(id.to_owned(), Running { prompt, model, record, prefix, prefixes });
        Begun { estimate, kind, purpose, warning, forecast, status: self.tracker.status(&self.visible) }
    }

    /// The request is over, however it ended. `now_ms` counts only if there was no exchange, which has its own clock. `today`
    /// counts days from 1970-01-01.
    pub fn end(&mut self, id: &str, entry: &LedgerEntry, now_ms: u64, today: u32) -> Option<Ended> {
        let Running { prompt, model, record, prefix, prefixes } = self.running.remove(id)?;
        let prices = model.prices.as_ref().zip(entry.usage.as_ref());
        let (first_part_ms, began_with_thinking) = entry.timeline.first_part().unzip();
        let end = RequestEnd {
            usage: entry.usage.clone(),
            cost: entry.cost.clone(),
            cost_by_prices: prices.and_then(|(prices, usage)| prices.cost(usage)),
            is_answered: entry.is_answered,
            is_play: entry.is_play || is_play(&record.model),
            first_part_ms,
            began_with_thinking: began_with_thinking.unwrap_or(false),
        };
        // The request may have waited for the user before it became an exchange.
        let Timeline { end_ms, .. } = entry.timeline;
        let ended_ms = if end_ms == 0 { now_ms } else { record.started_ms.saturating_add(end_ms) };
        let used = self.tracker.finish(id, &end, ended_ms)?;
        self.memory.record(&used, self.spending.day(id).unwrap_or(today));
        if let Some(usage) = &entry.usage {
            let answer = entry.is_whole.then(|| ChatMessage { role: Role::Assistant, content: entry.answer.clone() });
            let counter = self.counter;
            let raw = |piece: Piece<'_>| counter.piece(piece);
            self.memory.learn(&prompt, answer.as_ref(), usage, &raw, today);
        }
        let mut record = record.ended(entry, &used);
        record.lens = prefix.map(|prefix| prefix.lens(&record, model.prices.as_ref()));
        self.habits.learn(&record, &prefixes, model.prices.as_ref());
        self.recent.keep(record.clone());
        let cost = record.cost.filter(|cost| cost.basis != CostBasis::Play).map(|cost| cost.usd);
        if let Some(cost) = cost {
            self.spending.spend(&record.conversation, id, cost);
        }
        let probably = (entry.may_cost() && !end.is_play).then(|| self.probable_cost(&record, entry, &model)).flatten();
        self.spending.end(id, self.memory.recorded(), cost, probably);
        self.tree.end(&record.conversation, &used);
        Some(Ended {
            used,
            status: self.tracker.status(&self.visible),
            conversation: self.tracker.conversation(&record.conversation),
            record,
        })
    }

    /// Returns what a request probably cost if the server doesn't say: what was expected, or more if the answer is already
    /// longer than expected.
    fn probable_cost(&self, record: &RequestRecord, entry: &LedgerEntry, model: &LedgerModel) -> Option<Dollars> {
        let forecast = record.forecast?;
        let answer = ChatMessage { role: Role::Assistant, content: entry.answer.clone() };
        let output = u64::from(self.message_tokens(&record.model, &record.origin, &answer));
        let so_far = model.prices.as_ref().and_then(|prices| prices.cost_of(forecast.input, 0, 0, output));
        let expected = forecast.cost.map(|cost| cost.expected);
        expected.max(so_far.and_then(Dollars::from_f64).filter(|_| output > forecast.output))
    }

    /// Counts the tokens of a text and multiplies them by the correction factor of the model at the server.
    pub fn text_tokens(&self, model: &str, origin: &str, text: &str) -> u32 {
        self.corrected(&Calibration::scope(origin, model), self.counter.text(model, text))
    }

    /// Returns the tokens of one message: the server's count if there is one, otherwise our own count, corrected.
    pub fn message_tokens(&self, model: &str, origin: &str, message: &ChatMessage) -> u32 {
        let prompt = Prompt::of_message(model, message).at(origin);
        let factor = self.memory.calibration().factor(&Calibration::scope(origin, model));
        let estimate = self.memory.known().estimate_message(&prompt, factor, &|piece| self.counter.piece(piece));
        u32::try_from(estimate.tokens).unwrap_or(u32::MAX)
    }

    /// Multiplies a raw count by the correction factor of a [scope](Calibration::scope), and rounds up.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate; counts are small")]
    pub fn corrected(&self, scope: &str, raw: u32) -> u32 {
        (f64::from(raw) * self.memory.calibration().factor(scope)).ceil() as u32
    }

    /// Returns what the status bar shows for a conversation, if it had any request.
    pub fn status(&self, conversation: &str) -> Option<StatusLine> {
        self.tracker.status(conversation)
    }

    /// Returns the usage by day and model.
    pub fn history(&self) -> History {
        self.memory.history()
    }

    /// Returns the requests of a conversation, the oldest first, each with the request that it continues.
    pub fn tree(&self, conversation: &str) -> &[TreeNode] {
        self.tree.of(conversation)
    }

    /// Returns the memory behind the ledger, which a shell saves.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}

impl RequestRecord {
    /// Adds what is known at the end.
    fn ended(mut self, entry: &LedgerEntry, used: &RequestUsage) -> Self {
        let LedgerEntry { timeline, retries, route, notes, finish, .. } = entry.clone();
        let usage = TokenUse {
            input: used.input_tokens,
            cached: used.cached_tokens,
            cache_write: entry.usage.as_ref().and_then(Usage::cache_write_tokens),
            output: used.output_tokens,
            reasoning: used.reasoning_tokens,
        };
        if let Some(input) = usage.input {
            scale(&mut self.pieces, input);
        }
        // A request that never became an exchange has no timeline.
        let timeline = if timeline.end_ms == 0 { Timeline { end_ms: used.total_ms, ..timeline } } else { timeline };
        let cost = used.cost.zip(used.cost_basis).map(|(usd, basis)| Cost { usd, basis });
        Self { timeline, usage, cost, retries, routing: route, notes, finish, ..self }
    }
}
