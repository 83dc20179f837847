//! Tests a server step by step and finds out what it can do: [`Probe`].
//!
//! The shell sends the requests, with the same code that sends those of a chat, so that what works here works there. The
//! [`Probe`] decides what to ask next and what the answers mean.

mod card;
mod differences;
mod judge;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::boundary::{
    ChatMessage, ChatModel, ChatOptions, ChatPart, ChatRequest, FailureKind, HttpRequest, LimitsFrom, ModelSettings,
    ReasoningItem, Role, Status, ToolDefinition, ToolMode,
};
use crate::failure::{HttpResponse, Transport};
use crate::ledger::LedgerEntry;
use crate::message::{Message, MessageCode};
use crate::models::ModelCatalog;
use crate::numbers::grouped;
use crate::send::{BadAddress, Endpoint, Parameter};
pub use card::{Card, Check, CheckResult, Topic};

/// The smallest limit for an answer that all providers accept.
const FEW_TOKENS: u64 = 16;
/// Enough for two tool calls of a model that thinks first.
const CALL_TOKENS: u64 = 400;
/// Enough for a thought, and for an answer that is worth cancelling.
const THOUGHT_TOKENS: u64 = 300;
/// The most requests of a test, and the most tokens that its answers can have.
const MOST_REQUESTS: u32 = 17;
const MOST_TOKENS: u64 = 6 * FEW_TOKENS + 4 * CALL_TOKENS + 2 * THOUGHT_TOKENS;
/// No server has a model of this name.
const NO_SUCH_MODEL: &str = "sluice-doctor/no-such-model";
/// A PNG with one grey pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB0KTCWgAAAABJRU5ErkJggg==";

/// What to test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ProbeOptions {
    /// The server's base URL.
    pub base_url: String,
    /// The model to ask. Without it, the list of models decides.
    pub model: Option<String>,
    /// The user's settings for models, which may name a default.
    #[serde(default)]
    #[cfg_attr(test, ts(as = "Option<ModelSettings>"))]
    pub settings: ModelSettings,
    /// Whether the shell has a key for this server.
    pub has_key: bool,
    /// The proxy that the shell uses for this server, if it knows one.
    pub proxy: Option<String>,
    /// Seconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub now: u64,
}

/// What the shell has to do next.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ProbeStep {
    /// Send this request and report the whole response.
    Get {
        /// What is being tested, for the user.
        label: Message,
        /// The request, without the key.
        request: HttpRequest,
        /// Whether the key is sent.
        with_key: bool,
    },
    /// Send this chat and report its answer.
    Ask {
        /// What is being tested, for the user.
        label: Message,
        /// What to send.
        chat: Box<ChatRequest>,
        /// Whether to cancel the answer at its first part.
        stops_early: bool,
    },
    /// The test is over.
    Done(Box<Card>),
}

/// What happened to a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ProbeEvent {
    /// There was a response to [`ProbeStep::Get`].
    Received(HttpResponse),
    /// There was no response. Says why, with the code of the cause if it is known.
    Unreachable(Transport, Option<String>),
    /// A chat ended.
    Answered(Box<ProbeAnswer>),
}

/// The result of a chat: the parts of its [`Report`](crate::Report) that the test needs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ProbeAnswer {
    /// How the answer ended.
    pub status: Status,
    /// What the ledger learns from it.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub entry: LedgerEntry,
    /// Why it failed.
    pub failure: Option<ProbeFailure>,
    /// How many parts that aren't empty the shell got.
    pub parts: u32,
    /// Whether the model's reasoning was shown.
    pub is_thinking_shown: bool,
    /// See [`Report::refused`](crate::Report::refused).
    pub refused: Vec<Parameter>,
    /// See [`Report::reasoning_refused`](crate::Report::reasoning_refused).
    pub is_reasoning_refused: bool,
    /// The base URL that answered, if it isn't the one that is tested. See [`Report::elsewhere`](crate::Report::elsewhere).
    pub elsewhere: Option<String>,
    /// How long it took, in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub milliseconds: u64,
}

