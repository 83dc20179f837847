//! Token counts: known counts of the two vocabularies, requests item by item, and general properties.

#![allow(clippy::needless_pass_by_value, reason = "an `expect!` is passed by value in each case")]

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use sluice_core::{ChatMessage, Counter};

/// Counts of OpenAI's own tokenizer: text, o200k, cl100k.
#[test]
fn vocabularies_give_the_published_counts() {
    let cases = [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("The quick brown fox jumps over the lazy dog.", 10, 10),
        (".\n/", 1, 2),
        ("don't we'll I'M", 4, 6),
        ("12345678901234567890", 7, 7),
        ("\n\n\n    \t x", 3, 3),
        ("fn main() { println!(\"{:?}\", x); }\n", 11, 11),
        ("こんにちは世界", 2, 4),
        ("Привет, мир!", 5, 7),
        ("👩‍👩‍👧‍👦", 11, 18),
        ("<|endoftext|><|im_start|>", 12, 12),
    ];
    for (text, o200k, cl100k) in cases {
        let counter = Counter::exact();
        assert_eq!((counter.text("gpt-5", text), counter.text("gpt-4", text)), (o200k, cl100k), "{text:?}");
    }
}

#[test]
fn hostile_text_is_counted() {
    // The time isn't limited here; the benchmark measures it.
    assert_eq!(Counter::exact().text("gpt-5", &"a".repeat(100_000)), 12_500);
    assert_eq!(Counter::exact().text("gpt-5", &" ".repeat(100_000)), 782);
    for text in ["\u{FEFF}", "\0", "\u{10FFFF}", "e\u{301}\u{301}\u{301}", "\u{200D}\u{200D}"] {
        assert!(Counter::exact().text("gpt-5", text) > 0, "{text:?}");
    }
}

/// Texts as they occur in chats: name, text.
fn samples() -> Vec<(&'static str, String)> {
    let mut hex = String::new();
    let mut base64 = String::new();
    let mut numbers = String::new();
    let mut seed: u64 = 7;
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for index in 0..2000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let _ = write!(hex, "{:02x}", seed >> 56);
        base64.push(char::from(alphabet[(seed >> 58) as usize]));
        let _ = writeln!(numbers, "{index},{}.{:03}", seed >> 50, (seed >> 40) % 1000);
    }
    let rows: Vec<Value> = (0..60)
        .map(|index| json!({"id": index, "name": format!("user{index}"), "email": format!("u{index}@example.com"), "active": index % 2 == 0}))
        .collect();
    vec![
        ("rust", include_str!("../src/tokens/schema.rs").to_owned()),
        ("typescript", include_str!("../../../packages/loader/src/core.ts").to_owned()),
        ("markdown", include_str!("../../../ARCHITECTURE.md").to_owned()),
        ("toml", include_str!("../../../Cargo.toml").to_owned()),
        ("json", serde_json::to_string(&rows).unwrap()),
        ("pretty json", serde_json::to_string_pretty(&rows).unwrap()),
        ("english", "It was a bright cold day in April, and the clocks were striking; nobody on the stairs remembered a spring as late as this one. She put the letter back, unread, and went out. ".repeat(4)),
        ("german", "Die Geschwindigkeitsbegrenzung gilt für alle Fahrzeuge, auch wenn die Straße außerhalb geschlossener Ortschaften völlig übersichtlich ist.".to_owned()),
        ("french", "Après avoir été prévenu, l'élève s'était levé très tôt pour préparer son déjeuner et vérifier où se trouvait la gare.".to_owned()),
        ("polish", "Zażółć gęślą jaźń. W Szczebrzeszynie chrząszcz brzmi w trzcinie i Szczebrzeszyn z tego słynie.".to_owned()),
        ("russian", "В начале лета, когда дни становятся длиннее, жители города выходят на набережную и долго смотрят на воду.".to_owned()),
        ("greek", "Η γρήγορη καφετιά αλεπού πηδάει πάνω από το τεμπέλικο σκυλί, ενώ ο ήλιος δύει πίσω από το βουνό.".to_owned()),
        ("arabic", "في بداية الصيف يخرج الناس إلى الشاطئ ويجلسون قرب البحر حتى غروب الشمس.".to_owned()),
        ("hebrew", "בתחילת הקיץ אנשים יוצאים אל החוף ויושבים ליד הים עד שהשמש שוקעת.".to_owned()),
        ("hindi", "गर्मियों की शुरुआत में लोग समुद्र के किनारे जाते हैं और सूर्यास्त तक वहीं बैठते हैं।".to_owned()),
        ("thai", "ในต้นฤดูร้อนผู้คนออกไปที่ชายหาดและนั่งอยู่ริมทะเลจนพระอาทิตย์ตก".to_owned()),
        ("chinese", "初夏时节，人们走到海边，坐在沙滩上看着太阳慢慢落下。孩子们在水里玩耍，老人们谈论着过去的日子。".to_owned()),
        ("japanese", "初夏になると、人々は海辺へ出かけ、日が沈むまで砂浜に座って波の音を聞いています。コンピューターの話はしません。".to_owned()),
        ("korean", "초여름이 되면 사람들은 바닷가로 나가서 해가 질 때까지 모래사장에 앉아 파도 소리를 듣습니다.".to_owned()),
        ("emoji", "🎉🚀 Great job! 👍🏽 See you tomorrow 🌍✨🔥 👩‍💻👨‍👩‍👧".to_owned()),
        ("hex", hex),
        ("base64", base64),
        ("numbers", numbers),
        ("uuids", "550e8400-e29b-41d4-a716-446655440000\nf47ac10b-58cc-4372-a567-0e02b2c3d479\n6ba7b810-9dad-11d1-80b4-00c04fd430c8\n".to_owned()),
        ("paths", "/usr/local/lib/node_modules/typescript/lib/tsserver.js:12:34\n  at Object.<anonymous> (src/vs/workbench/contrib/chat/browser/chatWidget.ts:1024:17)\n".repeat(3)),
        ("minified", "!function(e,t){\"object\"==typeof exports?module.exports=t():e.x=t()}(this,function(){var n=[],r=0;return function(a,b){for(;r<a.length;r++)n.push(b(a[r],r));return n}});".to_owned()),
        ("shouting", "WARNING: CONNECTION_TIMEOUT_EXCEEDED ON HTTP_SERVER_PORT, RETRYING WITH MAX_BACKOFF_SECONDS".to_owned()),
        ("ruler", format!("{}\n{}\n| a | b |\n|---|---|\n", "-".repeat(80), "=".repeat(80))),
        ("indented", "if x {\n        if y {\n            call(\n                first,\n                second,\n            );\n        }\n    }\n".repeat(5)),
    ]
}

