//! `cargo xtask recordings DIR`: compares the core with an independent oracle on recorded streams.
//!
//! The oracle splits frames naively and uses finished items (`output_item.done` and the terminal event). It uses deltas only
//! for messages that never finish. The core is judged on the deltas that it streamed. If a server's deltas contradict its own
//! finished text (some recordings were shortened by hand), the deltas are taken as correct, because they were already shown.
//! White space in thinking isn't compared, because the core separates paragraphs and leaves out thoughts without a word.
//! The status of an answer is the one in its terminal event. A call counts if its arguments are a JSON object and it wasn't cut
//! off.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sluice_core::{BodyEnd, Outcome, Output, Part, ResponseStream, StreamOptions};

use crate::Done;

pub fn check(directory: &Path) -> Done {
    let mut files = Vec::new();
    collect(directory, &mut files)?;
    files.sort();
    if files.is_empty() {
        return Err(format!("no *.sse files under {}", directory.display()));
    }
    let (mut wrong, mut contradictory) = (0, 0);
    for file in &files {
        let body = fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let expected = Expected::from_body(&body);
        contradictory += usize::from(expected.contradictory);
        if let Err(difference) = compare(&body, &expected) {
            wrong += 1;
            println!("{}: {difference}", file.strip_prefix(directory).unwrap_or(file).display());
        }
    }
    if contradictory > 0 {
        println!("{contradictory} have deltas that contradict the finished text (the deltas are used)");
    }
    println!("{} streams, {wrong} wrong", files.len());
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} recordings are decoded incorrectly; see above")) }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Done {
    let entries = fs::read_dir(directory).map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "sse") {
            files.push(path);
        }
    }
    Ok(())
}

/// The answer according to a reader that waits for the end.
#[derive(Debug, Default)]
struct Expected {
    text: String,
    /// The thinking of each item, by its index and id.
    thoughts: Vec<((Value, Value), String)>,
    calls: Vec<(String, String, Value)>,
    status: &'static str,
    usage: Value,
    contradictory: bool,
}

impl Expected {
    fn from_body(body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body).replace("\r\n", "\n");
        let mut expected = Self { status: "truncated", ..Self::default() };
        let mut deltas: BTreeMap<u64, String> = BTreeMap::new();
        let mut finished = Vec::new();
        let frames = body.split("\n\n").filter_map(|frame| {
            let data = frame.lines().find_map(|line| line.strip_prefix("data:"))?;
            serde_json::from_str::<Value>(data.trim()).ok()
        });
        for event in frames {
            match event["type"].as_str().unwrap_or_default() {
                "response.output_text.delta" | "response.refusal.delta" => {
                    let index = event["output_index"].as_u64().unwrap_or_default();
                    deltas.entry(index).or_default().push_str(event["delta"].as_str().unwrap_or_default());
                }
                "response.reasoning.delta"
                | "response.reasoning_text.delta"
                | "response.reasoning_summary_text.delta" => {
                    let item = (event["output_index"].clone(), event["item_id"].clone());
                    expected.add_thought(item, event["delta"].as_str().unwrap_or_default());
                }
                "response.output_item.done" => {
                    expected.add_finished_thought(&event["output_index"], &event["item"]);
                    let index = event["output_index"].as_u64().unwrap_or_default();
                    expected.add_message(&event["item"], &deltas.remove(&index).unwrap_or_default());
                    finished.push(event["item"].clone());
                }
                "response.completed" if event["response"]["status"] == "incomplete" => {
                    expected.end("incomplete", &event);
                }
                "response.completed" if event["response"]["status"] == "failed" => expected.end("failed", &event),
                "response.completed" => expected.end("completed", &event),
                "response.incomplete" => expected.end("incomplete", &event),
                "response.failed" | "error" => expected.end("failed", &event),
                _ => {}
            }
            if expected.status != "truncated" {
                // Some servers finish only the last of several calls, and list all of them at the end.
                let last = event["response"]["output"].as_array().cloned().unwrap_or_default();
                if finished.is_empty() {
                    for item in &last {
                        expected.add_message(item, "");
                    }
                }
                if expected.thoughts.is_empty() {
                    for item in &last {
                        expected.add_finished_thought(&Value::Null, item);
                    }
                }
                let calls = |items: &[Value]| items.iter().filter(|item| item["type"] == "function_call").count();
                if calls(&last) > calls(&finished) {
                    finished = last;
                }
                break;
            }
        }
        if expected.text.is_empty() {
            // Messages that never finished.
            for text in deltas.values() {
                expected.add_text(text);
            }
        }
        for item in &finished {
            expected.add_call(item);
        }
        expected
    }

    fn add_message(&mut self, item: &Value, deltas: &str) {
        if item["type"] != "message" {
            return;
        }
        let parts = item["content"].as_array().into_iter().flatten();
        let texts = parts.filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()));
        let finished: String = texts.collect();
        let contradictory = !finished.starts_with(deltas);
        self.contradictory |= contradictory;
        self.add_text(if contradictory { deltas } else { &finished });
    }

    fn add_thought(&mut self, item: (Value, Value), text: &str) {
        match self.thoughts.iter_mut().find(|(known, _)| *known == item) {
            Some((_, thought)) => thought.push_str(text),
            None => self.thoughts.push((item, text.to_owned())),
        }
    }

    /// Adds the thinking of an item that had no deltas.
    fn add_finished_thought(&mut self, index: &Value, item: &Value) {
        let is_known = self.thoughts.iter().any(|((known, id), _)| *known == *index || *id == item["id"]);
        if item["type"] == "reasoning" && !is_known {
            let texts = |field: &str| -> String {
                item[field].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect()
            };
            let summary = texts("summary");
            let thought = if summary.is_empty() { texts("content") } else { summary };
            self.add_thought((index.clone(), item["id"].clone()), &thought);
        }
    }

    fn add_text(&mut self, text: &str) {
        // A blank line separates two messages.
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    fn add_call(&mut self, item: &Value) {
        let field = |name: &str| item[name].as_str().unwrap_or_default();
        let is_blank = field("arguments").trim().is_empty();
        let is_unfinished = is_blank && item["status"] == "in_progress";
        let is_cut_off = item["status"] == "incomplete" || (is_blank && self.status != "completed");
        if item["type"] != "function_call" || is_cut_off {
            return;
        }
        match serde_json::from_str(if is_blank { "{}" } else { field("arguments") }) {
            Ok(input @ Value::Object(_)) if !is_unfinished => {
                self.calls.push((format!("gw-{}", field("call_id")), field("name").to_owned(), input));
            }
            // Without a call that the model needs, the answer isn't complete, whatever the server says.
            _ if self.status == "completed" => self.status = "failed",
            _ => {}
        }
    }

    fn end(&mut self, status: &'static str, event: &Value) {
        self.status = status;
        // Chat completions have other names for the same counts.
        let usage = event["response"]["usage"].to_string();
        let usage = usage.replace("prompt_tokens", "input_tokens").replace("completion_tokens", "output_tokens");
        self.usage = serde_json::from_str(&usage).unwrap_or_default();
    }
}

