//! `sluice chat`: one question, or a conversation in the terminal. With tools, it continues until the model needs no
//! more of them.

use std::io::{self, BufReader, IsTerminal, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use sluice_client::Event;
use sluice_core::{
    ChatMessage, ChatOptions, ChatPart, ChatRequest, Ending, NoteKind, Output, Part, Report, Role, Status,
    join_messages,
};
use tokio::sync::Notify;

use crate::capture::CaptureFile;
use crate::connection::Connection;
use crate::human::Human;
use crate::interrupts::Interrupts;
use crate::json::JsonLines;
use crate::keyboard::Keyboard;
use crate::ledger::ChatLedger;
use crate::mask::Masked;
use crate::output::{self, tell};
use crate::spinner::Spinner;
use crate::tools::{Call, MAX_CALLS, Tools};
use crate::{Printer, complain, exit_code};

/// How often in a row the model may answer with tool calls.
const MAX_TOOL_ROUNDS: usize = 25;

/// Ask a model, or talk with it if there is no prompt.
#[derive(Debug, Args)]
pub struct Chat {
    #[command(flatten)]
    question: Question,
    /// Also write the raw stream to FILE, and the request without its texts to FILE.request.json. If tools are called,
    /// the streams after the first are in FILE.2, FILE.3, …
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
}

/// Ask a model and keep the raw stream for a bug report.
///
/// The request is saved in FILE.request.json, with every text replaced by its length. The key is in neither file.
#[derive(Debug, Args)]
pub struct Capture {
    /// The file for the stream
    file: PathBuf,
    #[command(flatten)]
    question: Question,
}

#[derive(Debug, Args)]
struct Question {
    /// What to ask; `-` reads it from standard input
    prompt: Option<String>,
    /// The model, such as anthropic/claude-sonnet-4.5
    #[arg(short, long, env = "SLUICE_MODEL")]
    model: Option<String>,
    /// Instructions for the model
    #[arg(long)]
    system: Option<String>,
    /// An image to send with the first question
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Print one JSON object per line: parts, notes, and finally the outcome
    #[arg(long)]
    json: bool,
    /// The thinking effort: none, minimal, low, medium, high, xhigh, max
    #[arg(long)]
    effort: Option<String>,
    /// The maximum number of tokens in the answer
    #[arg(long, value_name = "N")]
    max_output: Option<u64>,
    /// Tools to offer: {"tools": [{"name", "description", "inputSchema", "command": […]}]}
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// The time limit for each command of a tool
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    tool_timeout: Duration,
    /// Show what was ignored or repaired, and why
    #[arg(short, long)]
    verbose: bool,
}

impl Chat {
    pub async fn run(self, profile: Option<&str>) -> io::Result<ExitCode> {
        match Session::open(self.question, self.capture.as_deref(), profile) {
            Ok(session) => session.run().await,
            Err(message) => Ok(complain(&message)),
        }
    }
}

impl Capture {
    pub async fn run(self, profile: Option<&str>) -> io::Result<ExitCode> {
        Chat { question: self.question, capture: Some(self.file) }.run(profile).await
    }
}

/// One run of `sluice chat`.
struct Session {
    connection: Connection,
    request: ChatRequest,
    prompt: Option<String>,
    images: Vec<ChatPart>,
    tools: Tools,
    tool_timeout: Duration,
    keyboard: Option<Keyboard>,
    interrupts: Interrupts,
    capture: Option<CaptureFile>,
    capture_failed: bool,
    ledger: ChatLedger,
    json: bool,
    verbose: bool,
}

impl Session {
    fn open(question: Question, capture: Option<&Path>, profile: Option<&str>) -> Result<Self, String> {
        let tools = question.tools.as_deref().map(Tools::read).transpose()?.unwrap_or_default();
        let images = question.image.iter().map(image).collect::<Result<_, _>>()?;
        let prompt = match question.prompt.as_deref() {
            Some("-") => {
                let mut text = String::new();
                stdin().read_to_string(&mut text).map_err(|error| format!("cannot read standard input: {error}"))?;
                Some(text)
            }
            Some(prompt) => Some(prompt.to_owned()),
            None if stdin().is_terminal() => None,
            None => return Err("there is no prompt; give one, or - to read it from standard input".to_owned()),
        };
        let capture = capture.map(CaptureFile::start).transpose();
        let capture = capture.map_err(|error| format!("cannot write the capture: {error}"))?;
        let connection = Connection::open(profile)?;
        let model = question.model.or_else(|| connection.default_model());
        let model = model.ok_or("name a model with -m; `sluice models` lists them")?;
        let system = question.system.map(|value| message(Role::System, vec![ChatPart::Text { value }]));
        let request = ChatRequest {
            model,
            messages: system.into_iter().collect(),
            tools: tools.definitions(),
            options: ChatOptions {
                max_output_tokens: question.max_output,
                reasoning_effort: question.effort,
                automatic_caching: true,
                ..ChatOptions::default()
            },
            ..ChatRequest::default()
        };
        let keyboard = stdin().is_terminal().then(|| Keyboard::new(BufReader::new(stdin())));
        let interrupts = Interrupts::listen(!tools.is_empty());
        let interrupts = interrupts.map_err(|error| format!("cannot listen for Ctrl-C: {error}"))?;
        let ledger = ChatLedger::open(&connection.client, &request.model);
        Ok(Self {
            connection,
            request,
            prompt,
            images,
            tools,
            tool_timeout: question.tool_timeout,
            keyboard,
            interrupts,
            capture,
            capture_failed: false,
            ledger,
            json: question.json,
            verbose: question.verbose,
        })
    }

    async fn run(mut self) -> io::Result<ExitCode> {
        let mut code = ExitCode::SUCCESS;
        if let Some(prompt) = self.prompt.take() {
            code = exit_code(self.ask(prompt).await?);
        } else {
            self.talk().await?;
        }
        if self.capture_failed && code == ExitCode::SUCCESS {
            code = ExitCode::FAILURE;
        }
        Ok(code)
    }

    async fn talk(&mut self) -> io::Result<()> {
        tell!("Talking with {}. An empty line or Ctrl-D ends.", self.request.model);
        while let Some(keyboard) = &mut self.keyboard {
            stdout().flush()?;
            tell!("");
            output::prompt(">");
            let line = tokio::select! {
                line = keyboard.line() => line,
                () = self.interrupts.next() => None,
            };
            match line {
                Some(line) if !line.trim().is_empty() => self.ask(line).await?,
                _ => break,
            };
        }
        Ok(())
    }

    /// Runs one turn: the question, and as many rounds of tool calls as it takes.
    async fn ask(&mut self, prompt: String) -> io::Result<Status> {
        let mut content = vec![ChatPart::Text { value: prompt }];
        content.append(&mut self.images);
        self.request.messages.push(message(Role::User, content));
        for round in 0..MAX_TOOL_ROUNDS {
            if round > 0 && !self.json {
                writeln!(stdout())?;
            }
            let Report { outcome, entry, reasoning_refused, .. } = self.round().await?;
            if reasoning_refused {
                // It would be refused every time.
                for message in &mut self.request.messages {
                    message.content.retain(|part| !matches!(part, ChatPart::Thinking { .. }));
                }
            }
            let parts = entry.answer;
            let calls: Vec<ChatPart> =
                parts.iter().filter(|part| matches!(part, ChatPart::ToolCall { .. })).cloned().collect();
            if !parts.is_empty() {
                self.request.messages.push(message(Role::Assistant, parts));
            }
            if calls.is_empty() || self.tools.is_empty() || outcome.status != Status::Completed {
                return Ok(outcome.status);
            }
            for (number, call) in calls.iter().enumerate() {
                let ChatPart::ToolCall { call_id, name, input_json } = call else { continue };
                let call = Call { id: call_id, name, input_json };
                let result = if number < MAX_CALLS {
                    let Self { tools, tool_timeout, keyboard, interrupts, .. } = self;
                    tools.answer(&call, *tool_timeout, keyboard.as_mut(), interrupts.next()).await
                } else {
                    Some(call.one_too_many())
                };
                // If the conversation continues, the core adds the missing result of a call.
                let Some(result) = result else { return Ok(Status::Cancelled) };
                self.request.messages.push(message(Role::User, vec![result]));
            }
        }
        tell!("sluice: the model called tools {MAX_TOOL_ROUNDS} times in a row; stopping here.");
        Ok(Status::Failed)
    }

    /// Makes one request and prints the answer.
    async fn round(&mut self) -> io::Result<Report> {
        let Self { connection, request, interrupts, ledger, json, verbose, .. } = self;
        let (mut capture, mut capture_error, mut write_error) = (self.capture.take(), None, None);
        if let Some(capture) = &mut capture {
            capture_error = capture.request(request, &connection.client).err();
        }
        let mut printer: Box<dyn Printer> =
            if *json { Box::new(JsonLines::new()) } else { Box::new(Human::new(*verbose, false)) };
        if let Some(key) = connection.client.key() {
            printer = Box::new(Masked::new(printer, key));
        }
        let mut spinner = Spinner::start();
        ledger.begin(request);
        let started = Instant::now();
        let unwritable = Notify::new();
        let cancel = async {
            tokio::select! {
                () = interrupts.next() => {}
                () = unwritable.notified() => {}
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
        let printed = match write_error {
            Some(error) => Err(error),
            None => printer.outcome(&report.outcome, started.elapsed()).and_then(|()| printer.flush()),
        };
        let estimate = ledger.end(&report.entry);
        ChatLedger::learn(connection.client.endpoint(), &request.model, &report);
        if let Some(error) = &capture_error {
            tell!("sluice: cannot write the capture: {error}. It is not complete.");
            self.capture_failed = true;
        } else {
            self.capture = capture;
        }
        printed?;
        if *verbose && !*json {
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

fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| "not a number of seconds above 0".to_owned())
}

fn message(role: Role, content: Vec<ChatPart>) -> ChatMessage {
    ChatMessage { role, content }
}

fn image(file: &PathBuf) -> Result<ChatPart, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    // The core checks the bytes; the type only says that this should be an image.
    Ok(ChatPart::Data { mime_type: "image/*".to_owned(), base64: STANDARD.encode(bytes) })
}
