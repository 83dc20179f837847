//! Choosing among models: their identity, the default, those worth seeing first, and what the user sets for them.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use crate::support::catalog::{NOW, catalog};
use expect_test::{Expect, expect, expect_file};
use serde_json::{Value, json};
use sluice_core::{ChatModel, ModelSettings, join_messages};

fn models(list: Value, settings: Value) -> Vec<ChatModel> {
    let settings: ModelSettings = serde_json::from_value(settings).unwrap();
    catalog(&list).models(&settings, NOW).models
}

/// Returns the only model of a list.
fn model(fields: Value) -> ChatModel {
    models(json!([fields]), json!({})).remove(0)
}

/// The file has the expected results next to the ids. A line that differs shows up in the diff.
#[test]
fn families_and_versions_are_read_from_ids() {
    let file = expect_file!["data/model_ids.txt"];
    let mut real = String::new();
    let mut ids = 0;
    for line in file.data().lines() {
        let id = line.split_whitespace().next().unwrap_or_default();
        if line.starts_with('#') || id.is_empty() {
            real.push_str(line);
        } else {
            let model = model(json!({ "id": id, "type": "language" }));
            real.push_str(&format!("{id:<59} {:<35} {}", model.family, model.version));
            ids += 1;
        }
        real.push('\n');
    }
    assert!(ids >= 150, "{ids} ids");
    file.assert_eq(&real);
}

#[test]
fn any_id_has_an_identity() {
    let odd =
        ["/", "-", ":", "@", "[1m]", "a/", "/a", "...", "a.b.c", "🙂/🙂-4-5", "claude", "gpt-", "ft:", "us.", "0"];
    for id in odd {
        let model = model(json!({ "id": id, "type": "language" }));
        assert!(!model.family.is_empty() && !model.version.is_empty() && !model.name.is_empty(), "{id}: {model:?}");
    }
}