/// Why a chat failed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ProbeFailure {
    /// See [`Failure::kind`](crate::Failure::kind).
    pub kind: FailureKind,
    /// See [`Failure::message`](crate::Failure::message).
    pub message: String,
    /// See [`Failure::text`](crate::Failure::text), in the user's language.
    pub text: String,
    /// The HTTP status.
    pub status: Option<u16>,
}

/// A test of one server.
///
/// ```text
///           poll ──► Get     send it ─────────────────► handle(Received or Unreachable)
///                    Ask     send the chat ───────────► handle(Answered)
///                    Done    show the card
/// ```
///
/// No step depends on a later one, so a shell that stops in the middle still has a [card](Self::card).
#[derive(Debug)]
pub struct Probe {
    options: ProbeOptions,
    endpoint: Option<Endpoint>,
    catalog: Option<ModelCatalog>,
    model: Option<ChatModel>,
    next: Next,
    card: Card,
    seen: Seen,
}

/// What is asked next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    List {
        with_key: bool,
    },
    /// The list at the same address with or without `/v1`.
    OtherList,
    Credits,
    Answer,
    Instructions,
    Turns,
    Images,
    Cut,
    Calls {
        are_required: bool,
    },
    Results {
        with_image: bool,
    },
    Thought,
    Window,
    Cancellation,
    Error,
    Nothing,
}

/// What the answers so far have shown.
#[derive(Debug, Default)]
struct Seen {
    /// The messages that led to the tool calls, and the calls.
    calls: Vec<ChatMessage>,
    reasoning: Vec<ReasoningItem>,
    is_thinking_shown: bool,
    /// The largest number of parts that an answer had.
    most_parts: u32,
    has_phase: bool,
    /// Whether the server reports how many tokens came from a cache, and whether any did.
    cached: Option<u64>,
    /// How the answer that was cancelled ended.
    cancelled: Option<Status>,
    /// Whether the server accepted its reasoning in the next request, if there was any.
    reasoning_back: Option<bool>,
}

impl Probe {
    /// Starts a test. An address that can't be used is the first check.
    pub fn new(options: ProbeOptions) -> Self {
        // The shell asked the user, if necessary.
        let parsed = Endpoint::parse_confirmed(&options.base_url);
        let mut probe = Self {
            card: Card { base_url: options.base_url.clone(), ..Card::default() },
            options,
            endpoint: None,
            catalog: None,
            model: None,
            next: Next::Nothing,
            seen: Seen::default(),
        };
        match parsed {
            Ok(endpoint) => {
                probe.card.base_url.clone_from(&endpoint.base_url);
                probe.judge_address(&endpoint);
                probe.catalog = Some(ModelCatalog::new(&endpoint));
                probe.endpoint = Some(endpoint);
                probe.next = Next::List { with_key: false };
            }
            Err(BadAddress(problem)) => probe.add(Topic::Address, CheckResult::Failed, vec![problem]),
        }
        probe
    }

    /// Returns what the test will send at most, for the user.
    pub fn announcement() -> Message {
        Message::new(MessageCode::ProbeAnnounced, [&MOST_REQUESTS, &grouped(MOST_TOKENS)])
    }

    /// Returns what has been found out so far.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// Returns what to do next. It stays the same until something is reported.
    pub fn poll(&self) -> ProbeStep {
        self.request().unwrap_or_else(|| ProbeStep::Done(Box::new(self.card.clone())))
    }

    fn request(&self) -> Option<ProbeStep> {
        let get = |code: MessageCode, request: HttpRequest, with_key: bool| {
            Some(ProbeStep::Get { label: code.into(), request, with_key })
        };
        let catalog = self.catalog.as_ref()?;
        match self.next {
            Next::List { with_key } => get(MessageCode::ProbeModels, catalog.list_request(), with_key),
            Next::OtherList => {
                let other = ModelCatalog::new(&self.other_endpoint()?);
                get(MessageCode::ProbeModels, other.list_request(), self.options.has_key)
            }
            Next::Credits => get(MessageCode::ProbeKey, catalog.credits_request(), true),
            Next::Nothing => None,
            next => {
                let (label, chat) = self.chat(next)?;
                let stops_early = matches!(next, Next::Window | Next::Cancellation);
                Some(ProbeStep::Ask { label: label.into(), chat: Box::new(chat), stops_early })
            }
        }
    }

