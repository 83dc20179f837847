//! The servers that the gateway imitates.

use serde_json::{Value, json};
use sluice_simulator::{Faults, Imitated, Options, Reply, Request, Responder};

fn responder(server: Imitated) -> Responder {
    let faults = Faults::parse(&format!("as={}", server.name())).unwrap();
    Responder::new(Options { faults, ..Options::default() })
}

fn ask(server: Imitated, method: &str, path: &str, body: &Value) -> Reply {
    let request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    };
    responder(server).respond(&request, 1_800_000_000_000)
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body()).unwrap()
}

#[test]
fn each_server_refuses_what_it_was_seen_to_refuse() {
    let question = json!({ "model": "sluice/echo", "input": "Hi", "stream": true });
    let with = |field: &str, value: Value| {
        let mut body = question.clone();
        body[field] = value;
        body
    };
    let refused = |body: &Value| -> Vec<&str> {
        let refuses = |server: &Imitated| ask(*server, "POST", "/v1/responses", body).status >= 400;
        Imitated::ALL.into_iter().filter(refuses).map(Imitated::name).collect()
    };
    assert_eq!(refused(&question), Vec::<&str>::new());
    assert_eq!(refused(&with("caching", "auto".into())), ["anthropic", "deepseek", "openai", "transformers"]);
    assert_eq!(refused(&with("reasoning", json!({ "effort": "minimal" }))), ["huggingface", "openai"]);
    assert_eq!(refused(&with("max_output_tokens", 200_000.into())), ["anthropic", "deepseek", "openai", "vllm"]);
    let reply = ask(Imitated::Transformers, "POST", "/v1/responses", &with("caching", "auto".into()));
    assert_eq!(
        (reply.status, text(&reply).as_str()),
        (422, r#"{"detail":"Unexpected fields in the request: {'caching'}"}"#)
    );
}

#[test]
fn each_server_spells_and_ends_its_answers_as_it_was_seen_to() {
    let question = json!({ "model": "sluice/incomplete", "input": "Hi", "stream": true });
    let mut lines = Vec::new();
    for server in Imitated::ALL {
        let stream = text(&ask(server, "POST", "/v1/responses", &question));
        let last = stream.lines().rfind(|line| line.starts_with("data: {")).unwrap();
        let last: Value = serde_json::from_str(&last["data: ".len()..]).unwrap();
        let has = |word: &str, name: &'static str| if stream.contains(word) { name } else { "" };
        lines.push(format!(
            "{}: {} {}{}{}{}",
            server.name(),
            last["type"].as_str().unwrap(),
            last["response"]["status"].as_str().unwrap(),
            has("\nevent: ", ", event lines"),
            has("[DONE]", ", [DONE]"),
            has("output_index", ", indexes"),
        ));
    }
    expect_test::expect![[r#"
        anthropic: response.incomplete incomplete, [DONE], indexes
        deepseek: response.incomplete incomplete, indexes
        huggingface: response.completed completed, indexes
        litellm: response.incomplete incomplete, [DONE], indexes
        llama.cpp: response.completed completed, event lines
        ollama: response.incomplete incomplete, event lines, indexes
        openai: response.incomplete incomplete, event lines, indexes
        responses-proxy: response.completed completed, indexes
        transformers: response.completed completed, indexes
        vllm: response.completed incomplete, event lines, indexes"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn each_server_lists_its_models_and_names_missing_routes_in_its_own_words() {
    let mut lines = Vec::new();
    for server in Imitated::ALL {
        let list: Value =
            serde_json::from_str(&text(&ask(server, "GET", "/v1/models", &Value::Null))).unwrap_or_default();
        let first = list["data"][0].as_object();
        let fields: Vec<&str> = first.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let missing = ask(server, "POST", "/responses", &Value::Null);
        lines.push(format!("{}: {} | {} {}", server.name(), fields.join(" "), missing.status, text(&missing)));
    }
    expect_test::expect![[r#"
        anthropic: created_at display_name id max_input_tokens max_tokens type | 404 {"detail":"Not Found"}
        deepseek: created id object owned_by | 404 {"error":{"code":null,"message":"Invalid URL (POST /responses)","param":null,"type":"invalid_request_error"}}
        huggingface:  | 404 404 page not found
        litellm: created id max_input_tokens max_output_tokens mode object owned_by | 404 {"detail":"Not Found"}
        llama.cpp: created id meta object owned_by | 404 {"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}
        ollama: created id object owned_by | 404 404 page not found
        openai: created id object owned_by | 404 {"error":{"code":null,"message":"Invalid URL (POST /responses)","param":null,"type":"invalid_request_error"}}
        responses-proxy: created id object owned_by | 404 404 page not found
        transformers: created id object owned_by | 404 {"detail":"Not Found"}
        vllm: created id max_model_len object owned_by parent permission root | 404 {"detail":"Not Found"}"#]].assert_eq(&lines.join("\n"));
}
