//! How much fits into a model and what it costs, according to the list, its providers, errors and settings.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{ChatModel, ModelCatalog, ModelSettings, Refresh, Usage, join_messages};

use crate::support::catalog::{NOW, catalog, gateway, ok, only};

fn limits(model: &ChatModel) -> String {
    let (window, input, output) = (model.context_window, model.max_input_tokens, model.max_output_tokens);
    format!("{input} + {output} = {window}, {:?}", model.limits_from)
}

fn check_limits(fields: Value, expected: Expect) {
    let mut fields = fields;
    fields["id"] = json!("a/b");
    expected.assert_eq(&limits(&only(&catalog(&json!([fields])), &ModelSettings::default())));
}

/// Checks the field names of `LiteLLM`, Anthropic and llama.cpp.
#[test]
fn limits_are_read_under_every_name() {
    check_limits(
        json!({ "mode": "chat", "max_input_tokens": 8192, "max_output_tokens": 4096 }),
        expect!["4096 + 4096 = 8192, List"],
    );
    check_limits(
        json!({ "max_input_tokens": 200_000, "max_tokens": 64_000 }),
        expect!["136000 + 64000 = 200000, List"],
    );
    check_limits(
        json!({ "max_tokens": 4096, "max_input_tokens": 1_047_576, "max_output_tokens": 32_768 }),
        expect!["1014808 + 32768 = 1047576, List"],
    );
    check_limits(
        json!({ "meta": { "n_ctx": 2048, "n_ctx_train": 4096, "n_vocab": 512 } }),
        expect!["1536 + 512 = 2048, List"],
    );
}

#[test]
fn input_and_output_limits_add_up_to_the_window() {
    check_limits(json!({ "context_window": 200_000, "max_tokens": 64_000 }), expect!["136000 + 64000 = 200000, List"]);
    check_limits(
        json!({ "context_window": 400_000, "max_tokens": 128_000 }),
        expect!["272000 + 128000 = 400000, List"],
    );
    check_limits(json!({ "context_window": "200,000", "max_tokens": "64k" }), expect!["136000 + 64000 = 200000, List"]);
    check_limits(json!({ "context_window": 128_000.0, "max_tokens": null }), expect!["111616 + 16384 = 128000, List"]);
    // An output limit as large as the window, or nearly so.
    check_limits(json!({ "context_window": 256_000, "max_tokens": 256_000 }), expect!["192000 + 64000 = 256000, List"]);
    check_limits(json!({ "context_window": 131_072, "max_tokens": 129_024 }), expect!["98304 + 32768 = 131072, List"]);
    check_limits(json!({ "context_window": 8_192, "max_tokens": 1_000_000 }), expect!["6144 + 2048 = 8192, List"]);
    // Missing or absurd values.
    check_limits(json!({}), expect!["111616 + 16384 = 128000, Assumed"]);
    check_limits(json!({ "context_window": 0, "max_tokens": 0 }), expect!["111616 + 16384 = 128000, Assumed"]);
    check_limits(json!({ "context_window": -1, "max_tokens": -1 }), expect!["111616 + 16384 = 128000, Assumed"]);
    check_limits(json!({ "context_window": 1, "max_tokens": 1 }), expect!["111616 + 16384 = 128000, Assumed"]);
    check_limits(json!({ "context_window": 1e30, "max_tokens": "many" }), expect!["111616 + 16384 = 128000, Assumed"]);
    check_limits(
        json!({ "context_window": [200_000], "max_tokens": 4_096 }),
        expect!["123904 + 4096 = 128000, Assumed"],
    );
}

