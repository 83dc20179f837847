//! One exchange in one file: what was sent, the bytes of the answer with their times, and the record of the request.
//! `sluice replay` shows it, and `sluice serve --replay` answers with it.
//!
//! The first line is the header. Each other line has the time in milliseconds from the start and bytes of the answer, as
//! text or in hexadecimal digits if they aren't UTF-8. The last line is the record.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sluice_core::{ChatRequest, RequestRecord};

/// The version of the format.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    sluice_exchange: u32,
    /// The server and the model. Reasoning names both.
    pub origin: String,
    pub model: String,
    /// The request as it was sent, without the key. Unless texts are kept, each is replaced by its length.
    pub request: Value,
    /// The HTTP status of the response, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The chat, if texts are kept. It can be asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<Box<ChatRequest>>,
}

impl Header {
    pub fn new(origin: &str, request: Value, chat: &ChatRequest, with_texts: bool) -> Self {
        Self {
            sluice_exchange: VERSION,
            origin: origin.to_owned(),
            model: chat.model.clone(),
            request,
            status: None,
            chat: with_texts.then(|| Box::new(chat.clone())),
        }
    }
}

/// Bytes of an answer and when they arrived.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Chunk {
    pub ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl Chunk {
    pub fn of_text(after: Duration, text: String) -> Self {
        Self { ms: milliseconds(after), text: Some(text), hex: None }
    }

    pub fn of_bytes(after: Duration, bytes: &[u8]) -> Self {
        let mut hex = String::new();
        for byte in bytes {
            let _ = write!(hex, "{byte:02x}");
        }
        Self { ms: milliseconds(after), text: None, hex: Some(hex) }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let pairs = self.hex.as_deref().unwrap_or_default().as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap_or_default(), 16).ok();
        self.text.as_deref().unwrap_or_default().bytes().chain(pairs.filter_map(byte)).collect()
    }
}

/// A file that was read.
#[derive(Debug)]
pub struct Exchange {
    pub header: Header,
    pub chunks: Vec<Chunk>,
    pub record: Option<RequestRecord>,
}

impl Exchange {
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let problem = |line: usize| format!("{} is not an exchange: line {line} can't be read", path.display());
        let mut lines = text.lines().enumerate();
        let first = lines.next().and_then(|(_, line)| serde_json::from_str::<Value>(line).ok()).unwrap_or_default();
        if first["sluiceExchange"].as_u64().is_some_and(|version| version > u64::from(VERSION)) {
            return Err(format!(
                "{} was written by a newer version of sluice; update this one to read it",
                path.display()
            ));
        }
        let header: Header = serde_json::from_value(first).map_err(|_| problem(1))?;
        let (mut chunks, mut record) = (Vec::new(), None);
        for (number, line) in lines {
            let value: Value = serde_json::from_str(line).map_err(|_| problem(number + 1))?;
            match value.get("record") {
                Some(kept) => record = RequestRecord::read(&kept.to_string()),
                None => chunks.push(serde_json::from_value(value).map_err(|_| problem(number + 1))?),
            }
        }
        Ok(Self { header, chunks, record })
    }
}

fn milliseconds(after: Duration) -> u64 {
    u64::try_from(after.as_millis()).unwrap_or(u64::MAX)
}
