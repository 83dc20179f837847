//! Named inputs for an exchange, and a rendering of its actions.

#![allow(dead_code, reason = "every test uses another part of it")]

use serde_json::json;
use sluice_core::{Action, ConnectionError, Ending, Exchange, ExchangeOptions, Output, Parameter, Part};

pub const NOW: u64 = 1_700_000_000;

/// Something that a shell can report to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A response's status and content type.
    Head(u16, &'static str),
    Text,
    Call,
    Completed,
    Incomplete,
    /// The stream ends with a temporary error.
    Overloaded,
    /// The body of a refusal or of a whole response.
    Body(&'static str),
    End,
    Connect,
    Broken,
    Timeout,
    Cancel,
    /// The shell cancels although it hasn't shown everything that it has polled.
    CancelUnseen,
}

impl Input {
    pub fn tell(self, exchange: &mut Exchange) {
        let event = |value: serde_json::Value| format!("data: {value}\n\n");
        let bytes = match self {
            Self::Head(status, kind) => {
                let headers = vec![("Content-Type".to_owned(), kind.to_owned())];
                return exchange.handle_head(status, headers, NOW);
            }
            Self::End => return exchange.handle_end(),
            Self::Connect => return exchange.handle_connection_error(ConnectionError::Connect),
            Self::Broken => return exchange.handle_connection_error(ConnectionError::Broken),
            Self::Timeout => return exchange.handle_timeout(),
            Self::Cancel => return exchange.cancel(),
            Self::CancelUnseen => return exchange.cancel_unseen(),
            Self::Text => event(json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"})),
            Self::Call => event(json!({"type": "response.output_item.done", "output_index": 1, "item":
                {"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "{}", "status": "completed"}})),
            Self::Completed => event(json!({"type": "response.completed", "response": {}})),
            Self::Incomplete => event(json!({"type": "response.incomplete", "response":
                {"incomplete_details": {"reason": "max_output_tokens"}}})),
            Self::Overloaded => {
                event(json!({"type": "error", "error": {"code": "overloaded_error", "message": "Busy"}}))
            }
            Self::Body(text) => text.to_owned(),
        };
        exchange.handle_bytes(bytes.as_bytes());
    }
}

/// Returns an exchange with two parameters that can be left out.
pub fn start() -> Exchange {
    Exchange::new(ExchangeOptions {
        origin: "https://gateway.example".to_owned(),
        optional: vec![Parameter::Caching, Parameter::ReasoningSummary],
        ..ExchangeOptions::default()
    })
}

/// Polls until the exchange waits for the shell. Returns all outputs and the action.
pub fn poll(exchange: &mut Exchange) -> (Vec<Output>, Action) {
    let mut outputs = Vec::new();
    loop {
        match exchange.poll(0) {
            Action::Output(output) => outputs.push(output),
            action => return (outputs, action),
        }
    }
}

/// Renders an action in one line.
pub fn line(action: &Action) -> String {
    match action {
        Action::Send { without, .. } if without.is_empty() => "send".to_owned(),
        Action::Send { without, .. } => {
            format!("send without {}", without.iter().map(|p| p.path()).collect::<Vec<_>>().join(", "))
        }
        Action::Read { .. } => "read".to_owned(),
        Action::Wait { timeout_ms, failure, .. } => format!("wait {timeout_ms} ms: {}", failure.message),
        Action::Output(Output::Part(Part::Text { value })) => format!("text {value:?}"),
        Action::Output(Output::Part(Part::ToolCall { name, input_json, .. })) => format!("call {name} {input_json}"),
        Action::Output(output) => format!("{output:?}"),
        Action::End(report) => {
            let ending = match &report.ending {
                Ending::Done => "done".to_owned(),
                Ending::Cancelled => "cancelled".to_owned(),
                Ending::Rejected { message, .. } => format!("rejected: {message}"),
            };
            let drain = if report.drain.is_some() { ", drain" } else { "" };
            let refused = report.refused.iter().map(|p| format!(", refused {}", p.path())).collect::<String>();
            format!("end after {} attempts{drain}{refused}: {:?}, {ending}", report.attempts, report.outcome.status)
        }
    }
}
