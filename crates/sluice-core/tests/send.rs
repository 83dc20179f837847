//! The request path in small conversations: the input is a chat as JSON, the output is the body that is sent.

#![allow(clippy::needless_pass_by_value, reason = "an `expect!` is passed by value in each case")]

use crate::support::send::{assistant, build, call, check, result, user};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{BuiltRequest, ChatRequest, Endpoint, Parameter, VERCEL, build_request};

#[test]
fn instructions_come_from_the_system_role_and_from_assistant_messages_before_the_first_question() {
    let system = json!({"role": "system", "content": [{"type": "text", "value": "Be brief."}]});
    let prompt = assistant(json!([{"type": "text", "value": "You are a tester."}]));
    check(
        json!([system, prompt, user("Hi"), assistant(json!([{"type": "text", "value": "Hello."}])), user("Go")]),
        expect![[r#"
            instructions "Be brief.\n\nYou are a tester."
            user [{"text":"Hi","type":"input_text"}]
            assistant [{"text":"Hello.","type":"output_text"}]
            user [{"text":"Go","type":"input_text"}]
        "#]],
    );
}

#[test]
fn calls_and_results_become_separate_items_without_our_id_prefix() {
    let parts =
        json!([{"type": "text", "value": "Let me look."}, call("gw-call_1", "read"), call("gw-call_2", "read")]);
    check(
        json!([user("Look"), assistant(parts), result("gw-call_1", "one"), result("gw-call_2", "two")]),
        expect![[r#"
        user [{"text":"Look","type":"input_text"}]
        assistant [{"text":"Let me look.","type":"output_text"}]
        call call_1 read {"b":1, "a":2}
        call call_2 read {"b":1, "a":2}
        result call_1 "one"
        result call_2 "two"
    "#]],
    );
}

#[test]
fn calls_and_results_without_a_counterpart_are_repaired() {
    let parts = json!([call("a", "f"), call("b", "f")]);
    check(
        json!([user("Go"), assistant(parts), result("b", "two"), result("c", "lost"), user("On")]),
        expect![[r#"
        user [{"text":"Go","type":"input_text"}]
        call a f {"b":1, "a":2}
        call b f {"b":1, "a":2}
        result a "(The tool did not return a result.)"
        result b "two"
        user [{"text":"Result of an earlier tool call:","type":"input_text"},{"text":"lost","type":"input_text"}]
        user [{"text":"On","type":"input_text"}]
        note Repaired result without its call
        note Repaired call without its result
    "#]],
    );
}

#[test]
fn foreign_ids_are_shortened_and_repeated_ids_are_made_unique() {
    let long = "x".repeat(80);
    check(
        json!([
            user("Go"),
            assistant(json!([call("call_0", "f"), call("ü:1", "f"), call(&long, "f")])),
            result("call_0", "first"),
            result("ü:1", "odd"),
            result(&long, "long"),
            assistant(json!([call("call_0", "f")])),
            result("call_0", "second"),
        ]),
        expect![[r#"
            user [{"text":"Go","type":"input_text"}]
            call call_0 f {"b":1, "a":2}
            call 1-869491c6b1666073 f {"b":1, "a":2}
            call xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-6adea74572a74465 f {"b":1, "a":2}
            result call_0 "first"
            result 1-869491c6b1666073 "odd"
            result xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-6adea74572a74465 "long"
            call call_0-2 f {"b":1, "a":2}
            result call_0-2 "second"
        "#]],
    );
}

#[test]
fn images_are_typed_by_their_bytes_and_markers_are_never_sent() {
    let data = |mime: &str, base64: &str| json!({"type": "data", "mimeType": mime, "base64": base64});
    let png = "iVBORw0KGgoAAAANSUhEUg==";
    let question = json!({"role": "user", "content": [
        {"type": "text", "value": "What is this?"},
        data("image/jpeg", png),
        data("image/png", "PHN2Zz4="),
        data("stateful_marker", "c2VjcmV0"),
        data("cache_control", "ZXBoZW1lcmFs"),
        data("application/x-unknown", "AAAA"),
    ]});
    let answer = assistant(json!([data("usage", "e30="), call("a", "shoot"), call("b", "read")]));
    let shot = json!({"role": "user", "content": [{"type": "toolResult", "callId": "a", "content": [
        {"type": "text", "value": "Here:"}, data("image/png", png)]}]});
    let read = json!({"role": "user", "content": [{"type": "toolResult", "callId": "b", "isError": true, "content": [
        {"type": "text", "value": "one"}, {"type": "text", "value": "two"}, data("application/json", "eyJhIjoxfQ=="), data("cache_control", "")]}]});
    check(
        json!([question, answer, shot, read]),
        expect![[r#"
            user [{"text":"What is this?","type":"input_text"},{"detail":"auto","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==","type":"input_image"}]
            call a shoot {"b":1, "a":2}
            call b read {"b":1, "a":2}
            result a [{"text":"Here:","type":"input_text"},{"detail":"auto","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==","type":"input_image"}]
            result b "The tool failed:\none\ntwo\n{\"a\":1}"
            note LeftOut image/png
            note LeftOut stateful_marker
            note LeftOut cache_control
            note LeftOut application/x-unknown
            note LeftOut usage
            note LeftOut cache_control
        "#]],
    );
}

#[test]
fn reasoning_is_sent_back_only_to_the_model_that_produced_it() {
    let thought = |model: &str| json!({"type": "thinking", "replay": {"model": model, "items": [{"reasoning": {"id": "rs_1", "encrypted_content": "AAA"}}]}});
    let turn = |model: &str| json!([user("Go"), assistant(json!([call("a", "f"), thought(model)])), result("a", "ok")]);
    for model in ["m-1", "acme/m-1", "m-1-2026-01-01"] {
        check(
            turn(model),
            expect![[r#"
            user [{"text":"Go","type":"input_text"}]
            {"encrypted_content":"AAA","id":"rs_1","summary":[],"type":"reasoning"}
            call a f {"b":1, "a":2}
            result a "ok"
        "#]],
        );
    }
    check(
        turn("other/m-2"),
        expect![[r#"
        user [{"text":"Go","type":"input_text"}]
        call a f {"b":1, "a":2}
        result a "ok"
        note LeftOut reasoning
    "#]],
    );
}

#[test]
fn empty_messages_are_dropped_and_there_is_always_a_user_message() {
    check(
        json!([user("  \n"), assistant(json!([{"type": "text", "value": ""}]))]),
        expect![[r#"
        user [{"text":"Continue.","type":"input_text"}]
    "#]],
    );
    check(
        json!([]),
        expect![[r#"
        user [{"text":"Continue.","type":"input_text"}]
    "#]],
    );
}

fn check_tools(tools: Value, extra: Value, expected: Expect) {
    let mut chat = json!({"model": "acme/m-1", "messages": [user("Go")], "tools": tools});
    chat.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let built = build(chat);
    let body: Value = serde_json::from_str(&built.request.body).unwrap();
    let mut lines = format!("choice {}\n", body["tool_choice"]);
    for tool in body["tools"].as_array().into_iter().flatten() {
        lines.push_str(&format!("{} {} {}\n", tool["name"], tool["description"], tool["parameters"]));
        let name = tool["name"].as_str().unwrap();
        lines.push_str(&format!("  is {:?}\n", built.tool_names.from_server(name).unwrap()));
    }
    expected.assert_eq(&lines);
}

#[test]
fn tool_names_are_made_valid_and_mapped_back() {
    let tools = json!([{"name": "read_file"}, {"name": "my.tool/read"}, {"name": "my tool read"}, {"name": "n".repeat(70)}, {"name": "read_file"}]);
    check_tools(
        tools,
        json!({}),
        expect![[r#"
        choice "auto"
        "read_file" null {"properties":{},"type":"object"}
          is "read_file"
        "my_tool_read_1b6fd5e2" null {"properties":{},"type":"object"}
          is "my.tool/read"
        "my_tool_read_4c0cf4e1" null {"properties":{},"type":"object"}
          is "my tool read"
        "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn_e9749cfd" null {"properties":{},"type":"object"}
          is "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "#]],
    );
}

#[test]
fn schemas_are_completed() {
    let schema = json!({
        "anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "array"}}}],
        "properties": {"c": {"type": "object"}, "d": {"type": ["array", "null"], "items": [{"type": "object"}]},
            "e": {"type": "array", "items": true}, "f": {"type": "array", "items": {"type": "string"}}},
        "required": ["c", "gone"],
        "not": {},
    });
    check_tools(
        json!([{"name": "f", "description": "Does.", "inputSchema": schema}]),
        json!({}),
        expect![[r#"
        choice "auto"
        "f" "Does." {"properties":{"a":{"type":"string"},"b":{"items":{},"type":"array"},"c":{"properties":{},"type":"object"},"d":{"items":{"anyOf":[{"properties":{},"type":"object"}]},"type":["array","null"]},"e":{"items":true,"type":"array"},"f":{"items":{"type":"string"},"type":"array"}},"required":["c"],"type":"object"}
          is "f"
    "#]],
    );
}

#[test]
fn tool_modes_become_tool_choices() {
    let one = json!([{"name": "f"}]);
    let two = json!([{"name": "f"}, {"name": "g"}]);
    let choice = |tools: &Value, extra: Value| {
        let mut chat = json!({"model": "m", "messages": [user("Go")], "tools": tools});
        chat.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let body: Value = serde_json::from_str(&build(chat).request.body).unwrap();
        body["tool_choice"].to_string()
    };
    assert_eq!(choice(&one, json!({})), r#""auto""#);
    assert_eq!(choice(&one, json!({"toolMode": "none"})), r#""none""#);
    assert_eq!(choice(&one, json!({"toolMode": "required"})), r#"{"name":"f","type":"function"}"#);
    assert_eq!(choice(&two, json!({"toolMode": "required"})), r#""required""#);
    assert_eq!(choice(&two, json!({"toolMode": "required", "requiredTool": "g"})), r#"{"name":"g","type":"function"}"#);
    // A tool that isn't offered can't be called.
    assert_eq!(choice(&two, json!({"toolMode": "required", "requiredTool": "gone"})), r#""required""#);
    assert_eq!(choice(&json!([]), json!({"toolMode": "required"})), "null");
}

#[test]
fn old_tool_results_are_discarded_by_claude_only_and_only_on_request() {
    let anthropic = |model: &str, wanted: bool| {
        let built =
            build(json!({"model": model, "messages": [user("Go")], "options": {"claudeContextManagement": wanted}}));
        let body: Value = serde_json::from_str(&built.request.body).unwrap();
        body["providerOptions"]["anthropic"].is_object()
    };
    assert!(anthropic("anthropic/claude-sonnet-4.5", true));
    assert!(!anthropic("anthropic/claude-sonnet-4.5", false));
    assert!(!anthropic("openai/gpt-5", true));
}

#[test]
fn what_a_request_has_can_be_left_out_of_it() {
    let optional = |tools: usize, options: Value| {
        let tools: Vec<Value> = (0..tools).map(|number| json!({"name": format!("tool_{number}")})).collect();
        format!(
            "{:?}",
            build(json!({"model": "m", "messages": [user("Go")], "tools": tools, "options": options})).optional
        )
    };
    expect!["[Include, ReasoningSummary, Store]"].assert_eq(&optional(0, json!({})));
    expect!["[Include, Store]"].assert_eq(&optional(1, json!({"extraBody": {"_enableThinking": false}})));
    expect!["[Include, ReasoningEffort, ReasoningSummary, Store, Effort(Low, None), MostTools(2)]"]
        .assert_eq(&optional(2, json!({"reasoningEffort": "low"})));
}

#[test]
fn the_tool_that_must_be_called_is_kept_if_others_are_left_out() {
    let kept = |extra: Value| {
        let tools: Vec<Value> = ["a", "b", "c", "d"].iter().map(|name| json!({"name": name})).collect();
        let mut chat = json!({"model": "m", "messages": [user("Go")], "tools": tools});
        chat.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let body = build(chat).request.without(&[Parameter::MostTools(2)]).body;
        let body: Value = serde_json::from_str(&body).unwrap();
        let names = body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect::<String>()
    };
    assert_eq!(kept(json!({})), "ab");
    assert_eq!(kept(json!({"toolMode": "required", "requiredTool": "d"})), "ad");
    assert_eq!(kept(json!({"toolMode": "required", "requiredTool": "a"})), "ab");
}

#[test]
fn schemas_are_completed_at_any_depth_up_to_a_limit() {
    // Each level adds one to the depth, and the last one lacks its properties.
    let completed = |nested: fn(Value) -> Value, depth: usize| {
        let schema = (0..depth).fold(json!({"type": "object"}), |schema, _| nested(schema));
        let tool = json!({"name": "f", "inputSchema": {"type": "object", "properties": {"a": schema}}});
        let body = build(json!({"model": "m", "messages": [user("Go")], "tools": [tool]})).request.body;
        body.matches("\"properties\"").count() > 1
    };
    for nested in [
        |schema| json!({"anyOf": [schema]}),
        |schema| json!({"items": schema}),
        |schema| json!({"$defs": {"b": schema}}),
    ] {
        assert!(completed(nested, 30));
        assert!(!completed(nested, 40));
    }
}

#[test]
fn only_our_own_marker_names_a_conversation() {
    // `bW9kZWxcc2x1aWNlLW9uZQ==` says `model\sluice-one`.
    let id = |mime_type: &str, base64: &str| {
        let marker = json!({"type": "data", "mimeType": mime_type, "base64": base64});
        let messages = [user("Hi"), assistant(json!([{"type": "text", "value": "Yes"}, marker])), user("Go")];
        build(json!({"model": "m", "messages": messages, "options": {"newConversationId": "new"}})).conversation_id
    };
    assert_eq!(id("stateful_marker", "bW9kZWxcc2x1aWNlLW9uZQ==").as_deref(), Some("one"));
    assert_eq!(id("text/plain", "bW9kZWxcc2x1aWNlLW9uZQ==").as_deref(), Some("new"));
    // `model\other-one` is a marker of another provider.
    assert_eq!(id("stateful_marker", "bW9kZWxcb3RoZXItb25l").as_deref(), Some("new"));
}

/// Checks invariant R2.
#[test]
fn options_are_sent_only_if_set_and_the_bytes_are_deterministic() {
    let plain = build(json!({"model": "acme/m-1", "messages": [user("Hi")]}));
    expect![[r#"{"model":"acme/m-1","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}],"stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"}}"#]]
        .assert_eq(&plain.request.body);
    expect![[r#"
        POST https://ai-gateway.vercel.sh/v1/responses
        content-type: application/json
        accept: text/event-stream
    "#]]
    .assert_eq(&head(&plain));

    let options = json!({
        "maxOutputTokens": 4, "temperature": 0.5, "topP": 1, "reasoningEffort": "high", "reasoningSummary": "auto",
        "conversationId": "c".repeat(70), "automaticCaching": true, "claudeContextManagement": true,
        "routing": {"order": ["a", "b"], "sort": "cost"},
        "extraBody": {"_telemetry": 1, "user": "u", "model": "other", "stream": false},
        "extraHeaders": {"X-Title": "t", "Authorization": "Bearer stolen", "Bad\nName": "x", "x-bad": "a\r\nb", "Accept": "x"},
    });
    let chat = json!({"model": "anthropic/claude-sonnet-4.5", "messages": [user("Hi")], "options": options});
    let full = build(chat.clone());
    expect![[r#"{"model":"anthropic/claude-sonnet-4.5","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}],"stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":16,"temperature":0.5,"top_p":1.0,"reasoning":{"effort":"high","summary":"auto"},"prompt_cache_key":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","caching":"auto","providerOptions":{"gateway":{"order":["a","b"],"sort":"cost"},"anthropic":{"contextManagement":{"edits":[{"keep":{"type":"thinking_turns","value":1},"type":"clear_thinking_20251015"},{"type":"clear_tool_uses_20250919"}]}}},"user":"u"}"#]]
        .assert_eq(&full.request.body);
    expect![[r#"
        POST https://ai-gateway.vercel.sh/v1/responses
        content-type: application/json
        accept: text/event-stream
        x-session-affinity: cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
        x-title: t
    "#]]
    .assert_eq(&head(&full));
    assert_eq!(build(chat), full);
}

fn head(built: &BuiltRequest) -> String {
    let request = &built.request;
    let headers: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("{} {}\n{headers}", request.method, request.url)
}

#[test]
fn fields_of_the_gateway_are_sent_to_nobody_else() {
    let chat: ChatRequest = serde_json::from_value(json!({
        "model": "anthropic/claude-sonnet-4.5",
        "messages": [user("Hi")],
        "options": {
            "automaticCaching": true,
            "claudeContextManagement": true,
            "routing": {"order": ["a"]},
            "conversationId": "c",
        },
    }))
    .unwrap();
    let sent = |address: &str| {
        let request = build_request(&chat, &Endpoint::parse(address).unwrap()).request;
        let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
        let has_header = request.headers.iter().any(|(name, _)| name == "x-session-affinity");
        (body.get("caching").is_some(), body.get("providerOptions").is_some(), has_header)
    };
    assert_eq!(sent(VERCEL), (true, true, true));
    assert_eq!(sent("https://api.example.com/v1"), (false, false, false));
    assert_eq!(sent("http://127.0.0.1:8000/v1"), (false, false, false));
}

#[test]
fn unpaired_surrogates_are_replaced() {
    let chat = r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","value":"a\ud83d b \ud83d\ude00 \ude00"}]}]}"#;
    let chat = ChatRequest::from_json(chat).unwrap();
    let built = build_request(&chat, &Endpoint::parse(VERCEL).unwrap());
    assert!(built.request.body.contains("a\u{fffd} b \u{1f600} \u{fffd}"), "{}", built.request.body);
    assert!(ChatRequest::from_json("{").is_err());
}

/// Checks invariant R3.
#[test]
fn settings_that_are_not_sent_leave_a_note() {
    let options = json!({
        "extraHeaders": {
            "Authorization": "secret", "x-team": "a\r\nb: c", "Accept": "x", "x-fine": "yes", "x y": "z", "X-Fine": "no",
            "x-empty": "",
        },
        "extraBody": { "model": "other", "stream": false, "temperature": 1, "_ours": 1, "user": "me" },
    });
    let built = build(json!({"model": "acme/m-1", "messages": [user("Hi")], "options": options}));
    let notes: Vec<String> = built.notes.iter().map(|note| note.detail.clone()).collect();
    expect![[r#"
        The extra body field model is not sent: Sluice sets it.
        The extra body field stream is not sent: Sluice sets it.
        The extra header accept is not sent: Sluice sets it.
        The extra header authorization is not sent: Sluice sets it.
        The extra header x y is not sent: its name has characters that header names can't have.
        The extra header x-empty is not sent: its value is empty. If it names an environment variable, set that variable.
        The extra header x-fine is not sent: it is set twice.
        The extra header x-team is not sent: its value is too long or has characters other than printable ASCII."#]]
    .assert_eq(&notes.join("\n"));
}

#[test]
fn the_conversation_id_comes_from_the_caller_then_vscode_then_our_marker_then_is_new() {
    let named = |messages: Value, options: Value| {
        let built = build(json!({"model": "acme/m-1", "messages": messages, "options": options}));
        let body: Value = serde_json::from_str(&built.request.body).unwrap();
        assert_eq!(body["prompt_cache_key"].as_str(), built.conversation_id.as_deref());
        format!("{:?} {:?}", built.conversation_id, built.marker)
    };
    let marked = |marker: &str| {
        use base64::Engine;
        let base64 = base64::prelude::BASE64_STANDARD.encode(marker);
        json!([
            user("Hi"),
            assistant(json!([{"type": "data", "mimeType": "stateful_marker", "base64": base64}])),
            user("And?")
        ])
    };
    let all = json!({"conversationId": "a", "newConversationId": "n", "extraBody": {"_conversationId": "b"}});
    let vscodes = json!({"newConversationId": "n", "extraBody": {"_conversationId": "b"}});
    let new = json!({"newConversationId": "n"});
    expect![[r#"Some("a") Some("acme/m-1\\sluice-a")"#]].assert_eq(&named(json!([user("Hi")]), all));
    expect![[r#"Some("b") Some("acme/m-1\\sluice-b")"#]].assert_eq(&named(json!([user("Hi")]), vscodes));
    expect![[r#"Some("c-1") Some("acme/m-1\\sluice-c-1")"#]]
        .assert_eq(&named(marked("acme/m-1\\sluice-c-1"), new.clone()));
    // VS Code puts the current model's name before the marker, even if another provider left it.
    expect![[r#"Some("n") Some("acme/m-1\\sluice-n")"#]].assert_eq(&named(marked("acme/m-1\\resp_123"), new.clone()));
    expect![[r#"Some("n") Some("acme/m-1\\sluice-n")"#]].assert_eq(&named(marked("acme/m-1\\sluice-../x"), new));
    expect!["None None"].assert_eq(&named(json!([user("Hi")]), json!({})));
    expect![[r#"Some("with space\\") None"#]]
        .assert_eq(&named(json!([user("Hi")]), json!({"conversationId": "with space\\"})));
}

#[test]
fn a_summary_request_keeps_its_tools_but_may_not_call_them() {
    let choice = |question: &str| {
        let messages = json!([user("Hi"), assistant(json!([{"type": "text", "value": "Hello."}])), user(question)]);
        let built = build(json!({"model": "acme/m-1", "messages": messages, "tools": [{"name": "look"}]}));
        let body: Value = serde_json::from_str(&built.request.body).unwrap();
        format!("{} {}", body["tools"].as_array().unwrap().len(), body["tool_choice"])
    };
    expect![[r#"1 "none""#]].assert_eq(&choice(
        "Summarize the conversation history so far, paying special attention to the most recent agent commands and tool \
        results that triggered this summarization.\nFocus particularly on everything.",
    ));
    for question in ["Summarize this file", "Your task is to create a comprehensive, detailed summary of the code"] {
        expect![[r#"1 "auto""#]].assert_eq(&choice(question));
    }
}

#[test]
fn model_options_are_also_read_under_their_old_names() {
    let built = build(json!({
        "model": "acme/m-1",
        "messages": [user("Hi")],
        "options": {
            "reasoningEffort": "high",
            "extraBody": {"max_tokens": 99, "temperature": 0.5, "_enableThinking": false, "_x": 1, "seed": 7},
        },
    }));
    let body: Value = serde_json::from_str(&built.request.body).unwrap();
    let fields = ["max_output_tokens", "max_tokens", "temperature", "reasoning", "_x", "seed"]
        .map(|name| body[name].to_string());
    expect!["99 null 0.5 null null 7"].assert_eq(&fields.join(" "));
}

#[test]
fn a_caller_gets_at_most_the_tokens_that_it_asks_for() {
    for (limit, expected) in [(16_384, "99"), (50, "50")] {
        let built = build(json!({
            "model": "acme/m-1",
            "messages": [user("Hi")],
            "options": {"maxOutputTokens": limit, "extraBody": {"max_tokens": 99}},
        }));
        let body: Value = serde_json::from_str(&built.request.body).unwrap();
        assert_eq!(body["max_output_tokens"].to_string(), expected);
    }
}
