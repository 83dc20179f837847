//! Keeps the records of `sluice chat`: token counts for later requests, and usage for `sluice usage`.

use std::env;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use sluice::Store;
use sluice_core::{
    ChatMessage, ChatModel, ChatPart, ChatRequest, Counter, Endpoint, Estimate, Memory, ModelSettings, Outcome, Prices,
    RequestEnd, RequestKind, RequestStart, Role, Status, StatusLine, UsageTracker, preflight,
};

use super::model_cache::ModelCache;
use super::output::tell;

/// The id of the only conversation and the only request at a time.
const REQUEST: &str = "chat";
const SECONDS_OF_A_DAY: u64 = 86_400;

pub struct Books {
    store: Store,
    memory: Memory,
    tracker: UsageTracker,
    /// The model as `sluice models` last listed it, if it did.
    model: Option<ChatModel>,
    clock: Instant,
    has_complained: bool,
}

impl Books {
    pub fn open(endpoint: &Endpoint, model: &str) -> Self {
        let (store, memory, note) = Store::open(directory());
        let (catalog, _) = ModelCache::of(endpoint).load(endpoint);
        let known = catalog.models(&ModelSettings::default(), u64::from(today()) * SECONDS_OF_A_DAY).models;
        let mut books = Self {
            store,
            memory,
            tracker: UsageTracker::default(),
            model: known.into_iter().find(|known| known.id == model),
            clock: Instant::now(),
            has_complained: false,
        };
        if let Some(note) = note {
            books.complain(&note);
        }
        books
    }

    /// Starts a request and returns the estimate of its tokens. Prints a warning if that is close to the model's limit.
    pub fn begin(&mut self, request: &ChatRequest) -> Estimate {
        let estimate = self.memory.estimate(
            request,
            self.family(request),
            &Counter::exact().pieces_of(request, self.memory.known()),
        );
        let max_input_tokens = self.model.as_ref().map(|model| u64::from(model.max_input_tokens));
        if let Some(warning) = preflight(&request.model, estimate.tokens, max_input_tokens) {
            tell!("sluice: {}", warning.message);
        }
        let start = RequestStart {
            id: REQUEST.to_owned(),
            conversation: REQUEST.to_owned(),
            model: request.model.clone(),
            kind: RequestKind::Main,
            estimate: Some(estimate.tokens),
            max_input_tokens,
        };
        self.tracker.open(start, self.now());
        estimate
    }

    pub fn part(&mut self, is_thinking: bool) {
        self.tracker.first_part(REQUEST, is_thinking, self.now());
    }

    /// Ends a request and records its usage and the server's count. This is saved immediately, because there may be no
    /// further request.
    pub fn end(&mut self, request: &ChatRequest, answer: &[ChatPart], outcome: &Outcome) {
        let today = today();
        let prices = self.model.as_ref().and_then(|model| model.prices.as_ref());
        let cost_by_prices = prices.zip(outcome.usage.as_ref()).and_then(|(prices, usage)| Prices::cost(prices, usage));
        let end = RequestEnd { cost_by_prices, ..RequestEnd::of(outcome) };
        if let Some(used) = self.tracker.finish(REQUEST, &end, self.now()) {
            self.memory.record(&used, today);
        }
        if let Some(usage) = &outcome.usage {
            // The server's count is only valid for a complete answer.
            let answer = (outcome.status == Status::Completed)
                .then(|| ChatMessage { role: Role::Assistant, content: answer.to_vec() });
            let family = self.family(request).to_owned();
            let raw = Counter::exact().pieces_of(request, self.memory.known());
            self.memory.learn(request, &family, answer.as_ref(), usage, &raw, today);
        }
        if let Err(message) = self.store.save(&mut self.memory) {
            self.complain(&message);
        }
    }

    pub fn status(&self) -> Option<StatusLine> {
        self.tracker.status(REQUEST)
    }

    /// Returns the key of the correction factor: models of a family share a tokenizer.
    fn family<'a>(&'a self, request: &'a ChatRequest) -> &'a str {
        self.model.as_ref().map_or(&request.model, |model| &model.family)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Prints a message, but only once; the conversation continues without records.
    fn complain(&mut self, message: &str) {
        if !std::mem::replace(&mut self.has_complained, true) {
            tell!("sluice: {message}.");
        }
    }
}

/// Returns `SLUICE_HOME`, or else the system's directory for the state of programs.
pub fn directory() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = set("SLUICE_HOME") {
        return home;
    }
    // The XDG specification says that relative paths must be ignored.
    if let Some(state) = set("XDG_STATE_HOME").filter(|path| path.is_absolute()) {
        return state.join("sluice");
    }
    if cfg!(windows)
        && let Some(local) = set("LOCALAPPDATA")
    {
        return local.join("sluice");
    }
    let home = env::home_dir().unwrap_or_else(env::temp_dir);
    let state = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" };
    home.join(state).join("sluice")
}

/// Returns today's number. Days are in UTC, as gateways bill them.
fn today() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs() / SECONDS_OF_A_DAY).unwrap_or(u32::MAX)
}
