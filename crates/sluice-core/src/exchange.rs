//! One request from start to finish, without I/O: [`Exchange`].

mod body;
mod options;
mod report;
mod stream;
mod trace;

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Serialize;

use crate::ai_sdk::ChunkStream;
use crate::boundary::{Failure, FailureKind, Outcome, Output, Part, Status};
use crate::failure::{BodyRule, Transport, is_broken_connection, overflow_numbers, retry_delay_ms};
use crate::message::{Message, MessageCode};
use crate::pace::Pacer;
use crate::receive::{BodyEnd, ResponseStream};
use crate::send::{Endpoint, Parameter, too_many_tools};
use body::{Body, Progress};
pub use options::ExchangeOptions;
#[cfg(test)]
pub(crate) use report::{CompletionDetails, PromptDetails};
pub use report::{Drain, Elsewhere, Ending, Report, Transcript, VsCodeUsage};
pub use stream::Stream;
use trace::{HAS_LEDGER, Trace};

/// What a shell has to do next.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Action {
    /// Send the request, without the parameters in `without`.
    Send {
        /// How long to wait for the head of the response.
        #[cfg_attr(test, ts(type = "number"))]
        timeout_ms: u64,
        /// The parameters that the server refused in an earlier attempt.
        without: Vec<Parameter>,
        /// Another address of the same origin to send it to.
        url: Option<String>,
    },
    /// Read more of the body.
    Read {
        /// How long to wait for the next bytes.
        #[cfg_attr(test, ts(type = "number"))]
        timeout_ms: u64,
    },
    /// Wait before the next attempt, whose number is `attempt`. Nothing has been shown to the user yet.
    Wait {
        /// How long to wait.
        #[cfg_attr(test, ts(type = "number"))]
        timeout_ms: u64,
        /// Why the last attempt failed.
        failure: Box<Failure>,
        /// The number of the next attempt, where the first is 1.
        attempt: u32,
    },
    /// Show this to the user.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    Output(Output),
    /// The exchange is over. Close the connection, or read the rest of the body as [`Report::drain`] allows.
    End(Arc<Report>),
}

/// The kind of a connection error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionError {
    /// There was no connection: the name, the route or TLS failed.
    Connect,
    /// The connection broke.
    Broken,
}

/// One request from start to finish, without I/O.
///
/// A shell owns the sockets and the clock. The `Exchange` decides everything else: how a response is read, which
/// failures are worth another attempt, which parameters are left out if a server refuses them, when the answer is over,
/// and what to tell the user. A shell is a loop over [`Action`]:
///
/// ```text
///           poll ──► Output(output)  show it, poll again
///                    Send            send the request ─────► handle_head, or handle_connection_error
///                    Read            read the body ────────► handle_bytes, handle_end, or handle_connection_error
///                    Wait            sleep ────────────────► handle_timeout
///                    End(report)     the exchange is over
/// ```
///
/// `Send`, `Read` and `Wait` carry a time limit. Whenever it runs out, the shell calls [`Exchange::handle_timeout`].
///
/// `S` is the format of the answer.
#[derive(Clone, Debug)]
pub struct Exchange<S = ResponseStream> {
    options: ExchangeOptions,
    state: State<S>,
    /// Outputs that the shell has not polled yet.
    outputs: VecDeque<Output>,
    /// Text that the shell gets later.
    pacer: Pacer,
    /// Whether the time limit of the last action is the pacer's.
    is_pausing: bool,
    attempts: u32,
    without: Vec<Parameter>,
    /// Set once the base URL has turned out to be wrong: the failure that showed it.
    wrong_address: Option<Box<Failure>>,
    overflow: Option<String>,
    transcript: Transcript,
    trace: Trace,
    called_tool: bool,
    drain: Option<Drain>,
    /// When the shell was first asked to read, or when the last part was returned.
    waiting_since_ms: Option<u64>,
    /// Whether the time limit of the last `Read` is the limit for the next part. Another attempt would take as long again.
    is_last_read: bool,
}

#[derive(Clone, Debug)]
enum State<S> {
    /// The request has to be sent, or has been sent and there is no response yet.
    Sending,
    Reading(Body<S>),
    /// An attempt is over; the next poll decides what follows.
    Ended(Box<Outcome>),
    Waiting {
        delay_ms: u64,
        failure: Box<Failure>,
    },
    /// The report has been returned or will be with the next poll.
    Finished(Arc<Report>),
}

impl Exchange {
    /// Starts by sending the request. The answer is a stream of the Open Responses protocol.
    pub fn new(options: ExchangeOptions) -> Self {
        Self::of(options)
    }