#[test]
fn the_estimate_is_close_and_errs_on_the_high_side() {
    let ratios: Vec<(&str, f64)> = samples()
        .iter()
        .map(|(name, text)| {
            let exact = Counter::exact().text("gpt-5", text);
            (*name, f64::from(Counter::estimating().text("gpt-5", text)) / f64::from(exact))
        })
        .collect();
    let shown: String = ratios.iter().map(|(name, ratio)| format!("{name} {ratio:.2}\n")).collect();
    assert!(ratios.iter().all(|(_, ratio)| (0.9..=1.6).contains(ratio)), "{shown}");
}

/// Prints one line with each sum that is not zero, then the notes.
fn check(body: &Value, expected: Expect) {
    let counted = Counter::exact().request_body(body.to_string().as_bytes()).unwrap();
    let Value::Object(fields) = serde_json::to_value(&counted).unwrap() else { unreachable!() };
    let order = [
        "input_tokens",
        "instructions",
        "messages",
        "tool_calls",
        "tool_results",
        "reasoning",
        "tools",
        "format",
        "images",
        "framing",
    ];
    let sums = order.iter().filter(|name| fields[**name] != 0).map(|name| format!("{name} {}", fields[*name]));
    let mut shown = sums.collect::<Vec<_>>().join(", ") + "\n";
    counted.notes.iter().for_each(|note| shown += &format!("{note}\n"));
    expected.assert_eq(&shown);
}

