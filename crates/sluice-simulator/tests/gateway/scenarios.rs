//! The answers of each test model.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::ask::{NOW_MS, events, json_body, last_response, post, render, request, responder, say};

fn check(model: &str, prompt: &str, expected: &Expect) {
    expected.assert_eq(&render(&say(model, prompt)));
}

#[test]
fn models_that_answer_with_text() {
    check(
        "sluice/echo",
        "Grüße,\n水位!",
        &expect![[r#"
        text: Grüße,
        水位!
        response.completed in 12 (cached 0) out 8 (reasoning 0)
    "#]],
    );
    check(
        "sluice/long",
        "Write 15 words",
        &expect![[r#"
        text: water runs down the channel until the gate lets it through again water runs down
        response.completed in 7 (cached 0) out 15 (reasoning 0)
    "#]],
    );
    check(
        "sluice/burst",
        "5",
        &expect![[r#"
        text:  0 1 2 3 4
        response.completed in 5 (cached 0) out 5 (reasoning 0)
    "#]],
    );
    check(
        "sluice/refusal",
        "Anything",
        &expect![[r#"
        refusal: I can't help with that.
        response.completed in 6 (cached 0) out 8 (reasoning 0)
    "#]],
    );
    check(
        "sluice/citations",
        "Why?",
        &expect![[r#"
        text: Open Responses is a specification. The gateway speaks it.
        cites: 0-34 "https://www.openresponses.org/" "Open Responses"
        cites: 35-57 "https://vercel.com/docs/ai-gateway" "AI Gateway [docs] (beta)"
        response.completed in 6 (cached 0) out 13 (reasoning 0)
    "#]],
    );
    check(
        "sluice/image",
        "Paint",
        &expect![[r#"
        image: 92
        text: Here is your picture.
        response.completed in 5 (cached 0) out 261 (reasoning 0)
    "#]],
    );
    check(
        "sluice/empty",
        "Hello?",
        &expect![[r#"
        response.completed in 6 (cached 0) out 0 (reasoning 0)
    "#]],
    );
}

#[test]
fn models_that_reason() {
    check(
        "sluice/reasoning",
        "Why?",
        &expect![[r#"
        thought: The user says: Why?
        That can be answered at once.
        text: I thought about it: Why?
        response.completed in 6 (cached 0) out 21 (reasoning 14)
    "#]],
    );
    check(
        "sluice/encrypted-reasoning",
        "Why?",
        &expect![[r#"
            text: I kept my thoughts to myself: Why?
            response.completed in 6 (cached 0) out 34 (reasoning 24)
        "#]],
    );
    check(
        "sluice/thinking-only",
        "Why?",
        &expect![[r#"
            response.completed in 6 (cached 0) out 24 (reasoning 24)
        "#]],
    );
}

#[test]
fn models_that_do_not_finish() {
    check(
        "sluice/incomplete",
        "Go on",
        &expect![[r#"
        text: This answer is cut off in the middle of a
        response.incomplete in 6 (cached 0) out 10 (reasoning 0) max_output_tokens
    "#]],
    );
    check(
        "sluice/content-filter",
        "Go on",
        &expect![[r#"
        text: This answer is cut off in the middle of a
        response.incomplete in 6 (cached 0) out 10 (reasoning 0) content_filter
    "#]],
    );
    check(
        "sluice/failed",
        "Go on",
        &expect![[r#"
        text: This answer is cut off in the middle of a
        response.failed in 6 (cached 0) out 10 (reasoning 0) server_error
    "#]],
    );
    check(
        "sluice/error",
        "Go on",
        &expect![[r#"
        text: This answer is cut off in the middle of a
        error: "Something broke, as it was asked to."
        response.failed in 6 (cached 0) out 10 (reasoning 0) server_error
    "#]],
    );
    let reply = post(&json!({ "model": "sluice/long", "input": "100 words", "stream": true, "max_output_tokens": 16 }));
    expect![[r#"
        text: water runs down the channel until the gate lets it through again water runs down the
        response.incomplete in 6 (cached 0) out 16 (reasoning 0) max_output_tokens
    "#]]
    .assert_eq(&render(&reply));
}

#[test]
fn models_that_call_tools() {
    let tools = json!([
        { "type": "function", "name": "one", "parameters": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } },
        { "type": "function", "name": "two" },
    ]);
    let check = |model: &str, prompt: &str, expected: &Expect| {
        expected.assert_eq(&render(&post(&json!({ "model": model, "input": prompt, "stream": true, "tools": tools }))));
    };
    check(
        "sluice/tools",
        "Do it",
        &expect![[r#"
        arguments: {"n":1}
        call: "one" "completed"
        response.completed in 57 (cached 0) out 8 (reasoning 0)
    "#]],
    );
    check(
        "sluice/tools",
        "two, then one {\"n\": 12345678901234567890123}",
        &expect![[r#"
        arguments: {}
        call: "two" "completed"
        arguments: {"n": 12345678901234567890123}
        call: "one" "completed"
        response.completed in 69 (cached 0) out 14 (reasoning 0)
    "#]],
    );
    check(
        "sluice/parallel-tools",
        "Do it",
        &expect![[r#"
        arguments: {"n":1}
        call: "one" "completed"
        arguments: {}
        call: "two" "completed"
        response.completed in 57 (cached 0) out 11 (reasoning 0)
    "#]],
    );
    expect![[r#"
        text: I was not offered a tool.
        response.completed in 8 (cached 0) out 7 (reasoning 0)
    "#]]
    .assert_eq(&render(&say("sluice/tools", "Do it without tools")));
    expect![[r#"
        text: one said: 42
        response.completed in 69 (cached 0) out 4 (reasoning 0)
    "#]]
    .assert_eq(&render(&post(&json!({ "model": "sluice/tools", "stream": true, "tools": tools, "input": [
        { "type": "message", "role": "user", "content": "Do it" },
        { "type": "function_call", "call_id": "c", "name": "one", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c", "output": [{ "type": "input_text", "text": "42" }] },
    ] }))));
}

#[test]
fn a_burst_numbers_its_deltas() {
    let reply = say("sluice/burst", "200");
    let deltas: Vec<String> =
        events(&reply).iter().filter_map(|event| event["delta"].as_str().map(str::to_owned)).collect();
    assert_eq!(deltas, (0..200).map(|at| format!(" {at}")).collect::<Vec<_>>());
    assert!(reply.chunks.clone().all(|chunk| chunk.delay_ms == 0));
}

#[test]
fn encrypted_content_must_return_unchanged_to_its_model() {
    let responder = responder();
    let create = |body| responder.respond(&request("POST", "/v1/responses", &body), NOW_MS);
    let first = create(
        json!({ "model": "sluice/encrypted-reasoning", "input": "Why?", "include": ["reasoning.encrypted_content"] }),
    );
    let output = json_body(&first)["output"].as_array().expect("output").clone();
    assert!(output[0]["encrypted_content"].is_string());
    let again = |model: &str, reasoning: &serde_json::Value| {
        let user = json!({ "type": "message", "role": "user", "content": "And?" });
        create(json!({ "model": model, "input": [reasoning, output[1], user] })).status
    };
    let mut damaged = output[0].clone();
    damaged["encrypted_content"] = format!("{}0", output[0]["encrypted_content"].as_str().expect("a seal")).into();
    assert_eq!(again("sluice/encrypted-reasoning", &output[0]), 200);
    assert_eq!(again("sluice/reasoning", &output[0]), 400);
    assert_eq!(again("sluice/encrypted-reasoning", &damaged), 400);
}

#[test]
fn a_prompt_that_begins_like_an_earlier_one_is_partly_cached() {
    let responder = sluice_simulator::Responder::new(sluice_simulator::Options::default());
    let details = |instructions: &str, now_ms: u64| {
        let body = json!({ "model": "sluice/echo", "instructions": instructions, "input": "one two" });
        let response = json_body(&responder.respond(&request("POST", "/v1/responses", &body), now_ms));
        let cost = &response["provider_metadata"]["gateway"]["cost"];
        let usage = &response["usage"];
        format!("{} of {} for {cost}", usage["input_tokens_details"]["cached_tokens"], usage["input_tokens"])
    };
    let rules = "rule ".repeat(2_000);
    let lines = [
        details(&rules, NOW_MS),
        details(&rules, NOW_MS + 1_000),
        details(&format!("{rules}and more"), NOW_MS + 2_000),
        details(&format!("At first: {rules}"), NOW_MS + 3_000),
        details(&rules, NOW_MS + 600_000),
        details("rule rule", NOW_MS + 600_001),
        details("rule rule", NOW_MS + 600_002),
    ];
    expect![[r#"
        0 of 2007 for "0.0002015"
        1920 of 2007 for "0.0000287"
        1920 of 2008 for "0.0000288"
        0 of 2010 for "0.0002018"
        0 of 2007 for "0.0002015"
        0 of 8 for "0.0000016"
        0 of 8 for "0.0000016""#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    assert_eq!(say("sluice/demo", "Hello").chunks.to_vec(), say("sluice/demo", "Hello").chunks.to_vec());
    let other = sluice_simulator::Responder::new(sluice_simulator::Options { seed: 8, ..Default::default() });
    let body = json!({ "model": "sluice/demo", "input": "Hello", "stream": true });
    let reply = other.respond(&request("POST", "/v1/responses", &body), NOW_MS);
    assert_ne!(reply.chunks.to_vec(), say("sluice/demo", "Hello").chunks.to_vec());
}

#[test]
fn the_gateway_reports_the_cost() {
    let response = last_response(&say("sluice/demo", "Hello"));
    let gateway = &response["provider_metadata"]["gateway"];
    let number = |key: &str| response["usage"][key].as_u64().expect("a number");
    let cost: f64 = gateway["cost"].as_str().expect("a string").parse().expect("a number");
    let billionths = number("input_tokens") * 500 + number("output_tokens") * 2000;
    assert!((cost * 1e9 - f64::from(u32::try_from(billionths).expect("small"))).abs() < 0.5);
    assert_eq!(gateway["generationId"], response["id"]);
    assert_eq!(gateway["routing"]["finalProvider"], "sluice");
}
