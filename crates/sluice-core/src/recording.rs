//! A recorded exchange: one file with what was sent and what came back. Shells keep it only if the user asked for it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::boundary::RequestRecord;
use crate::secrets::Secrets;

/// Everything about one exchange, word for word, except the key, which isn't part of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recording {
    /// The version of this format.
    pub version: u32,
    /// The same without any text.
    pub record: RequestRecord,
    /// The address that the request went to.
    pub url: String,
    /// The body of the request.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub request: Value,
    /// The chat that the request was made from. It can be asked again.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub chat: Option<Value>,
    /// The HTTP status of the response, or `null` if there was none.
    pub status: Option<u16>,
    /// The body of the response.
    pub response: String,
}

impl Recording {
    /// The version of the format.
    pub const VERSION: u32 = 1;

    /// The rest of a longer response isn't recorded.
    pub const MAX_RESPONSE: usize = 16 << 20;

    /// Reads a recording. Returns `None` if it is damaged or has another version.
    pub fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok().filter(|recording: &Self| recording.version == Self::VERSION)
    }

    /// Returns the recording as a file for `sluice replay`: a header, the response and the record, each on a line.
    pub fn to_exchange(&self) -> String {
        let RequestRecord { origin, model, timeline, .. } = &self.record;
        let request = json!({ "method": "POST", "url": self.url, "body": self.request });
        let mut header = json!({ "sluiceExchange": 1, "origin": origin, "model": model, "request": request,
            "status": self.status });
        if let (Some(chat), Some(header)) = (&self.chat, header.as_object_mut()) {
            header.insert("chat".to_owned(), chat.clone());
        }
        let response = json!({ "ms": timeline.first_byte_ms.unwrap_or(0), "text": self.response });
        format!("{header}\n{response}\n{}\n", json!({ "record": self.record }))
    }

    /// Masks secrets everywhere, replaces the texts in the request by their lengths, and drops the chat. The response keeps
    /// the answer, so that it can be replayed, but not what it repeats of the request.
    #[must_use]
    pub fn redacted(mut self, secrets: &Secrets) -> Self {
        redact_body(&mut self.request);
        self.chat = None;
        self.response = secrets.mask(&redact_response(&self.response)).into_owned();
        self.url = secrets.mask(&self.url).into_owned();
        self
    }
}

/// Keeps the structure of a request: numbers, types, roles and field names. Replaces every text that the user or the
/// model wrote by its length.
pub fn redact_body(body: &mut Value) {
    redact(body, "");
}

/// The fields of a response in which servers repeat the request.
const ECHOED: [&str; 9] =
    ["input", "instructions", "metadata", "prompt", "prompt_cache_key", "safety_identifier", "text", "tools", "user"];

/// Servers repeat the request in the events of a response, with the instructions and all tools. Replaces these texts by their
/// lengths, in whole lines of a stream or in a whole response. Everything else stays as it is, byte for byte, so that the
/// response has the same parts as before.
pub fn redact_response(lines: &str) -> Cow<'_, str> {
    let mut redacted = String::new();
    // Everything before this index is in `redacted`.
    let mut done = 0;
    let mut start = 0;
    for line in lines.split_inclusive(['\n', '\r']) {
        let text = line.trim_end_matches(['\n', '\r']);
        let json = text.strip_prefix("data:").unwrap_or(text);
        if let Some(shorter) = redact_event(json) {
            let from = start + text.len() - json.len();
            redacted.push_str(lines.get(done..from).unwrap_or_default());
            redacted.push_str(&shorter);
            done = start + text.len();
        }
        start += line.len();
    }
    if done == 0 {
        return lines.into();
    }
    redacted.push_str(lines.get(done..).unwrap_or_default());
    redacted.into()
}

/// Returns an event or a response as JSON without what it repeats of the request; `None` if it repeats nothing.
fn redact_event(json: &str) -> Option<String> {
    // Most events are deltas, which need not be read.
    if !ECHOED.iter().any(|name| json.contains(&format!("\"{name}\""))) {
        return None;
    }
    let mut event: Value = serde_json::from_str(json).ok()?;
    let response = if event.get("response").is_some_and(Value::is_object) {
        event.get_mut("response")?
    } else if event.get("output").is_some() {
        &mut event
    } else {
        return None;
    };
    let echoed = response.as_object_mut()?.iter_mut().filter(|(name, _)| ECHOED.contains(&name.as_str()));
    let mut is_changed = false;
    for (name, value) in echoed {
        let before = value.clone();
        redact(value, name);
        is_changed |= before != *value;
    }
    is_changed.then(|| event.to_string())
}

fn redact(value: &mut Value, name: &str) {
    match value {
        Value::String(text) => {
            let protocol = ["type", "role", "model", "effort", "summary", "tool_choice", "caching", "include"];
            if !protocol.contains(&name) {
                *value = Value::String(format!("[{} characters]", text.chars().count()));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|element| redact(element, name)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| redact(field, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
