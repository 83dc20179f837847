//! Validates requests. It is strict, so that a client's mistakes show up here and not at a provider: it checks
//! everything that the Open Responses schema (2026-04-24) requires, and what the gateway or its providers refuse.
//!
//! The following is accepted on purpose, because the gateway accepts it: the efforts `minimal` and `max`, the format
//! `json_object`, reasoning items with `reasoning_text`, and fields that aren't in the schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::problem::Problem;

mod content;
mod tools;

const TEXT: usize = 10_485_760;
pub const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

type Checked = Result<(), Problem>;

/// Validates the body of `POST /v1/responses` or of `response.create` on a WebSocket.
pub fn create(body: &Map<String, Value>) -> Checked {
    if let Some(key) = body.keys().find(|key| key.starts_with('_')) {
        return Err(Problem::invalid(key, format!("Unknown parameter: '{key}'.")).code("unknown_parameter"));
    }
    if !body.get("model").is_some_and(Value::is_string) {
        return Err(Problem::invalid("model", "Missing required parameter: 'model'."));
    }
    let at = |key: &str| Field { path: key.to_owned(), value: body.get(key).unwrap_or(&Value::Null) };
    for (key, longest) in [
        ("model", TEXT),
        ("previous_response_id", TEXT),
        ("instructions", usize::MAX),
        ("safety_identifier", 64),
        ("prompt_cache_key", 64),
    ] {
        at(key).string_or_null(longest)?;
    }
    for (key, low, high) in [
        ("temperature", 0.0, 2.0),
        ("top_p", 0.0, 1.0),
        ("presence_penalty", -2.0, 2.0),
        ("frequency_penalty", -2.0, 2.0),
    ] {
        at(key).number_or_null(low, high)?;
    }
    for (key, low, high) in
        [("max_output_tokens", 16, i64::MAX), ("max_tool_calls", 1, i64::MAX), ("top_logprobs", 0, 20)]
    {
        at(key).integer_or_null(low, high)?;
    }
    // These may be absent but not null.
    for key in ["stream", "background", "store"] {
        if body.contains_key(key) {
            at(key).boolean()?;
        }
    }
    if !at("parallel_tool_calls").value.is_null() {
        at("parallel_tool_calls").boolean()?;
    }
    at("truncation").word_or_null(&["auto", "disabled"])?;
    at("service_tier").word_or_null(&["auto", "default", "flex", "priority"])?;
    if let Some(include) = at("include").list_or_null()? {
        for entry in include {
            entry.word(&["reasoning.encrypted_content", "message.output_text.logprobs"])?;
        }
    }
    if let Some(reasoning) = at("reasoning").object_or_null()? {
        reasoning.key("effort").word_or_null(&EFFORTS)?;
        reasoning.key("summary").word_or_null(&["concise", "detailed", "auto"])?;
    }
    metadata(&at("metadata"))?;
    text(&at("text"))?;
    if let Some(options) = at("stream_options").object_or_null()?
        && !options.key("include_obfuscation").value.is_null()
    {
        options.key("include_obfuscation").boolean()?;
    }
    at("providerOptions").object_or_null()?;
    at("caching").word_or_null(&["auto"])?;
    at("cache_ttl").word_or_null(&["5m", "1h"])?;
    at("cache_anchor_items").integer_or_null(0, i64::MAX)?;
    tools::offered(&at("tools"))?;
    tools::choice(&at("tool_choice"), body.get("tools"))?;
    content::input(&at("input"))
}

/// Validates the body of `POST /v1/responses/compact`.
pub fn compact(body: &Map<String, Value>) -> Checked {
    if !body.get("model").is_some_and(Value::is_string) {
        return Err(Problem::invalid("model", "Missing required parameter: 'model'."));
    }
    let at = |key: &str| Field { path: key.to_owned(), value: body.get(key).unwrap_or(&Value::Null) };
    at("previous_response_id").string_or_null(TEXT)?;
    at("instructions").string_or_null(usize::MAX)?;
    at("prompt_cache_key").string_or_null(64)?;
    content::input(&at("input"))
}

/// Validates the whole conversation, including earlier turns: there must be a user message, and calls and results must
/// match.
pub fn conversation(items: &[Value]) -> Checked {
    if !items.iter().any(|item| item["role"] == "user") {
        return Err(Problem::invalid("input", "At least one user message is required in the input"));
    }
    let mut unanswered = BTreeSet::new();
    for item in items {
        let call_id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("function_call") if !unanswered.insert(call_id) => {
                return Err(Problem::invalid("input", format!("Duplicate function call with call_id {call_id}.")));
            }
            Some("function_call_output") if !unanswered.remove(call_id) => {
                let message = format!("No tool call found for function call output with call_id {call_id}.");
                return Err(Problem::invalid("input", message));
            }
            _ => {}
        }
    }
    unanswered.first().map_or(Ok(()), |call_id| {
        Err(Problem::invalid("input", format!("No tool output found for function call {call_id}.")))
    })
}

