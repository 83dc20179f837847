//! A conversation with a model: questions, answers, and the calls of tools in between.

mod guard;

use std::cell::Cell;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use sluice_client::Event;
use sluice_core::{
    Begun, ChatMessage, ChatOptions, ChatPart, ChatRequest, Ending, FailureKind, NoteKind, Outcome, Output, Report,
    Role, SpendLimits, Status, ToolDefinition, join_messages, similar_models,
};
use tokio::sync::Notify;

use crate::Printer;
use crate::capture::{CaptureFile, Format};
use crate::connection::{Connection, Selection, fetched_models};
use crate::conversations::Conversation;
use crate::editor::{Editor, Typed};
use crate::human::{Detail, Human};
use crate::interrupts::Interrupts;
use crate::json::{JsonLines, without_white_space};
use crate::ledger::{self, ChatLedger};
use crate::mask::Masked;
use crate::options;
use crate::output::{reader_is_gone, tell};
use crate::spent::Spent;
use crate::spinner::Spinner;
use crate::tools::{Call, MAX_CALLS, Tools};

/// How often in a row the model may answer with tool calls.
const MAX_TOOL_ROUNDS: usize = 25;

/// What to do if a request doesn't fit into the context window of the model.
const TOO_LONG: &str = "Send less, or use a model with a larger context window (`sluice models`). In a conversation, /undo \
    takes the last question back and /clear starts again.";

/// What a conversation is set up with.
pub struct Setup {
    pub model: Option<String>,
    /// The model of the settings, which applies unless the endpoint has one of its own.
    pub default_model: Option<String>,
    pub system: Option<String>,
    pub max_output_tokens: Option<u64>,
    pub reasoning_effort: Option<String>,
    /// Other fields of the request.
    pub options: Map<String, Value>,
    /// What the answer has to look like.
    pub schema: Option<Value>,
    pub tools: Tools,
    pub tool_timeout: Duration,
    pub json: bool,
    pub detail: Detail,
    pub capture: Option<(PathBuf, Format)>,
    /// The conversation to continue.
    pub earlier: Option<Conversation>,
    /// Whether the conversation is kept.
    pub keeps: bool,
    /// What may be spent.
    pub limits: SpendLimits,
}

pub struct Session {
    connection: Connection,
    request: ChatRequest,
    schema: Option<Value>,
    tools: Tools,
    tool_timeout: Duration,
    editor: Option<Editor>,
    interrupts: Interrupts,
    capture: Option<CaptureFile>,
    capture_failed: bool,
    ledger: ChatLedger,
    limits: SpendLimits,
    json: bool,
    detail: Detail,
    spent: Spent,
    /// Where the conversation is kept, if it is.
    kept: Option<Conversation>,
}

impl Session {
    pub fn open(setup: Setup, selection: &Selection) -> Result<Self, String> {
        let open = if setup.detail.quiet { Connection::open_quietly } else { Connection::open };
        let connection = open(selection)?;
        let earlier_model = setup.earlier.as_ref().map(|earlier| earlier.model.clone());
        let named = setup.model.filter(|model| !model.trim().is_empty());
        let model = named.or(earlier_model).or_else(|| connection.default_model()).or(setup.default_model);
        let model =
            model.ok_or("name a model with -m; `sluice models` lists them, `sluice config model ID` keeps one")?;
        let capture = setup.capture.map(|(path, format)| CaptureFile::start(&path, format)).transpose();
        let capture = capture.map_err(|error| format!("cannot write the capture: {error}"))?;
        let mut extra_body = setup.options;
        if let Some(schema) = &setup.schema {
            extra_body.insert("text".to_owned(), options::answer_format(schema));
        }
        let mut request = ChatRequest {
            model,
            messages: setup.earlier.as_ref().map(|earlier| earlier.messages.clone()).unwrap_or_default(),
            tools: setup.tools.definitions(),
            options: ChatOptions {
                max_output_tokens: setup.max_output_tokens,
                reasoning_effort: setup.reasoning_effort,
                automatic_caching: true,
                extra_body,
                ..ChatOptions::default()
            },
            ..ChatRequest::default()
        };
        if let Some(system) = setup.system {
            set_system(&mut request.messages, system);
        }
        let interrupts = Interrupts::listen(!setup.tools.is_empty());
        let interrupts = interrupts.map_err(|error| format!("cannot listen for Ctrl-C: {error}"))?;
        let new = || Conversation::new(&request.model, &connection.client.endpoint().origin);
        let kept = setup.keeps.then(|| setup.earlier.unwrap_or_else(new));
        let id = kept.as_ref().map(|kept| kept.id.as_str());
        let ledger = ChatLedger::open(&connection, &request.model, id);
        Ok(Self {
            connection,
            request,
            schema: setup.schema,
            tools: setup.tools,
            tool_timeout: setup.tool_timeout,
            editor: None,
            interrupts,
            capture,
            capture_failed: false,
            ledger,
            limits: setup.limits,
            json: setup.json,
            detail: setup.detail,
            spent: Spent::default(),
            kept,
        })
    }

