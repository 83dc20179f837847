//! Models that follow the rules of real providers about reasoning.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_simulator::{Options, Responder};

use crate::ask::{NOW_MS, json_body, render, request};

fn ask(server: u64, body: &Value) -> Result<Vec<Value>, String> {
    let responder = Responder::new(Options { seed: server, ..Options::default() });
    let reply = responder.respond(&request("POST", "/v1/responses", body), NOW_MS);
    let answer = json_body(&reply);
    match reply.status {
        200 => Ok(answer["output"].as_array().expect("output").clone()),
        status => Err(format!("{status} {}: {}", answer["error"]["code"], answer["error"]["message"])),
    }
}

fn body(model: &str, input: &[Value]) -> Value {
    json!({
        "model": model,
        "input": input,
        "tools": [{ "type": "function", "name": "open_gate" }],
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "reasoning": { "summary": "auto" },
    })
}

fn user(text: &str) -> Value {
    json!({ "type": "message", "role": "user", "content": text })
}

fn result_of(item: &Value) -> Option<Value> {
    (item["type"] == "function_call")
        .then(|| json!({ "type": "function_call_output", "call_id": item["call_id"], "output": "open" }))
}

/// Returns the conversation after one round, and what the model said in it.
fn after_a_round(model: &str) -> (Vec<Value>, Vec<Value>) {
    let mut items = vec![user("Call it 2 times, and think twice")];
    let output = ask(1, &body(model, &items)).expect("an answer");
    items.extend(output.clone());
    items.extend(output.iter().filter_map(result_of));
    (items, output)
}

const ALL: [&str; 5] =
    ["sluice/openai-like", "sluice/anthropic-like", "sluice/deepseek-like", "sluice/kimi-like", "sluice/vllm-like"];

#[test]
fn a_conversation_that_comes_back_unchanged_is_continued_to_its_end() {
    for model in ALL {
        let (mut items, _) = after_a_round(model);
        loop {
            let output = ask(1, &body(model, &items)).expect(model);
            items.extend(output.clone());
            let results: Vec<Value> = output.iter().filter_map(result_of).collect();
            if results.is_empty() {
                break;
            }
            items.extend(results);
        }
        items.push(user("And now?"));
        let output = ask(1, &body(model, &items)).expect(model);
        assert!(!output.is_empty() && !output.iter().any(|item| item.to_string().contains("stopped early")), "{model}");
    }
}

#[test]
fn reasoning_must_come_back() {
    let mut refusals = String::new();
    for model in ALL {
        let (mut items, _) = after_a_round(model);
        items.retain(|item| item["type"] != "reasoning");
        let refusal = ask(1, &body(model, &items)).err().unwrap_or_else(|| "accepted".into());
        // The ids are random.
        let is_id = |word: &str| word.starts_with("'fc_") || word.starts_with("'rs_");
        let words: Vec<&str> = refusal.split(' ').map(|word| if is_id(word) { "ID" } else { word }).collect();
        refusals.push_str(&format!("{model}: {}\n", words.join(" ")));
    }
    expect![[r#"
        sluice/openai-like: 400 null: "Item ID of type 'function_call' was provided without its required 'reasoning' item: ID
        sluice/anthropic-like: 400 null: "messages.0.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`."
        sluice/deepseek-like: 400 null: "The `reasoning_content` in the thinking mode must be passed back to the API."
        sluice/kimi-like: 400 null: "thinking is enabled but reasoning_content is missing in assistant tool call message at index 0"
        sluice/vllm-like: accepted
    "#]]
    .assert_eq(&refusals);
}

#[test]
fn reasoning_of_another_model_or_server_is_refused() {
    let mut refusals = Vec::new();
    for model in ALL {
        let (items, _) = after_a_round(model);
        for other in ALL {
            let is_own = other == model;
            assert_eq!(ask(1, &body(other, &items)).is_ok(), is_own, "{other} got the reasoning of {model}");
        }
        refusals.extend(ask(2, &body(model, &items)).err());
    }
    assert_eq!(refusals.len(), ALL.len(), "{refusals:?}");
}

#[test]
fn a_signature_covers_the_summary() {
    let (mut items, _) = after_a_round("sluice/anthropic-like");
    items[1]["summary"] = json!([]);
    expect![[r#"400 null: "messages.0.content.0: Invalid `signature` in `thinking` block""#]]
        .assert_eq(&ask(1, &body("sluice/anthropic-like", &items)).unwrap_err());
}

#[test]
fn a_lost_phase_ends_the_work_early() {
    let (mut items, _) = after_a_round("sluice/openai-like");
    for item in &mut items {
        item.as_object_mut().expect("an object").remove("phase");
    }
    let output = ask(1, &body("sluice/openai-like", &items)).expect("an answer");
    assert!(output[0]["content"][0]["text"].as_str().expect("text").starts_with("I stopped early"));
}

#[test]
fn summaries_are_for_those_who_ask_and_may_have_them() {
    let check = |model: &str, reasoning: Value, expected: &Expect| {
        let body = json!({ "model": model, "input": "Why?", "stream": true, "reasoning": reasoning });
        let reply = crate::ask::post(&body);
        let shown = if reply.status == 200 { render(&reply) } else { json_body(&reply).to_string() };
        expected.assert_eq(&shown);
    };
    check(
        "sluice/openai-like",
        json!({}),
        &expect![[r#"
            text: I will look at it first (fc1f).
            text: Here is what I found (fc1f): Why?
            response.completed in 6 (cached 0) out 45 (reasoning 24)
        "#]],
    );
    check(
        "sluice/openai-like",
        json!({ "summary": "auto" }),
        &expect![[r#"
            summary: **Reading the request**

            There are 0 results.
            summary: **Going on**

            That is all.
            text: I will look at it first (fc1f).
            text: Here is what I found (fc1f): Why?
            response.completed in 6 (cached 0) out 43 (reasoning 22)
        "#]],
    );
    check(
        "sluice/openai-like",
        json!({ "summary": "auto", "effort": "none" }),
        &expect![[r#"
            text: I will look at it first (fc1f).
            text: Here is what I found (fc1f): Why?
            response.completed in 6 (cached 0) out 21 (reasoning 0)
        "#]],
    );
    check(
        "sluice/openai-unverified",
        json!({ "summary": "auto" }),
        &expect![[
            r#"{"error":{"code":"unsupported_value","message":"Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.","param":"reasoning.summary","type":"invalid_request_error"}}"#
        ]],
    );
    check(
        "sluice/deepseek-like",
        json!({ "summary": "auto" }),
        &expect![[r#"
            thought: There are 0 results.
            text: Here is what I found (a1ff): Why?
            response.completed in 6 (cached 0) out 16 (reasoning 5)
        "#]],
    );
}

#[test]
fn unknown_fields_are_refused_by_vllm() {
    let mut body = body("sluice/vllm-like", &[user("Why?")]);
    body["caching"] = "auto".into();
    expect![[r#"400 null: "Unexpected fields in the request: {'caching'}""#]].assert_eq(&ask(1, &body).unwrap_err());
}
