//! `sluice chat`: one question, or a conversation at the terminal; with tools, until the model needs no more of them.

use std::io::{BufReader, IsTerminal, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use sluice::{Answer, Event};
use sluice_core::{
    ChatMessage, ChatOptions, ChatPart, ChatRequest, NoteKind, Outcome, Output, Part, Role, Status, ThinkingReplay,
};
use tokio::signal::ctrl_c;

use super::books::Books;
use super::capture::CaptureFile;
use super::connection::Connection;
use super::human::Human;
use super::json::JsonLines;
use super::keyboard::Keyboard;
use super::spinner::Spinner;
use super::tools::Tools;
use super::{Printer, complain, exit_code};

/// A model that calls tools for ever is stopped here.
const MAX_TOOL_ROUNDS: usize = 25;

/// Ask a model, or talk with it when no prompt is given.
#[derive(Debug, Args)]
pub struct Chat {
    #[command(flatten)]
    question: Question,
    /// Also write the raw stream to FILE, and the request, without its texts, beside it
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
}

/// Ask a model and keep the raw stream for a bug report.
///
/// The request is kept beside it, in FILE.request.json, with every text replaced by its length; the key is in neither.
#[derive(Debug, Args)]
pub struct Capture {
    /// Where the stream goes
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
    /// One JSON object a line: parts, notes, and last the outcome
    #[arg(long)]
    json: bool,
    /// How hard to think: none, minimal, low, medium, high, xhigh, max
    #[arg(long)]
    effort: Option<String>,
    /// How many tokens the answer may have
    #[arg(long, value_name = "N")]
    max_output: Option<u64>,
    /// Tools to offer: {"tools": [{"name", "description", "inputSchema", "command": […]}]}
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Show what was ignored or repaired, and why
    #[arg(short, long)]
    verbose: bool,
}

impl Chat {
    pub async fn run(self) -> ExitCode {
        match Conversation::open(self.question, self.capture.as_deref()) {
            Ok(conversation) => conversation.hold().await,
            Err(message) => complain(&message),
        }
    }
}

impl Capture {
    pub async fn run(self) -> ExitCode {
        Chat { question: self.question, capture: Some(self.file) }.run().await
    }
}

struct Conversation {
    connection: Connection,
    request: ChatRequest,
    prompt: Option<String>,
    images: Vec<ChatPart>,
    tools: Tools,
    keyboard: Option<Keyboard>,
    capture: Option<CaptureFile>,
    books: Books,
    json: bool,
    verbose: bool,
}

impl Conversation {
    fn open(question: Question, capture: Option<&Path>) -> Result<Self, String> {
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
        let connection = Connection::open()?;
        let model = question.model.or_else(|| connection.default_model().map(str::to_owned));
        let model = model.ok_or("name a model with -m; `sluice models` lists them")?;
        let system = question.system.map(|value| message(Role::System, vec![ChatPart::Text { value }]));
        let request = ChatRequest {
            model,
            messages: system.into_iter().collect(),
            tools: tools.definitions(),
            options: ChatOptions {
                max_output_tokens: question.max_output,
                // Thinking is only shown if a summary is asked for.
                reasoning_summary: question
                    .effort
                    .as_ref()
                    .filter(|effort| *effort != "none")
                    .map(|_| "auto".to_owned()),
                reasoning_effort: question.effort,
                automatic_caching: true,
                ..ChatOptions::default()
            },
            ..ChatRequest::default()
        };
        let keyboard = stdin().is_terminal().then(|| Keyboard::new(BufReader::new(stdin())));
        let Question { json, verbose, .. } = question;
        let books = Books::open(connection.client.endpoint(), &request.model);
        Ok(Self { connection, request, prompt, images, tools, keyboard, capture, books, json, verbose })
    }

    async fn hold(mut self) -> ExitCode {
        if let Some(prompt) = self.prompt.take() {
            return exit_code(self.ask(prompt).await);
        }
        eprintln!("Talking with {}. An empty line or Ctrl-D ends.", self.request.model);
        while let Some(keyboard) = &mut self.keyboard {
            let _ = stdout().flush();
            eprint!("\n> ");
            let line = tokio::select! {
                line = keyboard.line() => line,
                _ = ctrl_c() => None,
            };
            match line {
                Some(line) if !line.trim().is_empty() => {
                    self.ask(line).await;
                }
                _ => break,
            }
        }
        ExitCode::SUCCESS
    }

    /// One turn: the question, and as many rounds of tool calls as it takes.
    async fn ask(&mut self, prompt: String) -> Status {
        let mut content = vec![ChatPart::Text { value: prompt }];
        content.append(&mut self.images);
        self.request.messages.push(message(Role::User, content));
        for round in 0..MAX_TOOL_ROUNDS {
            if round > 0 && !self.json {
                println!();
            }
            let (outcome, parts) = self.round().await;
            let calls: Vec<ChatPart> =
                parts.iter().filter(|part| matches!(part, ChatPart::ToolCall { .. })).cloned().collect();
            if !parts.is_empty() {
                self.request.messages.push(message(Role::Assistant, parts));
            }
            if calls.is_empty() || self.tools.is_empty() || outcome.status != Status::Completed {
                return outcome.status;
            }
            for call in calls {
                if let ChatPart::ToolCall { call_id, name, input_json } = call {
                    let result = tokio::select! {
                        result = self.tools.answer(&call_id, &name, &input_json, self.keyboard.as_mut()) => result,
                        // The call stays without its result, which the core makes up for if the conversation goes on.
                        _ = ctrl_c() => return Status::Cancelled,
                    };
                    self.request.messages.push(message(Role::User, vec![result]));
                }
            }
        }
        eprintln!("sluice: the model called tools {MAX_TOOL_ROUNDS} times in a row; stopping here.");
        Status::Failed
    }

    /// One request: prints what comes and gathers what the next request must repeat.
    async fn round(&mut self) -> (Outcome, Vec<ChatPart>) {
        let Self { connection, request, capture, books, json, verbose, .. } = self;
        if let Some(capture) = capture
            && let Err(error) = capture.request(request, connection.client.endpoint())
        {
            eprintln!("sluice: cannot write the capture: {error}");
        }
        let mut printer: Box<dyn Printer> =
            if *json { Box::new(JsonLines::new()) } else { Box::new(Human::new(*verbose, false)) };
        let mut spinner = Spinner::start();
        let mut parts = Vec::new();
        let estimate = books.begin(request);
        let started = Instant::now();
        let cancel = async {
            let _ = ctrl_c().await;
        };
        let Answer { outcome, .. } = connection
            .client
            .respond(request, cancel, &mut |event| match event {
                Event::Output(output) => {
                    let is_noise = matches!(&output, Output::Note(note) if note.kind == NoteKind::Event);
                    if !is_noise {
                        spinner.stop();
                    }
                    if let Output::Part(part) = &output {
                        books.part(matches!(part, Part::Thinking { .. }));
                    }
                    remember(&mut parts, &output);
                    let _ = printer.output(&output);
                }
                Event::Bytes(bytes) => {
                    if let Some(capture) = capture {
                        let _ = capture.bytes(bytes);
                    }
                }
                Event::Retrying { failure, delay, attempt } => {
                    spinner.stop();
                    eprintln!("sluice: {} Attempt {attempt} in {:.1} s.", failure.message, delay.as_secs_f64());
                    spinner = Spinner::start();
                }
            })
            .await;
        spinner.stop();
        let _ = printer.outcome(&outcome, started.elapsed());
        books.end(request, &parts, &outcome);
        if *verbose && !*json {
            eprintln!("· estimated: {} tokens in, {} of them counted before", estimate.tokens, estimate.known);
            if let Some(status) = books.status() {
                eprintln!("· context: {}", status.text);
            }
        }
        if let Some(failure) = outcome.error.as_ref().filter(|_| !*json) {
            eprintln!("sluice: {}", failure.next);
        }
        (outcome, parts)
    }
}

/// What of an answer goes back with the next question.
fn remember(parts: &mut Vec<ChatPart>, output: &Output) {
    match output {
        Output::Part(Part::Text { value }) => match parts.last_mut() {
            Some(ChatPart::Text { value: text }) => text.push_str(value),
            _ => parts.push(ChatPart::Text { value: value.clone() }),
        },
        Output::Part(Part::ToolCall { call_id, name, input_json }) => parts.push(ChatPart::ToolCall {
            call_id: call_id.clone(),
            name: name.clone(),
            input_json: input_json.clone(),
        }),
        Output::Part(Part::Thinking { replay: Some(ThinkingReplay { model, items }), .. }) => {
            let replay = Some(ThinkingReplay { model: model.clone(), items: items.clone() });
            parts.push(ChatPart::Thinking { replay });
        }
        Output::Part(_) | Output::Note(_) => {}
    }
}

fn message(role: Role, content: Vec<ChatPart>) -> ChatMessage {
    ChatMessage { role, content }
}

fn image(file: &PathBuf) -> Result<ChatPart, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    // The core looks at the bytes; the type only says that this is meant to be an image.
    Ok(ChatPart::Data { mime_type: "image/*".to_owned(), base64: STANDARD.encode(bytes) })
}
