//! Conversations over a WebSocket.

use std::net::TcpStream;

use serde_json::{Value, json};
use sluice_simulator::server::Simulator;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

use crate::schema::{check, check_event};
use crate::sockets::{connect, start};

fn open(simulator: &Simulator) -> WebSocket<TcpStream> {
    let url = format!("ws://127.0.0.1:{}/v1/responses", simulator.port());
    client(url, connect(simulator)).expect("a WebSocket").0
}

/// Sends a turn and returns its last event, after checking all events.
fn turn(socket: &mut WebSocket<TcpStream>, body: &Value) -> Value {
    let mut message = json!({ "type": "response.create", "model": "sluice/demo+pace=0" });
    for (key, value) in body.as_object().expect("an object") {
        message[key] = value.clone();
    }
    socket.send(Message::text(message.to_string())).expect("sent");
    for number in 0.. {
        let Message::Text(text) = socket.read().expect("an event") else { continue };
        let event: Value = serde_json::from_str(&text).expect("JSON");
        if event["type"] == "error" {
            assert_eq!(check(&event, "SocketError"), Ok(()));
            return event;
        }
        assert_eq!(check_event(&event), Ok(()));
        assert_eq!(event["sequence_number"], number);
        if ["response.completed", "response.incomplete", "response.failed"].iter().any(|kind| event["type"] == *kind) {
            return event;
        }
    }
    unreachable!("a stream ends");
}

fn text(event: &Value) -> &str {
    event["response"]["output"][0]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn turns_follow_each_other_on_a_connection() {
    let simulator = start();
    let mut socket = open(&simulator);
    assert_eq!(text(&turn(&mut socket, &json!({ "input": "Reply with exactly: first" }))), "first");
    assert_eq!(text(&turn(&mut socket, &json!({ "input": "Reply with exactly: second" }))), "second");
    let methods: Vec<String> = simulator.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["MESSAGE", "MESSAGE"]);
}

#[test]
fn a_conversation_that_is_not_stored_belongs_to_its_connection() {
    let simulator = start();
    let mut socket = open(&simulator);
    let first =
        turn(&mut socket, &json!({ "store": false, "input": "Remember the code word: cobalt. Reply with OK." }));
    let next =
        json!({ "store": false, "input": "What is the code word?", "previous_response_id": first["response"]["id"] });
    assert_eq!(text(&turn(&mut socket, &next)), "The code word is cobalt.");

    let mut other = open(&simulator);
    let lost = turn(&mut other, &next);
    assert_eq!((&lost["error"]["code"], &lost["status"]), (&json!("previous_response_not_found"), &json!(400)));
    assert_eq!(text(&turn(&mut other, &json!({ "store": false, "input": "Reply with exactly: clean" }))), "clean");
}

#[test]
fn a_stored_conversation_outlives_its_connection() {
    let simulator = start();
    let first = turn(&mut open(&simulator), &json!({ "input": "My name is Ada" }));
    let next = json!({ "input": "What is my name?", "previous_response_id": first["response"]["id"] });
    assert_eq!(text(&turn(&mut open(&simulator), &next)), "Your name is Ada.");
}

#[test]
fn an_unknown_response_is_not_found() {
    let simulator = start();
    let mut socket = open(&simulator);
    let event = turn(&mut socket, &json!({ "store": false, "input": "Hi", "previous_response_id": "resp_missing" }));
    assert_eq!(event["error"]["code"], "previous_response_not_found");
}

#[test]
fn a_failed_turn_removes_its_conversation() {
    let simulator = start();
    let mut socket = open(&simulator);
    let first = turn(&mut socket, &json!({ "store": false, "input": "Remember the code word: ember. Reply with OK." }));
    let id = first["response"]["id"].clone();
    let orphan = json!([{ "type": "function_call_output", "call_id": "call_missing", "output": "?" }]);
    let failed = turn(&mut socket, &json!({ "store": false, "previous_response_id": id, "input": orphan }));
    assert_eq!(failed["type"], "error");
    let retry = turn(&mut socket, &json!({ "store": false, "previous_response_id": id, "input": "And now?" }));
    assert_eq!(retry["error"]["code"], "previous_response_not_found");
}

#[test]
fn invalid_messages_are_refused() {
    let simulator = start();
    let mut socket = open(&simulator);
    for wrong in [
        json!({ "type": "response.cancel" }),
        json!({ "stream": true, "input": "Hi" }),
        json!({ "background": false, "input": "Hi" }),
        json!({ "input": [] }),
        json!({ "model": "sluice/nobody", "input": "Hi" }),
    ] {
        assert_eq!(turn(&mut socket, &wrong)["type"], "error");
    }
    assert_eq!(text(&turn(&mut socket, &json!({ "input": "Reply with exactly: still here" }))), "still here");
}

#[test]
fn a_connection_keeps_its_model() {
    let simulator = start();
    let mut socket = open(&simulator);
    turn(&mut socket, &json!({ "input": "Hello" }));
    assert_eq!(turn(&mut socket, &json!({ "model": "sluice/echo", "input": "Hello" }))["error"]["param"], "model");
    let Ok(Message::Close(Some(frame))) = socket.read() else { panic!("not closed") };
    assert_eq!(u16::from(frame.code), 1008);
}

#[test]
fn faults_apply_to_a_web_socket() {
    let simulator = start();
    let failed = turn(&mut open(&simulator), &json!({ "model": "sluice/echo+status=429", "input": "Hi" }));
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!(429), &json!("rate_limit_exceeded")));
    let mut socket = open(&simulator);
    let message = json!({ "type": "response.create", "model": "sluice/echo+reset-at", "input": "Hi" });
    socket.send(Message::text(message.to_string())).expect("sent");
    let mut events = 0;
    let error = loop {
        match socket.read() {
            Ok(_) => events += 1,
            Err(error) => break error,
        }
    };
    assert!(events > 2 && !matches!(error, Error::ConnectionClosed));
}

#[test]
fn a_real_key_is_refused() {
    let simulator = start();
    let url = format!("ws://127.0.0.1:{}/v1/responses", simulator.port());
    let mut request = url.into_client_request().expect("a request");
    request.headers_mut().insert("authorization", "Bearer vck_real".parse().expect("a header"));
    assert!(client(request, connect(&simulator)).is_err());
}
