//! The line editor of a conversation: history, several lines, safe pasting and completion. It reads from the terminal
//! itself, so that a pipe on standard input or output doesn't matter, and it also asks whether a tool may run.

use std::io::{IsTerminal, stderr, stdin};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Behavior, Cmd, Config, Context, Helper, KeyCode, KeyEvent, Modifiers};
use tokio::sync::oneshot;

use crate::commands;

/// How many questions the history keeps.
const MAX_HISTORY: usize = 1000;

/// What the user did at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    Text(String),
    /// Ctrl-C. What had been typed is gone.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// An editor in a thread of its own, because reading keys blocks.
pub struct Editor {
    prompts: mpsc::Sender<(Prompt, oneshot::Sender<Typed>)>,
    /// What the user is typing, if the wait for it was given up. The next one who asks gets it.
    waiting: Option<oneshot::Receiver<Typed>>,
    #[cfg(unix)]
    mode: Option<(std::fs::File, rustix::termios::Termios)>,
}

/// The program may end while the thread reads keys, and must leave the terminal as it was.
#[cfg(unix)]
impl Drop for Editor {
    fn drop(&mut self) {
        if let Some((terminal, mode)) = &self.mode {
            let _ = rustix::termios::tcsetattr(terminal, rustix::termios::OptionalActions::Now, mode);
        }
    }
}

struct Prompt {
    text: String,
    is_question: bool,
}

impl Editor {
    /// Returns nothing if there is no terminal on which the user could see a question and answer it.
    pub fn open(history: Option<PathBuf>, models: Vec<String>) -> Option<Self> {
        if !stderr().is_terminal() || !(stdin().is_terminal() || has_terminal()) {
            return None;
        }
        let (prompts, asked) = mpsc::channel::<(Prompt, oneshot::Sender<Typed>)>();
        thread::spawn(move || {
            let mut editor = None;
            while let Ok((prompt, reply)) = asked.recv() {
                let typed = match &mut editor {
                    Some(editor) => read(editor, &prompt, history.as_ref()),
                    none => match start(history.as_ref(), models.clone()) {
                        Ok(started) => read(none.insert(started), &prompt, history.as_ref()),
                        Err(_) => Typed::End,
                    },
                };
                // The one who asked may have gone.
                let _ = reply.send(typed);
            }
        });
        #[cfg(unix)]
        let mode = std::fs::File::open("/dev/tty").ok().and_then(|terminal| {
            let mode = rustix::termios::tcgetattr(&terminal).ok()?;
            Some((terminal, mode))
        });
        Some(Self {
            prompts,
            waiting: None,
            #[cfg(unix)]
            mode,
        })
    }

    /// Reads a question, which goes into the history.
    pub async fn question(&mut self) -> Typed {
        self.read("> ", true).await
    }

    /// Reads an answer to a question of the program's own.
    pub async fn answer(&mut self, prompt: &str) -> Typed {
        self.read(prompt, false).await
    }

    async fn read(&mut self, prompt: &str, is_question: bool) -> Typed {
        let waiting = match &mut self.waiting {
            Some(waiting) => waiting,
            none => {
                let (reply, typed) = oneshot::channel();
                let prompt = Prompt { text: prompt.to_owned(), is_question };
                if self.prompts.send((prompt, reply)).is_err() {
                    return Typed::End;
                }
                none.insert(typed)
            }
        };
        let typed = waiting.await.unwrap_or(Typed::End);
        self.waiting = None;
        typed
    }
}

type Lines = rustyline::Editor<Words, DefaultHistory>;

fn start(history: Option<&PathBuf>, models: Vec<String>) -> rustyline::Result<Lines> {
    let config = Config::builder()
        .max_history_size(MAX_HISTORY)?
        .history_ignore_space(true)
        .history_ignore_dups(true)?
        .behavior(Behavior::PreferTerm)
        .completion_type(rustyline::CompletionType::List)
        .bracketed_paste(true)
        .build();
    let mut lines = Lines::with_config(config)?;
    lines.set_helper(Some(Words { models }));
    for modifiers in [Modifiers::ALT, Modifiers::SHIFT] {
        lines.bind_sequence(KeyEvent(KeyCode::Enter, modifiers), Cmd::Newline);
    }
    if let Some(file) = history {
        // There may be none yet.
        let _ = lines.load_history(file);
    }
    Ok(lines)
}

fn read(lines: &mut Lines, prompt: &Prompt, history: Option<&PathBuf>) -> Typed {
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

fn has_terminal() -> bool {
    cfg!(unix) && std::fs::File::open("/dev/tty").is_ok_and(|terminal| terminal.is_terminal())
}

/// What Tab completes: commands, ids of models after `/model`, and names of files after `/file`, `/image` and `/save`.
struct Words {
    models: Vec<String>,
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
        Ok(complete(&line[..position], &self.models))
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
        check("/file src/edi", 6, &["src/editor.rs"]);
    }
}
