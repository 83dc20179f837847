//! What the answers of a server mean.

use super::{Card, CheckResult, Next, Probe, ProbeAnswer, Seen, Topic, call_ids};
use crate::boundary::{
    ChatMessage, ChatPart, Failure, FailureKind, LimitsFrom, ReasoningItem, ReplayItem, Role, Status, Usage,
};
use crate::failure::{HttpResponse, Transport, connection_cause, overflow_numbers};
use crate::message::{Message, MessageCode};
use crate::models::{KeyState, ModelCatalog, Refresh, check_key};
use crate::numbers::grouped;
use crate::send::{Endpoint, Parameter};

impl Probe {
    pub(super) fn judge_address(&mut self, endpoint: &Endpoint) {
        let is_https = endpoint.origin.starts_with("https:");
        self.add(Topic::Address, CheckResult::Works, vec![plain(&endpoint.base_url)]);
        let proxy = match &self.options.proxy {
            _ if endpoint.is_loopback => MessageCode::FoundNoProxyHere.into(),
            Some(proxy) => Message::new(MessageCode::FoundProxy, [proxy]),
            None => MessageCode::FoundNoProxy.into(),
        };
        self.add(Topic::Proxy, CheckResult::Works, vec![proxy]);
        // Whether a certificate is trusted is known once there is a response.
        if !is_https {
            let detail = if endpoint.is_loopback { MessageCode::FoundLocal } else { MessageCode::FoundNoEncryption };
            let result = if endpoint.is_loopback { CheckResult::Works } else { CheckResult::Absent };
            self.add(Topic::Encryption, result, vec![detail.into()]);
        }
    }

    fn judge_encryption(&mut self) {
        let is_new = !self.card.checks.iter().any(|check| check.topic == Topic::Encryption);
        if is_new {
            self.add(Topic::Encryption, CheckResult::Works, vec![MessageCode::FoundEncryption.into()]);
        }
    }

    pub(super) fn judge_unreachable(&mut self, transport: Transport, code: Option<&str>) -> Next {
        let origin = self.endpoint.as_ref().map(|endpoint| endpoint.origin.clone()).unwrap_or_default();
        let mut text = Failure::from_transport(transport, &origin).text;
        let cause: Vec<Message> = code.iter().flat_map(|code| connection_cause(code)).collect();
        let is_certificate = cause.iter().any(|message| message.code == MessageCode::CertificateNotTrusted);
        text.extend(cause);
        let topic = if is_certificate { Topic::Encryption } else { Topic::Address };
        self.card.checks.retain(|check| check.topic != topic);
        self.add(topic, CheckResult::Failed, text);
        Next::Nothing
    }

    pub(super) fn judge_list(&mut self, response: &HttpResponse, with_key: bool) -> Next {
        self.judge_encryption();
        // Some servers fail in other ways than 401 if there is no key.
        if !(200..=299).contains(&response.status) && self.options.has_key && !with_key {
            return Next::List { with_key: true };
        }
        let failure = Failure::from_http(response, self.options.now);
        let is_refusal = !(200..=299).contains(&response.status);
        if is_refusal && matches!(failure.kind, FailureKind::SignIn | FailureKind::Forbidden) {
            self.add(Topic::Key, CheckResult::Failed, failure.text);
            return Next::Nothing;
        }
        let refresh = self.catalog.as_mut().map(|catalog| catalog.handle_list(response, self.options.now));
        if let Some(Refresh::Kept(note)) = refresh {
            let is_list = note.text.iter().any(|message| message.code == MessageCode::NoModelChats);
            if is_list || !matches!(response.status, 200..=299 | 404 | 405) {
                self.add(Topic::Models, CheckResult::Failed, note.text);
                return Next::Nothing;
            }
            return Next::OtherList;
        }
        let count = self
            .catalog
            .as_ref()
            .map_or(0, |catalog| catalog.models(&self.options.settings, self.options.now).models.len());
        let found = match count {
            1 => MessageCode::FoundOneModel.into(),
            _ => Message::new(MessageCode::FoundModels, [&count]),
        };
        let mut detail = vec![found];
        self.choose_model();
        if let Some(model) = self.options.model.as_ref().filter(|_| self.model.is_none()) {
            detail.push(Message::new(MessageCode::FoundUnlisted, [model]));
        }
        self.add(Topic::Models, CheckResult::Works, detail);
        match (self.options.has_key, with_key) {
            (false, _) => {
                self.add(Topic::Key, CheckResult::Works, vec![MessageCode::FoundNoKey.into()]);
                Next::Answer
            }
            (true, true) => {
                self.add(Topic::Key, CheckResult::Works, vec![MessageCode::FoundKeyForList.into()]);
                Next::Answer
            }
            (true, false) => Next::Credits,
        }
    }