    /// Returns the same address with `/v1` if it had none, and without it if it had. Many people get that wrong.
    fn other_endpoint(&self) -> Option<Endpoint> {
        Endpoint::parse_confirmed(&Endpoint::other_base_url(&self.endpoint.as_ref()?.base_url)).ok()
    }

    fn chat(&self, next: Next) -> Option<(MessageCode, ChatRequest)> {
        let ask = |text: &str| vec![ChatMessage::user(text)];
        let weather = || ToolDefinition {
            name: "get_weather".to_owned(),
            description: "Returns the weather in a city".to_owned(),
            input_schema: Some(json!({
                "type": "object",
                "properties": {"city": {"type": "string", "description": "The name of the city"}},
                "required": ["city"]
            })),
        };
        let mut chat = ChatRequest { model: self.card.model.clone()?, ..ChatRequest::default() };
        chat.options = ChatOptions { automatic_caching: true, ..ChatOptions::default() };
        let (label, limit) = match next {
            Next::Answer => {
                chat.messages = ask("Say yes.");
                (MessageCode::ProbeAnswer, FEW_TOKENS)
            }
            Next::Instructions => {
                chat.messages = vec![said(Role::System, "Answer with one word.")];
                chat.messages.push(ChatMessage::user("Say yes."));
                (MessageCode::ProbeInstructions, FEW_TOKENS)
            }
            Next::Turns => {
                chat.messages = ask("The code word is heron.");
                chat.messages.push(said(Role::Assistant, "I will remember that."));
                chat.messages.push(ChatMessage::user("What is the code word?"));
                (MessageCode::ProbeTurns, FEW_TOKENS)
            }
            Next::Images => {
                chat.messages = ask("What colour is this? Answer with one word.");
                let image = ChatPart::Data { mime_type: "image/png".to_owned(), base64: PIXEL.to_owned() };
                chat.messages.iter_mut().for_each(|message| message.content.push(image.clone()));
                (MessageCode::ProbeImages, FEW_TOKENS)
            }
            Next::Cut => {
                chat.messages = ask("Count from one to fifty in words, without anything else.");
                (MessageCode::ProbeCut, FEW_TOKENS)
            }
            Next::Calls { are_required } => {
                chat.messages =
                    ask("What is the weather in Paris and in Rome? Call the tool get_weather for both, in parallel.");
                chat.tools = vec![weather()];
                chat.tool_mode = if are_required { ToolMode::Required } else { ToolMode::Auto };
                (MessageCode::ProbeTools, CALL_TOKENS)
            }
            Next::Results { with_image } => {
                chat.messages.clone_from(&self.seen.calls);
                chat.messages.extend(self.results(with_image));
                chat.tools = vec![weather()];
                (MessageCode::ProbeToolResults, CALL_TOKENS)
            }
            Next::Thought => {
                chat.messages = ask("Is 91 a prime number? Think about it, then answer with one word.");
                chat.options.reasoning_effort = Some("low".to_owned());
                (MessageCode::ProbeReasoning, THOUGHT_TOKENS)
            }
            Next::Window => {
                chat.messages = ask("Say yes.");
                (MessageCode::ProbeLimits, u64::from(self.model.as_ref()?.max_output_tokens))
            }
            Next::Cancellation => {
                chat.messages = ask("Count from one to two hundred in words, without anything else.");
                (MessageCode::ProbeCancellation, THOUGHT_TOKENS)
            }
            Next::Error => {
                NO_SUCH_MODEL.clone_into(&mut chat.model);
                chat.messages = ask("Say yes.");
                (MessageCode::ProbeErrors, FEW_TOKENS)
            }
            Next::List { .. } | Next::OtherList | Next::Credits | Next::Nothing => return None,
        };
        chat.options.max_output_tokens = Some(limit);
        Some((label, chat))
    }