    /// Starts with a body that is known to be a stream, for callers that send the request themselves.
    pub fn reading(options: ExchangeOptions) -> Self {
        Self::of_body(options)
    }
}

impl Exchange<ChunkStream> {
    /// A chunk of the AI SDK has arrived, as JSON.
    pub fn handle_chunk(&mut self, json: &str) {
        let State::Reading(body) = &mut self.state else { return };
        self.trace.arrived();
        let Some(stream) = body.as_stream_mut() else { return };
        self.outputs.extend(stream.push_chunk(json));
        if stream.is_terminal() {
            self.end_body(BodyEnd::Eof, false);
        }
    }
}

impl<S: Stream> Exchange<S> {
    /// Does what [`new`](Exchange::new) does, for an answer in any format.
    pub fn of(options: ExchangeOptions) -> Self {
        Self {
            pacer: Pacer::new(options.pace),
            options,
            state: State::Sending,
            outputs: VecDeque::new(),
            is_pausing: false,
            attempts: 1,
            without: Vec::new(),
            wrong_address: None,
            overflow: None,
            transcript: Transcript::default(),
            trace: Trace::default(),
            called_tool: false,
            drain: None,
            waiting_since_ms: None,
            is_last_read: false,
        }
    }

    /// Does what [`reading`](Exchange::reading) does, for an answer in any format.
    pub fn of_body(options: ExchangeOptions) -> Self {
        let body = Body::stream(&options);
        let options = ExchangeOptions { max_attempts: 1, ..options };
        Self { state: State::Reading(body), ..Self::of(options) }
    }

    /// Returns what to do next. Until something is reported, the result stays the same, except that each output is
    /// returned once, and that text is returned when its time has come ([`ExchangeOptions::pace`]).
    ///
    /// `now_ms` is the time in milliseconds of any monotonic clock.
    pub fn poll(&mut self, now_ms: u64) -> Action {
        self.trace.tick(now_ms);
        while let Some(output) = self.outputs.pop_front() {
            let part = match output {
                Output::Part(part) => part,
                Output::Note(note) => {
                    self.trace.note(&note);
                    return Action::Output(Output::Note(note));
                }
            };
            self.waiting_since_ms = Some(now_ms);
            if !self.pacer.joins(&part)
                && let Some(earlier) = self.pacer.flush(now_ms)
            {
                self.outputs.push_front(Output::Part(part));
                return self.deliver(earlier);
            }
            self.trace.part(&part);
            if let Err(part) = self.pacer.hold(part, now_ms) {
                return self.deliver(part);
            }
        }
        let State::Reading(body) = &self.state else {
            return match self.pacer.flush(now_ms) {
                Some(part) => self.deliver(part),
                None => self.next_action(),
            };
        };
        let since = *self.waiting_since_ms.get_or_insert(now_ms);
        let patience = body.patience_ms(&self.options).saturating_sub(now_ms.saturating_sub(since));
        let idle = body.idle_ms(&self.options);
        self.is_last_read = patience <= idle && !matches!(body, Body::Refusal { .. });
        if let Some(part) = self.pacer.due(now_ms) {
            return self.deliver(part);
        }
        if patience == 0 {
            // A shell whose server always has something to say would never notice a time limit of zero.
            self.is_pausing = false;
            self.handle_timeout();
            return self.poll(now_ms);
        }
        let timeout_ms = patience.min(idle);
        let pause_ms = self.pacer.wait_ms(now_ms).filter(|pause_ms| *pause_ms < timeout_ms);
        self.is_pausing = pause_ms.is_some();
        Action::Read { timeout_ms: pause_ms.unwrap_or(timeout_ms) }
    }

    fn deliver(&mut self, mut part: Part) -> Action {
        if let Part::Thinking { replay: Some(replay), .. } = &mut part {
            let known = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
            replay.origin = known(&self.options.origin);
            replay.model = known(&self.options.model).or(replay.model.take());
        }
        if HAS_LEDGER {
            self.transcript.add(&part);
        }
        self.called_tool |= matches!(part, Part::ToolCall { .. });
        Action::Output(Output::Part(part))
    }

    /// Returns what to do next if that isn't to read more.
    #[inline(never)]
    fn next_action(&mut self) -> Action {
        if matches!(self.state, State::Ended(_))
            && let State::Ended(outcome) = std::mem::replace(&mut self.state, State::Sending)
        {
            self.decide(*outcome);
        }
        match &self.state {
            State::Sending | State::Reading(_) | State::Ended(_) => {
                self.trace.sent();
                Action::Send {
                    timeout_ms: self.options.head_timeout_ms,
                    without: self.without.clone(),
                    url: self.wrong_address.as_ref().map(|_| format!("{}/responses", self.other_base_url())),
                }
            }
            State::Waiting { delay_ms, failure } => {
                Action::Wait { timeout_ms: *delay_ms, failure: failure.clone(), attempt: self.attempts + 1 }
            }
            State::Finished(report) => Action::End(Arc::clone(report)),
        }
    }

