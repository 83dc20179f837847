//! Responses over a WebSocket: every text message asks for a response, and every event is a text message.

use serde_json::{Map, Value};

use super::{Responder, Turn, continued, parse, script};
use crate::faults;
use crate::http::{End, Request, TimedChunk};
use crate::memory::Conversations;
use crate::perform::{Event, StreamElement};
use crate::problem::Problem;
use crate::seed::{Seed, fingerprint};

/// The state of a connection: its conversations that aren't stored, and its model.
#[derive(Debug, Default)]
pub struct Socket {
    conversations: Conversations,
    model: Option<&'static str>,
}

/// What to send in reply to a message.
#[derive(Clone, Debug)]
pub struct SocketReply {
    /// Text messages with their timing.
    pub messages: Vec<TimedChunk>,
    pub end: End,
    /// The code and reason to close the connection with.
    pub close: Option<(u16, &'static str)>,
}

impl SocketReply {
    fn refuse(problem: &Problem) -> Self {
        let bytes = problem.socket_message().to_string().into_bytes();
        Self { messages: vec![TimedChunk { delay_ms: 0, bytes }], end: End::Finish, close: None }
    }
}

impl Responder {
    /// Responds to one text message. `opened` is the request that opened the connection.
    pub fn message(&self, socket: &mut Socket, opened: &Request, text: &str, now_ms: u64) -> SocketReply {
        let number = self.memory().next_request();
        let mut seed = Seed::new(self.options.seed, number);
        let body = parse(text.as_bytes()).and_then(without_envelope);
        let previous = body.as_ref().ok().and_then(|body| body.get("previous_response_id")).and_then(Value::as_str);
        let previous = previous.map(str::to_owned);
        let turn = body.and_then(|body| self.turn(body, opened, Some(&socket.conversations), now_ms));
        let Turn { ask, model, faults } = match turn {
            Ok(turn) => turn,
            Err(problem) => {
                // A failed turn also removes the conversation that it would have continued.
                if let Some(id) = &previous {
                    socket.conversations.forget(id);
                }
                return SocketReply::refuse(&problem);
            }
        };
        if *socket.model.get_or_insert(model.id) != model.id {
            let problem = Problem::invalid("model", "All requests of a WebSocket connection must use the same model.");
            return SocketReply { close: Some((1008, "different model")), ..SocketReply::refuse(&problem) };
        }
        let faults = self.this_time(faults, fingerprint(text.as_bytes()));
        if let Some(reply) = faults::head::instead(&faults, now_ms) {
            return SocketReply::refuse(&Problem::of_status(reply.status));
        }
        let script = script(&ask, &faults, None);
        let (performance, _) = self.perform(&ask, model, &script, now_ms, true, &mut seed);
        let id = performance.response["id"].as_str().unwrap_or_default().to_owned();
        if performance.response["status"] == "failed" {
            if let Some(id) = &previous {
                socket.conversations.forget(id);
            }
        } else {
            socket.conversations.keep(&id, continued(&ask, &performance));
        }
        let mut events = StreamElement::events(performance.elements);
        faults::events::apply(&faults, &mut events, &mut seed);
        let message = |event: &Event| TimedChunk { delay_ms: event.delay_ms, bytes: event.json().into_bytes() };
        let mut messages: Vec<TimedChunk> = events.iter().map(message).collect();
        let mut end = End::Finish;
        for (name, how) in [("cut-at", End::Cut), ("reset-at", End::Reset), ("stall-at", End::Hang)] {
            if faults.has(name) {
                messages.truncate(messages.len() / 2);
                end = how;
            }
        }
        if let Some(delay) = faults.number("pace") {
            for message in &mut messages {
                message.delay_ms = delay;
            }
        }
        SocketReply { messages, end, close: None }
    }
}

/// Returns the body of a `response.create` message. Options for streaming aren't allowed in it.
fn without_envelope(mut body: Map<String, Value>) -> Result<Map<String, Value>, Problem> {
    if body.remove("type").is_none_or(|kind| kind != "response.create") {
        return Err(Problem::invalid("type", "Expected a message of type 'response.create'."));
    }
    for key in ["stream", "stream_options", "background"] {
        if body.contains_key(key) {
            return Err(Problem::invalid(key, format!("'{key}' is not allowed on a WebSocket.")));
        }
    }
    Ok(body)
}
