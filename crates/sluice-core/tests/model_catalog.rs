//! What is known about models over time: rules, a list that is never lost, and what holds whatever a server sends.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use sluice_core::{
    ChatModel, Endpoint, HttpResponse, KeyCheck, ListState, ModelCatalog, ModelSettings, Parameter, Refresh, check_key,
    finds_model, join_messages, short_count, similar_models,
};

use crate::support::catalog::{NOW, catalog, gateway, ok, only};

fn check_rules(settings: ModelSettings, expected: Expect) {
    let ids =
        ["anthropic/claude-sonnet-4.5", "anthropic/claude-opus-4.5", "google/gemini-3-pro-preview", "openai/gpt-5"];
    let list = catalog(&ids.iter().map(|id| json!({ "id": id })).collect()).models(&settings, NOW);
    let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
    let mut lines: Vec<String> = list
        .models
        .iter()
        .map(|model| format!("{}{}{}", model.id, mark(model.is_favourite, " ★"), mark(model.is_default, " default")))
        .collect();
    lines.extend(list.others.iter().map(|other| format!("({} {})", other.id, other.kind)));
    lines.extend(list.notes.iter().map(|note| format!("note: {}", note.detail)));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn rules_hide_models_and_choose_favourites_and_the_default() {
    let of = |hide: &[&str], favourites: &[&str], default: &[&str]| {
        let owned = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        ModelSettings {
            hide: owned(hide),
            favourites: owned(favourites),
            default: owned(default),
            ..ModelSettings::default()
        }
    };
    check_rules(
        of(&[], &[], &[]),
        expect![[r#"
            anthropic/claude-sonnet-4.5 default
            anthropic/claude-opus-4.5
            google/gemini-3-pro-preview
            openai/gpt-5"#]],
    );
    check_rules(
        of(&["anthropic/*", "!anthropic/claude-opus*"], &[], &[]),
        expect![[r#"
            anthropic/claude-opus-4.5
            google/gemini-3-pro-preview
            openai/gpt-5 default
            (anthropic/claude-sonnet-4.5 hidden)"#]],
    );
    // The last matching pattern wins.
    check_rules(
        of(&["!ANTHROPIC/claude-opus-4.5", "Anthropic/*", "*-preview"], &[], &[]),
        expect![[r#"
            openai/gpt-5 default
            (anthropic/claude-sonnet-4.5 hidden)
            (anthropic/claude-opus-4.5 hidden)
            (google/gemini-3-pro-preview hidden)"#]],
    );
    check_rules(
        of(&[], &["gpt-?", "*opus*"], &["*-sonnet-*", "openai/*"]),
        expect![[r#"
        anthropic/claude-opus-4.5 ★
        openai/gpt-5 ★
        anthropic/claude-sonnet-4.5 default
        google/gemini-3-pro-preview"#]],
    );
    check_rules(
        of(&["openai/*"], &[], &["openai/gpt-5", "google/*", "anthropic/*", "!google/*"]),
        expect![[r#"
        anthropic/claude-sonnet-4.5 default
        anthropic/claude-opus-4.5
        google/gemini-3-pro-preview
        (openai/gpt-5 hidden)
        note: `openai/gpt-5` in default matches no model that is shown"#]],
    );
    check_rules(
        of(&["*"], &[], &[]),
        expect![[r#"
            anthropic/claude-sonnet-4.5 default
            anthropic/claude-opus-4.5
            google/gemini-3-pro-preview
            openai/gpt-5
            note: The rules hide every model, so none is hidden; take one back with `!creator/model`"#]],
    );
    check_rules(
        of(&["", "!", "a b", "openai/{gpt-4,gpt-5}", "!!x"], &["gpt5"], &["mistral/*"]),
        expect![[r#"
            anthropic/claude-sonnet-4.5 default
            anthropic/claude-opus-4.5
            google/gemini-3-pro-preview
            openai/gpt-5
            note: The pattern `` names no model; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
            note: The pattern `!` names no model; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
            note: The pattern `a b` has white space in it; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`, one id or pattern for each entry
            note: The pattern `openai/{gpt-4,gpt-5}` has characters that no id has; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
            note: The pattern `!!x` has characters that no id has; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
            note: `gpt5` in favourites matches no model that is shown
            note: `mistral/*` in default matches no model that is shown"#]],
    );
}

#[test]
fn models_are_found_by_id_and_name() {
    assert!(finds_model("SONNET", "anthropic/claude-sonnet-4.5", "Claude Sonnet 4.5"));
    assert!(finds_model("Sonnet 4", "x/y", "Claude Sonnet 4.5"));
    assert!(finds_model("anthropic/*4.5", "anthropic/claude-sonnet-4.5", ""));
    assert!(finds_model("claude-*", "anthropic/claude-sonnet-4.5", ""));
    assert!(!finds_model("anthropic/*4", "anthropic/claude-sonnet-4.5", ""));
    assert!(!finds_model("?", "ab", ""));
    let ids = ["openai/gpt-5", "openai/gpt-5.2", "anthropic/claude-sonnet-4.5"];
    assert_eq!(similar_models("gtp-5", ids), ["openai/gpt-5"]);
    assert_eq!(similar_models("antropic/claude-sonet-4.5", ids), ["anthropic/claude-sonnet-4.5"]);
    assert!(similar_models("zebra", ids).is_empty());
}

#[test]
fn token_counts_are_shortened() {
    let short = [0, 999, 1_000, 8_192, 16_384, 128_000, 131_072, 999_499, 999_500, 1_000_000, 1_048_576, 10_000_000];
    expect!["0 999 1k 8.19k 16.4k 128k 131k 999k 1M 1M 1.05M 10M"].assert_eq(&short.map(short_count).join(" "));
}

#[test]
fn a_bad_response_never_replaces_a_good_list() {
    let mut catalog = ModelCatalog::new(&gateway());
    let shown = |catalog: &ModelCatalog| catalog.models(&ModelSettings::default(), NOW).models.len();
    assert_eq!((catalog.state(NOW), catalog.age(NOW), shown(&catalog)), (ListState::Missing, None, 0));
    assert!(matches!(catalog.handle_list(&ok("<html>"), NOW), Refresh::Kept(_)));
    let list = json!({ "data": [{ "id": "a/b" }] });
    assert_eq!(catalog.handle_list(&ok(&list), NOW), Refresh::Changed);
    assert_eq!((catalog.state(NOW), shown(&catalog)), (ListState::Fresh, 1));
    let if_none_match = ("if-none-match".to_owned(), "W/\"1\"".to_owned());
    assert!(catalog.list_request().headers.contains(&if_none_match));
    assert_eq!(catalog.state(NOW + 299), ListState::Fresh);
    assert_eq!(catalog.state(NOW + 300), ListState::Stale);
    assert_eq!(catalog.state(NOW - 1), ListState::Stale, "the clock was set back");

    let known = catalog.clone();
    let not_modified = HttpResponse { status: 304, ..HttpResponse::default() };
    assert_eq!(catalog.handle_list(&not_modified, NOW + 400), Refresh::Unchanged);
    assert_eq!((catalog.state(NOW + 400), catalog.age(NOW + 410)), (ListState::Fresh, Some(10)));
    // "Not modified", although nothing is known.
    assert!(matches!(ModelCatalog::new(&gateway()).handle_list(&not_modified, NOW), Refresh::Kept(_)));

    let mut lines = String::new();
    for (status, body) in [
        (200, ""),
        (200, "{}"),
        (200, "[]"),
        (200, r#"{"data":[]}"#),
        (200, r#"{"data":[{"id":"x/embedding","type":"embedding"}]}"#),
        (200, r#"{"data":[{"name":"no id"}]}"#),
        (200, r#"{"data":[{"id":"a/b"}"#),
        (200, "<html>Sign in to the hotel's network</html>"),
        (401, r#"{"error":{"message":"No key","type":"authentication_error"}}"#),
        (404, "<html></html>"),
        (500, ""),
        (503, "upstream"),
    ] {
        let mut catalog = known.clone();
        let answer = HttpResponse { status, headers: Vec::new(), body: body.to_owned() };
        let Refresh::Kept(note) = catalog.handle_list(&answer, NOW + 400) else { panic!("{status} {body}") };
        lines.push_str(&format!("{status} {}\n", note.detail));
        assert_eq!(shown(&catalog), 1);
        // The known list is kept, and the server isn't asked again for a minute.
        assert_eq!(ModelCatalog::restore(&catalog.snapshot(), &gateway()).0, known);
        assert_eq!(
            [400, 459, 460].map(|s| catalog.state(NOW + s)),
            [ListState::Fresh, ListState::Fresh, ListState::Stale]
        );
    }
    expect![[r#"
        200 The answer (HTTP 200) is not a list of models; check the base URL. The known models stay available.
        200 The answer (HTTP 200) is not a list of models; check the base URL. The known models stay available.
        200 The server lists no model that chats. The known models stay available.
        200 The server lists no model that chats. The known models stay available.
        200 The server lists no model that chats. The known models stay available.
        200 The server lists no model that chats. The known models stay available.
        200 The answer (HTTP 200) is not a list of models; check the base URL. The known models stay available.
        200 The answer (HTTP 200) is not a list of models; check the base URL. The known models stay available.
        401 No key. Enter a valid API key. The known models stay available.
        404 The answer (HTTP 404) is not a list of models; check the base URL. The known models stay available.
        500 HTTP 500: The server has a problem. Try again later or choose another model. The known models stay available.
        503 upstream. Try again later or choose another model. The known models stay available.
    "#]]
    .assert_eq(&lines);
}

#[test]
fn snapshots_restore_the_list() {
    let catalog = catalog(&json!([{ "id": "a/b", "name": "Ä \"quoted\"" }]));
    let snapshot = catalog.snapshot();
    assert_eq!(ModelCatalog::restore(&snapshot, &gateway()), (catalog.clone(), None));
    let empty = |text: &str| {
        let (restored, note) = ModelCatalog::restore(text, &gateway());
        assert_eq!(restored.state(NOW), ListState::Missing, "{text}");
        note.map(|note| note.detail).unwrap_or_default()
    };
    let damaged = "The kept list of models is damaged; it will be fetched again";
    let other = snapshot.replace("\"version\":3", "\"version\":1");
    assert_eq!(empty(&other), "The kept list of models is of another version; it will be fetched again");
    for end in (0..snapshot.len()).filter(|end| snapshot.is_char_boundary(*end)) {
        assert_eq!(empty(&snapshot[..end]), damaged);
    }
    // One letter of the list has changed: it is still JSON, but no longer what the server's tag refers to.
    assert_eq!(empty(&snapshot.replace("a/b", "a/c")), damaged);
    let elsewhere = Endpoint::parse("https://other.example/v1").unwrap();
    let (restored, note) = ModelCatalog::restore(&snapshot, &elsewhere);
    assert_eq!((restored, note), (ModelCatalog::new(&elsewhere), None));
}

#[test]
fn refused_parameters_are_left_out_for_a_month() {
    let mut catalog = catalog(&json!([{"id": "acme/m"}, {"id": "acme/n"}]));
    assert!(catalog.learn_refused("acme/m", &[Parameter::Store], NOW));
    assert!(!catalog.learn_refused("acme/m", &[Parameter::Store], NOW));
    assert!(catalog.learn_refused("acme/m", &[Parameter::Caching], NOW + 60));
    let (catalog, note) = ModelCatalog::restore(&catalog.snapshot(), &gateway());
    assert_eq!(note, None);
    let refused = |now: u64| -> Vec<Vec<Parameter>> {
        let models = catalog.models(&ModelSettings::default(), now).models;
        models.into_iter().map(|model| model.refused).collect()
    };
    assert_eq!(refused(NOW + 100), [vec![Parameter::Caching, Parameter::Store], vec![]]);
    assert_eq!(refused(NOW + 31 * 86_400), [vec![], vec![]], "the server may have learned them");
}

fn rich() -> Value {
    json!({
        "id": "anthropic/claude-sonnet-4.5", "object": "model", "created": 1_759_104_000, "released": 1_759_104_000,
        "owned_by": "anthropic", "name": "Claude Sonnet 4.5", "description": "Writes code.", "context_window": 200_000,
        "max_tokens": 64_000, "type": "language", "knowledge": "2025-07", "tags": ["tool-use", "vision"],
        "regions": ["us"], "modalities": { "input": ["text", "image"], "output": ["text"] },
        "supported_parameters": ["tools", "reasoning"], "reasoning_options": [{ "type": "effort", "values": ["low", "high"] }],
        "architecture": { "modality": "text+image->text", "input_modalities": ["text"], "output_modalities": ["text"] },
        "top_provider": { "context_length": 200_000 }, "reasoning": { "mandatory": false }, "deprecated_at": 1_893_456_000_000_u64,
        "pricing": { "input": "0.000003", "output": "0.000015", "input_cache_read": "0.0000003",
            "input_tiers": [{ "cost": "0.000006", "min": 200_001 }] },
    })
}

fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let path = format!("{at}/{name}");
        paths(child, &path, found);
        found.push(path);
    }
}

/// Damages every field of a list entry and of an endpoint in every way. The model stays, its numbers stay valid, and
/// other fields keep their meaning.
#[test]
fn a_damaged_field_affects_no_other_field() {
    let whole = only(&catalog(&json!([rich()])), &ModelSettings::default());
    let mut fields = Vec::new();
    paths(&rich(), "", &mut fields);
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!("x"),
        json!([]),
        json!({}),
        json!([[{}]]),
    ];
    for field in fields.iter().filter(|field| *field != "/id") {
        for value in &values {
            let mut entry = rich();
            *entry.pointer_mut(field).unwrap() = value.clone();
            let list = catalog(&json!([entry, { "id": "b/c" }])).models(&ModelSettings::default(), NOW);
            let Some(model) = list.models.iter().find(|model| model.id == whole.id) else {
                // Only its output modalities or its type can exclude a model from chat.
                assert!(field == "/type" || field.contains("output"), "{field} = {value}");
                continue;
            };
            sound(model);
            assert_eq!((&model.family, &model.version), (&whole.family, &whole.version));
            let same = [
                (model.name == whole.name, "name"),
                (model.context_window == whole.context_window, "context"),
                (model.capabilities.tool_calling, "supported_parameters"),
                (model.effort == whole.effort, "reasoning"),
                (model.prices == whole.prices, "pricing"),
                (model.released == whole.released, "released"),
                (model.knowledge == whole.knowledge, "knowledge"),
            ];
            for (is_same, owner) in same {
                assert!(is_same || field.contains(owner), "{field} = {value} changed {owner}");
            }
        }
    }
    assert!(fields.len() > 40, "{} fields", fields.len());
}

fn sound(model: &ChatModel) {
    assert!(model.max_input_tokens > 0 && model.max_output_tokens > 0);
    assert_eq!(model.max_input_tokens + model.max_output_tokens, model.context_window);
    assert!(!model.family.is_empty() && !model.version.is_empty() && !model.name.is_empty());
    assert!(
        model
            .effort
            .as_ref()
            .is_none_or(|effort| effort.default.as_ref().is_none_or(|default| effort.values.contains(default)))
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9./:@-]{0,24}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever is in the fields, there is no panic, numbers are valid, and no list is lost.
    #[test]
    fn any_list_can_be_read(id in "[a-zA-Z0-9./:@~_-]{1,40}", damage in prop::collection::vec((0..60_usize, any_json()), 1..8)) {
        let mut fields = Vec::new();
        paths(&rich(), "", &mut fields);
        let mut entry = rich();
        for (field, value) in damage {
            if let Some(place) = entry.pointer_mut(&fields[field % fields.len()]) {
                *place = value;
            }
        }
        entry["id"] = json!(id);
        let mut catalog = catalog(&json!([{ "id": "b/c" }]));
        let endpoints = json!({ "data": { "id": id, "endpoints": [entry, {}] } });
        catalog.handle_endpoints("b/c", &ok(endpoints), NOW);
        catalog.handle_list(&ok(json!({ "data": [entry] })), NOW);
        let list = catalog.models(&ModelSettings::default(), NOW);
        prop_assert!(!list.models.is_empty());
        list.models.iter().for_each(sound);
    }

    #[test]
    fn any_overflow_message_can_be_read(message in any::<String>(), numbers in prop::collection::vec("[0-9,_km]{1,30}", 0..4)) {
        let message = format!("{message} maximum context length is {} > {message}", numbers.join(" tokens limit "));
        if let Some(limit) = ModelCatalog::new(&gateway()).learn("a/b", &message, NOW) {
            prop_assert!((512..=100_000_000).contains(&limit));
        }
    }

    #[test]
    fn any_pattern_can_be_read(pattern in any::<String>(), stars in "[a*?/!]{0,60}", id in "[a-z/-]{1,60}") {
        let settings = ModelSettings { hide: vec![pattern.clone(), stars.clone()], favourites: vec![stars.clone()], default: vec![pattern.clone()], ..ModelSettings::default() };
        let catalog = catalog(&json!([{ "id": id }]));
        // An id such as `bge` belongs to a model that can't chat, whatever the settings are.
        let expected = catalog.models(&ModelSettings::default(), NOW).models.len();
        prop_assert_eq!(catalog.models(&settings, NOW).models.len(), expected);
        let _ = (finds_model(&stars, &id, &pattern), similar_models(&stars, [id.as_str()]));
        prop_assert!(finds_model(&id, &id, ""));
    }
}

#[test]
fn a_key_is_checked_by_asking_for_its_credit() {
    let catalog = ModelCatalog::new(&gateway());
    assert!(catalog.credits_request().url.ends_with("/v1/credits"));
    let mut lines = String::new();
    for (status, body) in [
        (200, r#"{"balance":"95.50","total_used":"4.50"}"#),
        (200, r#"{"balance":95.5}"#),
        (200, "<html>"),
        (401, r#"{"error":{"message":"No such key."}}"#),
        (402, ""),
        (403, ""),
        (404, ""),
        (503, ""),
    ] {
        let answer = HttpResponse { status, headers: Vec::new(), body: body.to_owned() };
        let KeyCheck { state, text, credit } = check_key(&answer, 0);
        let credit = credit.map(|credit| format!(" {}", credit.text)).unwrap_or_default();
        writeln!(lines, "{status} {state:?}: {}{credit}", join_messages(&text, " ")).unwrap();
    }
    expect![[r#"
        200 Accepted: Accepted. Credit left: $95.50 $95.50 of credit is left, and $4.50 was used in total, according to the server.
        200 Accepted: Accepted. Credit left: $95.5 $95.50 of credit is left, according to the server.
        200 Accepted: Accepted.
        401 Refused: No such key. Enter a valid API key.
        402 Unknown: HTTP 402: There is no credit left. Add credit or raise the budget.
        403 Unknown: HTTP 403: The server forbids this. Ask for access, or choose another model.
        404 Unknown: This server can't check a key (HTTP 404); the next step will show whether it works.
        503 Unknown: This server can't check a key (HTTP 503); the next step will show whether it works.
    "#]]
    .assert_eq(&lines);
}