    /// There is no list at this address.
    pub(super) fn judge_other_list(&mut self, response: &HttpResponse) -> Next {
        let Some(other) = self.other_endpoint() else { return Next::Nothing };
        let refresh = ModelCatalog::new(&other).handle_list(response, self.options.now);
        if matches!(refresh, Refresh::Kept(_)) {
            return self.without_list();
        }
        self.judge_elsewhere(&other.base_url);
        // Chats find the other address too, so the test goes on there.
        self.catalog = Some(ModelCatalog::new(&other));
        self.endpoint = Some(other);
        self.judge_list(response, self.options.has_key)
    }

    /// The server has its API at another address than the one that is tested.
    fn judge_elsewhere(&mut self, base_url: &str) {
        self.card.checks.retain(|check| check.topic != Topic::Address);
        let found = Message::new(MessageCode::FoundElsewhere, [&base_url]);
        self.add(Topic::Address, CheckResult::Absent, vec![found]);
    }

    pub(super) fn without_list(&mut self) -> Next {
        self.card.model.clone_from(&self.options.model);
        if self.card.model.is_none() {
            let detail = vec![MessageCode::FoundNoList.into(), MessageCode::NameAModel.into()];
            self.add(Topic::Models, CheckResult::Failed, detail);
            return Next::Nothing;
        }
        self.add(Topic::Models, CheckResult::Absent, vec![MessageCode::FoundNoList.into()]);
        Next::Answer
    }

    pub(super) fn judge_key(&mut self, response: &HttpResponse) -> Next {
        let check = check_key(response, self.options.now);
        match check.state {
            KeyState::Accepted => self.add(Topic::Key, CheckResult::Works, check.text),
            KeyState::Unknown => self.add(Topic::Key, CheckResult::Unknown, check.text),
            KeyState::Refused => {
                self.add(Topic::Key, CheckResult::Failed, check.text);
                return Next::Nothing;
            }
        }
        Next::Answer
    }

    /// Returns what to ask after the answer to a chat.
    pub(super) fn judge_answer(&mut self, asked: Next, answer: &ProbeAnswer) -> Next {
        if asked != Next::Error {
            self.seen.learn(answer);
            self.card.learn(answer);
        }
        match asked {
            Next::Answer => self.judge_first(answer),
            Next::Instructions => self.judge_accepted(Topic::Instructions, CheckResult::Failed, answer, Next::Turns),
            Next::Turns => self.judge_accepted(Topic::Turns, CheckResult::Failed, answer, Next::Images),
            Next::Images => self.judge_accepted(Topic::Images, CheckResult::Absent, answer, Next::Cut),
            Next::Cut => self.judge_cut(answer),
            Next::Calls { are_required } => self.judge_calls(answer, are_required),
            Next::Results { with_image } => self.judge_results(answer, with_image),
            Next::Thought => {
                if self.is_limit_assumed() {
                    Next::Window
                } else {
                    Next::Cancellation
                }
            }
            Next::Window => Next::Cancellation,
            Next::Cancellation => {
                self.seen.cancelled = Some(answer.status);
                Next::Error
            }
            Next::Error => self.judge_error(answer),
            Next::List { .. } | Next::OtherList | Next::Credits | Next::Nothing => Next::Nothing,
        }
    }

