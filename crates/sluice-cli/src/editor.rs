//! The line editor of a conversation: history, several lines, safe pasting and completion. It reads from the terminal
//! itself, so that a pipe on standard input or output doesn't matter, and it also asks whether a tool may run.

use std::io::{IsTerminal, stderr, stdin};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use tokio::sync::oneshot;

#[cfg_attr(not(unix), path = "editor/console.rs")]
mod lines;

use lines::Lines;

/// What the user did at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    Text(String),
    /// Ctrl-C, and nothing had been typed.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// An editor in a thread of its own, because reading keys blocks.
pub struct Editor {
    prompts: mpsc::Sender<(Prompt, oneshot::Sender<Typed>)>,
    /// The line that the user is typing, if the caller stopped waiting for it. The next caller gets it.
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
    /// `models` are completed after `/model`.
    pub fn open(history: Option<PathBuf>, models: Arc<Mutex<Vec<String>>>) -> Option<Self> {
        if !stderr().is_terminal() || !(stdin().is_terminal() || has_terminal()) {
            return None;
        }
        let (prompts, asked) = mpsc::channel::<(Prompt, oneshot::Sender<Typed>)>();
        thread::spawn(move || {
            let mut editor = None;
            while let Ok((prompt, reply)) = asked.recv() {
                let typed = match &mut editor {
                    Some(editor) => Lines::read(editor, &prompt, history.as_ref()),
                    none => match Lines::start(history.as_ref(), Arc::clone(&models)) {
                        Some(started) => none.insert(started).read(&prompt, history.as_ref()),
                        None => Typed::End,
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

fn has_terminal() -> bool {
    cfg!(unix) && std::fs::File::open("/dev/tty").is_ok_and(|terminal| terminal.is_terminal())
}
