//! Output for people. The answer goes to standard output. Everything else (thinking, tools, notes, the closing line) goes
//! to standard error, so that a pipe or a file gets the answer only. `sluice decode` prints everything to standard output.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use anstream::{AutoStream, stderr, stdout};
use anstyle::{AnsiColor, Style};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sluice_core::{Empty, NoteKind, Outcome, Output, Part, Status};

use crate::Printer;
use crate::json::without_white_space;
use crate::markdown::Markdown;
use crate::options::last_code_block;
use crate::output::fitted;
use crate::spent::Spent;
use crate::text::{RunningText, one_line};
use crate::tools::Answered;

const THINKING: Style = Style::new().dimmed().italic();
const TOOL: Style = AnsiColor::Cyan.on_default();
const DATA: Style = AnsiColor::Magenta.on_default();
const NOTE: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// How much is shown besides the answer.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Detail {
    /// Show what was ignored or repaired.
    pub notes: bool,
    /// Show every event.
    pub events: bool,
    /// Show only the answer and errors.
    pub quiet: bool,
    /// Show how long the model thought instead of what it thought.
    pub folds_thinking: bool,
    /// Print the last code block of the answer instead of the answer.
    pub extracts: bool,
    /// Print Markdown as it is, also on a terminal.
    pub plain: bool,
    /// Show only the start of a long call. A call that the user has to allow is shown in full.
    pub cuts_calls: bool,
}

pub struct Human {
    out: AutoStream<io::Stdout>,
    /// Where everything but the answer goes; standard output if there is none.
    aside: Option<AutoStream<io::Stderr>>,
    /// Whether the answer and everything else appear on the same screen.
    is_shared: bool,
    detail: Detail,
    /// The thinking block on the screen, and when the model started to think.
    thinking: Option<(String, Instant)>,
    /// The line breaks at the end of what the model has thought so far. They are shown if it goes on.
    thinking_breaks: String,
    /// Whether the last line of the answer is incomplete. The next field says the same about everything else.
    answer_open: bool,
    aside_open: bool,
    text: RunningText,
    /// The answer, if it is printed at its end.
    held: String,
    /// Shows Markdown, if the answer goes to a terminal.
    markdown: Option<Markdown>,
    spent: Spent,
}

impl Human {
    /// For a chat: only the answer goes to standard output.
    pub fn for_chat(detail: Detail) -> Self {
        let is_shared = io::stdout().is_terminal() && io::stderr().is_terminal();
        let markdown = if detail.plain || detail.extracts { None } else { markdown() };
        Self { aside: Some(stderr()), is_shared, markdown, ..Self::for_replay(detail) }
    }

    /// For a replay: everything goes to standard output.
    pub fn for_replay(detail: Detail) -> Self {
        Self {
            out: stdout(),
            aside: None,
            is_shared: true,
            detail,
            thinking: None,
            thinking_breaks: String::new(),
            answer_open: false,
            aside_open: false,
            text: RunningText::default(),
            held: String::new(),
            markdown: None,
            spent: Spent::default(),
        }
    }

    fn answer(&mut self, text: &str) -> io::Result<()> {
        let text = self.text.next(text);
        if self.detail.extracts {
            self.held.push_str(&text);
            return Ok(());
        }
        if let Some(markdown) = &mut self.markdown {
            let drawn = markdown.push(&text);
            self.answer_open = markdown.is_open();
            // This is written as it is even without colours, because it moves the cursor.
            return io::stdout().write_all(drawn.as_bytes());
        }
        if let Some(last) = text.chars().last() {
            self.answer_open = last != '\n';
            write!(self.out, "{text}")?;
        }
        Ok(())
    }

    /// Ends what is drawn of the answer, because something else follows on the screen.
    fn end_drawing(&mut self) -> io::Result<()> {
        let Some(markdown) = &mut self.markdown else { return Ok(()) };
        let drawn = markdown.finish();
        self.answer_open = false;
        io::stdout().write_all(drawn.as_bytes())
    }

    /// Returns where everything but the answer goes. Errors there don't end an answer, because it can still be printed.
    fn aside(&mut self) -> &mut dyn Write {
        match &mut self.aside {
            Some(aside) => aside,
            None => &mut self.out,
        }
    }

    /// Whether what isn't the answer is shown in colour.
    fn has_colour(&self) -> bool {
        let choice = match &self.aside {
            Some(_) => AutoStream::choice(&io::stderr()),
            None => AutoStream::choice(&io::stdout()),
        };
        choice != anstream::ColorChoice::Never
    }

