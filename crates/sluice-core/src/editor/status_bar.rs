//! The status bar: how full the conversation is, or when a request is sent again.

use serde::{Deserialize, Serialize};

use crate::boundary::{Activity, Level, StatusLine};
use crate::link_free::link_free;
use crate::message::{Language, Message, MessageCode};

/// What the status bar has to show.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatusBarFacts {
    /// The line of the conversation with the newest request.
    pub line: Option<StatusLine>,
    /// Why a request is sent again, and in how many milliseconds.
    pub retrying: Option<(String, f64)>,
    /// Whether the user may want VS Code to show text sooner.
    pub offers_smooth_streaming: bool,
}

/// What the status bar shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatusBarView {
    /// The text, with an icon.
    pub text: String,
    /// The colour of the background.
    pub level: Level,
    /// The tooltip, in Markdown. Its only links are those of the commands in `commands`.
    pub tooltip: String,
    /// The commands that the tooltip may run.
    pub commands: [&'static str; 1],
    /// What a screen reader says, because `12k/168k` says little to those who don't see where it is.
    pub spoken: String,
    /// Whether it looks different a second later.
    pub is_counting: bool,
}

const SMOOTH_STREAMING: &str = "sluice.smoothStreaming";

impl StatusBarFacts {
    /// Returns what the status bar shows.
    pub fn show(&self, language: &Language) -> StatusBarView {
        let details = self.line.iter().flat_map(|line| &line.tooltip);
        let details: Vec<(String, String)> =
            details.map(|row| (language.text(row.label.clone()), language.join(&row.value, ", "))).collect();
        let spoken = details.iter().map(|(label, value)| link_free(&format!("{label}: {value}")));
        let spoken = spoken.collect::<Vec<_>>().join("; ");
        let usage = self.line.as_ref().map(|line| link_free(&language.join(&line.text, " · ")));
        let is_idle = self.line.as_ref().is_none_or(|line| line.activity == Activity::Idle);
        let (icon, shown, note, seconds) = if let Some((reason, left_ms)) = &self.retrying {
            let seconds = (left_ms / 1000.0).ceil().max(1.0);
            let shown = language.text(Message::new(MessageCode::TryingAgain, [&seconds]));
            ("sync~spin", shown, format!("{}\n\n", markdown(reason)), seconds)
        } else {
            let icon = if is_idle { "dashboard" } else { "loading~spin" };
            (icon, usage.unwrap_or_else(|| "Sluice".to_owned()), String::new(), 0.0)
        };
        let mut tooltip = format!("{note}| | |\n|:--|--:|\n");
        for (label, value) in &details {
            tooltip += &format!("| {} | {} |\n", markdown(label), markdown(value));
        }
        if self.offers_smooth_streaming {
            let title = markdown(&language.text(MessageCode::SmootherStreaming));
            tooltip += &format!("\n\n[{title}](command:{SMOOTH_STREAMING})");
        }
        StatusBarView {
            text: format!("$({icon}) {shown}"),
            level: self.line.as_ref().map_or(Level::Normal, |line| line.level),
            tooltip,
            commands: [SMOOTH_STREAMING],
            spoken: match (&self.retrying, spoken.as_str()) {
                (Some(_), _) => shown,
                (None, "") => "Sluice".to_owned(),
                (None, spoken) => format!("Sluice. {spoken}"),
            },
            is_counting: seconds > 1.0,
        }
    }
}

/// Returns Markdown that shows the text unchanged.
fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in link_free(text).chars() {
        if letter.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