#[test]
fn messages_of_all_kinds_are_counted() {
    check(
        &json!({"model": "gpt-4o", "input": "hello world"}),
        expect![[r#"
        input_tokens 9, messages 6, framing 3
    "#]],
    );
    check(
        &json!({"model": "gpt-5", "input": "hello world", "instructions": "Be brief."}),
        expect![[r#"
        input_tokens 15, instructions 7, messages 6, framing 2
    "#]],
    );
    check(
        &json!({"model": "gpt-5", "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
            {"type": "message", "role": "user", "name": "ann",
                "content": [{"type": "input_text", "text": "One"}, {"type": "input_text", "text": " two"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Three."}, {"type": "refusal", "refusal": "No."}]},
            {"role": "user", "content": "Go on"},
        ]}),
        expect![[r#"
            input_tokens 40, instructions 14, messages 24, framing 2
        "#]],
    );
    check(
        &json!({"model": "gpt-5"}),
        expect![[r#"
        input_tokens 2, framing 2
    "#]],
    );
}

#[test]
fn calls_results_and_reasoning_are_counted() {
    let thought = json!({"type": "reasoning", "summary": [], "encrypted_content": "x".repeat(1524)});
    let call = json!({"type": "function_call", "call_id": "a", "name": "weather", "arguments": "{\"city\":\"Rome\"}"});
    let result = json!({"type": "function_call_output", "call_id": "a", "output": "40 C"});
    let question = json!({"role": "user", "content": "Weather?"});
    check(
        &json!({"model": "gpt-5", "input": [question, thought, call, result]}),
        expect![[r#"
            input_tokens 136, messages 6, tool_calls 15, tool_results 11, reasoning 102, framing 2
        "#]],
    );
    // After a new question, the server discards earlier reasoning.
    check(
        &json!({"model": "gpt-5", "input": [question, thought, call, result, question]}),
        expect![[r#"
        input_tokens 40, messages 12, tool_calls 15, tool_results 11, framing 2
    "#]],
    );
    check(
        &json!({"model": "gpt-5.5", "input": [question, thought, call, result]}),
        expect![[r#"
            input_tokens 139, messages 6, tool_calls 16, tool_results 13, reasoning 102, framing 2
        "#]],
    );
    check(
        &json!({"model": "gpt-4o", "input": [question, call, call, result, result]}),
        expect![[r#"
            input_tokens 49, messages 6, tool_calls 24, tool_results 16, framing 3
        "#]],
    );
    let image = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAYAAAA=";
    let pictures = json!({"type": "function_call_output", "call_id": "a",
        "output": [{"type": "input_text", "text": "Here"}, {"type": "input_image", "image_url": image}]});
    check(
        &json!({"model": "gpt-4o", "input": [question, call, pictures]}),
        expect![[r#"
            input_tokens 793, messages 6, tool_calls 12, tool_results 7, images 765, framing 3
        "#]],
    );
}

#[test]
fn tools_and_formats_are_counted() {
    let parameters = json!({"type": "object", "title": "Search", "additionalProperties": false, "required": ["query", "order"],
        "properties": {
            "query": {"type": "string", "description": "What to look for"},
            "order": {"enum": ["asc", "desc"], "default": "asc"},
            "limit": {"type": ["integer", "null"], "minimum": 1},
            "filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string", "examples": ["a"]}, "examples": [["b"]]},
            "extra": {"type": "object", "additionalProperties": {"type": "number"}}},
        "$defs": {"Filter": {"type": "object", "title": "Filter", "properties": {"field": {"const": "name"},
            "inner": {"$ref": "#/$defs/Filter"}}, "required": ["field"]}}});
    let tool = json!({"type": "function", "name": "search", "description": "Search it.", "strict": true, "parameters": parameters});
    let empty = json!({"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}});
    check(
        &json!({"model": "gpt-5", "input": "x", "tools": [empty]}),
        expect![[r#"
        input_tokens 30, messages 5, tools 23, framing 2
    "#]],
    );
    check(
        &json!({"model": "gpt-5", "input": "x", "tools": [empty, tool], "tool_choice": "required"}),
        expect![[r#"
            input_tokens 111, messages 5, tools 104, framing 2
        "#]],
    );
    check(
        &json!({"model": "claude-sonnet-4.5", "input": "x", "tools": [empty, tool]}),
        expect![[r#"
            input_tokens 778, messages 4, tools 770, framing 4
        "#]],
    );
    let format = json!({"format": {"type": "json_schema", "name": "Person", "schema": {"type": "object",
        "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}}});
    check(
        &json!({"model": "gpt-5", "input": "x", "text": format}),
        expect![[r#"
        input_tokens 29, messages 5, format 22, framing 2
    "#]],
    );
    check(
        &json!({"model": "gpt-5", "input": "x", "previous_response_id": "r", "tools": [{"type": "web_search"}, {"type": "acme:x"}]}),
        expect![[r#"
            input_tokens 7, messages 5, framing 2
            `web_search`: the server's description of its own tool and the tool's results are not counted
            `acme:x`: the server's description of its own tool and the tool's results are not counted
            `previous_response_id`: only the server knows the earlier conversation it refers to
        "#]],
    );
}

#[test]
fn geminis_tools_are_counted_as_each_of_its_servers_does() {
    let parameters = json!({
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    });
    let body = |model: &str| {
        let tool =
            json!({"type": "function", "name": "add", "description": "Add two numbers", "parameters": parameters});
        json!({"model": model, "input": "Hi", "tools": [tool]}).to_string()
    };
    let tools = |server: &str, model: &str| {
        let counter = Counter::exact().for_server(server);
        counter.request_body(body(model).as_bytes()).map(|counted| counted.tools).ok()
    };
    let studio = "https://generativelanguage.googleapis.com/v1beta/openai";
    // The words: the name, the description, two properties, which are both required. Three types.
    let words = 1 + 3 + 2 + 2;
    assert_eq!(tools("https://ai-gateway.vercel.sh/v1", "google/gemini-2.5-flash"), Some(words + 3));
    assert_eq!(tools(studio, "gemini-2.0-flash"), Some(words + 3));
    assert_eq!(tools(studio, "gemini-2.5-flash"), Some(words + 18 + 2 * 9));
    assert_eq!(tools(studio, "gemini-3-flash-preview"), Some(words + 13 + 5 + 2 * 13));
}

#[test]
fn a_schema_that_is_referred_to_costs_as_much_as_in_its_place() {
    let tokens = |parameters: Value| {
        let tool = json!({"type": "function", "name": "add", "parameters": parameters});
        let body = json!({"model": "google/gemini-2.5-flash", "input": "Hi", "tools": [tool]}).to_string();
        Counter::exact().request_body(body.as_bytes()).map(|counted| counted.tools).ok()
    };
    let point = json!({"type": "object", "description": "A place.", "properties": {"x": {"type": "number"}}});
    let in_place = tokens(json!({"type": "object", "properties": {"from": point, "to": point}}));
    let reference = json!({"$ref": "#/$defs/Point"});
    let of = |point: Value| {
        let properties = json!({"from": reference, "to": reference});
        tokens(json!({"type": "object", "properties": properties, "$defs": {"Point": point}}))
    };
    assert_eq!(of(point), in_place);
    // A schema that contains itself ends there. Nothing is at an address that doesn't exist.
    let itself = json!({"type": "object", "properties": {"next": reference, "lost": {"$ref": "#/$defs/Lost"}}});
    assert_eq!(
        of(itself),
        tokens(json!({"type": "object", "properties": {
        "from": {"type": "object", "properties": {"next": {}, "lost": {}}},
        "to": {"type": "object", "properties": {"next": {}, "lost": {}}}}}))
    );
}

#[test]
fn what_a_model_thought_before_a_call_counts_if_the_server_keeps_it() {
    let call = json!({"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"});
    let thought = json!({"type": "reasoning", "id": "r", "content": [], "encrypted_content": "", "summary": []});
    let question = json!({"role": "user", "content": "Add them."});
    let calls = |model: &str, input: &[&serde_json::Value]| {
        let body = json!({"model": model, "input": input}).to_string();
        Counter::exact().request_body(body.as_bytes()).map(|counted| counted.tool_calls).ok()
    };
    let plain = calls("xai/grok-3", &[&question, &call]);
    let with_thought = plain.map(|tokens| tokens + 320);
    assert_eq!(calls("xai/grok-4", &[&question, &call]), with_thought);
    // Calls at the same time share a thought.
    assert_eq!(calls("xai/grok-4", &[&question, &call, &call]), plain.map(|tokens| tokens * 2 + 320));
    // It is in the request, or the server has discarded it, or the model doesn't think.
    assert_eq!(calls("xai/grok-4", &[&question, &thought, &call]), plain);
    assert_eq!(calls("xai/grok-4", &[&question, &call, &question]), plain);
    assert_eq!(calls("xai/grok-4-fast-non-reasoning", &[&question, &call]), plain);
}

#[test]
fn servers_with_rules_of_their_own_are_recognized() {
    let count = |server: &str, model: &str| {
        let body = json!({"model": model, "input": "Hi"}).to_string();
        Counter::exact().for_server(server).request_body(body.as_bytes()).map(|counted| counted.input_tokens).ok()
    };
    let gateway = "https://ai-gateway.vercel.sh/v1";
    assert_eq!(count("https://name.openai.azure.com/openai/v1", "grok-4-fast-reasoning"), Some(1));
    assert_eq!(count(gateway, "xai/grok-4-fast-reasoning"), Some(1 + 153 + 3));
    let thinks = count("https://api.deepseek.com", "deepseek-v4-flash");
    assert_eq!(thinks, count(gateway, "deepseek/deepseek-v4-flash").map(|tokens| tokens + 79));
}

#[test]
fn llamas_tools_are_counted_as_each_of_its_servers_writes_them() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string", "description": "The name of a city."}},
        "required": ["city"]});
    let count = |server: &str| {
        let body = json!({"model": "meta/llama-3.3-70b", "input": "Is it raining in Rome?", "tools": [{"type": "function",
            "name": "get_weather", "description": "Returns the weather in a city.", "parameters": schema}]});
        let counted = Counter::exact().for_server(server).request_body(body.to_string().as_bytes());
        counted.map(|counted| counted.input_tokens).ok()
    };
    // The first two are what the published template amounts to with Llama's own vocabulary.
    assert_eq!(count("https://api.together.xyz/v1"), Some(190));
    assert_eq!(count("https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1"), Some(176));
    assert_eq!(count("https://api.groq.com/openai/v1"), Some(228));
    assert_eq!(count("https://server.example/v1"), Some(235));
}

#[test]
fn capitals_and_lines_cost_more_and_short_words_less() {
    let counter = Counter::exact();
    let count = |text: &str| (counter.text("openai/gpt-5", text), counter.text("anthropic/claude-sonnet-4.5", text));
    let ratio = |text: &str| f64::from(count(text).1) / f64::from(count(text).0);
    let prose = "It is one of the two ways to get to the end of it, and so he sat on it. ".repeat(9);
    let code = "Configuration parameters determine concurrent connection establishment. ".repeat(9);
    assert!(ratio(&prose) < 1.05 && ratio(&code) > 1.15, "{} {}", ratio(&prose), ratio(&code));
    assert!(ratio("PLEASE RESPOND ONLY WITH A SINGLE NUMBER") > 1.4);
    let lines = |model: &str| (counter.text(model, &"value;\n".repeat(40)), counter.text(model, &"value; ".repeat(40)));
    assert!(lines("deepseek/deepseek-v3").0 > lines("deepseek/deepseek-v3").1 + 5);
}

#[test]
fn some_families_split_numbers_into_digits() {
    let counter = Counter::exact();
    let count = |text: &str| (counter.text("openai/gpt-5", text), counter.text("alibaba/qwen3-max", text));
    assert_eq!(count("12345678"), (3, 8));
    assert_eq!(count("1 23 x4"), (5, 6));
    assert_eq!(count("no digits"), (2, 2));
}

#[test]
fn content_that_only_the_server_knows_is_noted() {
    check(
        &json!({"model": "gpt-5", "input": [
            {"type": "item_reference", "id": "i"},
            {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "rust"}},
            {"role": "user", "content": [
                {"type": "input_image", "image_url": "https://example.com/a.png"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQK"},
                {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,aGVsbG8gd29ybGQ="},
                {"type": "input_audio"}]},
        ]}),
        expect![[r#"
            input_tokens 1295, messages 33, images 1260, framing 2
            `item_reference`: only the server knows the item it refers to
            `web_search_call`: counted as its JSON; the server may show the model more or less of it
            an image is counted as 1024 x 1024 pixels: it is not in the request
            an image is counted as 1024 x 1024 pixels: its header has no size
            a file is not counted: the server turns it into text and pictures
            audio is not counted
        "#]],
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let words =
        ["message", "function_call", "reasoning", "user", "input_text", "input_image", "object", "array", "#/input"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    let names = [
        "type",
        "role",
        "content",
        "text",
        "name",
        "arguments",
        "output",
        "tools",
        "parameters",
        "properties",
        "items",
        "anyOf",
        "$ref",
        "required",
        "enum",
        "input",
        "image_url",
        "encrypted_content",
        "call_id",
        "schema",
        "format",
        "instructions",
    ];
    leaf.prop_recursive(6, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(names.to_vec()).prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_parts_of_any_request_add_up(input in any_json(), tools in any_json(), text in any_json()) {
        for model in ["gpt-5", "claude-opus-4.7", "gpt-4"] {
            let body = json!({"model": model, "input": input, "tools": tools, "text": text});
            let counted = Counter::exact().request_body(body.to_string().as_bytes()).unwrap();
            let parts = counted.instructions + counted.messages + counted.tool_calls + counted.tool_results
                + counted.reasoning + counted.tools + counted.format + counted.images + counted.framing;
            prop_assert_eq!(counted.input_tokens, parts);
        }
    }

    #[test]
    fn concatenation_changes_the_count_only_at_the_boundary(first in ".{0,80}", second in ".{0,80}") {
        // Merging across the boundary can save tokens, but only around the boundary.
        for counter in [Counter::exact(), Counter::estimating()] {
            let whole = counter.text("gpt-5", &format!("{first}{second}"));
            prop_assert!(whole <= counter.text("gpt-5", &first) + counter.text("gpt-5", &second) + 4);
            prop_assert!(whole * 2 + 8 >= counter.text("gpt-5", &first));
        }
    }

    #[test]
    fn any_message_can_be_counted(json in any_json()) {
        if let Ok(message) = ChatMessage::from_json(&json!({"role": "user", "content": json}).to_string()) {
            Counter::exact().message("gpt-5", &message);
        }
    }
}