    pub fn model(&self) -> &str {
        &self.request.model
    }

    pub fn set_model(&mut self, model: &str) {
        model.clone_into(&mut self.request.model);
        self.open_ledger();
    }

    /// If the list of models is known and doesn't have the model, returns those that are similar.
    pub fn unlisted(&self) -> Option<String> {
        let known = self.connection.known_models();
        let known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unlisted = !known.is_empty() && !known.contains(&self.request.model);
        is_unlisted.then(|| similar_models(&self.request.model, known.iter().map(String::as_str)).join(", "))
    }

    /// Offers tools to the model without running them. Its calls are printed.
    pub fn offer(&mut self, tools: Vec<ToolDefinition>) {
        self.request.tools = tools;
    }

    pub fn messages(&self) -> &[ChatMessage] {
        &self.request.messages
    }

    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// Returns the instructions for the model.
    pub fn system(&self) -> Option<&str> {
        let first = self.request.messages.first().filter(|message| message.role == Role::System)?;
        first.content.iter().find_map(|part| match part {
            ChatPart::Text { value } => Some(value.as_str()),
            _ => None,
        })
    }

    pub fn set_system(&mut self, text: &str) {
        set_system(&mut self.request.messages, text.to_owned());
    }

    /// Forgets the last question and everything after it. Returns its text.
    pub fn undo(&mut self) -> Option<String> {
        let messages = &mut self.request.messages;
        let is_question = |message: &ChatMessage| {
            message.role == Role::User
                && !message.content.iter().any(|part| matches!(part, ChatPart::ToolResult { .. }))
        };
        let at = messages.iter().rposition(is_question)?;
        let texts = messages.split_off(at).swap_remove(0).content.into_iter().rev().filter_map(|part| match part {
            ChatPart::Text { value } => Some(value),
            _ => None,
        });
        texts.into_iter().next().or_else(|| Some(String::new()))
    }

    /// Forgets everything but the instructions. What was kept stays in its file.
    pub fn clear(&mut self) {
        self.request.messages.retain(|message| message.role == Role::System);
        if let Some(kept) = &mut self.kept {
            *kept = Conversation::new(&self.request.model, &kept.origin);
        }
        self.open_ledger();
    }

    fn open_ledger(&mut self) {
        let id = self.kept.as_ref().map(|kept| kept.id.as_str());
        self.ledger = ChatLedger::open(&self.connection, &self.request.model, id);
    }

    /// Returns what the user types, or nothing if there is no terminal. Ctrl-C may also arrive as a signal, while the
    /// editor isn't reading yet.
    pub async fn question(&mut self) -> Option<Typed> {
        self.open_editor();
        let editor = self.editor.as_mut()?;
        Some(tokio::select! {
            typed = editor.question() => typed,
            () = self.interrupts.next() => Typed::Interrupted,
        })
    }

    /// Opens the line editor, if there is a terminal.
    fn open_editor(&mut self) {
        if self.editor.is_none() {
            let directory = ledger::directory();
            let history = self.kept.as_ref().and_then(|_| {
                sluice_client::private_file::create_directory(&directory).ok().map(|()| directory.join("history"))
            });
            self.editor = Editor::open(history, self.connection.known_models());
        }
    }

