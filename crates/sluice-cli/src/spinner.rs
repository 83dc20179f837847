//! Shows a spinner on standard error until the first part arrives, if that is a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::interval;

/// A spinner that runs until it is stopped or dropped.
pub struct Spinner(Option<JoinHandle<()>>);

impl Spinner {
    pub fn start() -> Self {
        if !stderr().is_terminal() {
            return Self(None);
        }
        Self(Some(tokio::spawn(async {
            let mut beat = interval(Duration::from_millis(90));
            for frame in ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"].iter().cycle() {
                beat.tick().await;
                show(&format!("\r{frame} "));
            }
        })))
    }

    pub fn stop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
            show("\r  \r");
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