    fn judge_first(&mut self, answer: &ProbeAnswer) -> Next {
        self.judge_encryption();
        if let Some(failure) = &answer.failure {
            let topic = if failure.kind == FailureKind::SignIn { Topic::Key } else { Topic::Answer };
            self.card.checks.retain(|check| check.topic != topic);
            self.add(topic, CheckResult::Failed, vec![plain(&failure.text)]);
            return Next::Nothing;
        }
        if let Some(base_url) = &answer.elsewhere {
            self.judge_elsewhere(base_url);
        }
        let model = self.card.model.clone().unwrap_or_default();
        let seconds = format!("{}.{}", answer.milliseconds / 1000, answer.milliseconds % 1000 / 100);
        // Some servers call an answer complete that was cut off while the model was thinking.
        let output = answer.entry.usage.as_ref().and_then(|usage| usage.output_tokens);
        let is_short = output.is_some_and(|output| output < super::FEW_TOKENS);
        let (result, detail) = match (answer.parts, answer.status) {
            (0, Status::Completed) if is_short => (CheckResult::Absent, MessageCode::FoundEmpty.into()),
            _ => (CheckResult::Works, Message::new(MessageCode::FoundAnswer, [&model, &seconds])),
        };
        self.add(Topic::Answer, result, vec![detail]);
        Next::Instructions
    }

    /// A refusal has this result.
    fn judge_accepted(&mut self, topic: Topic, refused: CheckResult, answer: &ProbeAnswer, next: Next) -> Next {
        let (result, detail) = match &answer.failure {
            None => (CheckResult::Works, MessageCode::FoundAccepted.into()),
            Some(failure) => (refused, Message::new(MessageCode::FoundRefused, [&failure.text])),
        };
        self.add(topic, result, vec![detail]);
        next
    }

    fn judge_cut(&mut self, answer: &ProbeAnswer) -> Next {
        let usage = answer.entry.usage.as_ref();
        let counts = usage.and_then(|usage| Some((usage.input_tokens?, usage.output_tokens?)));
        // A question has tokens, so a server that says zero doesn't count.
        match counts.filter(|(input, _)| *input > 0) {
            Some((input, output)) => {
                let counts = Message::new(MessageCode::FoundUsage, [&grouped(input), &grouped(output)]);
                self.add(Topic::Usage, CheckResult::Works, vec![counts]);
            }
            None => self.add(Topic::Usage, CheckResult::Absent, vec![MessageCode::FoundNoUsage.into()]),
        }
        let output = usage.and_then(|usage| usage.output_tokens);
        let (result, detail) = match (&answer.failure, answer.status, output) {
            (Some(failure), ..) => (CheckResult::Failed, plain(&failure.text)),
            (None, Status::Incomplete, _) => (CheckResult::Works, MessageCode::FoundCut.into()),
            (None, Status::Completed, Some(output)) if output >= super::FEW_TOKENS => {
                (CheckResult::Absent, Message::new(MessageCode::FoundNoCut, [&super::FEW_TOKENS]))
            }
            (None, ..) => (CheckResult::Unknown, MessageCode::FoundTooShort.into()),
        };
        self.add(Topic::Cut, result, vec![detail]);
        Next::Calls { are_required: false }
    }

