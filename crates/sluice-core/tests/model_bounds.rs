//! An absurd list of models has bounded costs and doesn't affect the models that are fine.

use expect_test::expect;
use serde_json::{Value, json};
use sluice_core::{HttpResponse, ModelCatalog, ModelList, ModelSettings, Refresh};

use crate::support::catalog::{NOW, gateway, ok};

fn listed(body: &str) -> (ModelCatalog, ModelList) {
    let mut catalog = ModelCatalog::new(&gateway());
    let refresh = catalog.handle_list(&ok(body), NOW);
    assert_eq!(refresh, Refresh::Changed);
    let list = catalog.models(&ModelSettings::default(), NOW);
    (catalog, list)
}

fn notes(list: &ModelList) -> String {
    list.notes.iter().map(|note| format!("{}\n", note.detail)).collect()
}

#[test]
fn long_lists_are_shortened_with_a_note() {
    let body =
        json!({ "data": (0..5_123).map(|id| json!({ "id": format!("a/{id}") })).collect::<Value>() }).to_string();
    let (catalog, list) = listed(&body);
    assert_eq!(list.models.len(), 5_000);
    expect![[r#"
        The list is too long. Entries left out at its end: 123
    "#]]
    .assert_eq(&notes(&list));
    // The same holds if the list comes from a snapshot, and if it arrives again.
    let (mut restored, note) = ModelCatalog::restore(&catalog.snapshot(), &gateway());
    assert_eq!((&restored, note), (&catalog, None));
    assert_eq!(restored.models(&ModelSettings::default(), NOW), list);
    assert_eq!(restored.handle_list(&ok(&body), NOW), Refresh::Unchanged);
}

#[test]
fn one_bad_entry_affects_no_other() {
    let deep = format!(r#"{{"id":"a/deep","x":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    let large = format!(r#"{{"id":"a/large","tags":["{}"]}}"#, "t".repeat(1 << 20));
    let long = format!(r#"{{"id":"a/{}"}}"#, "x".repeat(201));
    let half = r#"{"id":"a/half\ud800"}"#;
    let entries = [r#"{"id":"a/b"}"#, &deep, &large, &long, half, "1", "[]", r#"{"id":"a/c"}"#].join(",");
    for body in [
        format!(r#"{{"data":[{entries}]}}"#),
        format!(r#"{{"x":{deep},"models":[{entries}]}}"#),
        format!("[{entries}]"),
    ] {
        let (_, list) = listed(&body);
        let ids: Vec<&str> = list.models.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(ids, ["a/b", "a/c"]);
        expect![[r#"
            Entries left out because they have no usable id or cannot be read: 6
        "#]]
        .assert_eq(&notes(&list));
    }
}

#[test]
fn the_number_of_notes_is_bounded() {
    let body = json!((0..1_000).map(|id| json!({ "id": format!("a/{}", id / 2) })).collect::<Value>()).to_string();
    let (_, list) = listed(&body);
    assert_eq!((list.models.len(), list.notes.len()), (500, 11));
    assert_eq!(list.notes[10].detail, "Further models that are listed twice: 490");
}

#[test]
fn everything_in_a_model_is_bounded() {
    let words = |count: usize| (0..count).map(|n| Value::from(format!("word-{n}"))).collect::<Value>();
    let tiers = (0..200).map(|n| json!({ "min": n + 1, "cost": "0.000001" })).collect::<Value>();
    let pricing = json!({ "input": "0.000001", "input_tiers": tiers, "output_tiers": tiers });
    let model = json!({
        "id": "a/b", "name": "n".repeat(9_000), "description": "d\u{1b}".repeat(9_000), "owned_by": "o".repeat(9_000),
        "knowledge": "k".repeat(9_000), "tags": words(500), "regions": words(500), "supported_parameters": words(500),
        "reasoning_options": [{ "type": "effort", "values": words(500) }], "pricing": pricing,
    });
    let (mut catalog, _) = listed(&json!([model]).to_string());
    let endpoint = json!({ "provider_name": "p".repeat(9_000), "supported_parameters": words(500), "tags": words(500),
        "quantization": "q".repeat(9_000), "pricing": pricing });
    let endpoints =
        json!({ "data": { "id": "a/b", "endpoints": (0..20).map(|_| endpoint.clone()).collect::<Value>() } });
    assert_eq!(catalog.handle_endpoints("a/b", &ok(&endpoints), NOW), Refresh::Changed);
    let (restored, _) = ModelCatalog::restore(&catalog.snapshot(), &gateway());
    let model = restored.models(&ModelSettings::default(), NOW).models.remove(0);
    let effort = model.effort.unwrap();
    let prices = model.prices.unwrap();
    let lengths = [
        model.name.len(),
        model.description.unwrap().len(),
        model.creator.len(),
        model.knowledge.unwrap().len(),
        model.tags.len(),
        model.regions.len(),
        model.parameters.len(),
        effort.values.len(),
        prices.tiers.len(),
        model.providers.len(),
        model.providers[0].name.len(),
        model.providers[0].quantization.as_ref().unwrap().len(),
    ];
    expect!["[200, 2000, 1, 100, 100, 100, 100, 100, 16, 20, 100, 100]"].assert_eq(&format!("{lengths:?}"));
}

#[test]
fn what_the_catalog_stores_is_bounded() {
    let words = |count: usize| (0..count).map(|n| Value::from(format!("{n:0>90}"))).collect::<Value>();
    let model = |id: usize| json!({ "id": format!("a/{id}"), "tags": words(100), "supported_parameters": words(100) });
    let (mut catalog, _) = listed(&json!((0..300).map(model).collect::<Value>()).to_string());
    let list = catalog.models(&ModelSettings::default(), NOW);
    assert!(notes(&list).contains("left out"), "{}", notes(&list));
    let endpoint = json!({ "supported_parameters": words(100), "tags": words(100) });
    for id in 0..10 {
        let endpoints = json!({ "data": { "endpoints": (0..20).map(|_| endpoint.clone()).collect::<Value>() } });
        catalog.handle_endpoints(&format!("a/{id}"), &ok(&endpoints), NOW + id);
    }
    let snapshot = catalog.snapshot();
    assert!(snapshot.len() < 12 << 20, "{} bytes", snapshot.len());
    assert_eq!(ModelCatalog::restore(&snapshot, &gateway()), (catalog, None));
    // A snapshot that something else wrote.
    let huge = format!("{snapshot}{}", " ".repeat(16 << 20));
    let (restored, note) = ModelCatalog::restore(&huge, &gateway());
    assert_eq!(restored, ModelCatalog::new(&gateway()));
    assert_eq!(note.unwrap().detail, "The kept list of models is too large; it will be fetched again");
}

#[test]
fn absurd_details_about_a_model_are_ignored() {
    let (mut catalog, _) = listed(r#"[{"id":"a/b"}]"#);
    let known = catalog.clone();
    let body = json!({ "endpoints": [{ "name": "x".repeat(2 << 20) }] }).to_string();
    let refresh = catalog.handle_endpoints("a/b", &HttpResponse { status: 200, body, ..HttpResponse::default() }, NOW);
    assert!(matches!(refresh, Refresh::Kept(_)), "{refresh:?}");
    assert_eq!(catalog, known);
}
