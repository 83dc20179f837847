//! Base URLs that are wrong by `/v1` or by the end of a pasted address, and lists of models as plain servers send them.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{
    Action, ChatModel, Endpoint, Exchange, ExchangeOptions, HttpResponse, ModelCatalog, ModelSettings, Parameter,
    Refresh, Report,
};

use crate::support::catalog::{NOW, ok, only};

const NOT_FOUND: &str = r#"{"detail":"Not Found"}"#;

/// Sends a request to servers that answer with these statuses and bodies. Returns the addresses and the report.
fn exchange(base_url: &str, answers: &[(u16, &str)]) -> (Vec<String>, Report) {
    let options = ExchangeOptions { base_url: base_url.to_owned(), max_attempts: 1, ..ExchangeOptions::default() };
    let mut exchange = Exchange::new(options);
    let (mut urls, mut answers) = (Vec::new(), answers.iter());
    loop {
        match exchange.poll(0) {
            Action::Send { url, .. } => {
                urls.push(url.unwrap_or_else(|| "as built".to_owned()));
                let (status, body) = answers.next().expect("no further request");
                exchange.handle_head(*status, Vec::new(), NOW);
                exchange.handle_bytes(body.as_bytes());
                exchange.handle_end();
            }
            Action::End(report) => return (urls, Arc::unwrap_or_clone(report)),
            _ => {}
        }
    }
}

