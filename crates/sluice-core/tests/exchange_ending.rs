//! What the end of an attempt means for the user. The input is a stream and how its body ended, the output the ending
//! and the counts for VS Code.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{
    Action, ChatMessage, ChatRequest, ConnectionError, Ending, Endpoint, Exchange, ExchangeOptions, Limits, Output,
    Parameter, Status, StreamOptions, ToolDefinition, Usage, VsCodeUsage, build_request,
};

const HOST: &str = "https://gateway.example";

fn event(value: Value) -> String {
    format!("data: {value}\n\n")
}

fn text() -> String {
    event(json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"}))
}

fn call() -> String {
    let item = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "{}", "status": "completed"});
    event(json!({"type": "response.output_item.done", "output_index": 1, "item": item}))
}

fn incomplete(reason: &str) -> String {
    event(json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}}))
}

fn failed(code: &str) -> String {
    event(json!({"type": "response.failed", "response": {"error": {"code": code, "message": "It broke"}}}))
}

/// How a body ends.
#[derive(Clone, Copy)]
enum BodyEnd {
    Eof,
    IdleTimeout,
    Broken,
    Cancelled,
}

fn check(body: String, end: BodyEnd, expected: Expect) {
    let mut exchange = Exchange::new(ExchangeOptions { origin: HOST.to_owned(), ..ExchangeOptions::default() });
    exchange.handle_head(200, Vec::new(), 0);
    exchange.handle_bytes(body.as_bytes());
    // Whatever came is shown before anything else happens.
    let next = |exchange: &mut Exchange| loop {
        match exchange.poll(0) {
            Action::Output(_) => {}
            action => break action,
        }
    };
    next(&mut exchange);
    match end {
        BodyEnd::Eof => exchange.handle_end(),
        BodyEnd::IdleTimeout => exchange.handle_timeout(),
        BodyEnd::Broken => exchange.handle_connection_error(ConnectionError::Broken),
        BodyEnd::Cancelled => exchange.cancel(),
    }
    expected.assert_eq(&shown(next(&mut exchange)));
}

fn shown(action: Action) -> String {
    match action {
        Action::End(report) => match &report.ending {
            Ending::Rejected { message, is_note: true, .. } => format!("note: {message}"),
            Ending::Rejected { message, kind, .. } => format!("rejected, {kind:?}: {message}"),
            ending => format!("{ending:?}"),
        },
        Action::Wait { timeout_ms, failure, .. } => format!("wait {timeout_ms} ms: {}", failure.message),
        action => format!("{action:?}"),
    }
}

#[test]
fn an_answer_that_is_complete_is_done() {
    let completed = event(json!({"type": "response.completed", "response": {}}));
    check(text() + &completed, BodyEnd::Eof, expect!["Done"]);
    check(call() + &completed, BodyEnd::Eof, expect!["Done"]);
    // An agent continues with the calls it got.
    check(call() + &incomplete("max_output_tokens"), BodyEnd::Eof, expect!["Done"]);
}

