//! All endpoints except `POST /v1/responses`.

use expect_test::expect;
use serde_json::{Value, json};

use crate::ask::{NOW_MS, json_body, request, responder};
use crate::schema::check;

#[test]
fn paths_and_methods_are_routed() {
    let mut lines = String::new();
    for (method, path) in [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/sluice/demo"),
        ("GET", "/v1/models/sluice/nobody"),
        ("GET", "/v1/models/sluice/demo/endpoints"),
        ("GET", "/v1/models/sluice/nobody/endpoints"),
        ("GET", "/v1/credits"),
        ("GET", "/v1/generation?id=gen_1"),
        ("GET", "/v1/responses"),
        ("PUT", "/v1/responses"),
        ("DELETE", "/v1/models"),
        ("POST", "/v1/credits"),
        ("OPTIONS", "/v1/responses"),
        ("POST", "/responses"),
        ("POST", "/v1/chat/completions"),
        ("GET", "/"),
    ] {
        let reply = responder().respond(&request(method, path, &Value::Null), NOW_MS);
        let body = String::from_utf8(reply.body()).expect("UTF-8");
        let start: String = body.chars().take(60).collect();
        lines.push_str(&format!("{method} {path} → {} {start}\n", reply.status));
        assert!(!reply.headers.iter().any(|(name, _)| name.starts_with("access-control")));
    }
    expect![[r#"
        GET /v1/models → 200 {"data":[{"context_window":200000,"created":1776988800,"desc
        GET /v1/models/sluice/demo → 200 {"context_window":200000,"created":1776988800,"description":
        GET /v1/models/sluice/nobody → 404 {"error":{"code":"model_not_found","message":"Model 'sluice/
        GET /v1/models/sluice/demo/endpoints → 200 {"data":{"architecture":{"input_modalities":["text","image",
        GET /v1/models/sluice/nobody/endpoints → 404 {"error":{"code":"model_not_found","message":"Model 'sluice/
        GET /v1/credits → 200 {"balance":"100","total_used":"0"}
        GET /v1/generation?id=gen_1 → 404 {"error":"Generation gen_1 not found"}
        GET /v1/responses → 405 
        PUT /v1/responses → 405 
        DELETE /v1/models → 405 
        POST /v1/credits → 405 
        OPTIONS /v1/responses → 405 
        POST /responses → 404 <!DOCTYPE html><html><head><title>404: This page could not b
        POST /v1/chat/completions → 404 <!DOCTYPE html><html><head><title>404: This page could not b
        GET / → 404 <!DOCTYPE html><html><head><title>404: This page could not b
    "#]]
    .assert_eq(&lines);
}

#[test]
fn the_model_list_has_the_gateways_fields() {
    let list = json_body(&responder().respond(&request("GET", "/v1/models", &Value::Null), NOW_MS));
    let models = list["data"].as_array().expect("models");
    for model in models {
        for key in ["id", "object", "created", "released", "owned_by", "name", "description", "type", "pricing"] {
            assert!(!model[key].is_null(), "{key} of {}", model["id"]);
        }
        let prices = model["pricing"].as_object().expect("prices").values();
        let is_price = |price: &Value| price.as_str().is_some_and(|price| price.parse::<f64>().is_ok());
        let is_tier = |tier: &Value| is_price(&tier["cost"]) && tier["min"].is_u64();
        let is_tiers = |tiers: &Value| tiers.as_array().is_some_and(|tiers| tiers.iter().all(is_tier));
        assert!(prices.into_iter().all(|price| is_price(price) || is_tiers(price)));
    }
    let kinds: Vec<&str> =
        models.iter().filter_map(|model| model["type"].as_str()).filter(|kind| *kind != "language").collect();
    assert_eq!(kinds, ["embedding", "image"]);
    expect![[r#"
        {
          "context_window": 200000,
          "created": 1776988800,
          "description": "A small assistant made of rules. It answers, thinks aloud, calls tools, cites and refuses.",
          "id": "sluice/demo",
          "interleaved": false,
          "knowledge": "2026-04",
          "max_tokens": 32000,
          "modalities": {
            "input": [
              "text",
              "image",
              "file"
            ],
            "output": [
              "text"
            ]
          },
          "name": "Sluice Demo",
          "object": "model",
          "owned_by": "sluice",
          "pricing": {
            "input": "0.0000005",
            "input_cache_read": "0.00000005",
            "input_tiers": [
              {
                "cost": "0.0000005",
                "max": 100001,
                "min": 0
              },
              {
                "cost": "0.000001",
                "min": 100001
              }
            ],
            "output": "0.000002",
            "output_tiers": [
              {
                "cost": "0.000002",
                "max": 100001,
                "min": 0
              },
              {
                "cost": "0.000003",
                "min": 100001
              }
            ]
          },
          "reasoning_options": [
            {
              "type": "effort",
              "values": [
                "none",
                "low",
                "medium",
                "high",
                "xhigh"
              ]
            }
          ],
          "regions": [
            "us",
            "eu"
          ],
          "released": 1776988800,
          "supported_parameters": [
            "max_tokens",
            "temperature",
            "top_p",
            "tools",
            "tool_choice",
            "reasoning",
            "include_reasoning",
            "structured_outputs",
            "response_format"
          ],
          "supported_specifications": [
            "v3",
            "v4"
          ],
          "tags": [
            "reasoning",
            "tool-use",
            "vision",
            "file-input",
            "implicit-caching",
            "structured-output"
          ],
          "temperature": true,
          "type": "language"
        }
    "#]]
    .assert_eq(&format!("{:#}\n", models[0]));
}

#[test]
fn the_model_list_has_an_etag() {
    let ask = |tag: Option<&str>| {
        let mut request = request("GET", "/v1/models", &Value::Null);
        request.headers.extend(tag.map(|tag| ("If-None-Match".to_owned(), tag.to_owned())));
        responder().respond(&request, NOW_MS)
    };
    let first = ask(None);
    let etag = first.header("etag").expect("a tag").to_owned();
    assert!(etag.starts_with("W/\"") && etag.ends_with('"'), "{etag}");
    let strong = etag.trim_start_matches("W/");
    for known in [etag.as_str(), strong, "*", &format!("\"old\", {etag}")] {
        let again = ask(Some(known));
        assert_eq!((again.status, again.body().len(), again.header("etag")), (304, 0, Some(etag.as_str())), "{known}");
    }
    let other = ask(Some("\"old\""));
    assert_eq!((other.status, other.body()), (200, first.body()));
}

#[test]
fn endpoints_have_their_own_field_names() {
    let path = "/v1/models/sluice/demo/endpoints";
    let body = json_body(&responder().respond(&request("GET", path, &Value::Null), NOW_MS));
    let endpoint = &body["data"]["endpoints"][0];
    assert_eq!(endpoint["context_length"], 200_000);
    assert_eq!(endpoint["pricing"]["prompt"], "0.0000005");
    assert_eq!(endpoint["pricing"]["completion"], "0.000002");
    assert_eq!(endpoint["status"], 0);
    let second = &body["data"]["endpoints"][1];
    assert_eq!((&second["provider_name"], &second["context_length"]), (&json!("trickle"), &json!(100_000)));
}

#[test]
fn a_generation_is_found_on_the_second_request_with_its_cost() {
    let responder = responder();
    let get = |path: &str| responder.respond(&request("GET", path, &Value::Null), NOW_MS);
    let body = json!({ "model": "sluice/echo", "input": "Hello" });
    let response = json_body(&responder.respond(&request("POST", "/v1/responses", &body), NOW_MS));
    let path = format!("/v1/generation?id={}", response["id"].as_str().expect("an id"));
    let first = get(&path);
    assert_eq!(first.status, 404);
    assert!(json_body(&first)["error"].is_string());
    let generation = json_body(&get(&path))["data"].clone();
    assert_eq!(generation["tokens_completion"], response["usage"]["output_tokens"]);
    assert_eq!(generation["finish_reason"], "stop");
    let cost: f64 =
        response["provider_metadata"]["gateway"]["cost"].as_str().expect("a string").parse().expect("a number");
    assert_eq!(generation["total_cost"], cost);
    let used: f64 = json_body(&get("/v1/credits"))["total_used"].as_str().expect("a string").parse().expect("a number");
    assert!((used - cost).abs() < 1e-12);
}

#[test]
fn a_compacted_conversation_can_be_continued() {
    let responder = responder();
    let post = |path: &str, body: &Value| responder.respond(&request("POST", path, body), NOW_MS);
    let input = json!([
        { "type": "message", "role": "user", "content": "We launch on Tuesday." },
        { "type": "message", "role": "assistant", "content": "Noted." },
    ]);
    let compacted = json_body(&post("/v1/responses/compact", &json!({ "model": "sluice/demo", "input": input })));
    assert_eq!(check(&compacted, "Compacted"), Ok(()));
    let user = json!({ "type": "message", "role": "user", "content": "When?" });
    let next = json!({ "model": "sluice/demo", "input": [compacted["output"][0], user] });
    assert_eq!(post("/v1/responses", &next).status, 200);
    assert_eq!(post("/v1/responses/compact", &json!({ "input": input })).status, 400);
    assert_eq!(post("/v1/responses/compact", &json!({ "model": "x/y", "input": input })).status, 404);
}

#[test]
fn a_stored_response_can_be_continued() {
    let responder = responder();
    let create = |body: Value| responder.respond(&request("POST", "/v1/responses", &body), NOW_MS);
    let first = json_body(&create(json!({ "model": "sluice/demo", "input": "My name is Ada." })));
    let next = |store: bool, id: &Value| {
        create(
            json!({ "model": "sluice/demo", "input": "What is my name?", "previous_response_id": id, "store": store }),
        )
    };
    let second = json_body(&next(false, &first["id"]));
    assert_eq!(second["output"][0]["content"][0]["text"], "Your name is Ada.");
    assert_eq!(second["previous_response_id"], first["id"]);
    let third = next(false, &second["id"]);
    assert_eq!((third.status, json_body(&third)["error"]["code"].as_str()), (400, Some("previous_response_not_found")));
    let reference = json!([{ "type": "item_reference", "id": first["output"][0]["id"] }, { "type": "message", "role": "user", "content": "Hi" }]);
    assert_eq!(create(json!({ "model": "sluice/demo", "input": reference })).status, 200);
}