    /// The head of a response has arrived. `now` is the time in seconds since 1970, for servers that send the time of
    /// the next retry as a date.
    pub fn handle_head(&mut self, status: u16, headers: Vec<(String, String)>, now: u64) {
        if !matches!(self.state, State::Sending) {
            return;
        }
        if let Err(transport) = BodyRule::for_status(status) {
            self.fail(Failure::from_transport(transport, &self.options.origin));
        } else {
            self.waiting_since_ms = None;
            self.state = State::Reading(Body::with_head(status, headers, now, &self.options));
        }
    }

    /// More of the body has arrived.
    pub fn handle_bytes(&mut self, bytes: &[u8]) {
        let State::Reading(body) = &mut self.state else { return };
        self.trace.arrived();
        match body.push(bytes, &mut self.outputs) {
            Progress::More => {}
            Progress::Over => self.end_body(BodyEnd::Eof, true),
        }
    }

    /// The body has ended normally.
    pub fn handle_end(&mut self) {
        self.end_body(BodyEnd::Eof, false);
    }

    /// The connection failed or broke.
    pub fn handle_connection_error(&mut self, error: ConnectionError) {
        match &self.state {
            State::Sending => {
                let transport = match error {
                    ConnectionError::Connect => Transport::Connect,
                    ConnectionError::Broken => Transport::Broken,
                };
                self.fail(Failure::from_transport(transport, &self.options.origin));
            }
            State::Reading(_) => self.end_body(BodyEnd::Broken, false),
            _ => {}
        }
    }

    /// There is no response, for a reason that has a code, such as `ENOTFOUND` or `ERR_CONNECTION_RESET`.
    pub fn handle_no_connection(&mut self, code: &str) {
        if is_broken_connection(code) {
            self.handle_connection_error(ConnectionError::Broken);
        } else if matches!(self.state, State::Sending) {
            self.fail(Failure::from_transport(Transport::Connect, &self.options.origin).with_cause(code));
        }
    }

    /// The time limit of the last action has run out.
    pub fn handle_timeout(&mut self) {
        match &self.state {
            State::Sending => self.fail(Failure::from_transport(Transport::HeadersTimeout, &self.options.origin)),
            // The next poll returns the text whose time has come.
            State::Reading(_) if self.is_pausing => self.is_pausing = false,
            State::Reading(_) => self.end_body(BodyEnd::IdleTimeout, false),
            State::Waiting { failure, .. } => {
                self.attempts += 1;
                self.send_again(failure.kind);
            }
            State::Ended(_) | State::Finished(_) => {}
        }
    }

    /// Ends the exchange because the caller no longer wants the answer. What has arrived is still returned: outputs that
    /// have not been polled, and text that was waiting for its time.
    pub fn cancel(&mut self) {
        self.cancel_with(false);
    }

    /// Ends the exchange like [`cancel`](Self::cancel), for a shell that won't show any more outputs, or has polled some
    /// that it won't show. The answer is cancelled even if the server has already completed it.
    pub fn cancel_unseen(&mut self) {
        self.cancel_with(true);
        while let Action::Output(_) = self.poll(0) {}
    }

    fn cancel_with(&mut self, is_unseen: bool) {
        let state = std::mem::replace(&mut self.state, State::Sending);
        let outcome = match state {
            State::Finished(report) if is_unseen => {
                let mut report = Arc::unwrap_or_clone(report);
                report.outcome = Outcome { status: Status::Cancelled, error: None, empty: None, ..report.outcome };
                report.ending = Ending::Cancelled;
                report.entry.cancel();
                report.drain = None;
                self.state = State::Finished(Arc::new(report));
                return;
            }
            State::Finished(report) => {
                self.state = State::Finished(report);
                return;
            }
            State::Reading(body) => {
                let (outputs, outcome) = body.finish(BodyEnd::Cancelled, &self.options.origin);
                self.outputs.extend(outputs);
                outcome
            }
            // The server's outcome counts if the reader sees all of the answer.
            State::Ended(outcome) if is_unseen => {
                Outcome { status: Status::Cancelled, error: None, empty: None, ..*outcome }
            }
            State::Ended(outcome) if outcome.error.is_none() => *outcome,
            State::Sending | State::Waiting { .. } | State::Ended(_) => Outcome::new(Status::Cancelled),
        };
        self.drain = None;
        self.state = State::Ended(Box::new(outcome));
    }

