//! What Sluice does differently for a server because of what a test found out.

use super::{Check, CheckResult, Probe, Topic};
use crate::message::{Message, MessageCode};
use crate::numbers::grouped;
use crate::send::Parameter;

impl Probe {
    /// The test is over.
    pub(super) fn finish(&mut self) {
        self.card.checks.sort_by_key(|check| check.topic);
        if self.card.failed().is_some_and(|check| !is_minor(check.topic)) {
            return;
        }
        let mut differences = Vec::new();
        let mut left_out = Vec::new();
        for parameter in &self.card.refused {
            match parameter {
                Parameter::Effort(refused, Some(sent)) => {
                    differences.push(Message::new(MessageCode::DiffersEffort, [&refused.word(), &sent.word()]));
                }
                Parameter::MostOutputTokens(limit) => {
                    let limit = grouped(u64::from(*limit));
                    differences.push(Message::new(MessageCode::DiffersOutputLimit, [&limit]));
                }
                Parameter::ToolOutputParts => differences.push(MessageCode::DiffersToolText.into()),
                parameter => left_out.push(format!("`{}`", parameter.path())),
            }
        }
        if !left_out.is_empty() {
            differences.push(Message::new(MessageCode::DiffersRefused, [&left_out.join(", ")]));
        }
        for (topic, code) in [
            (Topic::Encryption, MessageCode::DiffersNoEncryption),
            (Topic::Models, MessageCode::DiffersNoList),
            (Topic::Streaming, MessageCode::DiffersNoStreaming),
            (Topic::Usage, MessageCode::DiffersNoUsage),
            (Topic::Cut, MessageCode::DiffersNoCut),
            (Topic::Tools, MessageCode::DiffersNoTools),
            (Topic::ToolImages, MessageCode::DiffersNoToolImages),
            (Topic::ReasoningBack, MessageCode::DiffersReasoningRefused),
            (Topic::Limits, MessageCode::DiffersAssumed),
        ] {
            let is_absent = |check: &Check| check.topic == topic && check.result == CheckResult::Absent;
            let is_text =
                |check: &Check| check.detail.first().map(|first| first.code) == Some(MessageCode::FoundToolText);
            let is_absent = self.card.checks.iter().any(|check| is_absent(check) && !is_text(check));
            if is_absent {
                differences.push(code.into());
            }
        }
        for check in &self.card.checks {
            match check.detail.first().map(|message| message.code) {
                Some(MessageCode::FoundVagueErrors) => differences.push(MessageCode::DiffersErrors.into()),
                Some(MessageCode::FoundAnyModel) => differences.push(MessageCode::DiffersAnyModel.into()),
                _ => {}
            }
        }
        let items = &self.seen.reasoning;
        if self.seen.reasoning_back == Some(true) {
            let is_encrypted = items.iter().any(|item| item.encrypted_content.is_some() || item.signature.is_some());
            let code = if is_encrypted { MessageCode::DiffersEncrypted } else { MessageCode::DiffersPlain };
            differences.push(code.into());
        }
        if self.card.overflow.is_some() {
            differences.push(MessageCode::DiffersLearned.into());
        }
        self.card.differences = differences;
    }
}

/// Returns whether a chat can work although this doesn't.
fn is_minor(topic: Topic) -> bool {
    !matches!(topic, Topic::Address | Topic::Encryption | Topic::Models | Topic::Key | Topic::Answer)
}
