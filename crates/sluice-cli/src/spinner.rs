//! Shows a spinner on standard error until the first part arrives, if that is a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::interval;

/// A spinner that runs until it is stopped or dropped.
pub struct Spinner(Option<JoinHandle<()>>);

impl Spinner {
    /// Returns a spinner that shows nothing.
    pub fn none() -> Self {
        Self(None)
    }

    pub fn start() -> Self {
        Self::labelled("")
    }

    /// Starts a spinner in front of a short text.
    pub fn labelled(label: &str) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        if !stderr().is_terminal() || is_dumb {
            return Self::none();
        }
        let label = label.to_owned();
        Self(Some(tokio::spawn(async move {
            let mut beat = interval(Duration::from_millis(90));
            for frame in ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"].iter().cycle() {
                beat.tick().await;
                show(&format!("\r{frame} {label}"));
            }
        })))
    }

    pub fn stop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
            // The second sequence erases the rest of the line.
            show("\r\u{1b}[K");
        }
    }
}

fn show(text: &str) {
    let mut out = stderr();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop();
    }
}