    fn think(&mut self, text: &str) -> io::Result<()> {
        let mut text = std::mem::take(&mut self.thinking_breaks) + &self.text.next(text);
        if !self.aside_open {
            // A block may start with the line breaks that separate it from the one before.
            text.drain(..text.len() - text.trim_start_matches('\n').len());
        }
        let shown = text.trim_end_matches('\n');
        text[shown.len()..].clone_into(&mut self.thinking_breaks);
        if shown.is_empty() {
            return Ok(());
        }
        self.aside_open = true;
        self.write_aside(&format!("{THINKING}{shown}{THINKING:#}"))
    }

    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.new_line()?;
        let line = one_line(text);
        let line = if self.aside.is_some() { fitted(&line) } else { line.into_owned() };
        self.write_aside(&format!("{style}{line}{style:#}\n"))
    }

    /// Ends the last line if it isn't complete.
    fn new_line(&mut self) -> io::Result<()> {
        self.end_drawing()?;
        let is_open = self.aside_open || (self.is_shared && self.answer_open);
        self.aside_open = false;
        if self.is_shared {
            self.answer_open = false;
        }
        if is_open { self.write_aside("\n") } else { Ok(()) }
    }

    fn write_aside(&mut self, text: &str) -> io::Result<()> {
        let written = self.aside().write_all(text.as_bytes());
        // What can't be written to standard error is dropped. The answer may still be readable.
        if self.aside.is_some() { Ok(()) } else { written }
    }

    /// Separates thinking from what follows it.
    fn end_thinking(&mut self) -> io::Result<()> {
        let Some((_, since)) = self.thinking.take() else { return Ok(()) };
        self.thinking_breaks.clear();
        if self.detail.folds_thinking {
            return self.line(NOTE, &format!("· thought for {}", duration(since.elapsed())));
        }
        self.new_line()?;
        self.write_aside("\n")
    }
}

