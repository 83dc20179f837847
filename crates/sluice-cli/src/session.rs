//! A conversation with a model: questions, answers, and the calls of tools in between.

use std::cell::Cell;
use std::io::{self, BufReader, IsTerminal, stdin};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use sluice_client::Event;
use sluice_core::{
    ChatMessage, ChatOptions, ChatPart, ChatRequest, Ending, NoteKind, Outcome, Output, Part, Report, Role, Status,
    join_messages,
};
use tokio::sync::Notify;

use crate::Printer;
use crate::capture::CaptureFile;
use crate::connection::Connection;
use crate::human::{Detail, Human};
use crate::interrupts::Interrupts;
use crate::json::JsonLines;
use crate::keyboard::Keyboard;
use crate::ledger::ChatLedger;
use crate::mask::Masked;
use crate::output::{reader_is_gone, tell};
use crate::spinner::Spinner;
use crate::tools::{Call, MAX_CALLS, Tools};

/// How often in a row the model may answer with tool calls.
const MAX_TOOL_ROUNDS: usize = 25;

/// What a conversation is set up with.
pub struct Setup {
    pub model: Option<String>,
    pub system: Option<String>,
    pub max_output_tokens: Option<u64>,
    pub reasoning_effort: Option<String>,
    pub tools: Tools,
    pub tool_timeout: Duration,
    pub json: bool,
    pub detail: Detail,
    pub capture: Option<PathBuf>,
}

pub struct Session {
    connection: Connection,
    request: ChatRequest,
    tools: Tools,
    tool_timeout: Duration,
    keyboard: Option<Keyboard>,
    interrupts: Interrupts,
    capture: Option<CaptureFile>,
    capture_failed: bool,
    ledger: ChatLedger,
    json: bool,
    detail: Detail,
}

impl Session {
    pub fn open(setup: Setup, profile: Option<&str>) -> Result<Self, String> {
        let connection = Connection::open(profile)?;
        let model = setup.model.filter(|model| !model.trim().is_empty()).or_else(|| connection.default_model());
        let model = model.ok_or("name a model with -m; `sluice models` lists them")?;
        let capture = setup.capture.as_deref().map(CaptureFile::start).transpose();
        let capture = capture.map_err(|error| format!("cannot write the capture: {error}"))?;
        let system = setup.system.map(|value| message(Role::System, vec![ChatPart::Text { value }]));
        let request = ChatRequest {
            model,
            messages: system.into_iter().collect(),
            tools: setup.tools.definitions(),
            options: ChatOptions {
                max_output_tokens: setup.max_output_tokens,
                reasoning_effort: setup.reasoning_effort,
                automatic_caching: true,
                ..ChatOptions::default()
            },
            ..ChatRequest::default()
        };
        let keyboard = stdin().is_terminal().then(|| Keyboard::new(BufReader::new(stdin())));
        let interrupts = Interrupts::listen(!setup.tools.is_empty());
        let interrupts = interrupts.map_err(|error| format!("cannot listen for Ctrl-C: {error}"))?;
        let ledger = ChatLedger::open(&connection.client, &request.model);
        Ok(Self {
            connection,
            request,
            tools: setup.tools,
            tool_timeout: setup.tool_timeout,
            keyboard,
            interrupts,
            capture,
            capture_failed: false,
            ledger,
            json: setup.json,
            detail: setup.detail,
        })
    }

    pub fn model(&self) -> &str {
        &self.request.model
    }

    /// Returns the line that the user types, or nothing at the end of the input and after Ctrl-C.
    pub async fn line(&mut self) -> Option<String> {
        let keyboard = self.keyboard.as_mut()?;
        tokio::select! {
            line = keyboard.line() => line,
            () = self.interrupts.next() => None,
        }
    }

