//! How an answer ends for whoever reads it in VS Code.

use serde::{Deserialize, Serialize};

use crate::boundary::{FailureKind, NOTE};
use crate::message::{Language, Message, MessageCode};
use crate::pace::Pace;

/// The program that an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Reader {
    /// VS Code's chat.
    Chat,
    /// VS Code's agent host, which also shows a chat, but reads nothing before the end.
    AgentHost,
    /// Another extension.
    Program,
}

impl Reader {
    /// Returns the reader that VS Code calls `initiator`.
    pub fn of(initiator: &str) -> Self {
        match initiator.to_ascii_lowercase() {
            _ if initiator == "core" => Self::AgentHost,
            name if name.starts_with("github.copilot") => Self::Chat,
            _ => Self::Program,
        }
    }

    /// Returns when this reader gets the text of an answer. `is_incremental` says whether the Chat view shows text as soon as
    /// it has it, which is an experiment of VS Code.
    pub fn pace(self, is_incremental: bool) -> Pace {
        match self {
            Self::Chat if !is_incremental => Pace::ChatView,
            Self::Chat | Self::Program => Pace::Steady,
            Self::AgentHost => Pace::AtEnd,
        }
    }
}

/// The fields of [`Ending::Rejected`](crate::Ending::Rejected), and who reads them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[allow(missing_docs, reason = "the documentation of `Ending` applies")]
pub struct RejectedAnswer {
    pub reader: Reader,
    pub text: Vec<Message>,
    pub kind: Option<FailureKind>,
    pub is_note: bool,
    pub page: Option<String>,
}

/// What is shown of it.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ShownRejection {
    /// A note below the answer. Nothing has failed.
    Note {
        /// The text to add to the answer. It isn't sent to the model with the next question.
        markdown: String,
    },
    /// An error in place of the rest of the answer.
    Error {
        /// What happened, and what the user can do in VS Code.
        text: String,
        /// A link to show after the text, in Markdown. Its address is built in, so no server can choose it.
        link: String,
        /// What VS Code calls the failure, for extensions that check the code.
        code: Option<&'static str>,
        /// What the server says about the key, if it doesn't accept it.
        refusal: Option<Vec<Message>>,
    },
}

impl RejectedAnswer {
    /// Returns what is shown.
    pub fn show(&self, language: &Language) -> ShownRejection {
        let is_chat = self.reader != Reader::Program;
        let reason = language.join(&self.text, " ");
        if self.is_note && is_chat {
            return ShownRejection::Note { markdown: format!("{NOTE}*{reason}*") };
        }
        let refusal = (self.kind == Some(FailureKind::SignIn)).then(|| self.text.clone());
        let advice = refusal.as_ref().map(|_| language.text(MessageCode::ReplaceTheKey)).unwrap_or_default();
        let page = self.page.as_ref().filter(|_| is_chat);
        let link = page.map(|page| format!(" [{}]({page})", language.text(MessageCode::OpenThePage)));
        let code = match self.kind {
            _ if is_chat => None,
            Some(FailureKind::SignIn | FailureKind::Forbidden) => Some("NoPermissions"),
            Some(FailureKind::NoCredit | FailureKind::RateLimited) => Some("Blocked"),
            Some(FailureKind::ModelNotFound) => Some("NotFound"),
            _ => None,
        };
        let text = format!("{reason} {advice}").trim_end().to_owned();
        ShownRejection::Error { text, link: link.unwrap_or_default(), code, refusal }
    }
}