    /// Returns a result for each call. The last one can have an image.
    fn results(&self, with_image: bool) -> Vec<ChatMessage> {
        let calls: Vec<&str> = self.seen.calls.iter().flat_map(|message| call_ids(&message.content)).collect();
        let result = |(at, call_id): (usize, &&str)| {
            let mut content = vec![ChatPart::Text { value: "Sunny, 18 degrees.".to_owned() }];
            if with_image && at + 1 == calls.len() {
                content.push(ChatPart::Data { mime_type: "image/png".to_owned(), base64: PIXEL.to_owned() });
            }
            let result = ChatPart::ToolResult { call_id: (*call_id).to_owned(), content, is_error: false };
            ChatMessage { role: Role::User, content: vec![result] }
        };
        calls.iter().enumerate().map(result).collect()
    }

    /// Something happened to the last request.
    pub fn handle(&mut self, event: &ProbeEvent) {
        self.card.requests += 1;
        self.next = match (self.next, event) {
            (Next::List { with_key }, ProbeEvent::Received(response)) => self.judge_list(response, with_key),
            (Next::List { .. } | Next::Answer, ProbeEvent::Unreachable(transport, code)) => {
                self.judge_unreachable(*transport, code.as_deref())
            }
            (Next::OtherList, ProbeEvent::Received(response)) => self.judge_other_list(response),
            (Next::OtherList, ProbeEvent::Unreachable(..)) => self.without_list(),
            (Next::Credits, ProbeEvent::Received(response)) => self.judge_key(response),
            (Next::Credits, _) => Next::Answer,
            (next, ProbeEvent::Answered(answer)) => self.judge_answer(next, answer),
            _ => Next::Nothing,
        };
        if self.next == Next::Nothing {
            self.finish();
        }
    }

    fn add(&mut self, topic: Topic, result: CheckResult, mut detail: Vec<Message>) {
        let (label, compliance) = (judge::label(topic).into(), judge::compliance(topic));
        detail.extend(compliance.map(|case| Message::new(MessageCode::FoundCase, [&case])));
        self.card.checks.push(Check { topic, label, result, detail, compliance });
    }

    fn is_limit_assumed(&self) -> bool {
        self.model.as_ref().is_some_and(|model| model.limits_from == LimitsFrom::Assumed)
    }

    /// Returns the model to ask: the one that was named, the default, or else the cheapest that calls tools.
    fn choose_model(&mut self) -> Option<&ChatModel> {
        let list = self.catalog.as_ref()?.models(&self.options.settings, self.options.now);
        let price = |model: &ChatModel| model.prices.as_ref().and_then(|prices| prices.output).unwrap_or(0.0);
        let cheaper = |a: &&ChatModel, b: &&ChatModel| {
            let tools = b.capabilities.tool_calling.cmp(&a.capabilities.tool_calling);
            tools.then_with(|| price(a).total_cmp(&price(b)))
        };
        self.model = match &self.options.model {
            Some(id) => list.models.iter().find(|model| model.id == *id).cloned(),
            None => list
                .models
                .iter()
                .find(|model| model.is_default)
                .or_else(|| list.models.iter().min_by(cheaper))
                .cloned(),
        };
        self.card.model = self.options.model.clone().or_else(|| self.model.as_ref().map(|model| model.id.clone()));
        self.model.as_ref()
    }
}

fn said(role: Role, text: &str) -> ChatMessage {
    ChatMessage { role, content: vec![ChatPart::Text { value: text.to_owned() }] }
}

fn call_ids(parts: &[ChatPart]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        ChatPart::ToolCall { call_id, .. } => Some(call_id.as_str()),
        _ => None,
    })
}