#[test]
fn an_empty_answer_is_explained() {
    let completed = event(json!({"type": "response.completed", "response": {}}));
    let thinking =
        event(json!({"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "Hm"}));
    check(
        completed.clone(),
        BodyEnd::Eof,
        expect!["rejected, None: The model sent an empty answer. Ask again, or choose another model."],
    );
    check(
        thinking + &completed,
        BodyEnd::Eof,
        expect![
            "rejected, None: The model thought and then said nothing. Ask again, lower the thinking effort, or choose another model."
        ],
    );
    check(
        incomplete("content_filter"),
        BodyEnd::Eof,
        expect![
            "rejected, None: The provider's content filter removed the answer. Rephrase the question or choose another model."
        ],
    );
    check(
        incomplete("max_output_tokens"),
        BodyEnd::Eof,
        expect![
            "rejected, None: The output limit was used up before the first word. Lower the thinking effort or choose another model."
        ],
    );
}

#[test]
fn an_answer_that_was_cut_off_is_explained() {
    check(
        text() + &incomplete("max_output_tokens"),
        BodyEnd::Eof,
        expect![[r#"note: The answer reached the model's output limit and is cut off here. Say "go on" to continue."#]],
    );
    check(
        text() + &incomplete("content_filter"),
        BodyEnd::Eof,
        expect![
            "rejected, None: The provider's content filter cut the answer off here. Rephrase the question or choose another model."
        ],
    );
    check(
        text() + &incomplete("other"),
        BodyEnd::Eof,
        expect![
            "rejected, None: The server ended the answer early, without saying why. Ask again, or choose another model."
        ],
    );
}

#[test]
fn a_broken_stream_is_retried_only_before_the_first_part() {
    check(
        String::new(),
        BodyEnd::Eof,
        expect!["wait 500 ms: The connection to https://gateway.example broke before the answer was complete."],
    );
    check(
        String::new(),
        BodyEnd::IdleTimeout,
        expect!["wait 500 ms: https://gateway.example stopped sending in the middle of the answer."],
    );
    check(failed("server_error"), BodyEnd::Eof, expect!["wait 500 ms: It broke"]);
    check(failed("invalid_prompt"), BodyEnd::Eof, expect!["rejected, Some(Server): It broke. Try again."]);
    check(
        text(),
        BodyEnd::Broken,
        expect![
            "rejected, Some(Network): The connection to https://gateway.example broke before the answer was complete. Try again."
        ],
    );
    check(
        text() + &failed("server_error"),
        BodyEnd::Eof,
        expect!["rejected, Some(ServerDown): It broke. Try again later or choose another model."],
    );
    check(text(), BodyEnd::Cancelled, expect!["Cancelled"]);
}

#[test]
fn counts_for_vscode_come_from_the_server_or_are_absent() {
    let usage = |value: Value| {
        let usage: Usage = serde_json::from_value(value).unwrap();
        VsCodeUsage::of(&usage).map_or("none".to_owned(), |usage| serde_json::to_string(&usage).unwrap())
    };
    expect![[r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}"#]].assert_eq(&usage(json!({
        "input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
        "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 2},
    })));
    expect![[r#"{"prompt_tokens":10,"completion_tokens":0,"total_tokens":10}"#]]
        .assert_eq(&usage(json!({"input_tokens": 10})));
    expect![[r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}"#]]
        .assert_eq(&usage(json!({"output_tokens": 5, "total_tokens": 15})));
    expect!["none"].assert_eq(&usage(json!({"output_tokens": 5})));
}

/// A provider that buffers the arguments of a call has been silent for minutes.
#[test]
fn silence_is_allowed_while_a_call_is_open() {
    let options = ExchangeOptions { idle_timeout_ms: 1_000, output_timeout_ms: 50_000, ..ExchangeOptions::default() };
    let mut exchange = Exchange::new(options);
    let mut timeout = |event: &str| {
        exchange.handle_head(200, vec![("content-type".to_owned(), "text/event-stream".to_owned())], 0);
        exchange.handle_bytes(format!("data: {event}\n\n").as_bytes());
        loop {
            match exchange.poll(0) {
                Action::Output(_) => {}
                Action::Read { timeout_ms } => return timeout_ms,
                other => panic!("{other:?}"),
            }
        }
    };
    let item = r#"{"type":"function_call","id":"f","call_id":"c","name":"look","arguments":"{}","status":"completed"}"#;
    assert_eq!(timeout(r#"{"type":"response.output_text.delta","delta":"Hi"}"#), 1_000);
    assert_eq!(
        timeout(
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f","call_id":"c","name":"look"}}"#
        ),
        50_000
    );
    assert_eq!(timeout(&format!(r#"{{"type":"response.output_item.done","output_index":1,"item":{item}}}"#)), 1_000);
}

/// Comments, and events that only lead to notes, keep a request alive for a limited time. The clock decides, even if
/// there is always something to read.
#[test]
fn a_stream_without_parts_ends_at_its_limit() {
    let stream = StreamOptions { trace: true, ..StreamOptions::default() };
    let options = ExchangeOptions { output_timeout_ms: 5_000, stream, ..ExchangeOptions::default() };
    let end_of = |bytes: &str| {
        let mut exchange = Exchange::new(options.clone());
        exchange.handle_head(200, Vec::new(), 0);
        for now_ms in (0..).step_by(100) {
            exchange.handle_bytes(bytes.as_bytes());
            loop {
                match exchange.poll(now_ms) {
                    Action::Output(_) => {}
                    Action::Read { timeout_ms } => {
                        assert_eq!(timeout_ms, 5_000 - now_ms);
                        break;
                    }
                    Action::End(report) => return (now_ms, report.outcome.status, report.outcome.reason.clone()),
                    other => panic!("{other:?}"),
                }
            }
        }
        unreachable!()
    };
    let limit = (5_000, Status::Truncated, Some("idle_timeout".to_owned()));
    assert_eq!(end_of(": still here\n\n"), limit);
    assert_eq!(end_of("data: {\"type\":\"response.in_progress\"}\n\n"), limit);
    assert_eq!(end_of("data: {\"type\":\"response.future_event\"}\n\n"), limit);
}

#[test]
fn a_server_that_names_how_many_tools_it_accepts_gets_that_many() {
    let tool = |number: usize| ToolDefinition {
        name: format!("tool_{number}"),
        description: "Does something.".to_owned(),
        input_schema: None,
    };
    let messages = vec![ChatMessage::user("Hello")];
    let chat =
        ChatRequest { model: "m".to_owned(), tools: (0..100).map(tool).collect(), messages, ..ChatRequest::default() };
    let built = build_request(&chat, &Endpoint::parse("https://server.example/v1").unwrap());
    let mut exchange =
        Exchange::new(ExchangeOptions { optional: built.optional.clone(), ..ExchangeOptions::default() });
    let (mut counts, mut notes) = (Vec::new(), Vec::new());
    let report = loop {
        match exchange.poll(0) {
            Action::Send { without, .. } => {
                let body: Value = serde_json::from_str(&built.request.without(&without).body).unwrap();
                let count = body["tools"].as_array().unwrap().len();
                counts.push(count);
                let head = |status: u16| (status, vec![("content-type".to_owned(), "text/event-stream".to_owned())]);
                let (status, headers) = head(if count > 40 { 400 } else { 200 });
                exchange.handle_head(status, headers, 0);
            }
            Action::Read { .. } if counts.last().is_some_and(|count| *count > 40) => {
                exchange.handle_bytes(br#"{"error":{"message":"tools: at most 40 tools are allowed, got 100"}}"#);
                exchange.handle_end();
            }
            Action::Read { .. } => {
                exchange.handle_bytes(text().as_bytes());
                exchange.handle_bytes(event(json!({"type": "response.completed", "response": {}})).as_bytes());
            }
            Action::Output(Output::Note(note)) => notes.push(note.detail),
            Action::Output(_) => {}
            Action::End(report) => break report,
            action @ Action::Wait { .. } => panic!("{action:?}"),
        }
    };
    assert_eq!(counts, [100, 40]);
    assert_eq!(report.refused, [Parameter::MostTools(40)]);
    assert!(notes.iter().any(|note| note.contains("more than 40 tools")), "{notes:?}");
    // What was learned holds for the next request, which has its own note.
    let next = build_request(&chat, &Endpoint::parse("https://server.example/v1").unwrap()).without(&report.refused);
    assert_eq!(next.request.body.matches(r#""name":"tool_"#).count(), 40);
    assert!(next.notes.iter().any(|note| note.detail.contains("more than 40 tools")));
    assert!(next.optional.contains(&Parameter::MostTools(40)));
}

/// Checks invariant S16.
#[test]
fn a_refusal_is_read_up_to_a_limit() {
    let next = |bytes: usize| {
        let mut exchange = Exchange::new(ExchangeOptions { max_attempts: 1, ..ExchangeOptions::default() });
        exchange.handle_head(400, Vec::new(), 0);
        exchange.handle_bytes(&vec![b'x'; bytes]);
        shown(exchange.poll(0))
    };
    assert!(next(64 << 10).starts_with("Read"));
    for bytes in [(64 << 10) + 1, (64 << 10) + 2] {
        assert!(next(bytes).starts_with("rejected"), "{bytes}");
    }
}

#[test]
fn a_parameter_is_known_by_the_names_that_providers_have_for_it() {
    let check = |name: &str, expected: Expect| {
        let mut exchange = Exchange::new(ExchangeOptions {
            optional: vec![Parameter::MaxOutputTokens, Parameter::ReasoningEffort],
            ..ExchangeOptions::default()
        });
        exchange.handle_head(400, Vec::new(), 0);
        let error = json!({"error": {"message": format!("Unsupported parameter: '{name}'"), "param": name}});
        exchange.handle_bytes(error.to_string().as_bytes());
        exchange.handle_end();
        let next = loop {
            match exchange.poll(0) {
                Action::Output(_) => {}
                Action::Send { without, .. } => break format!("{without:?}"),
                action => break shown(action),
            }
        };
        expected.assert_eq(&next);
    };
    check("max_output_tokens", expect!["[MaxOutputTokens]"]);
    check("max_completion_tokens", expect!["[MaxOutputTokens]"]);
    check("reasoning_effort", expect!["[ReasoningEffort]"]);
    check(
        "temperature",
        expect!["rejected, Some(BadRequest): Unsupported parameter: 'temperature'. Check the settings for this model."],
    );
}

/// Checks invariant S16.
#[test]
fn a_body_that_is_not_a_stream_is_read_up_to_the_limit() {
    // The second action follows after the server has ended the body.
    let check = |body: String, expected: Expect| {
        let limits = Limits { max_event_bytes: 300, ..Limits::default() };
        let stream = StreamOptions { limits, ..StreamOptions::default() };
        let mut exchange = Exchange::new(ExchangeOptions { stream, ..ExchangeOptions::default() });
        let next = |exchange: &mut Exchange| loop {
            match exchange.poll(0) {
                Action::Output(_) => {}
                action => break shown(action),
            }
        };
        exchange.handle_head(200, Vec::new(), 0);
        exchange.handle_bytes(body.as_bytes());
        let first = next(&mut exchange);
        exchange.handle_end();
        expected.assert_eq(&format!("{first}\n{}", next(&mut exchange)));
    };
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "Hi"}]});
    let whole = json!({"object": "response", "status": "completed", "output": [message]}).to_string();
    check(
        format!("{whole:300}"),
        expect![[r#"
        Read { timeout_ms: 600000 }
        Done"#]],
    );
    check(
        format!("{whole:301}"),
        expect![[r#"
        rejected, Some(TooLarge): The answer is larger than 300 bytes. Ask for less at once, or choose another model.
        rejected, Some(TooLarge): The answer is larger than 300 bytes. Ask for less at once, or choose another model."#]],
    );
    check(
        format!("{whole:305}"),
        expect![[r#"
        rejected, Some(TooLarge): The answer is larger than 300 bytes. Ask for less at once, or choose another model.
        rejected, Some(TooLarge): The answer is larger than 300 bytes. Ask for less at once, or choose another model."#]],
    );
    check(
        " ".repeat(300),
        expect![[r#"
        Read { timeout_ms: 600000 }
        wait 500 ms: The connection to the server broke before the answer was complete."#]],
    );
    check(
        " ".repeat(301),
        expect![[r#"
        rejected, Some(TooLarge): The answer is larger than 300 bytes. Ask for less at once, or choose another model.
        rejected, Some(TooLarge): The answer is larger than 300 bytes. Ask for less at once, or choose another model."#]],
    );
    let completed = event(json!({"type": "response.completed", "response": {}}));
    check(
        "\n".repeat(300) + &text() + &completed,
        expect![[r#"
        Done
        Done"#]],
    );
}

#[test]
fn a_cancellation_before_the_end_is_polled() {
    let completed = event(json!({"type": "response.completed", "response": {}}));
    let check = |body: String, cancel: fn(&mut Exchange), expected: Expect| {
        let mut exchange = Exchange::new(ExchangeOptions::default());
        exchange.handle_head(200, Vec::new(), 0);
        exchange.handle_bytes(body.as_bytes());
        cancel(&mut exchange);
        let report = loop {
            match exchange.poll(0) {
                Action::Output(_) => {}
                Action::End(report) => break report,
                action => panic!("{action:?}"),
            }
        };
        let outcome = &report.outcome;
        let (empty, has_error) = (outcome.empty, outcome.error.is_some());
        expected.assert_eq(&format!("{:?}: {:?}, empty: {empty:?}, error: {has_error}", report.ending, outcome.status));
    };
    let cancelled = || expect!["Cancelled: Cancelled, empty: None, error: false"];
    check(text() + &completed, Exchange::cancel, expect!["Done: Completed, empty: None, error: false"]);
    check(text() + &completed, Exchange::cancel_unseen, cancelled());
    check(completed, Exchange::cancel_unseen, cancelled());
    check(text() + &failed("server_error"), Exchange::cancel, cancelled());
    check(text() + &failed("server_error"), Exchange::cancel_unseen, cancelled());
    // The shell already has the report, but somebody else hasn't seen all of the answer.
    let cancel_after_the_end = |exchange: &mut Exchange| {
        while let Action::Output(_) = exchange.poll(0) {}
        exchange.cancel_unseen();
    };
    check(text() + &failed("server_error"), cancel_after_the_end, cancelled());
}

#[test]
fn a_caller_that_sends_the_request_itself_is_not_asked_to_send_it_again() {
    let mut exchange = Exchange::reading(ExchangeOptions::default());
    exchange.handle_connection_error(ConnectionError::Broken);
    let action = exchange.poll(0);
    assert!(matches!(action, Action::End(_)), "{action:?}");
}

#[test]
fn a_record_names_providers_only_by_ids() {
    let attempts = json!([{"provider": "acme"}, {"provider": "say \"hello\""}, {"provider": "other"}]);
    let metadata = json!({"gateway": {"routing": {"finalProvider": "other", "attempts": attempts}}});
    let mut exchange = Exchange::reading(ExchangeOptions::default());
    let response = json!({"model": "acme/m-1", "providerMetadata": metadata});
    exchange.handle_bytes(event(json!({"type": "response.completed", "response": response})).as_bytes());
    let report = loop {
        if let Action::End(report) = exchange.poll(0) {
            break report;
        }
    };
    let route = report.entry.route.clone();
    assert_eq!((route.model.as_deref(), route.tried), (Some("acme/m-1"), vec!["acme".to_owned(), "other".to_owned()]));
}

#[test]
fn the_embedded_gateway_says_that_its_money_is_not_real() {
    let is_play = |metadata: Value| {
        let mut exchange = Exchange::new(ExchangeOptions::default());
        exchange.handle_head(200, Vec::new(), 0);
        let response = json!({"providerMetadata": {"gateway": {"cost": "1"}, "sluice": metadata}});
        exchange.handle_bytes(event(json!({"type": "response.completed", "response": response})).as_bytes());
        loop {
            match exchange.poll(0) {
                Action::End(report) => break report.outcome.is_play(),
                Action::Output(_) => {}
                action => panic!("{action:?}"),
            }
        }
    };
    assert!(is_play(json!({"simulated": true})));
    assert!(!is_play(json!({"simulated": false})));
    assert!(!is_play(json!({})));
}