#[test]
fn settings_and_errors_correct_the_list() {
    let list = json!([{ "id": "a/b", "context_window": 200_000, "max_tokens": 64_000 }]);
    let set = |pattern: &str, window: u32, input: u32, output: u32| {
        let fields = [("contextWindow", window), ("maxInputTokens", input), ("maxOutputTokens", output)];
        let set = fields.into_iter().filter(|(_, limit)| *limit > 0);
        (pattern.to_owned(), set.map(|(name, limit)| (name.to_owned(), json!(limit))).collect())
    };
    let check = |overrides: Vec<(String, Value)>, learned: &str, expected: Expect| {
        let mut catalog = catalog(&list);
        catalog.learn("a/b", learned, NOW);
        let settings = ModelSettings { overrides: overrides.into_iter().collect(), ..ModelSettings::default() };
        expected.assert_eq(&limits(&only(&catalog, &settings)));
    };
    check(vec![], "", expect!["136000 + 64000 = 200000, List"]);
    check(vec![set("a/*", 1_000_000, 0, 0)], "", expect!["936000 + 64000 = 1000000, Setting"]);
    check(vec![set("a/*", 0, 50_000, 0)], "", expect!["50000 + 64000 = 114000, Setting"]);
    check(vec![set("a/*", 0, 500_000, 0)], "", expect!["500000 + 64000 = 564000, Setting"]);
    check(vec![set("a/*", 0, 0, 190_000)], "", expect!["10000 + 190000 = 200000, Setting"]);
    check(vec![set("a/*", 0, 0, 900_000)], "", expect!["150000 + 50000 = 200000, Setting"]);
    check(
        vec![set("*", 100_000, 0, 8_000), set("a/b", 0, 0, 16_000), set("c/*", 1, 1, 1)],
        "",
        expect!["84000 + 16000 = 100000, Setting"],
    );
    check(vec![], "prompt is too long: 215000 tokens > 180000 maximum", expect!["116000 + 64000 = 180000, Learned"]);
    // A limit above the list's isn't learned, and the user's setting isn't overruled.
    check(vec![], "This model's maximum context length is 1000000 tokens.", expect!["136000 + 64000 = 200000, List"]);
    check(
        vec![set("*", 300_000, 0, 0)],
        "prompt is too long: 215000 tokens > 180000 maximum",
        expect!["236000 + 64000 = 300000, Setting"],
    );

    let mut catalog = catalog(&list);
    let message = "prompt is too long: 215000 tokens > 180000 maximum";
    assert_eq!(catalog.learn("a/b", message, NOW), Some(180_000));
    assert_eq!(catalog.learn("a/b", message, NOW + 1), None, "known already");
    assert_eq!(catalog.learn("a/b", "The model is asleep", NOW), None);
    // A learned limit survives a restart and is forgotten after a month.
    let (restored, note) = ModelCatalog::restore(&catalog.snapshot(), &gateway());
    assert_eq!((&restored, note), (&catalog, None));
    let window = |days: u64| restored.models(&ModelSettings::default(), NOW + days * 86_400).models[0].context_window;
    assert_eq!((window(29), window(31)), (180_000, 200_000));
}

