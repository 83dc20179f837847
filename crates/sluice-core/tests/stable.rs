//! Prompts begin alike as long as nothing has really changed, and the gateway is told which part will stay the same.

#![allow(clippy::needless_pass_by_value, reason = "JSON is written as an argument of each case")]

use crate::support::send::{assistant, call, result, user};
use proptest::prelude::*;
use serde_json::{Value, json};
use sluice_core::{ChatRequest, Endpoint, ToolDefinition, ToolOrder, VERCEL, build_request};

fn tools(names: &[&str]) -> Vec<ToolDefinition> {
    names.iter().map(|name| serde_json::from_value(json!({"name": name, "description": ""})).unwrap()).collect()
}

fn names(tools: &[ToolDefinition]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn tools_keep_the_order_in_which_they_were_first_sent() {
    let mut order = ToolOrder::default();
    let mut send = |model: &str, offered: &[&str]| {
        let mut offered = tools(offered);
        let is_changed = order.restore(model, &mut offered);
        (names(&offered).join(" "), is_changed)
    };
    let mut check = |offered: &[&str], expected: &str, is_changed: bool| {
        assert_eq!(send("a", offered), (expected.to_owned(), is_changed));
    };
    check(&["read", "write", "search"], "read write search", false);
    // An MCP server has started before another one.
    check(&["search", "read", "write"], "read write search", true);
    // A new tool comes last, wherever it is offered.
    check(&["fetch", "read", "write", "search"], "read write search fetch", true);
    // One that is gone for a while keeps its place.
    check(&["search", "read"], "read search", true);
    check(&["write", "search", "read"], "read write search", true);
    assert_eq!(send("b", &["write", "read"]), ("write read".to_owned(), false), "another model has another cache");
}

#[test]
fn the_orders_of_a_hundred_models_and_a_thousand_tools_are_remembered() {
    let mut order = ToolOrder::default();
    let mut send = |model: usize, offered: &[&str]| {
        let mut offered = tools(offered);
        order.restore(&model.to_string(), &mut offered)
    };
    for model in 0..100 {
        send(model, &["read", "write"]);
    }
    assert!(send(0, &["write", "read"]), "a known model doesn't count again");
    send(100, &["read", "write"]);
    assert!(!send(0, &["write", "read"]), "all are forgotten");
    let many: Vec<String> = (0..1_000).map(|number| format!("tool{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    send(1, &many);
    assert!(send(1, &["tool1", "tool0"]));
    send(1, &["one", "more"]);
    assert!(!send(1, &["tool1", "tool0"]), "all are forgotten");
}

proptest! {
    #[test]
    fn an_order_is_only_an_order(rounds in prop::collection::vec(prop::collection::vec("[a-f]", 0..6), 1..8)) {
        let mut order = ToolOrder::default();
        let mut before: Vec<String> = Vec::new();
        for round in rounds {
            let offered: Vec<&str> = round.iter().map(String::as_str).collect();
            let mut sent = tools(&offered);
            order.restore("a", &mut sent);
            let mut expected = offered.clone();
            let mut actual = names(&sent);
            // Tools that were sent before come in the same order as before.
            let known = |name: &&&str| before.iter().any(|one| one == **name);
            let places: Vec<usize> =
                actual.iter().filter(known).filter_map(|name| before.iter().position(|one| one == name)).collect();
            prop_assert!(places.is_sorted());
            for name in &actual {
                if !before.iter().any(|one| one == name) {
                    before.push((*name).to_owned());
                }
            }
            expected.sort_unstable();
            actual.sort_unstable();
            prop_assert_eq!(expected, actual, "no tool is lost or doubled");
        }
    }
}

fn body(messages: Value, options: Value, address: &str) -> Value {
    let chat: ChatRequest =
        serde_json::from_value(json!({"model": "m", "messages": messages, "options": options})).unwrap();
    let built = build_request(&chat, &Endpoint::parse(address).unwrap());
    serde_json::from_str(&built.request.body).unwrap()
}

#[test]
fn the_gateway_is_told_what_stays_the_same() {
    let cached = json!({"automaticCaching": true});
    let anchor = |messages: Value, options: &Value, address: &str| {
        let body = body(messages, options.clone(), address);
        (body["cache_anchor_items"].clone(), body["cache_ttl"].clone())
    };
    let talk = json!([user("Hi"), assistant(json!([{"type": "text", "value": "Hello."}])), user("Go")]);
    assert_eq!(anchor(json!([user("Hi")]), &cached, VERCEL), (Value::Null, Value::Null), "nothing was sent before");
    assert_eq!(anchor(talk.clone(), &cached, VERCEL), (2.into(), Value::Null));
    let calls =
        json!([user("Hi"), assistant(json!([call("a", "f"), call("b", "f")])), result("a", "1"), result("b", "2")]);
    assert_eq!(anchor(calls, &cached, VERCEL), (3.into(), Value::Null));
    let long = json!({"automaticCaching": true, "longCache": true});
    assert_eq!(anchor(talk.clone(), &long, VERCEL), (2.into(), "1h".into()));
    assert_eq!(
        anchor(talk.clone(), &json!({"longCache": true}), VERCEL),
        (Value::Null, Value::Null),
        "no cache at all"
    );
    assert_eq!(anchor(talk, &long, "https://other.example/v1"), (Value::Null, Value::Null), "others don't know it");
}

/// A server that refuses one of the fields gets none of them.
#[test]
fn the_fields_of_the_cache_are_left_out_together() {
    let options = json!({"automaticCaching": true, "longCache": true});
    let messages = json!([user("Hi"), assistant(json!([{"type": "text", "value": "Hello."}])), user("Go")]);
    let chat: ChatRequest =
        serde_json::from_value(json!({"model": "m", "messages": messages, "options": options})).unwrap();
    let built = build_request(&chat, &Endpoint::parse(VERCEL).unwrap());
    let caching = built.optional.iter().copied().find(|parameter| parameter.path() == "caching").unwrap();
    let body: Value = serde_json::from_str(&built.without(&[caching]).request.body).unwrap();
    let left: Vec<&String> = body.as_object().unwrap().keys().filter(|name| name.contains("cach")).collect();
    assert_eq!(left, Vec::<&String>::new());
}

#[test]
fn lines_that_differ_in_every_chat_come_last_if_the_user_wants() {
    let system = "You are an agent.\nVSCODE_TARGET_SESSION_LOG: /tmp/4711\nBe brief.";
    let messages = json!([{"role": "system", "content": [{"type": "text", "value": system}]}, user("Hi")]);
    let instructions = |options: Value| body(messages.clone(), options, VERCEL)["instructions"].clone();
    assert_eq!(instructions(json!({})), system);
    let moved = "You are an agent.\nBe brief.\nVSCODE_TARGET_SESSION_LOG: /tmp/4711";
    assert_eq!(instructions(json!({"stableInstructions": true})), moved);
    assert_eq!(body(json!([user("Hi")]), json!({"stableInstructions": true}), VERCEL)["instructions"], Value::Null);
}
