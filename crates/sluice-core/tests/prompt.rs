//! A prompt is everything that the model sees. Whatever is sent is counted and hashed, and nothing else.

use proptest::prelude::*;
use serde_json::{Value, json};
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, Counter, Endpoint, InstallKey, KnownCounts, Piece, Prompt, ReasoningItem,
    ReplayItem, Role, ThinkingReplay, ToolDefinition, Usage, VERCEL, build_request,
};

/// The model of the generated chats. Its server keeps all reasoning.
const MODEL: &str = "xai/grok-4";

fn body_of(chat: &ChatRequest) -> Value {
    let built = build_request(chat, &Endpoint::parse(VERCEL).unwrap());
    serde_json::from_str(&built.request.body).unwrap()
}

/// Returns the parts of a request body that reach the model, in the order of a prompt's pieces.
fn sent(body: &Value) -> Vec<Value> {
    let list = |name: &str| body[name].as_array().cloned().unwrap_or_default();
    let instructions = body.get("instructions").cloned();
    list("tools").into_iter().chain(instructions).chain(list("input")).collect()
}

/// Reduces a request body to the content that the model sees, regardless of its form.
fn visible(body: &Value) -> Value {
    let mut tools: Vec<String> = body["tools"].as_array().into_iter().flatten().map(Value::to_string).collect();
    tools.sort_unstable();
    let items: Vec<Value> = body["input"].as_array().unwrap().iter().map(visible_item).collect();
    json!([tools, body["instructions"], items])
}

fn visible_item(item: &Value) -> Value {
    match item["type"].as_str().unwrap() {
        "message" => json!([item["role"], visible_content(&item["content"])]),
        "function_call" => {
            let arguments = item["arguments"].as_str().unwrap();
            let parsed = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
            json!(["call", item["name"], parsed])
        }
        "function_call_output" => json!(["result", visible_content(&item["output"])]),
        "reasoning" => json!(["reasoning", item["encrypted_content"]]),
        other => panic!("we never send {other}"),
    }
}

/// Adjacent texts become one.
fn visible_content(content: &Value) -> Vec<(bool, String)> {
    let mut shown: Vec<(bool, String)> = Vec::new();
    let parts = match content {
        Value::Array(parts) => parts.clone(),
        text => vec![json!({"text": text})],
    };
    for part in parts {
        match (part["text"].as_str(), shown.last_mut()) {
            (Some(text), Some((false, before))) => before.push_str(text),
            (Some(text), _) => shown.push((false, text.to_owned())),
            (None, _) => shown.push((true, part["image_url"].as_str().unwrap().trim_end_matches('=').to_owned())),
        }
    }
    shown
}

/// Returns whether a server's count for `one` is used for `other`.
fn has_same_fingerprints(one: &Prompt, other: &Prompt) -> bool {
    // A total so far below our own count is kept for the whole prompt, but not shared out among its pieces.
    let raw = |_: Piece<'_>| 1000;
    let mut known = KnownCounts::new(InstallKey([3; 16]));
    let usage = Usage { input_tokens: Some(1), ..Usage::default() };
    // A total so low is believed only if the server repeats it.
    known.learn(one, &usage, 1.0, &raw, 1);
    known.learn(one, &usage, 1.0, &raw, 1);
    known.estimate(other, 1.0, &raw).tokens == 1
}

/// Few different texts, so that chats with the same visible content are common.
fn any_text() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", " ", "a", "b", "ab", "\n", "The tool failed:", "Continue."]).prop_map(str::to_owned)
}

fn any_name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["f", "g", "my tool", "my.tool"]).prop_map(str::to_owned)
}

fn any_data() -> impl Strategy<Value = ChatPart> {
    let types = ["image/png", "text/plain", "application/json", "cache_control", "stateful_marker"];
    let contents = ["iVBORw0KGgo=", "iVBORw0KGgo", "YQ==", "/9j/4A==", "%"];
    (prop::sample::select(types.to_vec()), prop::sample::select(contents.to_vec()))
        .prop_map(|(mime_type, base64)| ChatPart::Data { mime_type: mime_type.to_owned(), base64: base64.to_owned() })
}

fn any_part() -> impl Strategy<Value = ChatPart> {
    let id = || prop::sample::select(vec!["gw-1", "gw-2", "1"]).prop_map(str::to_owned);
    let text = || any_text().prop_map(|value| ChatPart::Text { value });
    let item =
        (prop::option::of(id()), prop::sample::select(vec!["", "sealed", "closed"])).prop_map(|(id, content)| {
            let encrypted_content = Some(content.to_owned());
            ReplayItem::Reasoning(ReasoningItem { id, encrypted_content, ..ReasoningItem::default() })
        });
    let made_by = prop::option::of(prop::sample::select(vec!["grok-4", "grok-4-0709", "acme/other"]));
    let replay = (made_by, prop::collection::vec(item, 0..3)).prop_map(|(model, items)| ThinkingReplay {
        model: model.map(str::to_owned),
        origin: None,
        items,
    });
    let input = prop::sample::select(vec!["", "{}", "{\"a\":1}", " { \"a\" : 1 }", "nonsense"]);
    prop_oneof![
        3 => text(),
        1 => any_data(),
        1 => prop::option::of(replay).prop_map(|replay| ChatPart::Thinking { replay }),
        2 => (id(), any_name(), input).prop_map(|(call_id, name, input)| {
            ChatPart::ToolCall { call_id, name, input_json: input.to_owned() }
        }),
        2 => (id(), prop::collection::vec(prop_oneof![text(), any_data()], 0..3), any::<bool>())
            .prop_map(|(call_id, content, is_error)| ChatPart::ToolResult { call_id, content, is_error }),
    ]
}

