//! Measures how close a count is after a server has answered the previous turn. It uses pairs of recorded requests
//! where one continues the other.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, Counter, InstallKey, KnownCounts, Piece, Prompt, Role, ToolMode, Usage,
};

use super::{Recorded, errors};

/// A recorded request as a chat.
#[derive(PartialEq)]
pub struct Chat {
    pub request: ChatRequest,
}

pub fn print(recorded: &[Recorded], counter: Counter) -> Result<(), String> {
    // What only the server knows can't be in a chat.
    let known = recorded.iter().filter(|one| one.counted.notes.is_empty());
    let chats: Vec<(&Recorded, Chat)> = known.filter_map(|one| Some((one, Chat::of(&one.body)?))).collect();
    let mut tokenizers: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    let mut broken = Vec::new();
    println!("\nAfter one answered turn of the same conversation, median and worst:\n");
    for later in &chats {
        let earlier = chats.iter().filter(|earlier| later.1.continues(&earlier.1));
        let Some(earlier) = earlier.max_by_key(|(_, chat)| chat.length()) else { continue };
        let tokens = anchored(earlier, later, counter);
        let actual = f64::from(later.0.actual);
        tokenizers.entry(&later.0.counted.tokenizer).or_default().push((tokens, actual));
        // The bound is one per cent, but at least one token.
        if (tokens - actual).abs() > (actual * 0.01).max(1.0) {
            broken.push(format!("{actual} counted as {tokens} after {}: {}", earlier.0.actual, later.0.name));
        }
    }
    println!("{:<12}{:>5}{:>18}", "tokenizer", "n", "anchored");
    for (tokenizer, pairs) in tokenizers {
        println!("{tokenizer:<12}{:>5}{:>18}", pairs.len(), errors(pairs.into_iter()));
    }
    for line in &broken {
        println!("  {line}");
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("{} anchored counts are off by more than 1 %", broken.len())) }
}

/// Learns from the earlier request, then counts the later one.
fn anchored((recorded, earlier): &(&Recorded, Chat), (next, later): &(&Recorded, Chat), counter: Counter) -> f64 {
    let mut known = KnownCounts::new(InstallKey([7; 16]));
    let usage = serde_json::from_value::<Usage>(recorded.usage.clone()).unwrap_or_default();
    let raw = |piece: Piece<'_>| counter.piece(piece);
    let answer = later.request.messages.get(earlier.length()).filter(|answer| answer.role == Role::Assistant);
    if let Some(answer) = answer {
        let answer = Prompt::of_message(&later.request.model, answer);
        known.learn_reasoning(&answer, &usage, 1);
        // If the vocabulary is the model's own, our count of an answer is better than the server's output count.
        if !next.counted.own_vocabulary {
            known.learn_answer(&answer, &usage, 1.0, &raw, 1);
        }
    }
    known.learn(&Prompt::of(&earlier.request), &usage, 1.0, &raw, 1);
    #[expect(clippy::cast_precision_loss, reason = "token counts are small")]
    let tokens = known.estimate(&Prompt::of(&later.request), 1.0, &raw).tokens as f64;
    tokens
}

impl Chat {
    /// Converts a recorded request. Returns `None` if it has content that a chat can't have.
    pub fn of(body: &Value) -> Option<Self> {
        let mut messages = Vec::new();
        if let Some(text) = body["instructions"].as_str() {
            messages.push(message(Role::System, vec![text_part(text)]));
        }
        if let Some(text) = body["input"].as_str() {
            messages.push(message(Role::User, vec![text_part(text)]));
        }
        for item in body["input"].as_array().into_iter().flatten() {
            let (role, parts) = parts(item)?;
            match messages.last_mut() {
                // An answer with several items is one message.
                Some(last) if last.role == Role::Assistant && role == Role::Assistant => last.content.extend(parts),
                _ => messages.push(message(role, parts)),
            }
        }
        let tools: Vec<Value> = (body["tools"].as_array().into_iter().flatten())
            .map(|tool| json!({"name": tool["name"], "description": tool["description"].as_str().unwrap_or_default(), "inputSchema": tool["parameters"]}))
            .collect();
        let frame = json!({"model": body["model"], "tools": tools}).to_string();
        let mut request = ChatRequest::from_json(&frame).ok()?;
        request.messages = messages;
        let choice = &body["tool_choice"];
        if choice == "required" || choice["type"] == "function" {
            request.tool_mode = ToolMode::Required;
        }
        Some(Self { request })
    }

    pub fn length(&self) -> usize {
        self.request.messages.len()
    }

    pub fn continues(&self, earlier: &Self) -> bool {
        self.request.model == earlier.request.model
            && self.request.tools == earlier.request.tools
            && self.length() > earlier.length()
            && self.request.messages.starts_with(&earlier.request.messages)
    }
}

fn parts(item: &Value) -> Option<(Role, Vec<ChatPart>)> {
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    match item["type"].as_str() {
        // `phase` costs tokens, but we never send it, so this request can't come from a chat.
        _ if item["phase"].is_string() => None,
        None | Some("message") => {
            let role = match item["role"].as_str()? {
                "assistant" => Role::Assistant,
                "system" | "developer" => Role::System,
                _ => Role::User,
            };
            let content = match &item["content"] {
                Value::String(text) => vec![text_part(text)],
                parts => {
                    parts.as_array()?.iter().map(|part| part["text"].as_str().map(text_part)).collect::<Option<_>>()?
                }
            };
            // We never send blank messages.
            let is_blank = |part: &ChatPart| matches!(part, ChatPart::Text { value } if value.trim().is_empty());
            (!content.iter().all(is_blank)).then_some((role, content))
        }
        Some("function_call") => {
            let call =
                ChatPart::ToolCall { call_id: text("call_id"), name: text("name"), input_json: text("arguments") };
            Some((Role::Assistant, vec![call]))
        }
        Some("function_call_output") => {
            let content = vec![text_part(item["output"].as_str()?)];
            Some((Role::User, vec![ChatPart::ToolResult { call_id: text("call_id"), content, is_error: false }]))
        }
        Some("reasoning") => {
            let plain = item["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
            let reasoning = json!({"id": item["id"], "encrypted_content": item["encrypted_content"],
                "content": plain.collect::<Vec<_>>()});
            let replay = json!({"type": "thinking", "replay": {"model": null, "items": [{"reasoning": reasoning}]}});
            Some((Role::Assistant, vec![serde_json::from_value(replay).ok()?]))
        }
        Some(_) => None,
    }
}

fn message(role: Role, content: Vec<ChatPart>) -> ChatMessage {
    ChatMessage { role, content }
}

fn text_part(text: &str) -> ChatPart {
    ChatPart::Text { value: text.to_owned() }
}
