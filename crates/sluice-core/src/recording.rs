//! A recorded exchange: one file with what was sent and what came back. Shells keep it only if the user asked for it.

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

    /// Reads a recording. Returns `None` if it is damaged or has another version.
    pub fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok().filter(|recording: &Self| recording.version == Self::VERSION)
    }

    /// Returns the recording as a file for `sluice replay`: a header, the response and the record, each on a line.
    pub fn to_exchange(&self) -> String {
        let RequestRecord { origin, model, timeline, .. } = &self.record;
        let request = json!({ "method": "POST", "url": self.url, "body": self.request });
        let mut header = json!({ "sluiceExchange": 1, "origin": origin, "model": model, "request": request });
        if let (Some(chat), Some(header)) = (&self.chat, header.as_object_mut()) {
            header.insert("chat".to_owned(), chat.clone());
        }
        let response = json!({ "ms": timeline.first_byte_ms.unwrap_or(0), "text": self.response });
        format!("{header}\n{response}\n{}\n", json!({ "record": self.record }))
    }

    /// Masks secrets everywhere, replaces the texts in the request by their lengths, and drops the chat. The response keeps its text, so
    /// that it can be replayed.
    #[must_use]
    pub fn redacted(mut self, secrets: &Secrets) -> Self {
        redact_body(&mut self.request);
        self.chat = None;
        self.response = secrets.mask(&self.response).into_owned();
        self.url = secrets.mask(&self.url).into_owned();
        self
    }
}

/// Keeps the structure of a request: numbers, types, roles and field names. Replaces every text that the user or the
/// model wrote by its length.
pub fn redact_body(body: &mut Value) {
    redact(body, "");
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
