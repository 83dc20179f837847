//! Helpers that send requests to the responder and read its replies with an independent reader.

use serde_json::{Value, json};
use sluice_simulator::{Options, Reply, Request, Responder};

pub const NOW_MS: u64 = 1_790_000_000_000;

pub fn responder() -> Responder {
    Responder::new(Options { seed: 7, ..Options::default() })
}

pub fn request(method: &str, path: &str, body: &Value) -> Request {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    Request {
        method: method.into(),
        path: path.into(),
        headers: vec![("content-type".into(), "application/json".into())],
        body,
    }
}

pub fn post(body: &Value) -> Reply {
    responder().respond(&request("POST", "/v1/responses", body), NOW_MS)
}

/// Sends one prompt and returns the streamed reply.
pub fn say(model: &str, prompt: &str) -> Reply {
    post(&json!({ "model": model, "input": prompt, "stream": true }))
}

pub fn json_body(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body()).expect("a JSON body")
}

/// Returns the events of a stream with standard framing.
pub fn events(reply: &Reply) -> Vec<Value> {
    let body = String::from_utf8(reply.body()).expect("UTF-8");
    let frames = body.split_terminator("\n\n");
    let data = frames.filter_map(|frame| frame.lines().find_map(|line| line.strip_prefix("data: ")));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

pub fn last_response(reply: &Reply) -> Value {
    events(reply).last().expect("events")["response"].clone()
}

/// Renders an answer in a few lines: reasoning, text, calls, and how it ended.
pub fn render(reply: &Reply) -> String {
    let events = events(reply);
    let mut lines: Vec<(String, String)> = Vec::new();
    for event in &events {
        let kind = match event["type"].as_str().expect("a type") {
            "response.output_text.delta" => "text",
            "response.refusal.delta" => "refusal",
            "response.reasoning.delta" | "response.reasoning_text.delta" => "thought",
            "response.reasoning_summary_text.delta" => "summary",
            "response.function_call_arguments.delta" => "arguments",
            "response.output_text.annotation.added" => {
                let a = &event["annotation"];
                lines.push((
                    "cites".into(),
                    format!("{}-{} {} {}", a["start_index"], a["end_index"], a["url"], a["title"]),
                ));
                continue;
            }
            "response.output_item.done" if event["item"]["type"] == "function_call" => {
                lines.push(("call".into(), format!("{} {}", event["item"]["name"], event["item"]["status"])));
                continue;
            }
            "response.output_item.done" if event["item"]["type"] == "image_generation_call" => {
                lines.push(("image".into(), event["item"]["result"].as_str().expect("data").len().to_string()));
                continue;
            }
            "error" => {
                lines.push(("error".into(), event["error"]["message"].to_string()));
                continue;
            }
            _ => continue,
        };
        let key = format!("{kind} {}.{}", event["output_index"], event.get("summary_index").unwrap_or(&Value::Null));
        let delta = event["delta"].as_str().expect("a delta");
        match lines.last_mut() {
            Some((last, text)) if *last == key => text.push_str(delta),
            _ => lines.push((key, delta.to_owned())),
        }
    }
    let mut out = String::new();
    for (kind, text) in lines {
        out.push_str(&format!("{}: {text}\n", kind.split(' ').next().unwrap_or_default()));
    }
    let end = events.last().expect("events");
    let usage = &end["response"]["usage"];
    out.push_str(&format!(
        "{} in {} (cached {}) out {} (reasoning {})",
        end["type"].as_str().expect("a type"),
        usage["input_tokens"],
        usage["input_tokens_details"]["cached_tokens"],
        usage["output_tokens"],
        usage["output_tokens_details"]["reasoning_tokens"],
    ));
    for detail in [&end["response"]["incomplete_details"]["reason"], &end["response"]["error"]["code"]] {
        out.push_str(&detail.as_str().map(|detail| format!(" {detail}")).unwrap_or_default());
    }
    out.push('\n');
    out
}
