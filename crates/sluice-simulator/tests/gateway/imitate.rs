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

/// Sends a question to the address at which this server has its API.
fn create(server: Imitated, body: &Value) -> Reply {
    let path = if server == Imitated::CodexProxy { "/responses" } else { "/v1/responses" };
    ask(server, "POST", path, body)
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
        let refuses = |server: &Imitated| create(*server, body).status >= 400;
        Imitated::ALL.into_iter().filter(refuses).map(Imitated::name).collect()
    };
    assert_eq!(refused(&question), Vec::<&str>::new());
    assert_eq!(refused(&with("caching", "auto".into())), ["anthropic", "deepseek", "openai", "smg", "transformers"]);
    assert_eq!(refused(&with("reasoning", json!({ "effort": "minimal" }))), ["huggingface", "ollama", "openai"]);
    assert_eq!(refused(&with("max_output_tokens", 200_000.into())), ["anthropic", "deepseek", "openai", "smg", "vllm"]);
    let reply = create(Imitated::Transformers, &with("caching", "auto".into()));
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
        let stream = text(&create(server, &question));
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
        aimock: response.completed incomplete, event lines, indexes
        anthropic: response.incomplete incomplete, [DONE], indexes
        codex-proxy: response.completed completed, event lines, indexes
        deepseek: response.incomplete incomplete, indexes
        huggingface: response.completed completed, indexes
        litellm: response.incomplete incomplete, [DONE], indexes
        llama.cpp: response.completed completed, event lines
        ollama: response.completed completed, event lines, indexes
        openai: response.incomplete incomplete, event lines, indexes
        responses-proxy: response.completed completed, indexes
        smg: response.completed incomplete, event lines, indexes
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
        let missing = ask(server, "POST", "/v2/responses", &Value::Null);
        lines.push(format!("{}: {} | {} {}", server.name(), fields.join(" "), missing.status, text(&missing)));
    }
    expect_test::expect![[r#"
        aimock: created id object owned_by | 404 {"error":{"message":"Not found","type":"not_found"}}
        anthropic: created_at display_name id max_input_tokens max_tokens type | 404 {"detail":"Not Found"}
        codex-proxy: created id object owned_by | 404 {"detail":"Not Found"}
        deepseek: created id object owned_by | 404 {"error":{"code":null,"message":"Invalid URL (POST /v2/responses)","param":null,"type":"invalid_request_error"}}
        huggingface:  | 404 404 page not found
        litellm: created id max_input_tokens max_output_tokens mode object owned_by | 404 {"detail":"Not Found"}
        llama.cpp: created id meta object owned_by | 404 {"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}
        ollama: created id object owned_by | 404 404 page not found
        openai: created id object owned_by | 404 {"error":{"code":null,"message":"Invalid URL (POST /v2/responses)","param":null,"type":"invalid_request_error"}}
        responses-proxy: created id object owned_by | 404 404 page not found
        smg: created id object owned_by | 404 {"error":{"code":null,"message":"Invalid URL (POST /v2/responses)","param":null,"type":"invalid_request_error"}}
        transformers: created id object owned_by | 404 {"detail":"Not Found"}
        vllm: created id max_model_len object owned_by parent permission root | 404 {"detail":"Not Found"}"#]].assert_eq(&lines.join("\n"));
}

/// Some have it at the root, some below `/v1`, and some have both.
#[test]
fn each_server_has_its_api_where_it_was_seen() {
    let question = json!({ "model": "sluice/echo", "input": "Hi", "stream": true });
    let mut lines = Vec::new();
    for server in Imitated::ALL {
        let at = |method: &str, path: &str| match ask(server, method, path, &question).status {
            200 => format!(" {path}"),
            _ => String::new(),
        };
        let (root, below) = (at("POST", "/responses"), at("POST", "/v1/responses"));
        lines.push(format!("{}:{root}{below}{}{}", server.name(), at("GET", "/models"), at("GET", "/v1/models")));
    }
    expect_test::expect![[r#"
        aimock: /responses /v1/responses /v1/models
        anthropic: /responses /v1/responses /models /v1/models
        codex-proxy: /responses /models /v1/models
        deepseek: /v1/responses /v1/models
        huggingface: /v1/responses
        litellm: /responses /v1/responses /models /v1/models
        llama.cpp: /responses /v1/responses /models /v1/models
        ollama: /v1/responses /v1/models
        openai: /v1/responses /v1/models
        responses-proxy: /v1/responses /v1/models
        smg: /v1/responses /v1/models
        transformers: /v1/responses /v1/models
        vllm: /v1/responses /v1/models"#]]
    .assert_eq(&lines.join("\n"));
}

/// Engines send what a model thinks, and nothing that is sealed.
#[test]
fn each_server_shows_as_much_of_the_thinking_as_it_was_seen_to() {
    let question = json!({ "model": "sluice/encrypted-reasoning", "input": "Hi", "stream": true,
        "reasoning": { "summary": "auto" }, "include": ["reasoning.encrypted_content"] });
    let mut lines = Vec::new();
    for server in Imitated::ALL {
        let stream = text(&create(server, &question)).replace("\"encrypted_content\":\"\"", "");
        let has = |word: &str, name: &'static str| if stream.contains(word) { name } else { "" };
        lines.push(format!(
            "{}:{}{}{}",
            server.name(),
            has("reasoning_text.delta", " plain"),
            has("summary_text.delta", " summaries"),
            has("encrypted_content\":\"", " sealed"),
        ));
    }
    expect_test::expect![[r#"
        aimock: summaries sealed
        anthropic: summaries sealed
        codex-proxy:
        deepseek: plain
        huggingface: plain
        litellm: summaries sealed
        llama.cpp: plain
        ollama: summaries sealed
        openai: summaries sealed
        responses-proxy: plain
        smg: plain
        transformers: plain
        vllm: plain"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn each_server_says_about_an_unknown_model_what_it_was_seen_to_say() {
    let question = json!({ "model": "acme/unknown", "input": "Hi", "stream": true });
    let mut lines = Vec::new();
    for server in Imitated::ALL {
        let reply = create(server, &question);
        let said = if reply.status == 200 { "answers".to_owned() } else { text(&reply) };
        lines.push(format!("{}: {} {said}", server.name(), reply.status));
    }
    expect_test::expect![[r#"
        aimock: 404 {"error":{"code":"model_not_found","message":"Model 'acme/unknown' not found","param":{"modelId":"acme/unknown"},"type":"model_not_found"}}
        anthropic: 400 {"error":{"code":"400","message":"/responses: Invalid model name passed in model=acme/unknown. Call `/v1/models` to view available models for your key.","param":null,"type":"invalid_request_error"}}
        codex-proxy: 404 {"error":{"code":"model_not_found","message":"Model 'acme/unknown' not found","param":{"modelId":"acme/unknown"},"type":"model_not_found"}}
        deepseek: 404 {"error":{"code":"model_not_found","message":"Model 'acme/unknown' not found","param":{"modelId":"acme/unknown"},"type":"model_not_found"}}
        huggingface: 404 {"details":[{"code":"model_not_found","message":"Model 'acme/unknown' not found","path":[""]}],"error":[{"code":"model_not_found","message":"Model 'acme/unknown' not found","path":[""]}],"success":false}
        litellm: 400 {"error":{"code":"400","message":"/responses: Invalid model name passed in model=acme/unknown. Call `/v1/models` to view available models for your key.","param":null,"type":"invalid_request_error"}}
        llama.cpp: 200 answers
        ollama: 404 {"error":{"code":null,"message":"Model 'acme/unknown' not found","param":null,"type":"not_found_error"}}
        openai: 404 {"error":{"code":"model_not_found","message":"Model 'acme/unknown' not found","param":{"modelId":"acme/unknown"},"type":"model_not_found"}}
        responses-proxy: 404 {"error":{"code":"model_not_found","message":"Model 'acme/unknown' not found","param":{"modelId":"acme/unknown"},"type":"model_not_found"}}
        smg: 404 {"error":{"code":404,"message":"Model 'acme/unknown' not found","param":{"modelId":"acme/unknown"},"type":"NotFoundError"}}
        transformers: 500 Internal Server Error
        vllm: 404 {"error":{"code":404,"message":"Model 'acme/unknown' not found","param":{"modelId":"acme/unknown"},"type":"NotFoundError"}}"#]].assert_eq(&lines.join("\n"));
}
