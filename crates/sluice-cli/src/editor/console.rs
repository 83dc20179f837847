//! Reads lines with what the console of Windows offers by itself: arrow keys, and a history of this conversation.
//!
//! The line editor that is used elsewhere needs a crate for Windows whose licence we don't use.

use std::io::{BufRead, Write, stderr, stdin};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::{Prompt, Typed};

pub(super) struct Lines;

impl Lines {
    /// The console has its own history, and completes nothing.
    #[allow(clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(super) fn start(_: Option<&PathBuf>, _: Arc<Mutex<Vec<String>>>) -> Option<Self> {
        Some(Self)
    }

    /// A backslash at the end of a question asks for another line.
    #[allow(clippy::unused_self, reason = "as on Unix")]
    pub(super) fn read(&mut self, prompt: &Prompt, _: Option<&PathBuf>) -> Typed {
        let mut text = String::new();
        let mut sign = prompt.text.as_str();
        loop {
            let mut line = String::new();
            // If the prompt can't be shown, the user can still answer.
            let _ = write!(stderr(), "{sign}").and_then(|()| stderr().flush());
            match stdin().lock().read_line(&mut line) {
                Ok(0) | Err(_) => return Typed::End,
                Ok(_) => text.push_str(line.trim_end_matches(['\r', '\n'])),
            }
            if prompt.is_question && text.ends_with('\\') {
                text.pop();
                text.push('\n');
                sign = "";
            } else {
                return Typed::Text(text);
            }
        }
    }
}