    /// Returns `code`, unless something else went wrong.
    pub fn exit_code(&self, code: ExitCode) -> ExitCode {
        if self.capture_failed && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code }
    }

    /// Runs one turn: the question, and as many rounds of tool calls as it takes. There is one outcome.
    pub async fn ask(&mut self, content: Vec<ChatPart>) -> io::Result<Status> {
        self.request.messages.push(message(Role::User, content));
        let mut printer: Box<dyn Printer> =
            if self.json { Box::new(JsonLines::new()) } else { Box::new(Human::for_chat(self.detail)) };
        if let Some(key) = self.connection.client.key() {
            printer = Box::new(Masked::new(printer, key));
        }
        let started = Instant::now();
        for round in 1.. {
            let Report { outcome, entry, reasoning_refused, .. } = self.round(printer.as_mut(), started).await?;
            if reasoning_refused {
                // It would be refused every time.
                for message in &mut self.request.messages {
                    message.content.retain(|part| !matches!(part, ChatPart::Thinking { .. }));
                }
            }
            let calls: Vec<ChatPart> = entry.answer.iter().filter(|part| is_call(part)).cloned().collect();
            if !entry.answer.is_empty() {
                self.request.messages.push(message(Role::Assistant, entry.answer));
            }
            if !self.continues_after(&outcome, &calls) {
                return Ok(outcome.status);
            }
            if round == MAX_TOOL_ROUNDS {
                let reason = Some(format!("the model called tools {MAX_TOOL_ROUNDS} times in a row"));
                let outcome = Outcome { status: Status::Failed, reason, ..outcome };
                printer.outcome(&outcome, started.elapsed())?;
                return Ok(outcome.status);
            }
            for (number, call) in calls.iter().enumerate() {
                let ChatPart::ToolCall { call_id, name, input_json } = call else { continue };
                let call = Call { id: call_id, name, input_json };
                let answered = if number < MAX_CALLS {
                    let Self { tools, tool_timeout, keyboard, interrupts, .. } = self;
                    tools.answer(&call, *tool_timeout, keyboard.as_mut(), interrupts.next()).await
                } else {
                    Some(call.one_too_many())
                };
                let Some(answered) = answered else {
                    // If the conversation continues, the core adds the missing result of a call.
                    let outcome = Outcome { status: Status::Cancelled, ..outcome };
                    printer.outcome(&outcome, started.elapsed())?;
                    return Ok(outcome.status);
                };
                printer.tool_result(&answered)?;
                self.request.messages.push(message(Role::User, vec![answered.into_part()]));
            }
        }
        Ok(Status::Failed)
    }

    /// Returns whether another request follows an answer, with the results of its calls.
    fn continues_after(&self, outcome: &Outcome, parts: &[ChatPart]) -> bool {
        outcome.status == Status::Completed && !self.tools.is_empty() && parts.iter().any(is_call)
    }

    /// Makes one request and prints the answer.
    async fn round(&mut self, printer: &mut dyn Printer, turn_started: Instant) -> io::Result<Report> {
        let Self { connection, request, interrupts, ledger, .. } = self;
        let (mut capture, mut capture_error, mut write_error) = (self.capture.take(), None, None);
        if let Some(capture) = &mut capture {
            capture_error = capture.request(request, &connection.client).err();
        }
        let mut spinner = Spinner::start();
        ledger.begin(request);
        let unwritable = Notify::new();
        let is_unread = Cell::new(false);
        let cancel = async {
            tokio::select! {
                () = interrupts.next() => {}
                () = unwritable.notified() => {}
                () = reader_is_gone() => is_unread.set(true),
            }
        };
        let report = connection
            .client
            .respond(request, cancel, &mut |event| match event {
                Event::Output(output) => {
                    let is_noise = matches!(&output, Output::Note(note) if note.kind == NoteKind::Event);
                    if !is_noise {
                        spinner.stop();
                    }
                    if let Output::Part(part) = &output {
                        ledger.part(matches!(part, Part::Thinking { .. }));
                    }
                    if write_error.is_none()
                        && let Err(error) = printer.output(&output).and_then(|()| printer.flush())
                    {
                        // There is no point in waiting for an answer that can't be printed.
                        write_error = Some(error);
                        unwritable.notify_one();
                    }
                }
                Event::Bytes(bytes) => {
                    if capture_error.is_none()
                        && let Some(capture) = &mut capture
                    {
                        capture_error = capture.bytes(bytes, &connection.client).err();
                    }
                }
                Event::Retrying { failure, delay, attempt } => {
                    spinner.stop();
                    // The last message is advice for when it fails for good.
                    let why = failure.text.split_last().map(|(_, said)| join_messages(said, " ")).unwrap_or_default();
                    tell!("sluice: {why} Attempt {attempt} in {:.1} s.", delay.as_secs_f64());
                    spinner = Spinner::start();
                }
                _ => {}
            })
            .await;
        if capture_error.is_none()
            && let Some(capture) = &mut capture
        {
            capture_error = capture.finish(&connection.client).err();
        }
        spinner.stop();
        if is_unread.get() {
            write_error.get_or_insert(io::ErrorKind::BrokenPipe.into());
        }
        let continues = self.continues_after(&report.outcome, &report.entry.answer);
        let printed = match write_error {
            Some(error) => Err(error),
            None if continues => printer.round(&report.outcome, turn_started.elapsed()),
            None => printer.outcome(&report.outcome, turn_started.elapsed()),
        };
        let printed = printed.and_then(|()| printer.flush());
        let Self { connection, request, ledger, detail, json, .. } = self;
        let estimate = ledger.end(&report.entry);
        ChatLedger::learn(connection.client.endpoint(), &request.model, &report);
        if let Some(error) = &capture_error {
            tell!("sluice: cannot write the capture: {error}. It is not complete.");
            self.capture_failed = true;
        } else {
            self.capture = capture;
        }
        printed?;
        if detail.notes && !*json {
            if let Some(estimate) = estimate {
                tell!("· estimated: {} tokens in, {} of them counted before", estimate.tokens, estimate.known);
            }
            if let Some(status) = ledger.status() {
                tell!("· context: {}", join_messages(&status.text, " · "));
            }
        }
        if let Some(elsewhere) = &report.elsewhere {
            tell!("sluice: {}", elsewhere.message);
        }
        if !*json {
            match (&report.outcome.error, &report.ending) {
                (Some(failure), _) => tell!("sluice: {}", failure.next),
                (None, Ending::Rejected { message, .. }) => tell!("sluice: {message}"),
                (None, Ending::Done | Ending::Cancelled) => {}
            }
        }
        Ok(report)
    }
}

fn is_call(part: &ChatPart) -> bool {
    matches!(part, ChatPart::ToolCall { .. })
}

fn message(role: Role, content: Vec<ChatPart>) -> ChatMessage {
    ChatMessage { role, content }
}
