//! The user's extra headers and extra body fields: which of them are sent, and why the others aren't.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::boundary::{HttpRequest, SettingProblem};
use crate::message::{Message, MessageCode};
use crate::receive::plain_line;

/// Headers that Sluice sets itself.
const OUR_HEADERS: [&str; 3] = ["content-type", "accept", "x-session-affinity"];
/// Headers that decide where a request goes or who it is from.
const RESERVED_HEADERS: [&str; 7] =
    ["authorization", "host", "content-length", "transfer-encoding", "connection", "cookie", "upgrade"];

/// Fields that extra body fields can't replace, because the stream depends on them.
const OUR_FIELDS: [&str; 12] = [
    "model",
    "instructions",
    "input",
    "tools",
    "tool_choice",
    "stream",
    "store",
    "include",
    "reasoning",
    "prompt_cache_key",
    "caching",
    "providerOptions",
];
/// Fields that are read from the extra body and sent under the protocol's name, unless an option sets them.
const OPTION_FIELDS: [&str; 4] = ["max_output_tokens", "max_tokens", "temperature", "top_p"];

impl HttpRequest {
    /// Returns the same request with the user's extra headers, as far as they may be sent. The settings are checked
    /// elsewhere.
    #[must_use]
    pub fn with_headers(mut self, extra: &BTreeMap<String, String>) -> Self {
        self.headers.extend(extra_headers(extra, &mut Vec::new()));
        self
    }
}

/// Returns the headers to send, with names in lower case.
pub(crate) fn extra_headers(
    extra: &BTreeMap<String, String>,
    problems: &mut Vec<SettingProblem>,
) -> Vec<(String, String)> {
    let mut sent: Vec<(String, String)> = Vec::new();
    for (name, value) in extra {
        let name = name.to_ascii_lowercase();
        let is_taken = sent.iter().any(|(taken, _)| *taken == name);
        let set_twice = || is_taken.then(|| about(MessageCode::HeaderSetTwice, &name));
        match header_problem(&name, value).or_else(set_twice) {
            Some(message) => problems.push(SettingProblem { setting: "extraHeaders", message }),
            None => sent.push((name, value.clone())),
        }
    }
    sent
}

/// Returns why a header with this name in lower case can't be sent, if it can't.
pub fn header_problem(name: &str, value: &str) -> Option<Message> {
    let problem = if !is_header_name(name) {
        MessageCode::HeaderNameInvalid
    } else if OUR_HEADERS.contains(&name) || RESERVED_HEADERS.contains(&name) || name.starts_with("proxy-") {
        MessageCode::HeaderReserved
    } else if value.is_empty() {
        MessageCode::HeaderEmpty
    } else if !is_header_value(value) {
        MessageCode::HeaderValueInvalid
    } else {
        return None;
    };
    Some(about(problem, name))
}

/// The value may be a secret, so it isn't part of the message.
fn about(problem: MessageCode, name: &str) -> Message {
    Message::new(problem, [&plain_line(name, 60)])
}

/// Returns the fields to add to the request body. Names that start with `_` are VS Code's and are never sent.
pub(crate) fn extra_fields(extra: &Map<String, Value>, problems: &mut Vec<SettingProblem>) -> Map<String, Value> {
    let mut sent = Map::new();
    for (name, value) in extra {
        if is_reserved_field(name) {
            let message = Message::new(MessageCode::BodyFieldReserved, [name]);
            problems.push(SettingProblem { setting: "extraBody", message });
        } else if !name.starts_with('_') && !OPTION_FIELDS.contains(&name.as_str()) {
            sent.insert(name.clone(), value.clone());
        }
    }
    sent
}

/// Returns whether Sluice sets this field of the request body itself.
pub(crate) fn is_reserved_field(name: &str) -> bool {
    OUR_FIELDS.contains(&name)
}

fn is_header_name(name: &str) -> bool {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(is_token)
}

pub(super) fn is_header_value(value: &str) -> bool {
    !value.is_empty() && value.len() <= 4096 && value.chars().all(|c| c == ' ' || c.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::is_header_value;

    #[test]
    fn header_values_are_short_printable_ascii() {
        let longest = "a".repeat(4096);
        for (value, expected) in [
            ("", false),
            ("a b", true),
            ("a\tb", false),
            ("a\r\nb: c", false),
            ("ä", false),
            (longest.as_str(), true),
            (&(longest.clone() + "a"), false),
        ] {
            assert_eq!(is_header_value(value), expected, "{value:?}");
        }
    }
}