fn compare(body: &[u8], expected: &Expected) -> Done {
    let (whole, outcome) = decode(body, body.len().max(1));
    for chunk in [1, 7, 64 << 10] {
        let (parts, other) = decode(body, chunk);
        if parts != whole || other != outcome {
            return Err(format!("chunks of {chunk} bytes give different parts than the whole body"));
        }
    }
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    for part in whole {
        match part {
            Part::Text { value } => text.push_str(&value),
            Part::ToolCall { call_id, name, input_json } => {
                calls.push((call_id, name, serde_json::from_str(&input_json).unwrap_or_default()));
            }
            Part::Thinking { value, .. } => thinking.push_str(&value),
            Part::Data { .. } | Part::Citations { .. } => {}
        }
    }
    let outcome = serde_json::to_value(&outcome).unwrap_or_default();
    let (status, usage) = (&outcome["status"], &outcome["usage"]);
    let thoughts: String = expected.thoughts.iter().map(|(_, thought)| thought.as_str()).collect();
    let words = |text: &str| -> String { text.split_whitespace().collect() };
    let differences = [
        (text != expected.text, format!("text\n  got      {text:?}\n  expected {:?}", expected.text)),
        (words(&thinking) != words(&thoughts), format!("thinking\n  got      {thinking:?}\n  expected {thoughts:?}")),
        (calls != expected.calls, format!("calls\n  got      {calls:?}\n  expected {:?}", expected.calls)),
        (status != expected.status, format!("status {status}, expected {}", expected.status)),
        (!same_usage(usage, &expected.usage), format!("usage {usage}, expected {}", expected.usage)),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map_or(Ok(()), |(_, difference)| Err(difference))
}

fn decode(body: &[u8], chunk: usize) -> (Vec<Part>, Outcome) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    let mut outputs = Vec::new();
    for chunk in body.chunks(chunk) {
        outputs.extend(stream.push(chunk));
    }
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    let parts = outputs.into_iter().chain(rest).filter_map(|output| match output {
        Output::Part(part) => Some(part),
        Output::Note(_) => None,
    });
    (parts.collect(), outcome)
}

/// Returns whether every field that the server sent is present with its value. Fields that it left out may be `null`.
fn same_usage(got: &Value, expected: &Value) -> bool {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => {
            expected.iter().all(|(name, value)| got.get(name).unwrap_or(&Value::Null) == value)
                && got.iter().all(|(name, value)| value.is_null() || expected.contains_key(name))
        }
        _ => got == expected,
    }
}