#[test]
fn the_address_with_or_without_v1_is_tried_once_and_named() {
    let completed = "data: {\"type\":\"response.completed\",\"response\":{}}\n\n";
    for (base_url, status, body, other) in [
        ("http://127.0.0.1:8000", 404, NOT_FOUND, "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1", 405, r#"{"detail":"Method Not Allowed"}"#, "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/v1/responses", 404, "", "http://127.0.0.1:8000/v1"),
        ("https://example.com/api/v1/chat/completions", 404, "<html>", "https://example.com/api/v1"),
        ("https://example.com/api", 404, "404 page not found", "https://example.com/api/v1"),
    ] {
        let (urls, report) = exchange(base_url, &[(status, body), (200, completed)]);
        assert_eq!(urls, ["as built", &format!("{other}/responses")]);
        let elsewhere = report.elsewhere.unwrap();
        assert_eq!(elsewhere.base_url, other);
        let expected = format!(
            "There is no Open Responses API at {base_url}, but there is one at {other}. Change the base URL to {other}."
        );
        assert_eq!(elsewhere.message.to_string(), expected);
    }
    let (urls, report) = exchange("http://127.0.0.1:8000", &[(404, NOT_FOUND), (404, NOT_FOUND)]);
    assert_eq!((urls.len(), report.elsewhere), (2, None));
    expect!["Not Found. Check the base URL: there is no Open Responses API at http://127.0.0.1:8000, and none at http://127.0.0.1:8000/v1."]
        .assert_eq(&report.outcome.error.unwrap().sentence());
    // A model that doesn't exist says nothing about the address.
    let (urls, report) = exchange("http://127.0.0.1:8000", &[(404, r#"{"error":{"message":"no such model: x"}}"#)]);
    assert_eq!((urls.len(), report.elsewhere), (1, None));
}

#[test]
fn the_size_of_the_window_is_learned_even_if_less_output_helps() {
    let options = ExchangeOptions { optional: vec![Parameter::MaxOutputTokens], ..ExchangeOptions::default() };
    let mut exchange = Exchange::new(options);
    exchange.handle_head(400, Vec::new(), NOW);
    let message =
        "max_output_tokens=16384 cannot be greater than max_model_len=2048. Please request fewer output tokens.";
    exchange.handle_bytes(json!({"error": {"message": message}}).to_string().as_bytes());
    exchange.handle_end();
    let Action::Send { without, .. } = exchange.poll(0) else { panic!("it is sent again") };
    assert_eq!(without, [Parameter::MaxOutputTokens]);
    exchange.handle_head(200, Vec::new(), NOW);
    exchange.handle_bytes(b"data: {\"type\":\"response.completed\",\"response\":{}}\n\n");
    let Action::End(report) = exchange.poll(0) else { panic!("the exchange is over") };
    let mut catalog = ModelCatalog::new(&Endpoint::parse("http://127.0.0.1:8000/v1").unwrap());
    assert_eq!(catalog.learn("m", report.overflow.as_deref().unwrap(), NOW), Some(2048));
}

#[test]
fn a_list_at_the_other_address_is_used_and_the_address_is_named() {
    let endpoint = Endpoint::parse("http://127.0.0.1:8000").unwrap();
    let mut catalog = ModelCatalog::new(&endpoint);
    let missing = HttpResponse { status: 404, headers: Vec::new(), body: NOT_FOUND.to_owned() };
    let other = catalog.other_list_request(&missing).unwrap();
    assert_eq!(other.url, "http://127.0.0.1:8000/v1/models");
    assert_eq!(catalog.handle_other_list(&ok(json!({"data": [{"id": "tiny"}]})), NOW), Refresh::Changed);
    let (catalog, _) = ModelCatalog::restore(&catalog.snapshot(), &endpoint);
    assert_eq!(catalog.list_request().url, "http://127.0.0.1:8000/v1/models");
    assert_eq!(catalog.credits_request().url, "http://127.0.0.1:8000/v1/credits");
    let endpoints = catalog.endpoints_request("acme/tiny", NOW).unwrap();
    assert_eq!(endpoints.url, "http://127.0.0.1:8000/v1/models/acme/tiny/endpoints");
    let list = catalog.models(&ModelSettings::default(), NOW);
    assert_eq!(list.models.len(), 1);
    expect!["There is no Open Responses API at http://127.0.0.1:8000, but there is one at http://127.0.0.1:8000/v1. Change the base URL to http://127.0.0.1:8000/v1."]
        .assert_eq(&list.notes[0].detail);

    let mut catalog = ModelCatalog::new(&endpoint);
    let Refresh::Kept(note) = catalog.handle_other_list(&missing, NOW) else { panic!("there is no list") };
    expect!["There is no list of models at http://127.0.0.1:8000, and none at http://127.0.0.1:8000/v1. Check the base URL, or name the models in the settings."]
        .assert_eq(&note.detail);
    assert_eq!(catalog.other_list_request(&ok(json!({"data": []}))), None);
}

fn check(model: Value, expected: Expect) {
    let mut catalog = ModelCatalog::new(&Endpoint::parse("http://127.0.0.1:8000/v1").unwrap());
    catalog.handle_list(&ok(json!({"object": "list", "data": [{"id": "any-chat"}, model]})), NOW);
    // What is stored says the same.
    let (catalog, _) =
        ModelCatalog::restore(&catalog.snapshot(), &Endpoint::parse("http://127.0.0.1:8000/v1").unwrap());
    let list = catalog.models(&ModelSettings::default(), NOW);
    let line = match (list.models.get(1), list.others.first()) {
        (Some(model), _) => describe(model),
        (None, Some(other)) => format!("{}: {}", other.id, other.kind),
        (None, None) => "nothing".to_owned(),
    };
    expected.assert_eq(&line);
}

fn describe(model: &ChatModel) -> String {
    let can = |ability: bool, name: &'static str| if ability { name } else { "" };
    format!(
        "{}: {} + {}, sends {:?}{}{}",
        model.id,
        model.max_input_tokens,
        model.max_output_tokens,
        model.sent_output_tokens,
        can(model.capabilities.image_input, ", sees"),
        can(model.capabilities.tool_calling, ", calls"),
    )
}

#[test]
fn lists_of_plain_servers_are_read() {
    // OpenAI, and Ollama's compatible list.
    check(
        json!({"id": "gpt-4o", "object": "model", "created": 1, "owned_by": "openai"}),
        expect!["gpt-4o: 111616 + 16384, sends None, sees, calls"],
    );
    check(
        json!({"id": "llama3.2:latest", "object": "model", "owned_by": "library"}),
        expect!["llama3.2:latest: 111616 + 16384, sends None, calls"],
    );
    check(
        json!({"id": "nomic-embed-text:latest", "object": "model", "owned_by": "library"}),
        expect!["nomic-embed-text:latest: embedding"],
    );
    // vLLM.
    check(
        json!({"id": "tiny", "object": "model", "owned_by": "vllm", "root": "x", "max_model_len": 2048}),
        expect!["tiny: 1536 + 512, sends None, calls"],
    );
    // llama.cpp.
    check(
        json!({"id": "m.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 2048, "n_ctx_train": 4096, "n_vocab": 512}}),
        expect!["m.gguf: 1536 + 512, sends None, calls"],
    );
    // LiteLLM.
    check(
        json!({"id": "small-gpt", "mode": "chat", "max_input_tokens": 8192, "max_output_tokens": 4096}),
        expect!["small-gpt: 4096 + 4096, sends Some(4096), calls"],
    );
    check(json!({"id": "voice", "mode": "audio_transcription"}), expect!["voice: audio-transcription"]);
    check(json!({"id": "vectors", "mode": "embedding"}), expect!["vectors: embedding"]);
    // OpenRouter.
    check(
        json!({"id": "acme/see", "context_length": 131_072, "architecture": {"input_modalities": ["text", "image"],
            "output_modalities": ["text"]}, "supported_parameters": ["tools", "temperature"],
            "top_provider": {"context_length": 65_536, "max_completion_tokens": 8192}}),
        expect!["acme/see: 122880 + 8192, sends Some(8192), sees, calls"],
    );
    check(
        json!({"id": "acme/draw", "architecture": {"input_modalities": ["text"], "output_modalities": ["image"]}}),
        expect!["acme/draw: image"],
    );
    // Anthropic.
    check(
        json!({"type": "model", "id": "claude-sonnet-4-5-20250929", "display_name": "Claude Sonnet 4.5",
            "created_at": "2025-09-29T00:00:00Z", "max_input_tokens": 200_000, "max_tokens": 64_000,
            "capabilities": {"image_input": {"supported": true}}}),
        expect!["claude-sonnet-4-5-20250929: 136000 + 64000, sends Some(64000), sees, calls"],
    );
    // LM Studio.
    check(
        json!({"id": "qwen2-vl-7b", "type": "vlm", "max_context_length": 32_768, "loaded_context_length": 4096}),
        expect!["qwen2-vl-7b: 3072 + 1024, sends None, sees, calls"],
    );
    check(json!({"id": "bge-m3", "type": "embeddings", "max_context_length": 8192}), expect!["bge-m3: embeddings"]);
    // Mistral, GitHub Copilot, and Ollama's own words.
    check(
        json!({"id": "pixtral-large", "max_context_length": 131_072,
            "capabilities": {"completion_chat": true, "function_calling": false, "vision": true}}),
        expect!["pixtral-large: 114688 + 16384, sends None, sees"],
    );
    check(
        json!({"id": "gpt-x", "capabilities": {"type": "chat", "supports": {"vision": true, "tool_calls": true},
            "limits": {"max_context_window_tokens": 128_000, "max_output_tokens": 16_384}}}),
        expect!["gpt-x: 111616 + 16384, sends Some(16384), sees, calls"],
    );
    check(json!({"id": "m", "capabilities": ["completion", "vision"]}), expect!["m: 111616 + 16384, sends None, sees"]);
    // The name alone.
    for id in ["whisper-1", "tts-1", "dall-e-3", "rerank-v3.5", "omni-moderation-latest", "text-embedding-3-small"] {
        let mut catalog = ModelCatalog::new(&Endpoint::parse("http://127.0.0.1:8000/v1").unwrap());
        catalog.handle_list(&ok(json!({"data": [{"id": id}, {"id": "chats"}]})), NOW);
        assert_eq!(only(&catalog, &ModelSettings::default()).id, "chats");
    }
}

#[test]
fn the_family_decides_if_the_list_says_nothing() {
    let mut lines = String::new();
    for id in [
        "gpt-4o-mini",
        "openai/gpt-5.2",
        "o1-mini",
        "o3",
        "claude-3-5-haiku-20241022",
        "claude-haiku-4-5",
        "llava:13b",
        "llama-3.2-11b-vision-instruct",
        "Qwen/Qwen2.5-VL-7B-Instruct",
        "qwen3:8b",
        "gemma3:1b",
        "gemma3:27b",
        "gpt-50",
        "deepseek-r1",
    ] {
        let mut catalog = ModelCatalog::new(&Endpoint::parse("http://127.0.0.1:8000/v1").unwrap());
        catalog.handle_list(&ok(json!({"data": [{"id": id}]})), NOW);
        let can = only(&catalog, &ModelSettings::default()).capabilities;
        lines.push_str(&format!("{id}: sees {}, calls {}\n", can.image_input, can.tool_calling));
    }
    expect![[r#"
        gpt-4o-mini: sees true, calls true
        openai/gpt-5.2: sees true, calls true
        o1-mini: sees false, calls false
        o3: sees true, calls true
        claude-3-5-haiku-20241022: sees false, calls true
        claude-haiku-4-5: sees true, calls true
        llava:13b: sees true, calls false
        llama-3.2-11b-vision-instruct: sees true, calls true
        Qwen/Qwen2.5-VL-7B-Instruct: sees true, calls true
        qwen3:8b: sees false, calls true
        gemma3:1b: sees false, calls false
        gemma3:27b: sees true, calls false
        gpt-50: sees false, calls true
        deepseek-r1: sees false, calls true
    "#]]
    .assert_eq(&lines);
}

#[test]
fn the_user_has_the_last_word_and_may_name_models() {
    let settings: ModelSettings = serde_json::from_value(json!({
        "added": {"http://127.0.0.1:8000": ["mine", "tiny"], "http://other:1": ["x"], "bad": 7},
        "overrides": {
            "*": {"imageInput": true}, "none": 7, "tiny": {"contextWindow": "8k"},
            "mine": {"toolCalling": false, "contextWindow": 8192},
        },
    }))
    .unwrap();
    let mut catalog = ModelCatalog::new(&Endpoint::parse("http://127.0.0.1:8000/v1").unwrap());
    let models =
        |catalog: &ModelCatalog| catalog.models(&settings, NOW).models.iter().map(describe).collect::<Vec<_>>();
    expect![[r#"
        mine: 6144 + 2048, sends None, sees
        tiny: 111616 + 16384, sends None, sees, calls"#]]
    .assert_eq(&models(&catalog).join("\n"));
    catalog.handle_list(&ok(json!({"data": [{"id": "tiny", "max_model_len": 2048}]})), NOW);
    expect![[r#"
        tiny: 1536 + 512, sends None, sees, calls
        mine: 6144 + 2048, sends None, sees"#]]
    .assert_eq(&models(&catalog).join("\n"));
    // A limit for the answer that the server named is sent from then on.
    catalog.learn_refused("tiny", &[Parameter::MostOutputTokens(256)], NOW);
    expect![[r#"
        tiny: 1792 + 256, sends Some(256), sees, calls
        mine: 6144 + 2048, sends None, sees"#]]
    .assert_eq(&models(&catalog).join("\n"));
}
