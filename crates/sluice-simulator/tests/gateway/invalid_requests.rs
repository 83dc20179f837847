//! Requests that are refused, and the error messages.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_simulator::{Options, Responder};

use crate::ask::{NOW_MS, json_body, post, request, responder};

/// Applies each change to a valid request and lists the errors.
fn check(changes: &[(&str, Value)], expected: &Expect) {
    let mut lines = String::new();
    for (key, value) in changes {
        let mut body = json!({ "model": "sluice/echo", "input": "Hello" });
        body[*key] = value.clone();
        let reply = post(&body);
        let error = &json_body(&reply)["error"];
        let [param, message] = ["param", "message"].map(|key| error[key].as_str().unwrap_or("-").to_owned());
        lines.push_str(&format!("{} {} {param}: {message}\n", reply.status, error["type"].as_str().unwrap_or("-")));
    }
    expected.assert_eq(&lines);
}

fn user(content: Value) -> Value {
    let mut message = json!({ "type": "message", "role": "user" });
    message["content"] = content;
    message
}

#[test]
fn invalid_fields_are_refused() {
    check(
        &[
            ("model", Value::Null),
            ("model", "openai/gpt-5".into()),
            ("model", "sluice/embedding".into()),
            ("model", "sluice/echo+explode".into()),
            ("input", 5.into()),
            ("temperature", 3.into()),
            ("top_p", "1".into()),
            ("max_output_tokens", 15.into()),
            ("max_output_tokens", 20.5.into()),
            ("stream", "true".into()),
            ("stream", Value::Null),
            ("store", Value::Null),
            ("include", json!(["everything"])),
            ("reasoning", json!({ "effort": "extreme" })),
            ("metadata", json!({ "a": 1 })),
            ("text", json!({ "format": { "type": "json_schema", "schema": {} } })),
            ("prompt_cache_key", "k".repeat(65).into()),
            ("caching", "always".into()),
            ("background", true.into()),
            ("previous_response_id", "gen_1".into()),
            ("_internal", true.into()),
        ],
        &expect![[r#"
            400 invalid_request_error model: Missing required parameter: 'model'.
            404 model_not_found -: Model 'openai/gpt-5' not found
            400 invalid_request_error model: Model 'sluice/embedding' is not a language model
            400 invalid_request_error model: There is no fault called 'explode'
            400 invalid_request_error input: Invalid 'input': expected a string or an array, but got this number.
            400 invalid_request_error temperature: Invalid 'temperature': expected a number from 0 to 2, but got this number.
            400 invalid_request_error top_p: Invalid 'top_p': expected a number from 0 to 1, but got this string.
            400 invalid_request_error max_output_tokens: Invalid 'max_output_tokens': expected an integer of at least 16, but got this number.
            400 invalid_request_error max_output_tokens: Invalid 'max_output_tokens': expected an integer of at least 16, but got this number.
            400 invalid_request_error stream: Invalid 'stream': expected a boolean, but got this string.
            400 invalid_request_error stream: Invalid 'stream': expected a boolean, but got null or nothing.
            400 invalid_request_error store: Invalid 'store': expected a boolean, but got null or nothing.
            400 invalid_request_error include[0]: Invalid 'include[0]': expected one of 'reasoning.encrypted_content', 'message.output_text.logprobs', but got this string.
            400 invalid_request_error reasoning.effort: Invalid 'reasoning.effort': expected one of 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', but got this string.
            400 invalid_request_error metadata.a: Invalid 'metadata.a': expected a string, but got this number.
            400 invalid_request_error text.format.name: Invalid 'text.format.name': expected a string, but got null or nothing.
            400 invalid_request_error prompt_cache_key: Invalid 'prompt_cache_key': expected a string of 0 to 64 characters, but got this string.
            400 invalid_request_error caching: Invalid 'caching': expected one of 'auto', but got this string.
            400 invalid_request_error background: Background responses are not supported here.
            400 invalid_request_error previous_response_id: Previous response with id 'gen_1' not found.
            400 invalid_request_error _internal: Unknown parameter: '_internal'.
        "#]],
    );
}

#[test]
fn invalid_items_are_refused() {
    let call = |id: &str| json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": "{}" });
    let output = |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": "" });
    let message = |role: &str, part: &str| json!([user("Hi".into()), { "type": "message", "role": role, "content": [{ "type": part, "text": "x" }] }]);
    let image = |url: &str| json!([user(json!([{ "type": "input_image", "image_url": url }]))]);
    check(
        &[
            ("input", json!([])),
            ("input", json!([{ "type": "message", "role": "assistant", "content": "Hi" }])),
            ("input", json!([{ "role": "user", "content": "Hi" }])),
            ("input", json!([{ "type": "message", "role": "tool", "content": "Hi" }])),
            ("input", json!([user(Value::Null)])),
            ("input", message("assistant", "input_text")),
            ("input", message("user", "output_text")),
            ("input", message("system", "output_text")),
            ("input", json!([user("Hi".into()), { "type": "tool_result" }])),
            ("input", json!([user("Hi".into()), output("call_1")])),
            ("input", json!([user("Hi".into()), call("call_1")])),
            ("input", json!([user("Hi".into()), call("call_1"), call("call_1"), output("call_1")])),
            ("input", json!([user("Hi".into()), call("call 1"), output("call 1")])),
            ("input", json!([user("Hi".into()), call(&"c".repeat(65))])),
            ("input", json!([user("Hi".into()), call("")])),
            (
                "input",
                json!([user("Hi".into()), { "type": "function_call", "call_id": "c", "name": "a b", "arguments": "{}" }]),
            ),
            (
                "input",
                json!([user("Hi".into()), { "type": "function_call", "call_id": "c", "name": "a", "arguments": {} }]),
            ),
            (
                "input",
                json!([user("Hi".into()), { "type": "function_call", "call_id": "c", "name": "a", "arguments": "[1]" }]),
            ),
            ("input", json!([user("Hi".into()), { "type": "reasoning", "id": "rs_1" }])),
            ("input", json!([user("Hi".into()), { "type": "reasoning", "summary": [], "encrypted_content": "mine" }])),
            ("input", json!([user("Hi".into()), { "type": "item_reference", "id": "msg_1" }])),
            ("input", image("ftp://x/y.png")),
            ("input", image("data:image/bmp;base64,AAAA")),
            ("input", image("data:image/png;base64,A*==")),
            ("input", image("data:image/png;base64,/9j/4AAQSkZJRg==")),
        ],
        &expect![[r#"
            400 invalid_request_error input: At least one user message is required in the input
            400 invalid_request_error input: At least one user message is required in the input
            400 invalid_request_error input[0].type: Invalid 'input[0].type': expected one of 'message', 'function_call', 'function_call_output', 'reasoning', 'compaction', 'item_reference', but got null or nothing.
            400 invalid_request_error input[0].role: Invalid 'input[0].role': expected one of 'user', 'assistant', 'system', 'developer', but got this string.
            400 invalid_request_error input[0].content: Invalid 'input[0].content': expected a string or an array, but got null or nothing.
            400 invalid_request_error input[1].content[0].type: Invalid 'input[1].content[0].type': expected one of 'output_text', 'refusal', but got this string.
            400 invalid_request_error input[1].content[0].type: Invalid 'input[1].content[0].type': expected one of 'input_text', 'input_image', 'input_file', but got this string.
            400 invalid_request_error input[1].content[0].type: Invalid 'input[1].content[0].type': expected one of 'input_text', but got this string.
            400 invalid_request_error input[1].type: Invalid 'input[1].type': expected one of 'message', 'function_call', 'function_call_output', 'reasoning', 'compaction', 'item_reference', but got this string.
            400 invalid_request_error input: No tool call found for function call output with call_id call_1.
            400 invalid_request_error input: No tool output found for function call call_1.
            400 invalid_request_error input: Duplicate function call with call_id call_1.
            400 invalid_request_error input[1].call_id: Invalid 'input[1].call_id': expected a string that matches '^[a-zA-Z0-9_-]+$', but got this string.
            400 invalid_request_error input[1].call_id: Invalid 'input[1].call_id': expected a string of 1 to 64 characters, but got this string.
            400 invalid_request_error input[1].call_id: Invalid 'input[1].call_id': expected a string of 1 to 64 characters, but got this string.
            400 invalid_request_error input[1].name: Invalid 'input[1].name': expected a string that matches '^[a-zA-Z0-9_-]+$', but got this string.
            400 invalid_request_error input[1].arguments: Invalid 'input[1].arguments': expected a string, but got this object.
            400 invalid_request_error input[1].arguments: Invalid 'input[1].arguments': expected a JSON object as a string, but got this string.
            400 invalid_request_error input[1].summary: Invalid 'input[1].summary': expected an array, but got null or nothing.
            400 invalid_request_error input[1].encrypted_content: The encrypted content could not be verified: it is damaged, or another model produced it.
            400 invalid_request_error input: Item with id 'msg_1' not found.
            400 invalid_request_error input[0].content[0].image_url: Invalid image: expected an http(s) URL or a base64-encoded data URL.
            400 invalid_request_error input[0].content[0].image_url: Invalid image: expected png, jpeg, webp or gif.
            400 invalid_request_error input[0].content[0].image_url: Invalid image: its data is not valid base64.
            400 invalid_request_error input[0].content[0].image_url: Invalid image: the media type is image/png, but the data is image/jpeg.
        "#]],
    );
}

#[test]
fn invalid_tools_are_refused() {
    let tool = |name: &str, parameters: Value| json!([{ "type": "function", "name": name, "parameters": parameters }]);
    let property = |schema: Value| tool("t", json!({ "type": "object", "properties": { "p": schema } }));
    check(
        &[
            ("tools", json!([{ "name": "t" }])),
            ("tools", tool("has space", Value::Null)),
            ("tools", tool(&"t".repeat(65), Value::Null)),
            ("tools", json!([{ "type": "function", "name": "t" }, { "type": "function", "name": "t" }])),
            ("tools", tool("t", json!({ "type": "string" }))),
            ("tools", tool("t", json!({ "type": "object" }))),
            ("tools", tool("t", json!({ "type": "object", "properties": {}, "anyOf": [] }))),
            ("tools", property(json!({ "type": "array" }))),
            ("tools", property(json!("string"))),
            ("tool_choice", "required".into()),
            ("tool_choice", "sometimes".into()),
            ("tool_choice", json!({ "type": "function", "name": "t" })),
        ],
        &expect![[r#"
            400 invalid_request_error tools[0].type: Invalid 'tools[0].type': expected one of 'function', but got null or nothing.
            400 invalid_request_error tools[0].name: Invalid 'tools[0].name': expected a string that matches '^[a-zA-Z0-9_-]+$', but got this string.
            400 invalid_request_error tools[0].name: Invalid 'tools[0].name': expected a string of 1 to 64 characters, but got this string.
            400 invalid_request_error tools[1]: Duplicate tool name 't'.
            400 invalid_request_error tools[0].parameters: Invalid schema for function 't': schema must be of type "object" (tools[0].parameters).
            400 invalid_request_error tools[0].parameters: Invalid schema for function 't': object schema missing properties (tools[0].parameters).
            400 invalid_request_error tools[0].parameters: Invalid schema for function 't': 'anyOf' is not allowed at the top level (tools[0].parameters).
            400 invalid_request_error tools[0].parameters.properties.p: Invalid schema for function 't': array schema missing items (tools[0].parameters.properties.p).
            400 invalid_request_error tools[0].parameters.properties.p: Invalid schema for function 't': a schema must be an object (tools[0].parameters.properties.p).
            400 invalid_request_error tool_choice: Tool choice 'required' must be specified with 'tools' parameter.
            400 invalid_request_error tool_choice: Invalid 'tool_choice': expected one of 'none', 'auto', 'required', but got this string.
            400 invalid_request_error tool_choice: Tool choice 't' not found in 'tools' parameter.
        "#]],
    );
}

#[test]
fn bodies_that_are_not_requests_are_refused() {
    for body in ["", "[]", "{", "{\"model\":\"sluice/echo\",\"input\":\"\\ud800\"}"] {
        let mut asked = request("POST", "/v1/responses", &Value::Null);
        asked.body = body.into();
        let reply = responder().respond(&asked, NOW_MS);
        assert_eq!((reply.status, json_body(&reply)["error"]["type"].as_str()), (400, Some("invalid_request_error")));
    }
}

#[test]
fn too_much_input_is_refused() {
    let reply = post(&json!({ "model": "sluice/echo", "input": "word ".repeat(130_000) }));
    let error = &json_body(&reply)["error"];
    assert_eq!((reply.status, error["code"].as_str()), (400, Some("context_length_exceeded")));
    assert!(error["message"].as_str().is_some_and(|message| message.contains("128000") && message.contains("13000")));
}

#[test]
fn real_keys_are_refused() {
    let ask = |responder: &Responder, key: &str| {
        let mut asked = request("GET", "/v1/credits", &Value::Null);
        asked.headers.push(("Authorization".into(), format!("Bearer {key}")));
        responder.respond(&asked, NOW_MS)
    };
    for real in ["vck_abc", "sk-proj-1", "eyJhbGciOi.J9.x"] {
        let reply = ask(&responder(), real);
        assert_eq!(reply.status, 401);
        let message = json_body(&reply)["error"]["message"].as_str().expect("a message").to_owned();
        assert!(message.contains("must not be given a real one") && !message.contains(real));
    }
    assert_eq!(ask(&responder(), "demo").status, 200);
    let locked = Responder::new(Options { key: Some("sk-canary".into()), ..Options::default() });
    assert_eq!([ask(&locked, "sk-canary").status, ask(&locked, "demo").status], [200, 401]);
}