    fn judge_calls(&mut self, answer: &ProbeAnswer, are_required: bool) -> Next {
        let count = call_ids(&answer.entry.answer).count();
        if let Some(failure) = &answer.failure {
            self.add(Topic::Tools, CheckResult::Failed, vec![plain(&failure.text)]);
            return self.after_tools();
        }
        if count == 0 && !are_required {
            return Next::Calls { are_required: true };
        }
        if count == 0 {
            self.add(Topic::Tools, CheckResult::Absent, vec![MessageCode::FoundNoCall.into()]);
            return self.after_tools();
        }
        let called = if are_required { MessageCode::FoundCallIfRequired } else { MessageCode::FoundCall };
        self.add(Topic::Tools, CheckResult::Works, vec![called.into()]);
        let (result, detail) = match count {
            1 => (CheckResult::Absent, MessageCode::FoundOneCall.into()),
            _ => (CheckResult::Works, Message::new(MessageCode::FoundCalls, [&count])),
        };
        self.add(Topic::ParallelCalls, result, vec![detail]);
        let Some((_, asked)) = self.chat(Next::Calls { are_required }) else { return Next::Nothing };
        self.seen.calls = asked.messages;
        self.seen.calls.push(ChatMessage { role: Role::Assistant, content: answer.entry.answer.clone() });
        Next::Results { with_image: true }
    }

    fn judge_results(&mut self, answer: &ProbeAnswer, with_image: bool) -> Next {
        match (&answer.failure, with_image) {
            (Some(failure), true) => {
                let refused = Message::new(MessageCode::FoundRefused, [&failure.text]);
                self.add(Topic::ToolImages, CheckResult::Absent, vec![refused]);
                return Next::Results { with_image: false };
            }
            (Some(failure), false) => {
                self.card.checks.retain(|check| check.topic != Topic::ToolImages);
                self.add(Topic::ToolResults, CheckResult::Failed, vec![plain(&failure.text)]);
            }
            (None, _) => {
                let calls = self.seen.calls.iter().flat_map(|message| &message.content);
                let was_reasoning_sent = reasoning(calls).next().is_some();
                self.seen.reasoning_back = was_reasoning_sent.then_some(!answer.is_reasoning_refused);
                self.add(Topic::ToolResults, CheckResult::Works, vec![MessageCode::FoundAccepted.into()]);
                if answer.refused.contains(&Parameter::ToolOutputParts) {
                    self.add(Topic::ToolImages, CheckResult::Absent, vec![MessageCode::FoundToolText.into()]);
                } else if with_image {
                    self.add(Topic::ToolImages, CheckResult::Works, vec![MessageCode::FoundAccepted.into()]);
                }
            }
        }
        self.after_tools()
    }

    /// Asks for thinking only if no answer has contained any.
    fn after_tools(&self) -> Next {
        if self.seen.reasoning.is_empty() && !self.seen.is_thinking_shown {
            return Next::Thought;
        }
        if self.is_limit_assumed() { Next::Window } else { Next::Cancellation }
    }

    fn judge_error(&mut self, answer: &ProbeAnswer) -> Next {
        let (result, detail) = match self.seen.most_parts {
            0 | 1 => (CheckResult::Absent, MessageCode::FoundNoStreaming.into()),
            parts => (CheckResult::Works, Message::new(MessageCode::FoundStreaming, [&parts])),
        };
        self.add(Topic::Streaming, result, vec![detail]);
        self.judge_reasoning();
        self.judge_limits();
        let answered = answer.failure.as_ref().is_none_or(|failure| failure.kind != FailureKind::Network);
        let (result, detail) = match self.seen.cancelled {
            _ if !answered => (CheckResult::Failed, MessageCode::FoundDeadAfterCancel),
            Some(Status::Cancelled) => (CheckResult::Works, MessageCode::FoundCancelled),
            _ => (CheckResult::Unknown, MessageCode::FoundTooShort),
        };
        self.add(Topic::Cancellation, result, vec![detail.into()]);
        let (result, detail) = match &answer.failure {
            None => (CheckResult::Absent, vec![MessageCode::FoundAnyModel.into()]),
            Some(failure) => {
                let status = failure.status.map_or_else(|| "–".to_owned(), |status| status.to_string());
                match failure.kind {
                    FailureKind::ModelNotFound | FailureKind::BadRequest | FailureKind::Forbidden => {
                        (CheckResult::Works, vec![Message::new(MessageCode::FoundErrors, [&status])])
                    }
                    _ => (CheckResult::Absent, vec![Message::new(MessageCode::FoundVagueErrors, [&status])]),
                }
            }
        };
        self.add(Topic::Errors, result, detail);
        Next::Nothing
    }