    /// Returns `code`, unless something else went wrong.
    pub fn exit_code(&self, code: ExitCode) -> ExitCode {
        if self.capture_failed && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code }
    }

    /// Runs one turn and keeps the conversation.
    pub async fn ask(&mut self, content: Vec<ChatPart>) -> io::Result<Status> {
        let mut status = self.turn(content).await?;
        let is_answered = self.request.messages.iter().any(|message| message.role == Role::Assistant);
        if let Some(kept) = self.kept.as_mut().filter(|_| is_answered) {
            kept.messages.clone_from(&self.request.messages);
            kept.model.clone_from(&self.request.model);
            self.ledger.keep_records();
            if let Err(message) = kept.save(self.connection.client.secrets()) {
                tell!("sluice: {message}");
            }
        }
        if let (Some(schema), Status::Completed) = (&self.schema, status)
            && let Err(problem) = self.checked_answer(schema)
        {
            tell!("sluice: the answer doesn't fit the schema: {problem}");
            status = Status::Failed;
        }
        Ok(status)
    }

    fn checked_answer(&self, schema: &Value) -> Result<(), String> {
        let parts = self.request.messages.last().map(|message| message.content.as_slice()).unwrap_or_default();
        let texts = parts.iter().filter_map(|part| match part {
            ChatPart::Text { value } => Some(value.as_str()),
            _ => None,
        });
        let answer =
            serde_json::from_str(&texts.collect::<String>()).map_err(|error| format!("it is not JSON: {error}"))?;
        options::check(&answer, schema)
    }

    /// Asks a question and runs as many rounds of tool calls as its answer takes. Returns how the last round ended.
    async fn turn(&mut self, content: Vec<ChatPart>) -> io::Result<Status> {
        self.request.messages.push(message(Role::User, content));
        let mut printer: Box<dyn Printer> =
            if self.json { Box::new(JsonLines::new()) } else { Box::new(Human::for_chat(self.detail)) };
        let secrets = self.connection.client.secrets();
        if !secrets.is_empty() {
            printer = Box::new(Masked::new(printer, secrets.clone()));
        }
        let started = Instant::now();
        for round in 1.. {
            if !self.may_spend().await {
                return Ok(Status::Failed);
            }
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
                    if (self.json || self.detail.quiet) && self.tools.needs_permission(name) {
                        // Nobody can allow what they haven't seen.
                        let input = without_white_space(input_json);
                        tell!("→ {name} {}", self.connection.client.secrets().mask(&input));
                    }
                    self.open_editor();
                    let Self { tools, tool_timeout, editor, interrupts, .. } = self;
                    tools.answer(&call, *tool_timeout, editor.as_mut(), interrupts.next()).await
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
        let is_quiet = self.detail.quiet;
        let start_spinner = || if is_quiet { Spinner::none() } else { Spinner::start() };
        let mut spinner = start_spinner();
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
                    // The last message says what to do if no attempt succeeds, which isn't known yet.
                    let why = failure.text.split_last().map(|(_, said)| join_messages(said, " ")).unwrap_or_default();
                    tell!("sluice: {why} Attempt {attempt} in {:.1} s.", delay.as_secs_f64());
                    spinner = start_spinner();
                    if capture_error.is_none()
                        && let Some(capture) = &mut capture
                    {
                        let client = &connection.client;
                        let ended = capture.finish(client).and_then(|()| capture.failure(failure, client));
                        capture_error = ended.and_then(|()| capture.request(request, client)).err();
                    }
                }
                _ => {}
            })
            .await;
        if capture_error.is_none()
            && let Some(capture) = &mut capture
        {
            let client = &connection.client;
            let failed = |failure| capture.failure(failure, client);
            let ended = report.outcome.error.as_ref().map_or(Ok(()), failed);
            capture_error = ended.and_then(|()| capture.finish(client)).err();
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
        let (begun, record) = ledger.end(&report.entry).unzip();
        if capture_error.is_none()
            && let (Some(capture), Some(record)) = (&mut capture, &record)
        {
            capture_error = capture.record(record).err();
        }
        connection.learn(&request.model, &report.refused, report.overflow.as_deref());
        if let Some(error) = &capture_error {
            tell!("sluice: cannot write the capture: {error}. It is not complete.");
            self.capture_failed = true;
        } else {
            self.capture = capture;
        }
        printed?;
        if detail.notes && !*json {
            if let Some(Begun { estimate, forecast, .. }) = begun {
                tell!("· estimated: {} tokens in, {} of them counted before", estimate.tokens, estimate.known);
                if let Some(cost) = forecast.cost {
                    tell!("· expected: {} ({} to {})", cost.expected, cost.low, cost.high);
                }
            }
            if let Some(status) = ledger.status() {
                tell!("· context: {}", join_messages(&status.text, " · "));
            }
        }
        self.spent.add(&report.outcome);
        if report.outcome.error.as_ref().is_some_and(|failure| failure.kind == FailureKind::ModelNotFound) {
            self.suggest_model().await;
        }
        if let Some(elsewhere) = &report.elsewhere {
            tell!("sluice: {}", elsewhere.message);
        }
        if !self.json {
            match (&report.outcome.error, &report.ending) {
                (Some(failure), _) if failure.kind == FailureKind::ContextOverflow => tell!("sluice: {TOO_LONG}"),
                (Some(failure), _) => tell!("sluice: {}", failure.next),
                (None, Ending::Rejected { message, .. }) => tell!("sluice: {message}"),
                (None, Ending::Done | Ending::Cancelled) => {}
            }
        }
        Ok(report)
    }
}

impl Session {
    /// Names models whose ids are similar to the one that doesn't exist.
    async fn suggest_model(&self) {
        let ids = fetched_models(&self.connection.client, &self.connection.model_cache()).await;
        let similar = similar_models(&self.request.model, ids.iter().map(String::as_str));
        if !similar.is_empty() {
            tell!("sluice: did you mean {}?", similar.join(", "));
        }
    }
}

/// Sets or replaces the instructions, which are the first message.
fn set_system(messages: &mut Vec<ChatMessage>, text: String) {
    let system = message(Role::System, vec![ChatPart::Text { value: text }]);
    match messages.first_mut() {
        Some(first) if first.role == Role::System => *first = system,
        _ => messages.insert(0, system),
    }
}

fn is_call(part: &ChatPart) -> bool {
    matches!(part, ChatPart::ToolCall { .. })
}

fn message(role: Role, content: Vec<ChatPart>) -> ChatMessage {
    ChatMessage { role, content }
}
