//! Reads lines with history, several lines, safe pasting and completion.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Behavior, Cmd, ConditionalEventHandler, Config, Context, Event, EventContext, EventHandler, Helper, KeyCode,
    KeyEvent, Modifiers, Movement, RepeatCount,
};

use super::{Prompt, Typed};
use crate::commands;

/// How many questions the history keeps.
const MAX_HISTORY: usize = 1000;

/// The editor with what it has read so far.
pub(super) struct Lines(rustyline::Editor<Words, DefaultHistory>);

impl Lines {
    pub(super) fn start(history: Option<&PathBuf>, models: Arc<Mutex<Vec<String>>>) -> Option<Self> {
        configured(models).ok().map(|mut lines| {
            // There may be no history yet.
            let _ = history.map(|file| lines.load_history(file));
            Self(lines)
        })
    }

    pub(super) fn read(&mut self, prompt: &Prompt, history: Option<&PathBuf>) -> Typed {
        let lines = &mut self.0;
        match lines.readline(prompt.text.as_str()) {
            Ok(text) => {
                if prompt.is_question && lines.add_history_entry(text.as_str()).unwrap_or(false) {
                    // A conversation doesn't fail because its history can't be kept.
                    let _ = history.map(|file| lines.append_history(file));
                }
                // A line break after a backslash is only a line break.
                Typed::Text(text.replace("\\\n", "\n"))
            }
            Err(ReadlineError::Interrupted) => Typed::Interrupted,
            Err(_) => Typed::End,
        }
    }
}

fn configured(models: Arc<Mutex<Vec<String>>>) -> rustyline::Result<rustyline::Editor<Words, DefaultHistory>> {
    let config = Config::builder()
        .max_history_size(MAX_HISTORY)?
        .history_ignore_space(true)
        .history_ignore_dups(true)?
        .behavior(Behavior::PreferTerm)
        .completion_type(rustyline::CompletionType::List)
        .bracketed_paste(true)
        .build();
    let mut lines = rustyline::Editor::with_config(config)?;
    lines.set_helper(Some(Words { models }));
    for modifiers in [Modifiers::ALT, Modifiers::SHIFT] {
        lines.bind_sequence(KeyEvent(KeyCode::Enter, modifiers), Cmd::Newline);
    }
    lines.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(ClearFirst)));
    Ok(lines)
}

/// Ctrl-C clears what is typed. Only if there is nothing, it interrupts.
struct ClearFirst;

impl ConditionalEventHandler for ClearFirst {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        (!context.line().is_empty()).then_some(Cmd::Kill(Movement::WholeBuffer))
    }
}

/// What Tab completes: commands, ids of models after `/model`, and names of files after `/file`, `/image` and `/save`.
struct Words {
    models: Arc<Mutex<Vec<String>>>,
}

impl Helper for Words {}
impl Highlighter for Words {}
impl Hinter for Words {
    type Hint = String;
}

impl Validator for Words {
    /// A backslash at the end of a line asks for another one.
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let is_open = context.input().ends_with('\\');
        Ok(if is_open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&line[..position], &self.models.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Returns where the word before the cursor starts, and what it may become.
fn complete(typed: &str, models: &[String]) -> (usize, Vec<String>) {
    if !typed.starts_with('/') {
        return (typed.len(), Vec::new());
    }
    let Some((command, rest)) = typed.split_once(' ') else {
        let names = commands::NAMES.iter().map(|(name, _, _)| format!("{name} "));
        return (0, names.filter(|name| name.starts_with(typed)).collect());
    };
    let start = typed.len() - rest.len();
    match command {
        "/model" => (start, models.iter().filter(|model| model.contains(rest)).cloned().collect()),
        "/file" | "/image" | "/save" => (start, files(rest)),
        _ => (typed.len(), Vec::new()),
    }
}

/// Returns the paths that start with these characters.
fn files(typed: &str) -> Vec<String> {
    let (folder, name) = typed.rsplit_once('/').map_or(("", typed), |(folder, name)| (folder, name));
    let prefix = if typed.contains('/') { format!("{folder}/") } else { String::new() };
    let read = std::fs::read_dir(if prefix.is_empty() { "." } else { &prefix });
    let mut found: Vec<String> = read
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let file = entry.file_name().into_string().ok()?;
            let is_hidden = file.starts_with('.') && !name.starts_with('.');
            let end = if entry.path().is_dir() { "/" } else { "" };
            (file.starts_with(name) && !is_hidden).then(|| format!("{prefix}{file}{end}"))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::complete;

    #[test]
    fn commands_and_models_are_completed() {
        let models = ["openai/gpt-5", "anthropic/claude"].map(str::to_owned);
        let check = |typed: &str, start: usize, words: &[&str]| {
            assert_eq!(complete(typed, &models), (start, words.iter().map(|word| (*word).to_owned()).collect()));
        };
        check("/mo", 0, &["/model "]);
        check("/s", 0, &["/system ", "/save "]);
        check("/model gp", 7, &["openai/gpt-5"]);
        check("/model anthropic/", 7, &["anthropic/claude"]);
        check("/model nothing", 7, &[]);
        check("what is /mo", 11, &[]);
        check("/file Cargo.t", 6, &["Cargo.toml"]);
        check("/file src/main", 6, &["src/main.rs"]);
    }
}