    fn judge_reasoning(&mut self) {
        let refused = |parameter: Parameter| self.card.refused.contains(&parameter);
        let items = &self.seen.reasoning;
        let summaries = items.iter().any(|item| !item.summary.is_empty());
        let plain = items.iter().any(|item| !item.content.is_empty());
        let sealed = items.iter().any(|item| item.encrypted_content.is_some() || item.signature.is_some());
        let shown = |found: bool, parameter: Parameter| match found {
            true => (CheckResult::Works, MessageCode::FoundThinking),
            false if refused(parameter) => (CheckResult::Absent, MessageCode::FoundThinkingRefused),
            false => (CheckResult::Absent, MessageCode::FoundNoThinking),
        };
        let summaries = if summaries {
            (CheckResult::Works, MessageCode::FoundSummaries)
        } else {
            shown(false, Parameter::ReasoningSummary)
        };
        let is_plain_shown = plain || (self.seen.is_thinking_shown && summaries.0 != CheckResult::Works);
        let plain = shown(is_plain_shown, Parameter::ReasoningEffort);
        let sealed = shown(sealed, Parameter::Include);
        let back = match self.seen.reasoning_back {
            None => (CheckResult::Unknown, MessageCode::FoundNothingToSendBack),
            Some(true) => (CheckResult::Works, MessageCode::FoundThinkingAccepted),
            Some(false) => (CheckResult::Absent, MessageCode::FoundReasoningRefused),
        };
        let phase = if self.seen.has_phase {
            (CheckResult::Works, MessageCode::FoundPhase)
        } else {
            (CheckResult::Absent, MessageCode::FoundNoPhase)
        };
        let caching = match self.seen.cached {
            None => (CheckResult::Absent, MessageCode::FoundNoCache.into()),
            Some(cached) => (CheckResult::Works, Message::new(MessageCode::FoundCache, [&grouped(cached)])),
        };
        for (topic, (result, detail)) in [
            (Topic::Summaries, summaries),
            (Topic::PlainReasoning, plain),
            (Topic::EncryptedReasoning, sealed),
            (Topic::ReasoningBack, back),
            (Topic::Phase, phase),
        ] {
            self.add(topic, result, vec![detail.into()]);
        }
        self.add(Topic::Caching, caching.0, vec![caching.1]);
    }

    fn judge_limits(&mut self) {
        let learned = self.card.overflow.as_deref().and_then(overflow_numbers).and_then(|numbers| numbers.limit_tokens);
        let (result, detail) = match (&self.model, learned) {
            (_, Some(tokens)) => (CheckResult::Works, Message::new(MessageCode::FoundLearned, [&grouped(tokens)])),
            (Some(model), None) if model.limits_from != LimitsFrom::Assumed => (
                CheckResult::Works,
                Message::new(MessageCode::FoundLimits, [&grouped(u64::from(model.context_window))]),
            ),
            (Some(model), None) => (
                CheckResult::Absent,
                Message::new(MessageCode::FoundAssumed, [&grouped(u64::from(model.context_window))]),
            ),
            (None, None) => (CheckResult::Unknown, MessageCode::FoundNoLimits.into()),
        };
        self.add(Topic::Limits, result, vec![detail]);
    }
}

impl Card {
    fn learn(&mut self, answer: &ProbeAnswer) {
        for parameter in &answer.refused {
            if !self.refused.contains(parameter) {
                self.refused.push(*parameter);
            }
        }
        self.tokens += answer.entry.usage.as_ref().map_or(0, used);
        if let Some(failure) = &answer.failure
            && overflow_numbers(&failure.message).is_some_and(|numbers| numbers.limit_tokens.is_some())
        {
            self.overflow = Some(failure.message.clone());
        }
    }
}

