//! Sends one request through the client and records everything that it reports.

use std::time::Duration;

use sluice_client::{ApiKey, Client, Event, Timeouts};
use sluice_core::{ChatMessage, ChatPart, ChatRequest, Endpoint, Failure, Output, Part, Report, Role, ToolDefinition};
use tokio::sync::Notify;

/// Long enough for a slow machine, short enough to detect a hang.
#[allow(dead_code, reason = "not every test uses it")]
pub const PATIENT: Timeouts = {
    const LONG: Duration = Duration::from_secs(100);
    Timeouts { connect: LONG, headers: LONG, idle: LONG, output: LONG, small: LONG }
};

#[derive(Debug)]
#[allow(dead_code, reason = "no test looks at everything")]
pub struct Heard {
    pub answer: Report,
    pub text: String,
    pub thinking: String,
    /// The call id, name and input of each call.
    pub calls: Vec<(String, String, String)>,
    pub parts: usize,
    pub delivered: Vec<Part>,
    pub parts_after_cancel: usize,
    /// Whether a request was repeated although a part had been delivered.
    pub repeated_after_part: bool,
    /// The reason for each further attempt, and the delay before it.
    pub retries: Vec<(Failure, Duration)>,
    pub bytes: Vec<u8>,
}

pub fn client(url: &str, key: Option<&str>, timeouts: Timeouts) -> Client {
    let endpoint = Endpoint::parse(url).unwrap();
    let key = key.map(|key| ApiKey::for_origin(key, &endpoint.origin).unwrap());
    Client::new(endpoint, key, timeouts).unwrap()
}

/// A question, with two tools for the models that use them.
pub fn chat(model: &str, prompt: &str) -> ChatRequest {
    let tool = |name: &str| ToolDefinition { name: name.into(), description: String::new(), input_schema: None };
    let content = vec![ChatPart::Text { value: prompt.into() }];
    ChatRequest {
        model: model.into(),
        messages: vec![ChatMessage { role: Role::User, content }],
        tools: if model.contains("tools") { vec![tool("open_gate"), tool("read_level")] } else { Vec::new() },
        ..ChatRequest::default()
    }
}

/// Asks, and cancels as soon as `cancel_at` returns true for an event.
#[allow(dead_code, reason = "not every test uses it")]
pub async fn ask(client: &Client, chat: &ChatRequest, cancel_at: impl FnMut(&Event<'_>) -> bool + Send) -> Heard {
    ask_unless(false, client, chat, cancel_at).await
}

/// The same, but it may be cancelled before it begins.
pub async fn ask_unless(
    mut cancelled: bool,
    client: &Client,
    chat: &ChatRequest,
    mut cancel_at: impl FnMut(&Event<'_>) -> bool + Send,
) -> Heard {
    let cancel = Notify::new();
    if cancelled {
        cancel.notify_one();
    }
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    let (mut parts, mut parts_after_cancel, mut repeated_after_part) = (0, 0, false);
    let (mut retries, mut delivered, mut body) = (Vec::new(), Vec::new(), Vec::new());
    let answer = client
        .respond(chat, cancel.notified(), &mut |event| {
            if !cancelled && cancel_at(&event) {
                cancelled = true;
                cancel.notify_one();
            } else if cancelled && matches!(event, Event::Output(Output::Part(_))) {
                parts_after_cancel += 1;
            }
            match event {
                Event::Output(Output::Part(part)) => {
                    parts += 1;
                    delivered.push(part.clone());
                    match part {
                        Part::Text { value } => text.push_str(&value),
                        Part::Thinking { value, .. } => thinking.push_str(&value),
                        Part::ToolCall { call_id, name, input_json } => calls.push((call_id, name, input_json)),
                        Part::Data { .. } | Part::Citations { .. } => {}
                    }
                }
                Event::Output(Output::Note(_)) => {}
                Event::Bytes(bytes) => body.extend_from_slice(bytes),
                Event::Retrying { failure, delay, .. } => {
                    repeated_after_part |= parts > 0;
                    retries.push((failure.clone(), delay));
                }
                _ => panic!("no test knows {event:?}"),
            }
        })
        .await;
    Heard {
        answer,
        text,
        thinking,
        calls,
        parts,
        delivered,
        parts_after_cancel,
        repeated_after_part,
        retries,
        bytes: body,
    }
}