fn any_chat() -> impl Strategy<Value = ChatRequest> {
    let role = prop::sample::select(vec![Role::User, Role::Assistant, Role::System]);
    let message =
        (role, prop::collection::vec(any_part(), 0..4)).prop_map(|(role, content)| ChatMessage { role, content });
    let schema = prop::sample::select(vec![None, Some(json!({})), Some(json!({"type": "object"}))]);
    let tool = (any_name(), any_text(), schema).prop_map(|(name, description, input_schema)| ToolDefinition {
        name,
        description,
        input_schema,
    });
    (prop::collection::vec(message, 0..5), prop::collection::vec(tool, 0..3)).prop_map(|(messages, tools)| {
        ChatRequest { model: MODEL.to_owned(), messages, tools, ..ChatRequest::default() }
    })
}

/// Changes the form of a chat, and with `other_text` also what the model sees.
fn rewritten(chat: &ChatRequest, other_text: bool) -> ChatRequest {
    let mut other = chat.clone();
    other.tools.reverse();
    for message in &mut other.messages {
        message.content.push(ChatPart::Data { mime_type: "cache_control".to_owned(), base64: "YQ==".to_owned() });
    }
    if other_text {
        let content = vec![ChatPart::Text { value: "something else".to_owned() }];
        other.messages.push(ChatMessage { role: Role::User, content });
    }
    other
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Checks invariant R4: the pieces that are hashed and counted are those that the request body carries.
    #[test]
    fn pieces_are_what_the_request_body_carries(chat in any_chat()) {
        let (prompt, body) = (Prompt::of(&chat), body_of(&chat));
        let pieces: Vec<Value> = prompt.pieces().into_iter().filter_map(Piece::to_json).collect();
        prop_assert_eq!(pieces, sent(&body));
    }

    /// Checks invariant R4: counting piece by piece and counting the request body give the same number.
    #[test]
    fn pieces_cost_what_the_request_body_costs(chat in any_chat()) {
        for model in [MODEL, "gpt-4o", "gpt-5.4", "claude-sonnet-4.5"] {
            let chat = ChatRequest { model: model.to_owned(), ..chat.clone() };
            let counter = Counter::estimating();
            let whole = counter.request_body(body_of(&chat).to_string().as_bytes()).unwrap().input_tokens;
            let pieces: u32 = Prompt::of(&chat).pieces().into_iter().map(|piece| counter.piece(piece)).sum();
            prop_assert_eq!(pieces, whole);
        }
    }

    /// Checks invariant R4.
    #[test]
    fn fingerprints_are_the_same_exactly_if_the_visible_content_is(one in any_chat(), other in any_chat()) {
        let same_form = rewritten(&one, false);
        let same_content = rewritten(&one, true);
        for (one, other) in [(&one, &other), (&one, &same_form), (&one, &same_content), (&same_form, &same_content)] {
            let is_same = visible(&body_of(one)) == visible(&body_of(other));
            prop_assert_eq!(has_same_fingerprints(&Prompt::of(one), &Prompt::of(other)), is_same);
        }
    }
}

fn text(value: &str) -> ChatPart {
    ChatPart::Text { value: value.to_owned() }
}

fn chat(messages: Vec<(Role, Vec<ChatPart>)>) -> ChatRequest {
    let messages = messages.into_iter().map(|(role, content)| ChatMessage { role, content }).collect();
    ChatRequest { model: MODEL.to_owned(), messages, ..ChatRequest::default() }
}

/// Hosts split and merge messages; all that matters is what the model sees in the end.
#[test]
fn prompts_depend_only_on_what_is_sent() {
    let result = |texts: &[&str]| ChatPart::ToolResult {
        call_id: "gw-1".to_owned(),
        content: texts.iter().map(|value| text(value)).collect(),
        is_error: false,
    };
    let same = [
        (
            chat(vec![(Role::System, vec![text("a\n\nb")]), (Role::User, vec![text("Hi")])]),
            chat(vec![
                (Role::Assistant, vec![text("a")]),
                (Role::System, vec![text("b")]),
                (Role::User, vec![text("Hi")]),
            ]),
        ),
        (
            chat(vec![(Role::User, vec![text("a"), result(&["b"]), text("c")])]),
            chat(vec![
                (Role::User, vec![text("a")]),
                (Role::User, vec![result(&["b"])]),
                (Role::User, vec![text("c")]),
            ]),
        ),
        (
            chat(vec![(Role::User, vec![text("Hi")])]),
            chat(vec![(Role::User, vec![text(" ")]), (Role::User, vec![text("Hi")])]),
        ),
    ];
    for (one, other) in same {
        assert_eq!(Prompt::of(&one), Prompt::of(&other));
        assert!(has_same_fingerprints(&Prompt::of(&one), &Prompt::of(&other)));
    }
    // The texts of a result are sent on separate lines.
    let (one, other) =
        (chat(vec![(Role::User, vec![result(&["ab"])])]), chat(vec![(Role::User, vec![result(&["a", "b"])])]));
    assert!(!has_same_fingerprints(&Prompt::of(&one), &Prompt::of(&other)));
}
