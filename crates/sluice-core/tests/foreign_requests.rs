//! What servers that we didn't write need in a request, and what they get back of an answer.

use crate::support::wire::frame;
use crate::support::*;
use expect_test::expect;
use serde_json::{Value, json};
use sluice_core::{
    Action, BuiltRequest, ChatMessage, ChatPart, ChatRequest, Endpoint, Exchange, ExchangeOptions, Parameter, Role,
    build_request,
};

/// `LiteLLM` answers with the name of the model behind an alias. Its reasoning belongs to the model that was asked for, because
/// that is the one that gets it back.
#[test]
fn reasoning_belongs_to_the_model_that_was_asked_for() {
    let sealed = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"});
    let events = [
        json!({"type": "response.created", "response": {"id": "r", "model": "claude-sonnet-4-5-20250929"}}),
        done(0, &sealed),
        json!({"type": "response.completed", "response": {"status": "completed", "model": "claude-sonnet-4-5-20250929"}}),
    ];
    let answer = ask("claude-think", &events);
    let [ChatPart::Thinking { replay: Some(replay) }] = &answer[..] else { panic!("{answer:?}") };
    assert_eq!(replay.model.as_deref(), Some("claude-think"));
    assert_eq!(replay.origin.as_deref(), Some("http://127.0.0.1:4000"));
}

/// Asks a model on this machine, which sends these events. Returns the answer as the next request contains it.
fn ask(model: &str, events: &[Value]) -> Vec<ChatPart> {
    let body: String = events.iter().map(frame).collect();
    let mut exchange = Exchange::new(ExchangeOptions {
        base_url: "http://127.0.0.1:4000/v1".to_owned(),
        origin: "http://127.0.0.1:4000".to_owned(),
        model: model.to_owned(),
        ..ExchangeOptions::default()
    });
    loop {
        match exchange.poll(0) {
            Action::Send { .. } => {
                exchange.handle_head(200, vec![("content-type".to_owned(), "text/event-stream".to_owned())], 0);
                exchange.handle_bytes(body.as_bytes());
                exchange.handle_end();
            }
            Action::End(report) => return report.entry.answer.clone(),
            _ => {}
        }
    }
}

/// vLLM, llama.cpp and `transformers serve` send reasoning as text and want it back, at least within a round of tools.
#[test]
fn plain_reasoning_is_sent_back() {
    let thought = |more: Value| {
        with(
            json!({"type": "reasoning", "id": "rs_1", "summary": [],
        "content": [{"type": "reasoning_text", "text": "Look outside.\n"}]}),
            &more,
        )
    };
    let delta = |text: &str| json!({"type": "response.reasoning_text.delta", "item_id": "rs_1", "delta": text});
    let call = call_item(1, "call_1", "get_weather", r#"{"city":"Ghent"}"#, "completed");
    for (server, more) in [
        ("vLLM", json!({"encrypted_content": null, "status": "completed"})),
        ("llama.cpp", json!({"encrypted_content": ""})),
        ("transformers", json!({"status": "completed"})),
    ] {
        let item = thought(more);
        let answer = ask(
            "tiny",
            &[
                delta("Look "),
                delta("outside.\n"),
                done(0, &item),
                done(1, &call),
                json!({"type": "response.completed", "response": {"status": "completed", "model": "tiny", "output": [item, call]}}),
            ],
        );
        let call_id = answer.iter().find_map(|part| match part {
            ChatPart::ToolCall { call_id, .. } => Some(call_id.clone()),
            _ => None,
        });
        let result = ChatPart::ToolResult {
            call_id: call_id.unwrap(),
            content: vec![ChatPart::Text { value: "Rain".to_owned() }],
            is_error: false,
        };
        let chat = ChatRequest {
            model: "tiny".to_owned(),
            messages: vec![
                ChatMessage::user("Weather?"),
                ChatMessage { role: Role::Assistant, content: answer },
                ChatMessage { role: Role::User, content: vec![result] },
            ],
            ..ChatRequest::default()
        };
        let BuiltRequest { request, .. } = build_request(&chat, &Endpoint::parse("http://127.0.0.1:4000/v1").unwrap());
        let body: Value = serde_json::from_str(&request.body).unwrap();
        assert_eq!(
            body["input"][1],
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Look outside.\n"}]}),
            "{server}: {body:#}"
        );
        assert_eq!(body["input"][2]["type"], "function_call");
        // Another server never gets it.
        let BuiltRequest { request, .. } = build_request(&chat, &Endpoint::parse("http://127.0.0.1:5000/v1").unwrap());
        assert!(!request.body.contains("Look outside"), "{server}: {}", request.body);
    }
}

/// vLLM checks images in results against OpenAI's schema, which requires the field.
#[test]
fn an_image_in_a_result_has_its_detail() {
    let image = ChatPart::Data { mime_type: "image/png".to_owned(), base64: "iVBORw0KGgo=".to_owned() };
    let call = ChatPart::ToolCall { call_id: "c".to_owned(), name: "look".to_owned(), input_json: "{}".to_owned() };
    let result = ChatPart::ToolResult { call_id: "c".to_owned(), content: vec![image], is_error: false };
    let chat = ChatRequest {
        model: "tiny".to_owned(),
        messages: vec![
            ChatMessage::user("Look."),
            ChatMessage { role: Role::Assistant, content: vec![call] },
            ChatMessage { role: Role::User, content: vec![result] },
        ],
        ..ChatRequest::default()
    };
    let BuiltRequest { request, .. } = build_request(&chat, &Endpoint::parse("http://127.0.0.1:4000/v1").unwrap());
    let body: Value = serde_json::from_str(&request.body).unwrap();
    expect![[r#"[{"detail":"auto","image_url":"data:image/png;base64,iVBORw0KGgo=","type":"input_image"}]"#]]
        .assert_eq(&body["input"][2]["output"].to_string());
}

#[test]
fn the_detail_of_an_image_can_be_left_out_wherever_the_image_is() {
    let image = ChatPart::Data { mime_type: "image/png".to_owned(), base64: "iVBORw0KGgo=".to_owned() };
    let call = ChatPart::ToolCall { call_id: "c".to_owned(), name: "look".to_owned(), input_json: "{}".to_owned() };
    let result = |content| ChatPart::ToolResult { call_id: "c".to_owned(), content, is_error: false };
    let text = || ChatPart::Text { value: "Look.".to_owned() };
    let can_be_left_out = |parts: Vec<ChatPart>| {
        let assistant = ChatMessage { role: Role::Assistant, content: vec![call.clone()] };
        let last = ChatMessage { role: Role::User, content: parts };
        let chat = ChatRequest {
            model: "tiny".to_owned(),
            messages: vec![ChatMessage::user("Look."), assistant, last],
            ..ChatRequest::default()
        };
        let built = build_request(&chat, &Endpoint::parse("http://127.0.0.1:4000/v1").unwrap());
        assert_eq!(built.request.body.contains("detail"), built.optional.contains(&Parameter::ImageDetail));
        assert!(!built.clone().without(&[Parameter::ImageDetail]).request.body.contains("detail"));
        built.optional.contains(&Parameter::ImageDetail)
    };
    assert!(can_be_left_out(vec![result(vec![image.clone()])]));
    assert!(can_be_left_out(vec![result(vec![text()]), image]));
    assert!(!can_be_left_out(vec![result(vec![text()]), text()]));
}