fn metadata(field: &Field) -> Checked {
    let Some(metadata) = field.object_or_null()? else { return Ok(()) };
    let pairs = metadata.entries();
    if pairs.len() > 16 {
        return Err(field.wrong("at most 16 pairs"));
    }
    for (key, value) in pairs {
        if key.chars().count() > 64 {
            return Err(value.wrong("a key of at most 64 characters"));
        }
        value.string(0, 512)?;
    }
    Ok(())
}

fn text(field: &Field) -> Checked {
    let Some(text) = field.object_or_null()? else { return Ok(()) };
    text.key("verbosity").word_or_null(&["low", "medium", "high"])?;
    let Some(format) = text.key("format").object_or_null()? else { return Ok(()) };
    format.key("type").word(&["text", "json_schema", "json_object"])?;
    if format.value["type"] == "json_schema" {
        format.key("name").string(1, 64)?;
        if !format.key("schema").value.is_object() {
            return Err(format.key("schema").wrong("an object"));
        }
        if !format.key("strict").value.is_null() {
            format.key("strict").boolean()?;
        }
    }
    Ok(())
}

/// A value of the request and its path, for error messages.
struct Field<'a> {
    path: String,
    value: &'a Value,
}

impl<'a> Field<'a> {
    fn wrong(&self, expected: &str) -> Problem {
        let kind = match self.value {
            Value::Null => "null or nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "this number",
            Value::String(_) => "this string",
            Value::Array(_) => "this array",
            Value::Object(_) => "this object",
        };
        Problem::invalid(&self.path, format!("Invalid '{}': expected {expected}, but got {kind}.", self.path))
    }

    fn key(&self, key: &str) -> Field<'a> {
        Field { path: format!("{}.{key}", self.path), value: self.value.get(key).unwrap_or(&Value::Null) }
    }

    fn entries(&self) -> Vec<(&'a str, Field<'a>)> {
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), Field { path: format!("{}.{key}", self.path), value })).collect()
    }

    fn list(&self) -> Result<Vec<Field<'a>>, Problem> {
        let list = self.value.as_array().ok_or_else(|| self.wrong("an array"))?;
        Ok(list.iter().enumerate().map(|(at, value)| Field { path: format!("{}[{at}]", self.path), value }).collect())
    }

    fn list_or_null(&self) -> Result<Option<Vec<Field<'a>>>, Problem> {
        if self.value.is_null() { Ok(None) } else { self.list().map(Some) }
    }

    fn object_or_null(&self) -> Result<Option<Field<'a>>, Problem> {
        match self.value {
            Value::Null => Ok(None),
            Value::Object(_) => Ok(Some(Field { path: self.path.clone(), value: self.value })),
            _ => Err(self.wrong("an object")),
        }
    }

    fn string(&self, shortest: usize, longest: usize) -> Result<&'a str, Problem> {
        let text = self.value.as_str().ok_or_else(|| self.wrong("a string"))?;
        // The number of bytes is an upper bound, and counting the characters of megabytes is slow.
        let length = if text.len() <= longest { text.len() } else { text.chars().count() };
        if length < shortest || length > longest {
            return Err(self.wrong(&format!("a string of {shortest} to {longest} characters")));
        }
        Ok(text)
    }

    fn string_or_null(&self, longest: usize) -> Checked {
        if self.value.is_null() { Ok(()) } else { self.string(0, longest).map(drop) }
    }

    /// Validates the name of a tool or the id of a call.
    fn name(&self) -> Result<&'a str, Problem> {
        let name = self.string(1, 64)?;
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            Ok(name)
        } else {
            Err(self.wrong("a string that matches '^[a-zA-Z0-9_-]+$'"))
        }
    }

    fn word(&self, words: &[&str]) -> Checked {
        if self.value.as_str().is_some_and(|word| words.contains(&word)) {
            Ok(())
        } else {
            Err(self.wrong(&format!("one of '{}'", words.join("', '"))))
        }
    }

    fn word_or_null(&self, words: &[&str]) -> Checked {
        if self.value.is_null() { Ok(()) } else { self.word(words) }
    }

    fn boolean(&self) -> Checked {
        if self.value.is_boolean() { Ok(()) } else { Err(self.wrong("a boolean")) }
    }

    fn number_or_null(&self, low: f64, high: f64) -> Checked {
        match self.value.as_f64() {
            None if self.value.is_null() => Ok(()),
            Some(number) if (low..=high).contains(&number) => Ok(()),
            _ => Err(self.wrong(&format!("a number from {low} to {high}"))),
        }
    }

    fn integer_or_null(&self, low: i64, high: i64) -> Checked {
        match self.value.as_i64() {
            None if self.value.is_null() => Ok(()),
            Some(number) if (low..=high).contains(&number) => Ok(()),
            _ if high == i64::MAX => Err(self.wrong(&format!("an integer of at least {low}"))),
            _ => Err(self.wrong(&format!("an integer from {low} to {high}"))),
        }
    }
}
