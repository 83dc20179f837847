//! The list of models as VS Code gets it: identity, capabilities, limits, prices, rules, and what must always hold.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{ChatModel, Endpoint, HttpResponse, ModelCatalog, ModelList, ModelSettings, VERCEL, join_messages};

const NOW: u64 = 1_800_000_000;

fn catalog(list: &Value) -> ModelCatalog {
    let mut catalog = ModelCatalog::new(&Endpoint::parse(VERCEL).unwrap());
    catalog.handle_list(&HttpResponse { status: 200, headers: Vec::new(), body: list.to_string() }, NOW);
    catalog
}

fn list_of(models: Value) -> ModelList {
    catalog(&json!({ "data": models })).models(&ModelSettings::default(), NOW)
}

/// Returns the only model of a list.
fn model(fields: Value) -> ChatModel {
    let list = list_of(json!([fields]));
    list.models.into_iter().next().expect("a model that chats")
}

fn check_list(models: Value, expected: Expect) {
    let list = list_of(models);
    let mut lines: Vec<String> = list.models.iter().map(|model| format!("chats: {}", model.id)).collect();
    lines.extend(list.others.iter().map(|other| format!("{}: {}", other.kind, other.id)));
    lines.extend(list.notes.iter().map(|note| format!("note: {}", note.detail)));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn the_mode_of_a_model_is_its_kind() {
    let mode = |id: &str, mode: &str| json!({ "id": id, "mode": mode });
    check_list(
        json!([
            mode("gpt", "chat"),
            mode("o3", "responses"),
            mode("vectors", "embedding"),
            mode("voice", "audio_transcription"),
            mode("draw", "image_generation"),
            mode("new", "something_else"),
        ]),
        expect![[r#"
            chats: gpt
            chats: o3
            chats: new
            embedding: vectors
            audio-transcription: voice
            image-generation: draw"#]],
    );
}

#[test]
fn only_chat_models_are_listed() {
    check_list(
        json!([
            { "id": "a/language", "type": "language" },
            { "id": "a/typeless" },
            { "id": "a/case", "type": "Language" },
            { "id": "a/strange-type", "type": "omni" },
            { "id": "a/embedding-typed", "type": "embedding" },
            { "id": "a/speaks", "type": "speech" },
            { "id": "a/ranks", "type": "reranking" },
            { "id": "a/strange-draws", "type": "canvas", "modalities": { "output": ["image"] } },
            { "id": "a/typeless-draws", "modalities": { "input": ["text"], "output": ["image"] } },
            { "id": "a/typeless-both", "architecture": { "output_modalities": ["image", "text"] } },
            { "id": "a/arrow", "architecture": { "modality": "text->embeddings" } },
            { "id": "a/tagged", "tags": ["image-generation"] },
            { "id": "openai/text-embedding-3-large" },
            { "id": "nomic-embed-text" },
            { "id": "openai/whisper-1" },
            { "id": "google/veo-3.0" },
            { "id": "google/imagen-4.0", "type": null },
            { "id": "cohere/rerank-v3.5", "type": 7 },
            { "id": "google/gemini-2.5-flash-image", "type": "language" },
            { "id": "gpt-4o-imagine-tools", "supported_parameters": ["tools"] },
            { "name": "nobody" }, 7, null, "text",
            { "id": "a/language", "type": "language" },
        ]),
        expect![[r#"
            chats: a/language
            chats: a/typeless
            chats: a/case
            chats: a/strange-type
            chats: a/typeless-both
            chats: google/gemini-2.5-flash-image
            chats: gpt-4o-imagine-tools
            embedding: a/embedding-typed
            speech: a/speaks
            reranking: a/ranks
            image: a/strange-draws
            image: a/typeless-draws
            embeddings: a/arrow
            image: a/tagged
            embedding: openai/text-embedding-3-large
            embedding: nomic-embed-text
            transcription: openai/whisper-1
            video: google/veo-3.0
            image: google/imagen-4.0
            reranking: cohere/rerank-v3.5
            note: Entries left out because they have no usable id or cannot be read: 4
            note: a/language is listed twice"#]],
    );
}

#[test]
fn lists_of_other_servers_are_read() {
    let ids = |json: Value| {
        let list = catalog(&json).models(&ModelSettings::default(), NOW);
        list.models.iter().map(|model| format!("{} {}", model.id, model.context_window)).collect::<Vec<_>>().join(", ")
    };
    expect!["bare 128000"].assert_eq(&ids(json!([{ "id": "bare" }])));
    expect!["vllm 32768"].assert_eq(&ids(json!({ "data": [{ "id": "vllm", "max_model_len": 32768 }] })));
    expect!["llama3.3:70b 128000"]
        .assert_eq(&ids(json!({ "models": [{ "model": "llama3.3:70b", "name": "llama3.3:70b" }] })));
    expect!["x/router 65536"].assert_eq(&ids(json!({ "data": [{ "id": "x/router", "context_length": null,
        "top_provider": { "context_length": 65536, "max_completion_tokens": 4096 } }] })));
}

fn check_model(fields: Value, expected: Expect) {
    let model = model(fields);
    let can = serde_json::to_value(model.capabilities).unwrap();
    let can = can.as_object().unwrap().iter().filter(|(_, can)| **can == json!(true)).map(|(name, _)| name.as_str());
    let effort = model.effort.map_or("–".to_owned(), |effort| effort.values.join(" "));
    expected.assert_eq(&format!("{} | effort {effort}", can.collect::<Vec<_>>().join(" ")));
}

#[test]
fn the_default_effort_is_the_users_setting_or_none() {
    let list = json!([{ "id": "a", "reasoning_options": [{ "type": "effort", "values": ["low", "high"] }] }]);
    let default = |effort: Option<&str>| {
        let settings = ModelSettings { effort: effort.map(str::to_owned), ..ModelSettings::default() };
        catalog(&list).models(&settings, NOW).models[0].effort.clone().unwrap().default
    };
    assert_eq!(default(None), None);
    assert_eq!(default(Some("high")), Some("high".to_owned()));
    assert_eq!(default(Some("max")), None);
}

#[test]
fn capabilities_come_from_fields_and_then_from_tags() {
    let with = |more: Value| {
        let mut fields = json!({ "id": "a/b", "type": "language" });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    // Without any information, tools are assumed and nothing else.
    check_model(with(json!({})), expect!["toolCalling toolCallingAssumed | effort –"]);
    check_model(
        with(json!({ "tags": ["tool-use", "vision", "reasoning", "file-input"] })),
        expect!["fileInput imageInput thinking toolCalling | effort –"],
    );
    check_model(with(json!({ "tags": ["vision"] })), expect!["imageInput | effort –"]);
    // Fields overrule tags in both directions.
    check_model(
        with(
            json!({ "tags": ["tool-use", "vision"], "supported_parameters": ["temperature"], "modalities": { "input": ["text"] } }),
        ),
        expect![" | effort –"],
    );
    check_model(
        with(
            json!({ "tags": ["web-search"], "supported_parameters": ["tools"], "modalities": { "input": ["text", "image", "pdf"], "output": ["text", "image"] } }),
        ),
        expect!["fileInput imageInput imageOutput toolCalling webSearch | effort –"],
    );
    check_model(
        with(
            json!({ "reasoning_options": [{ "type": "effort", "values": ["high", "low", "none", "max", "medium"] }] }),
        ),
        expect!["thinking toolCalling toolCallingAssumed | effort none low medium high max"],
    );
    check_model(
        with(json!({ "reasoning_options": [{ "type": "effort", "values": ["low", null, "high", "ultra"] }] })),
        expect!["thinking toolCalling toolCallingAssumed | effort low high ultra"],
    );
    check_model(
        with(json!({ "reasoning_options": [{ "type": "budget_tokens", "min": 1024 }, { "type": "toggle" }] })),
        expect!["thinking toolCalling toolCallingAssumed | effort none low medium high"],
    );
    check_model(
        with(json!({ "reasoning_options": [{ "type": "toggle" }] })),
        expect!["thinking toolCalling toolCallingAssumed | effort none medium"],
    );
    check_model(
        with(json!({ "reasoning_options": [{ "type": "effort", "values": [] }] })),
        expect!["thinking toolCalling toolCallingAssumed | effort –"],
    );
    check_model(
        with(json!({ "reasoning_options": [{ "type": "effort", "values": ["high"] }] })),
        expect!["thinking toolCalling toolCallingAssumed | effort –"],
    );
    check_model(
        with(json!({ "supported_parameters": ["reasoning", "tools"] })),
        expect!["thinking toolCalling | effort low medium high"],
    );
    check_model(with(json!({ "tags": ["reasoning"] })), expect!["thinking | effort –"]);
}

fn tooltip(model: &ChatModel) -> String {
    model.tooltip.iter().map(|paragraph| join_messages(paragraph, ", ")).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn a_model_has_all_its_details() {
    let model = model(json!({
        "id": "anthropic/claude-sonnet-4.5", "object": "model", "created": 1_759_104_000, "released": 1_759_104_000,
        "owned_by": "anthropic", "name": "Claude Sonnet 4.5", "description": "Writes *code*.\nAnd [more](https://x.example).",
        "context_window": 200_000, "max_tokens": 64_000, "type": "language", "knowledge": "2025-07",
        "tags": ["tool-use", "vision", "reasoning", "explicit-caching"], "deprecated_at": 1_893_456_000_000_u64,
        "modalities": { "input": ["text", "image", "file"], "output": ["text"] },
        "supported_parameters": ["max_tokens", "tools", "tool_choice", "reasoning"],
        "reasoning_options": [{ "type": "effort", "values": ["low", "medium", "high"] }],
        "pricing": { "input": "0.000003", "output": "0.000015", "input_cache_read": "0.0000003", "input_cache_write": "0.00000375",
            "input_tiers": [{ "cost": "0.000003", "min": 0, "max": 200_001 }, { "cost": "0.000006", "min": 200_001 }],
            "output_tiers": [{ "cost": "0.000015", "min": 0, "max": 200_001 }, { "cost": "0.0000225", "min": 200_001 }] },
    }));
    expect![[r#"
        **Claude Sonnet 4.5** · `anthropic/claude-sonnet-4.5`

        Writes \*code\*. And \[more\](https://x.example).

        200k tokens: 136k in, 64k out

        \$3 / \$15 per M tokens, cached \$0.30, above 200k: \$6 / \$22.50

        tools, images, files, thinking, prompt cache

        Deprecated: 2030-01-01"#]]
    .assert_eq(&tooltip(&model));
    expect![[r#"
        {
          "id": "anthropic/claude-sonnet-4.5",
          "name": "Claude Sonnet 4.5",
          "family": "claude-sonnet-4.5",
          "version": "4.5",
          "maxInputTokens": 136000,
          "maxOutputTokens": 64000,
          "sentOutputTokens": 64000,
          "contextWindow": 200000,
          "limitsFrom": "list",
          "capabilities": {
            "toolCalling": true,
            "toolCallingAssumed": false,
            "imageInput": true,
            "fileInput": true,
            "imageOutput": false,
            "thinking": true,
            "webSearch": false,
            "structuredOutput": false,
            "promptCaching": true
          },
          "detail": "Anthropic",
          "tooltip": [
            [
              {
                "code": "plain",
                "args": [
                  "**Claude Sonnet 4.5** · `anthropic/claude-sonnet-4.5`"
                ]
              }
            ],
            [
              {
                "code": "plain",
                "args": [
                  "Writes \\*code\\*. And \\[more\\](https://x.example)."
                ]
              }
            ],
            [
              {
                "code": "tokenLimits",
                "args": [
                  "200k",
                  "136k",
                  "64k"
                ]
              }
            ],
            [
              {
                "code": "pricePerMillion",
                "args": [
                  "\\$3 / \\$15"
                ]
              },
              {
                "code": "priceCached",
                "args": [
                  "\\$0.30"
                ]
              },
              {
                "code": "priceAbove",
                "args": [
                  "200k",
                  "\\$6 / \\$22.50"
                ]
              }
            ],
            [
              {
                "code": "abilityTools",
                "args": []
              },
              {
                "code": "abilityImages",
                "args": []
              },
              {
                "code": "abilityFiles",
                "args": []
              },
              {
                "code": "abilityThinking",
                "args": []
              },
              {
                "code": "abilityCaching",
                "args": []
              }
            ],
            [
              {
                "code": "deprecated",
                "args": [
                  "2030-01-01"
                ]
              }
            ]
          ],
          "pricing": [
            {
              "code": "pricePerMillion",
              "args": [
                "$3 / $15"
              ]
            },
            {
              "code": "priceCached",
              "args": [
                "$0.30"
              ]
            },
            {
              "code": "priceAbove",
              "args": [
                "200k",
                "$6 / $22.50"
              ]
            }
          ],
          "price": {
            "code": "plain",
            "args": [
              "$3 / $15"
            ]
          },
          "prices": {
            "input": 3.0,
            "output": 15.0,
            "cachedInput": 0.3,
            "cacheWrite": 3.75,
            "tiers": [
              {
                "fromInputTokens": 200001,
                "input": 6.0,
                "output": 22.5,
                "cachedInput": 0.3,
                "cacheWrite": 3.75
              }
            ]
          },
          "priceCategory": "medium",
          "category": "versatile",
          "info": [
            [
              {
                "code": "plain",
                "args": [
                  "Writes \\*code\\*."
                ]
              }
            ],
            [
              {
                "code": "abilityTools",
                "args": []
              },
              {
                "code": "abilityImages",
                "args": []
              },
              {
                "code": "abilityFiles",
                "args": []
              },
              {
                "code": "abilityThinking",
                "args": []
              },
              {
                "code": "abilityCaching",
                "args": []
              }
            ],
            [
              {
                "code": "tokenLimits",
                "args": [
                  "200k",
                  "136k",
                  "64k"
                ]
              }
            ],
            [
              {
                "code": "pricePerMillion",
                "args": [
                  "\\$3 / \\$15"
                ]
              },
              {
                "code": "priceCached",
                "args": [
                  "\\$0.30"
                ]
              },
              {
                "code": "priceAbove",
                "args": [
                  "200k",
                  "\\$6 / \\$22.50"
                ]
              }
            ]
          ],
          "warning": {
            "code": "switchedOffOn",
            "args": [
              "2030-01-01"
            ]
          },
          "contextSizes": [],
          "effort": {
            "values": [
              "low",
              "medium",
              "high"
            ],
            "default": null
          },
          "isUserSelectable": true,
          "isFavourite": false,
          "isFeatured": true,
          "isDefault": true,
          "isSmallDefault": true,
          "creator": "anthropic",
          "description": "Writes *code*. And [more](https://x.example).",
          "released": 1759104000,
          "deprecatedAt": 1893456000,
          "knowledge": "2025-07",
          "tags": [
            "tool-use",
            "vision",
            "reasoning",
            "explicit-caching"
          ],
          "regions": [],
          "parameters": [
            "max_tokens",
            "tools",
            "tool_choice",
            "reasoning"
          ],
          "zeroDataRetention": null,
          "providers": [],
          "refused": [],
          "overrides": {
            "contextWindow": null,
            "maxInputTokens": null,
            "maxOutputTokens": null,
            "effort": null,
            "imageInput": null,
            "toolCalling": null,
            "hidden": null,
            "body": {},
            "routing": null
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&model).unwrap());
}