/// Lists models by their ids and prices of output, and shows which are chosen.
fn check_choice(ids: &[&str], expected: Expect) {
    let list: Vec<Value> = ids
        .iter()
        .map(|id| {
            let (id, price) = id.split_once(' ').unwrap_or((id, "5"));
            let price = price.parse::<f64>().unwrap() / 1e6;
            json!({"id": id, "tags": ["tool-use"], "pricing": {"input": "0.000001", "output": price.to_string()}})
        })
        .collect();
    let lines: Vec<String> = models(json!(list), json!({}))
        .iter()
        .filter(|model| model.is_default || model.is_small_default || model.is_featured)
        .map(|model| {
            let marks =
                [(model.is_default, "default"), (model.is_small_default, "small"), (model.is_featured, "featured")];
            let marks: Vec<&str> = marks.iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| *mark).collect();
            format!("{}: {}", model.id, marks.join(", "))
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn the_newest_model_of_the_most_suitable_line_is_the_default() {
    check_choice(
        &[
            "alibaba/qwen3-coder",
            "anthropic/claude-haiku-4.5",
            "anthropic/claude-sonnet-4",
            "anthropic/claude-sonnet-4.5",
            "anthropic/claude-sonnet-4.5-20250929",
            "google/gemini-2.5-flash",
            "google/gemini-3-pro-preview",
            "openai/gpt-5",
            "openai/gpt-5.2",
            "openai/gpt-5-mini",
            "openai/gpt-4o",
        ],
        expect![[r#"
            alibaba/qwen3-coder: featured
            anthropic/claude-haiku-4.5: featured
            anthropic/claude-sonnet-4.5: default, featured
            google/gemini-2.5-flash: featured
            google/gemini-3-pro-preview: featured
            openai/gpt-5.2: featured
            openai/gpt-5-mini: small"#]],
    );
    // Without a known line, the first is the default and the cheapest light one is for small jobs.
    check_choice(
        &["acme/big 9", "acme/tiny-model 2", "acme/mini 1"],
        expect![[r#"
        acme/big: default, featured
        acme/mini: small"#]],
    );
    check_choice(&["acme/big"], expect!["acme/big: default, small, featured"]);
    check_choice(&[], expect![""]);
}

#[test]
fn models_without_tools_or_with_an_end_are_not_chosen() {
    let list = json!([
        {"id": "anthropic/claude-sonnet-9", "tags": ["vision"]},
        {"id": "anthropic/claude-sonnet-8", "tags": ["tool-use"], "deprecated_at": NOW + 86_400},
        {"id": "openai/gpt-5", "tags": ["tool-use"]},
    ]);
    let chosen = models(list, json!({})).into_iter().find(|model| model.is_default).unwrap();
    assert_eq!(chosen.id, "openai/gpt-5");
}

#[test]
fn favourites_replace_the_models_that_are_featured() {
    let list = json!([{"id": "openai/gpt-5"}, {"id": "acme/one"}, {"id": "google/gemini-3-pro"}]);
    let featured: Vec<String> = models(list, json!({"favourites": ["acme/*"]}))
        .into_iter()
        .filter(|model| model.is_featured)
        .map(|model| model.id)
        .collect();
    assert_eq!(featured, ["acme/one", "openai/gpt-5"]);
}

/// What VS Code shows when the mouse points at a model: one line each.
#[test]
fn the_information_about_a_model_fits_on_lines() {
    let check = |fields: Value, expected: Expect| {
        let model = model(fields);
        let mut lines: Vec<String> = model.info.iter().map(|line| join_messages(line, ", ")).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 110 && !line.contains('\n')), "{lines:?}");
        lines.insert(0, format!("{:?} {:?}", model.category, model.price_category));
        lines.extend(model.warning.iter().map(|warning| format!("! {warning}")));
        lines.extend((!model.context_sizes.is_empty()).then(|| format!("{:?}", model.context_sizes)));
        expected.assert_eq(&lines.join("\n"));
    };
    check(
        json!({
            "id": "anthropic/claude-opus-4.5",
            "description": "Writes *code* and prose. And much more that does not fit.",
            "tags": ["tool-use", "vision", "reasoning"],
            "context_window": 1_000_000, "max_tokens": 64_000,
            "pricing": {"input": "0.000005", "output": "0.000025", "input_cache_read": "0.0000005"},
            "deprecated_at": NOW + 86_400,
        }),
        expect![[r#"
            Powerful Some(High)
            Writes \*code\* and prose.
            tools, images, thinking, prompt cache
            1M tokens: 936k in, 64k out
            \$5 / \$25 per M tokens, cached \$0.50
            ! The provider switches this model off on 2027-01-16.
            [128000, 200000, 400000, 1000000]"#]],
    );
    check(
        json!({
            "id": "acme/mini",
            "description": "A sentence that goes on and on, without a full stop anywhere near the place where a line has to end, and further",
        }),
        expect![[r#"
            Lightweight None
            A sentence that goes on and on, without a full stop anywhere near the place where a line…
            128k tokens: 112k in, 16.4k out, assumed, because the server does not say"#]],
    );
    check(
        json!({"id": "acme/one", "deprecated_at": NOW - 86_400}),
        expect![[r#"
        Versatile None
        128k tokens: 112k in, 16.4k out, assumed, because the server does not say
        ! The provider switched this model off on 2027-01-14."#]],
    );
}

#[test]
fn the_most_specific_pattern_wins_field_by_field() {
    let list = json!([
        {"id": "acme/one", "tags": ["tool-use"], "context_window": 200_000, "max_tokens": 8_000},
        {"id": "acme/two", "tags": ["vision"]},
    ]);
    let overrides = json!({
        "*": {"effort": "low", "body": {"temperature": 0.1, "seed": 1}, "imageInput": true},
        "acme/*": {"maxOutputTokens": 4_000, "body": {"temperature": 0.2}, "routing": {"only": ["a"], "fallbacks": ["b/c"]}},
        "acme/one": {"effort": "high"},
        "acme/two": {"hidden": true},
        "acme/three": {"hidden": true},
    });
    let settings: ModelSettings = serde_json::from_value(json!({ "overrides": overrides })).unwrap();
    let shown = catalog(&list).models(&settings, NOW);
    let [one] = &shown.models[..] else { panic!("{:?}", shown.models) };
    assert!(one.capabilities.image_input);
    assert_eq!((one.max_output_tokens, one.context_window), (4_000, 200_000));
    let notes: Vec<&str> = shown.notes.iter().map(|note| note.detail.as_str()).collect();
    assert_eq!(notes, ["`acme/three` in overrides matches no model that is known"]);
    expect![[r#"{"contextWindow":null,"maxInputTokens":null,"maxOutputTokens":4000,"effort":"high","imageInput":true,"toolCalling":null,"hidden":null,"body":{"seed":1,"temperature":0.2},"routing":{"only":["a"],"models":["b/c"]}}"#]].assert_eq(&serde_json::to_string(&one.overrides).unwrap());
}
