//! Captures for bug reports: the raw stream, and beside it the request without what is private in it.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sluice_core::{BuiltRequest, ChatRequest, Endpoint, build_request};

pub struct CaptureFile {
    body: File,
    request: PathBuf,
}

impl CaptureFile {
    /// Starts both files. The key is never in a request; what was said is replaced by its length.
    pub fn start(path: &Path) -> io::Result<Self> {
        let mut request = path.as_os_str().to_owned();
        request.push(".request.json");
        Ok(Self { body: File::create(path)?, request: request.into() })
    }

    pub fn request(&self, chat: &ChatRequest, endpoint: &Endpoint) -> io::Result<()> {
        let BuiltRequest { request, .. } = build_request(chat, endpoint);
        let mut body: Value = serde_json::from_str(&request.body)?;
        redact(&mut body, "");
        let shown = serde_json::json!({"method": request.method, "url": request.url, "body": body});
        std::fs::write(&self.request, serde_json::to_string_pretty(&shown)? + "\n")
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.body.write_all(bytes)
    }
}

/// Keeps the shape: numbers, types, roles, names of fields. Replaces every text that somebody wrote.
fn redact(value: &mut Value, name: &str) {
    match value {
        Value::String(text) => {
            let protocol = ["type", "role", "model", "effort", "summary", "tool_choice", "caching", "include"];
            if !protocol.contains(&name) {
                *value = Value::String(format!("[{} characters]", text.chars().count()));
            }
        }
        Value::Array(list) => {
            for element in list {
                redact(element, name);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                redact(field, name);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