impl Printer for Human {
    fn output(&mut self, output: &Output) -> io::Result<()> {
        if let Output::Part(Part::Thinking { value, id, replay }) = output {
            if replay.is_some() || self.detail.quiet {
                return Ok(());
            }
            if self.thinking.as_ref().is_none_or(|(shown, _)| shown != id) {
                let since = self.thinking.take().map(|(_, since)| since);
                self.thinking_breaks.clear();
                if since.is_some() && !self.detail.folds_thinking {
                    self.new_line()?;
                    self.write_aside("\n")?;
                }
                if since.is_none() && !self.detail.folds_thinking && !self.has_colour() {
                    // Without colours, only this line distinguishes thinking from the answer.
                    self.line(NOTE, "· thinking:")?;
                }
                self.thinking = Some((id.clone(), since.unwrap_or_else(Instant::now)));
            }
            return if self.detail.folds_thinking { Ok(()) } else { self.think(value) };
        }
        if matches!(output, Output::Part(_)) {
            self.end_thinking()?;
        }
        if self.detail.quiet && !matches!(output, Output::Part(Part::Text { .. })) {
            return Ok(());
        }
        match output {
            Output::Part(Part::Text { value }) => self.answer(value),
            Output::Part(Part::ToolCall { call_id, name, input_json }) => {
                let mut input = without_white_space(input_json);
                let length = input.chars().count();
                if self.detail.cuts_calls && length > MAX_CALL {
                    input = input.chars().take(MAX_CALL).collect();
                    input.push_str(&format!("… and {} more characters; -v shows all", length - MAX_CALL));
                }
                self.line(TOOL, &format!("→ {name} {input}  ({call_id})"))
            }
            Output::Part(Part::Data { mime_type, base64 }) => {
                let size = base64.trim_end_matches('=').len() * 3 / 4;
                let saved = if self.aside.is_some() { save_image(mime_type, base64) } else { None };
                let saved = saved.map(|saved| format!(" → {saved}")).unwrap_or_default();
                self.line(DATA, &format!("▣ {mime_type}, {size} bytes{saved}"))
            }
            Output::Part(Part::Citations { citations, .. }) => citations.iter().try_for_each(|citation| {
                let name = citation.title.as_deref().or(citation.filename.as_deref());
                let source = [name, citation.url.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
                self.line(DATA, &format!("◦ {source}"))
            }),
            Output::Note(note) if note.kind == NoteKind::Event => {
                if self.detail.events {
                    self.line(NOTE, &format!("· {}", note.detail))
                } else {
                    Ok(())
                }
            }
            Output::Note(note) if note.kind == NoteKind::LeftOut && !note.text.is_empty() => {
                self.line(NOTE, &format!("· {}", note.detail))
            }
            Output::Note(note) if self.detail.notes => {
                let kind = serde_json::to_value(note.kind).unwrap_or_default();
                self.line(NOTE, &format!("· {}: {}", kind.as_str().unwrap_or_default(), note.detail))
            }
            Output::Note(_) | Output::Part(Part::Thinking { .. }) => Ok(()),
        }
    }

    fn tool_result(&mut self, answered: &Answered) -> io::Result<()> {
        if self.detail.quiet {
            return Ok(());
        }
        let text = answered.text.trim_end();
        let style = if answered.is_error { BAD } else { TOOL };
        let (most_lines, widest) = if self.detail.notes { (usize::MAX, usize::MAX) } else { MAX_RESULT };
        let mut lines = text.lines().map(|line| line.chars().take(widest).collect::<String>());
        self.line(
            style,
            &format!("← {}: {}", answered.name, lines.next().unwrap_or_else(|| "(no output)".to_owned())),
        )?;
        for line in lines.by_ref().take(most_lines - 1) {
            self.line(NOTE, &format!("  {line}"))?;
        }
        match lines.count() {
            0 => Ok(()),
            more => self.line(NOTE, &format!("  … and {more} more; -v shows all lines")),
        }
    }

    fn round(&mut self, outcome: &Outcome, _elapsed: Duration) -> io::Result<()> {
        self.end_thinking()?;
        self.new_line()?;
        self.spent.add(outcome);
        Ok(())
    }

    fn outcome(&mut self, outcome: &Outcome, elapsed: Duration) -> io::Result<()> {
        self.end_thinking()?;
        self.new_line()?;
        if self.detail.extracts {
            let block = last_code_block(&std::mem::take(&mut self.held));
            write!(self.out, "{block}")?;
            self.answer_open = !block.is_empty() && !block.ends_with('\n');
        }
        if std::mem::take(&mut self.answer_open) {
            writeln!(self.out)?;
        }
        self.spent.add(outcome);
        let spent = std::mem::take(&mut self.spent);
        let (style, word) = match outcome.status {
            Status::Completed => (GOOD, "completed"),
            Status::Incomplete => (CAUTION, "incomplete"),
            Status::Failed => (BAD, "failed"),
            Status::Truncated => (BAD, "truncated"),
            Status::Cancelled => (CAUTION, "cancelled"),
        };
        if self.detail.quiet && outcome.status == Status::Completed {
            return Ok(());
        }
        let mut line = String::new();
        let reason = outcome.reason.iter().chain(outcome.error.iter().map(|error| &error.message));
        reason.for_each(|reason| write!(line, ": {reason}").unwrap_or_default());
        if let Some(empty) = outcome.empty {
            line.push_str(match empty {
                Empty::ThinkingOnly => " · the model only thought",
                Empty::Filtered => " · a content filter removed the answer",
                Empty::Length => " · the output limit was used up before the first word",
                _ => " · the answer is empty",
            });
        }
        if let Some(model) = &outcome.model {
            write!(line, " · {model}").unwrap_or_default();
        }
        line.push_str(&spent.words());
        let line = format!("{word}{} · {}", one_line(&line), duration(elapsed));
        let line = if self.aside.is_some() { fitted(&line) } else { line };
        let rest = line.strip_prefix(word).unwrap_or_default();
        self.write_aside(&format!("{style}{word}{style:#}{rest}\n"))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Saves an image that the model made in the current directory, without overwriting anything. Returns its name, or why it
/// can't be saved.
fn save_image(mime_type: &str, base64: &str) -> Option<String> {
    let kind = mime_type.strip_prefix("image/")?;
    let extension = if kind.chars().all(|c| c.is_ascii_alphanumeric()) && kind.len() < 6 { kind } else { "image" };
    let bytes = STANDARD_NO_PAD.decode(base64.trim_end_matches('=')).ok()?;
    for number in 1..10_000 {
        let name = format!("sluice-image-{number}.{extension}");
        match File::create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => {
                let written = created.and_then(|mut file| file.write_all(&bytes));
                return Some(written.map_or_else(|error| format!("cannot save it: {error}"), |()| name));
            }
        }
    }
    None
}

/// Returns what shows Markdown, if standard output is a terminal that can do that.
fn markdown() -> Option<Markdown> {
    let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if is_dumb || !io::stdout().is_terminal() {
        return None;
    }
    let (width, height) = terminal_size::terminal_size_of(io::stdout())?;
    let has_colour = AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    Some(Markdown::new(width.0.into(), height.0.into(), has_colour))
}

/// How many characters of a call are shown.
const MAX_CALL: usize = 1000;

/// How many lines of a tool's result are shown, and how many characters of each.
const MAX_RESULT: (usize, usize) = (6, 200);

/// Returns a duration as people read it.
fn duration(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    if milliseconds < 1000 { format!("{milliseconds} ms") } else { format!("{:.1} s", duration.as_secs_f64()) }
}