    /// Ends the exchange because the program that reads the answer failed. A shell that lost an exchange in a crash
    /// reports this to a new one, to get the report.
    pub fn handle_crash(&mut self, is_out_of_memory: bool) {
        self.outputs.clear();
        self.pacer.clear();
        let (kind, message, next) = if is_out_of_memory {
            (FailureKind::TooLarge, MessageCode::OutOfMemory, MessageCode::AskForShorter)
        } else {
            (FailureKind::Server, MessageCode::Crashed, MessageCode::ReportCrash)
        };
        let failure = Failure::new(kind, message.into()).with_next(next);
        self.finish(Outcome { retry_safe: false, ..Outcome::refused(failure) });
    }

    fn end_body(&mut self, end: BodyEnd, may_drain: bool) {
        if !matches!(self.state, State::Reading(_)) {
            return;
        }
        let State::Reading(body) = std::mem::replace(&mut self.state, State::Sending) else { return };
        let (outputs, mut outcome) = body.finish(end, &self.options.origin);
        outcome.retry_safe &= end != BodyEnd::IdleTimeout || !self.is_last_read;
        self.outputs.extend(outputs);
        self.drain = may_drain.then(Drain::default);
        self.state = State::Ended(Box::new(outcome));
    }

    fn fail(&mut self, failure: Failure) {
        self.state = State::Ended(Box::new(Outcome::refused(failure)));
    }

    /// An attempt has ended and all its outputs have been polled: decides whether the exchange is over.
    fn decide(&mut self, outcome: Outcome) {
        let Some(failure) = outcome.error.as_ref().filter(|_| outcome.retry_safe) else {
            return self.finish(outcome);
        };
        if overflow_numbers(&failure.message).is_some_and(|overflow| overflow.limit_tokens.is_some()) {
            self.overflow = Some(failure.message.clone());
        }
        if is_wrong_address(failure) && !self.options.base_url.is_empty() {
            if let Some(first) = self.wrong_address.take() {
                let other = self.other_base_url();
                let advice = Message::new(MessageCode::NoApiHere, [&self.options.base_url, &other]);
                return self.finish(Outcome::refused(first.with_next(advice)));
            }
            self.wrong_address = Some(Box::new(failure.clone()));
            self.send_again(failure.kind);
            return;
        }
        if let Some(parameter) = Parameter::refused(failure, &self.options.optional, &self.without) {
            self.without.push(parameter);
            if let Some(most) = parameter.most_tools() {
                self.outputs.push_back(Output::Note(too_many_tools(most)));
            }
            self.send_again(failure.kind);
            return;
        }
        let delay_ms = retry_delay_ms(failure, self.attempts, self.options.random);
        match delay_ms.filter(|_| self.attempts < self.options.max_attempts) {
            Some(delay_ms) => self.state = State::Waiting { delay_ms, failure: Box::new(failure.clone()) },
            None => self.finish(outcome),
        }
    }

    fn send_again(&mut self, why: FailureKind) {
        self.trace.retry(why);
        self.state = State::Sending;
    }

    fn other_base_url(&self) -> String {
        Endpoint::other_base_url(&self.options.base_url)
    }

    fn finish(&mut self, outcome: Outcome) {
        let overflow = self.overflow.take();
        let was_answered =
            outcome.status != Status::Cancelled && outcome.error.as_ref().is_none_or(|e| e.status.is_some());
        let elsewhere = self.wrong_address.take().filter(|_| was_answered).map(|_| {
            let base_url = self.other_base_url();
            let message = Message::new(MessageCode::OtherBaseUrl, [&self.options.base_url, &base_url]);
            Elsewhere { base_url, message }
        });
        let ending = Ending::of(&outcome, self.called_tool, &self.options.origin);
        // A parameter was the problem only if the server accepted the request without it.
        let mut refused = if outcome.error.is_none() { std::mem::take(&mut self.without) } else { Vec::new() };
        let reasoning_refused = refused.contains(&Parameter::ReasoningItems);
        refused.retain(|parameter| *parameter != Parameter::ReasoningItems);
        let usage = outcome.usage.as_ref().and_then(VsCodeUsage::of);
        let entry = self.trace.finish(&outcome, std::mem::take(&mut self.transcript));
        let (attempts, drain) = (self.attempts, self.drain);
        self.state = State::Finished(Arc::new(Report {
            outcome,
            ending,
            usage,
            entry,
            attempts,
            refused,
            reasoning_refused,
            overflow,
            elsewhere,
            drain,
        }));
    }
}

/// Returns whether a server has nothing at this address, or nothing that accepts a request.
fn is_wrong_address(failure: &Failure) -> bool {
    failure.kind == FailureKind::NotAStream && matches!(failure.status, Some(404 | 405))
}