#[test]
fn limits_are_learned_from_overflow_errors() {
    let mut lines = String::new();
    for message in [
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. Please reduce the length of the messages.",
        "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (8100 in the messages, 1000 in the completion).",
        "This model's maximum context length is 262144 tokens. However, you requested 4000 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 266145 tokens. (parameter=input_tokens, value=262145)",
        "prompt is too long: 215000 tokens > 200000 maximum",
        "ValidationException: The model returned the following errors: prompt is too long: 903884 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Input length (265330) exceeds model's maximum context length (262144).",
        "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 120000 tokens from the input messages and 20000 tokens for the completion.",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "This endpoint's maximum context length is 163,840 tokens. However, you requested about 1,200,345 tokens (1,192,153 of text input, 8192 in the output).",
        "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
        "The input (150000 tokens) is longer than the model's context length (131072 tokens).",
        "request (9217 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "prompt token count of 70145 exceeds the limit of 64000",
        "Your request exceeded model token limit: 262144 (requested: 300211)",
        "Prompt contains 40114 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)",
        "Input is too long for requested model claude-3-5-sonnet-20241022: the context window is 200k tokens",
        "Too many input tokens: 210_000. The limit is 200_000",
        "input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 304922 tokens. context_length_exceeded",
        // The message doesn't say the limit.
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "prompt too long; exceeded max context length by 4242 tokens",
        "the request exceeds the available context size, try increasing it",
        "invalid params, context window exceeds limit (2013)",
        // The message is about something else.
        "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 41000.",
        "ThrottlingException: Too many tokens, please wait before trying again.",
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-20250514",
        "max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.",
        "The model `gpt-4-32k-0613` does not exist",
        "",
    ] {
        let limit = ModelCatalog::new(&gateway())
            .learn("a/b", message, NOW)
            .map_or("–".to_owned(), |limit| limit.to_string());
        lines.push_str(&format!("{limit:<8} {}\n", message.chars().take(90).collect::<String>()));
    }
    expect![[r#"
        128000   This model's maximum context length is 128000 tokens. However, your messages resulted in 1
        8192     This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (81
        262144   This model's maximum context length is 262144 tokens. However, you requested 4000 output t
        200000   prompt is too long: 215000 tokens > 200000 maximum
        200000   ValidationException: The model returned the following errors: prompt is too long: 903884 t
        200000   input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000, decrease inpu
        1048576  The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).
        262144   Input length (265330) exceeds model's maximum context length (262144).
        131072   Requested token count exceeds the model's maximum context length of 131072 tokens. You req
        131072   This model's maximum prompt length is 131072 but the request contains 537812 tokens.
        163840   This endpoint's maximum context length is 163,840 tokens. However, you requested about 1,2
        131040   Input length 131393 exceeds the maximum allowed input length of 131040 tokens.
        131072   The input (150000 tokens) is longer than the model's context length (131072 tokens).
        8192     request (9217 tokens) exceeds the available context size (8192 tokens), try increasing it
        64000    prompt token count of 70145 exceeds the limit of 64000
        262144   Your request exceeded model token limit: 262144 (requested: 300211)
        32768    Prompt contains 40114 tokens and 0 draft tokens, too large for model with 32768 maximum co
        2048     Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)
        200000   Input is too long for requested model claude-3-5-sonnet-20241022: the context window is 20
        200000   Too many input tokens: 210_000. The limit is 200_000
        272000   input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 30492
        –        Your input exceeds the context window of this model. Please adjust your input and try agai
        –        prompt too long; exceeded max context length by 4242 tokens
        –        the request exceeds the available context size, try increasing it
        –        invalid params, context window exceeds limit (2013)
        –        Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, R
        –        ThrottlingException: Too many tokens, please wait before trying again.
        –        max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claud
        –        max_tokens is too large: 200000. This model supports at most 16384 completion tokens, wher
        –        The model `gpt-4-32k-0613` does not exist
        –        
    "#]]
    .assert_eq(&lines);
}

fn pricing_of(model: &ChatModel) -> String {
    if model.pricing.is_empty() { "–".to_owned() } else { join_messages(&model.pricing, ", ") }
}

fn check_price(pricing: Value, expected: Expect) {
    let model = only(&catalog(&json!([{ "id": "a/b", "pricing": pricing }])), &ModelSettings::default());
    expected.assert_eq(&pricing_of(&model));
}

#[test]
fn prices_are_shown_in_one_line() {
    check_price(
        json!({ "input": "0.000003", "output": "0.000015", "input_cache_read": "0.0000003" }),
        expect!["$3 / $15 per M tokens, cached $0.30"],
    );
    check_price(
        json!({ "input": "0.00000125", "output": "0.00001", "input_cache_read": "0.000000125" }),
        expect!["$1.25 / $10 per M tokens, cached $0.125"],
    );
    check_price(json!({ "prompt": "0.000000075", "completion": 3e-7 }), expect!["$0.075 / $0.30 per M tokens"]);
    check_price(json!({ "input": "0", "output": "0" }), expect!["Free"]);
    check_price(json!({ "input": "0", "output": "0.000001" }), expect!["$0 / $1 per M tokens"]);
    check_price(json!({ "output": "0.000001" }), expect!["? / $1 per M tokens"]);
    check_price(json!({}), expect!["–"]);
    check_price(json!(null), expect!["–"]);
    check_price(json!({ "input": "-1", "output": "-1" }), expect!["–"]);
    check_price(json!({ "input": "free", "output": {} }), expect!["–"]);
    // A price per million tokens instead of per token.
    check_price(json!({ "input": 3, "output": 15 }), expect!["–"]);
    check_price(
        json!({ "input": "0.000001", "output": "0.000005",
            "input_tiers": [{ "cost": "0.000001", "min": 0, "max": 32_001 }, { "cost": "0.0000018", "min": 32_001, "max": 128_001 }, { "cost": "0.000003", "min": 128_001 }],
            "output_tiers": [{ "cost": "0.000005", "min": 0, "max": 128_001 }, { "cost": "0.000015", "min": 128_001 }] }),
        expect!["$1 / $5 per M tokens, above 32k: $1.80 / $5, above 128k: $3 / $15"],
    );
}

#[test]
fn the_cost_of_an_answer_follows_the_prices() {
    let pricing = json!({ "input": "0.000003", "output": "0.000015", "input_cache_read": "0.0000003",
        "input_tiers": [{ "cost": "0.000006", "min": 200_001 }], "output_tiers": [{ "cost": "0.0000225", "min": 200_001 }] });
    let prices =
        only(&catalog(&json!([{ "id": "a/b", "pricing": pricing }])), &ModelSettings::default()).prices.unwrap();
    let cost = |usage: Value| {
        let usage: Usage = serde_json::from_value(usage).unwrap();
        prices.cost(&usage).map_or("–".to_owned(), |cost| format!("{cost:.6}"))
    };
    let usage = |input: u64, cached: u64, output: u64| {
        json!({ "input_tokens": input, "output_tokens": output, "total_tokens": input + output,
            "input_tokens_details": { "cached_tokens": cached }, "output_tokens_details": null })
    };
    expect!["6.000000"].assert_eq(&cost(usage(1_000_000, 0, 0)));
    expect!["0.450000"].assert_eq(&cost(usage(100_000, 0, 10_000)));
    expect!["0.207000"].assert_eq(&cost(usage(100_000, 90_000, 10_000)));
    expect!["0.000030"].assert_eq(&cost(usage(100, 900, 0)));
    expect!["–"].assert_eq(&cost(json!({ "input_tokens": 5 })));
}

#[test]
fn providers_correct_the_list() {
    let endpoint = |name: &str, window: u64, output: u64, status: i64, more: Value| {
        let mut endpoint = json!({ "provider_name": name, "context_length": window, "max_completion_tokens": output,
            "status": status, "supported_parameters": ["max_tokens"], "pricing": { "prompt": "0.000001", "completion": "0.000002" },
            "latency_last_1h": { "p50": 250, "p95": 400 }, "throughput_last_1h": { "p50": 55 } });
        endpoint.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        endpoint
    };
    let check = |list: Value, endpoints: Vec<Value>, expected: Expect| {
        let mut list = list;
        list["id"] = json!("a/b");
        let mut catalog = catalog(&json!([list]));
        let body = json!({ "data": { "id": "a/b", "reasoning": { "mandatory": true },
            "architecture": { "input_modalities": ["text", "image"] }, "endpoints": endpoints } });
        assert_eq!(catalog.handle_endpoints("a/b", &ok(&body), NOW), Refresh::Changed);
        assert_eq!(catalog.handle_endpoints("a/b", &ok(&body), NOW + 9), Refresh::Unchanged);
        let model = only(&catalog, &ModelSettings::default());
        let names: Vec<&str> = model.providers.iter().map(|provider| provider.name.as_str()).collect();
        let (can, prices) = (model.capabilities, pricing_of(&model));
        let abilities = format!("tools {}, images {}, thinking {}", can.tool_calling, can.image_input, can.thinking);
        expected.assert_eq(&format!("{}\n{}\n{abilities}\n{prices}", limits(&model), names.join(" ")));
    };
    let stated = json!({ "context_window": 200_000, "max_tokens": 64_000, "supported_parameters": ["temperature"] });
    check(
        stated.clone(),
        vec![
            endpoint("small", 32_000, 8_000, 0, json!({})),
            endpoint("large", 131_072, 32_000, 0, json!({ "supported_parameters": ["tools"] })),
            endpoint("broken", 1_000_000, 128_000, -1, json!({})),
        ],
        expect![[r#"
            99072 + 32000 = 131072, Providers
            small large broken
            tools true, images true, thinking true
            $1 / $2 per M tokens"#]],
    );
    check(
        stated.clone(),
        vec![endpoint("more", 1_000_000, 128_000, 0, json!({}))],
        expect![[r#"
        136000 + 64000 = 200000, List
        more
        tools false, images true, thinking true
        $1 / $2 per M tokens"#]],
    );
    check(
        stated.clone(),
        vec![endpoint("asks-less", 200_000, 64_000, 0, json!({ "max_prompt_tokens": 100_000 }))],
        expect![[r#"
            100000 + 64000 = 164000, Providers
            asks-less
            tools false, images true, thinking true
            $1 / $2 per M tokens"#]],
    );
    check(
        stated,
        vec![endpoint("odd", 0, 0, 0, json!({ "status": "up", "latency_last_1h": [] }))],
        expect![[r#"
        136000 + 64000 = 200000, List
        odd
        tools false, images true, thinking true
        $1 / $2 per M tokens"#]],
    );
    check(
        json!({}),
        vec![endpoint("only", 64_000, 4_000, 0, json!({}))],
        expect![[r#"
        60000 + 4000 = 64000, Providers
        only
        tools false, images true, thinking true
        $1 / $2 per M tokens"#]],
    );

    let mut catalog = catalog(&json!([{ "id": "a/b" }]));
    let url = |id: &str| catalog.endpoints_request(id, NOW).map(|request| request.url);
    assert_eq!(url("a/b").as_deref(), Some("https://ai-gateway.vercel.sh/v1/models/a/b/endpoints"));
    for id in ["a", "a/b/c", "a/..", "a/b?x", "a/ b", "/b", "a/", "a/%2e"] {
        assert_eq!(url(id), None, "{id}");
    }
    let none = ok(json!({ "data": { "endpoints": [] } }));
    assert!(matches!(catalog.handle_endpoints("a/b", &none, NOW), Refresh::Kept(_)));
    catalog.handle_endpoints("a/b", &ok(json!({ "data": { "endpoints": [{}] } })), NOW);
    assert!(
        catalog.endpoints_request("a/b", NOW + 3_599).is_none()
            && catalog.endpoints_request("a/b", NOW + 3_600).is_some()
    );
}
