//! What the ledger learns from an exchange.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::boundary::{ChatPart, Finish, Gateway, NoteCount, Outcome, Retry, Route, Status, Timeline, Usage};
use crate::log::{logged_model, protocol_term};

/// The maximum number of providers that are recorded.
const MAX_TRIED: usize = 20;

/// What the ledger learns from an exchange; part of its [`Report`](crate::Report).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LedgerEntry {
    /// Whether the server said that the answer is over.
    pub is_answered: bool,
    /// Whether the answer is complete, so that the server's count applies to `answer`.
    pub is_whole: bool,
    /// What the server counted.
    pub usage: Option<Usage>,
    /// The gateway's own figure, in US dollars.
    pub cost: Option<String>,
    /// Whether the embedded gateway answered, whose money isn't real.
    pub is_play: bool,
    /// When things happened.
    pub timeline: Timeline,
    /// The attempts that failed before the last one.
    pub retries: Vec<Retry>,
    /// Who answered.
    pub route: Route,
    /// What was ignored or repaired.
    pub notes: Vec<NoteCount>,
    /// How it ended.
    pub finish: Finish,
    /// The assistant's message as the next request repeats it.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub answer: Vec<ChatPart>,
}

impl LedgerEntry {
    /// Takes what the ledger needs from an outcome and the parts of its answer.
    pub fn new(outcome: &Outcome, answer: Vec<ChatPart>) -> Self {
        let gateway = outcome.gateway.as_ref();
        Self {
            is_answered: matches!(outcome.status, Status::Completed | Status::Incomplete),
            is_whole: outcome.status == Status::Completed,
            usage: outcome.usage.clone(),
            cost: gateway.and_then(|gateway| gateway.cost.clone()),
            is_play: outcome.is_play(),
            route: Route::of(outcome),
            finish: Finish {
                status: outcome.status,
                reason: protocol_term(outcome.reason.as_deref()),
                failure: outcome.error.as_ref().map(|failure| failure.kind),
            },
            answer,
            ..Self::default()
        }
    }

    /// Returns whether the request may have cost something: the server answered it, or may have worked on an answer that
    /// wasn't read to its end.
    pub(super) fn may_cost(&self) -> bool {
        let Timeline { sent_ms, first_thinking_ms, first_text_ms, calls, .. } = &self.timeline;
        let has_output = first_thinking_ms.is_some() || first_text_ms.is_some() || !calls.is_empty();
        match self.finish.status {
            Status::Completed | Status::Incomplete => true,
            Status::Cancelled | Status::Truncated => sent_ms.is_some(),
            Status::Failed => has_output,
        }
    }

    /// The reader saw less than the server sent, so the answer counts as cancelled.
    pub(crate) fn cancel(&mut self) {
        self.is_answered = false;
        self.is_whole = false;
        self.finish = Finish::default();
    }
}

impl Outcome {
    /// Returns whether the embedded gateway answered, whose money isn't real.
    pub fn is_play(&self) -> bool {
        let simulated = |gateway: &Gateway| gateway.metadata.get("sluice")?.get("simulated")?.as_bool();
        self.gateway.as_ref().and_then(simulated).unwrap_or(false)
    }
}

impl Route {
    /// Takes ids only: a server could write anything into these fields.
    fn of(outcome: &Outcome) -> Self {
        let id = |text: &str| Some(text.to_owned()).filter(|text| logged_model(text) == text);
        let gateway = outcome.gateway.as_ref();
        let attempts = |Gateway { metadata, .. }: &Gateway| {
            let attempts = metadata.get("gateway")?.get("routing")?.get("attempts")?.as_array()?;
            let providers = attempts.iter().filter_map(|attempt| attempt.get("provider").and_then(Value::as_str));
            Some(providers.filter_map(id).take(MAX_TRIED).collect())
        };
        Self {
            model: outcome.model.as_deref().and_then(id),
            provider: gateway.and_then(|gateway| id(gateway.provider.as_deref()?)),
            tried: gateway.and_then(attempts).unwrap_or_default(),
            generation_id: gateway.and_then(|gateway| id(gateway.generation_id.as_deref()?)),
        }
    }
}