fn used(usage: &Usage) -> u64 {
    usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0))
}

impl Seen {
    fn learn(&mut self, answer: &ProbeAnswer) {
        self.is_thinking_shown |= answer.is_thinking_shown;
        self.most_parts = self.most_parts.max(answer.parts);
        let details = answer.entry.usage.as_ref().and_then(|usage| usage.input_tokens_details.as_ref());
        if let Some(cached) = details.and_then(|details| details.count("cached_tokens")) {
            self.cached = Some(self.cached.unwrap_or(0).max(cached));
        }
        self.reasoning.extend(reasoning(&answer.entry.answer).cloned());
        let phased = |item: &ReplayItem| matches!(item, ReplayItem::Message(message) if message.phase.is_some());
        self.has_phase |= replayed(&answer.entry.answer).any(phased);
    }
}

/// Returns what the server needs back of an answer.
fn replayed<'a>(answer: impl IntoIterator<Item = &'a ChatPart>) -> impl Iterator<Item = &'a ReplayItem> {
    let items = |part: &'a ChatPart| match part {
        ChatPart::Thinking { replay: Some(replay) } => replay.items.as_slice(),
        _ => &[],
    };
    answer.into_iter().flat_map(items)
}

fn reasoning<'a>(answer: impl IntoIterator<Item = &'a ChatPart>) -> impl Iterator<Item = &'a ReasoningItem> {
    replayed(answer).filter_map(|item| match item {
        ReplayItem::Reasoning(item) => Some(item),
        _ => None,
    })
}

fn plain(text: &str) -> Message {
    Message::new(MessageCode::Plain, [&text])
}

/// Returns what people call a topic.
pub(super) fn label(topic: Topic) -> MessageCode {
    match topic {
        Topic::Address => MessageCode::ProbeAddress,
        Topic::Encryption => MessageCode::ProbeEncryption,
        Topic::Proxy => MessageCode::ProbeProxy,
        Topic::Models => MessageCode::ProbeModels,
        Topic::Key => MessageCode::ProbeKey,
        Topic::Answer => MessageCode::ProbeAnswer,
        Topic::Instructions => MessageCode::ProbeInstructions,
        Topic::Turns => MessageCode::ProbeTurns,
        Topic::Images => MessageCode::ProbeImages,
        Topic::Streaming => MessageCode::ProbeStreaming,
        Topic::Usage => MessageCode::ProbeUsage,
        Topic::Cut => MessageCode::ProbeCut,
        Topic::Tools => MessageCode::ProbeTools,
        Topic::ParallelCalls => MessageCode::ProbeParallel,
        Topic::ToolResults => MessageCode::ProbeToolResults,
        Topic::ToolImages => MessageCode::ProbeToolImages,
        Topic::Summaries => MessageCode::ProbeSummaries,
        Topic::PlainReasoning => MessageCode::ProbePlain,
        Topic::EncryptedReasoning => MessageCode::ProbeEncrypted,
        Topic::ReasoningBack => MessageCode::ProbeBack,
        Topic::Phase => MessageCode::ProbePhase,
        Topic::Caching => MessageCode::ProbeCaching,
        Topic::Limits => MessageCode::ProbeLimits,
        Topic::Cancellation => MessageCode::ProbeCancellation,
        Topic::Errors => MessageCode::ProbeErrors,
    }
}

/// Returns the case of the official compliance suite that asks the same. Sluice streams every answer, also that of
/// `basic-response`. The other cases are about `WebSocket`s, compaction and phases that a client makes up, none of which
/// Sluice uses.
pub(super) fn compliance(topic: Topic) -> Option<&'static str> {
    Some(match topic {
        Topic::Answer => "basic-response",
        Topic::Instructions => "system-prompt",
        Topic::Turns => "multi-turn",
        Topic::Images => "image-input",
        Topic::Streaming => "streaming-response",
        Topic::Tools => "tool-calling",
        _ => return None,
    })
}
