//! Where the connections of an editor come from, and which key belongs to which endpoint.

#![expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::Sources;

/// Checks the connections of these sources, in addition to a base URL.
fn check(sources: Value, expected: Expect) {
    check_group("", sources, expected);
}

/// Does the same for a group whose key has this fingerprint.
fn check_group(fingerprint: &str, sources: Value, expected: Expect) {
    let mut all = json!({"baseUrl": "https://ai-gateway.vercel.sh/v1", "storedKeys": "", "environment": {"keys": []}});
    all.as_object_mut().unwrap().extend(sources.as_object().unwrap().clone());
    all["storedKeys"] = match &all["storedKeys"] {
        Value::String(text) => text.clone().into(),
        keys => keys.to_string().into(),
    };
    let sources: Sources = serde_json::from_value(all).unwrap();
    let lines = sources.connections(fingerprint).into_iter().map(|source| {
        let endpoint = match &source.endpoint {
            Ok(endpoint) => endpoint.base_url.clone(),
            Err(problem) => format!("problem: {problem}"),
        };
        let details = [
            Some(format!("{:?}", source.key)),
            source.is_confirmed.then(|| "confirmed".to_owned()),
            source.is_from_environment.then(|| "must be confirmed".to_owned()),
            source.kept.and_then(|key| key.replaces).map(|old| format!("replaces {old}")),
            source.warning.map(|warning| format!("warning: {warning}")),
        ];
        let details: Vec<String> = details.into_iter().flatten().collect();
        format!("{}: {endpoint}, {}\n", source.label, details.join(", "))
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn without_any_source_there_is_no_connection() {
    check(json!({}), expect![[""]]);
}

#[test]
fn keys_that_the_user_entered() {
    let keys = json!([
        {"name": "Work", "baseUrl": "https://a.example/v1", "key": "secret"},
        {"name": "Ollama", "baseUrl": "http://localhost:11434"},
        {"name": "Old", "baseUrl": "nonsense", "key": "secret"},
        {"name": "group", "baseUrl": "https://a.example/v1", "key": "secret", "replaces": "abc"},
    ]);
    check(
        json!({ "storedKeys": keys }),
        expect![[r#"
        Work: https://a.example/v1, Text, confirmed
        Ollama: http://localhost:11434, None, confirmed
        Old: problem: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1, Text, confirmed
    "#]],
    );
}

#[test]
fn a_sign_in_comes_before_the_environment() {
    let environment = json!({"keys": ["SLUICE_API_KEY"]});
    let sign_in = |origin: &str| json!({"label": "Team / site", "origin": origin});
    check(
        json!({"environment": environment, "signIn": sign_in("https://ai-gateway.vercel.sh")}),
        expect![[r#"
        Team / site: https://ai-gateway.vercel.sh/v1, SignIn
    "#]],
    );
    check(
        json!({"environment": environment, "signIn": sign_in("https://a.example")}),
        expect![[r#"
        Team / site: problem: You signed in for https://a.example, but the base URL in the settings is now at https://ai-gateway.vercel.sh. Sign in again, or change the setting back., SignIn
    "#]],
    );
    check(
        json!({ "environment": environment }),
        expect![[r#"
        Environment: https://ai-gateway.vercel.sh/v1, Variable("SLUICE_API_KEY")
    "#]],
    );
}

#[test]
fn the_environment_chooses_an_address_and_a_key() {
    let check_at = |base_url: &str, keys: Value, expected: Expect| {
        check(json!({"environment": {"keys": keys, "baseUrl": base_url}}), expected);
    };
    check_at(
        "https://a.example/v1",
        json!(["SLUICE_API_KEY"]),
        expect![[r#"
        Environment: https://a.example/v1, Variable("SLUICE_API_KEY"), must be confirmed
    "#]],
    );
    // The gateway's own key goes nowhere else.
    check_at(
        "https://a.example/v1",
        json!(["AI_GATEWAY_API_KEY"]),
        expect![[r#"
        Environment: problem: AI_GATEWAY_API_KEY is not sent to https://a.example, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY., None, warning: AI_GATEWAY_API_KEY is not sent to https://a.example, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY.
    "#]],
    );
    check_at(
        "http://localhost:11434",
        json!(["AI_GATEWAY_API_KEY"]),
        expect![[r#"
        Environment: http://localhost:11434, None, warning: AI_GATEWAY_API_KEY is not sent to http://localhost:11434, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY.
    "#]],
    );
    check_at(
        "http://localhost:11434",
        json!([]),
        expect![[r#"
        Environment: http://localhost:11434, None
    "#]],
    );
    check_at(
        "nonsense",
        json!([]),
        expect![[r#"
        Environment: problem: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1, None
    "#]],
    );
}

#[test]
fn a_group_of_manage_models() {
    let keys = json!([
        {"name": "a.example", "baseUrl": "https://a.example/v1", "key": "new", "replaces": "abc"},
        {"name": "Work", "baseUrl": "https://a.example/v1", "key": "other"},
    ]);
    let check_group = |fingerprint: &str, group: Value, expected: Expect| {
        check_group(fingerprint, json!({"storedKeys": keys, "group": group}), expected);
    };
    check_group(
        "def",
        json!({"hasKey": true, "baseUrl": "https://a.example/v1"}),
        expect![[r#"
        a.example: https://a.example/v1, Group, replaces def
    "#]],
    );
    check_group(
        "abc",
        json!({"hasKey": true, "baseUrl": "https://a.example/v1"}),
        expect![[r#"
        a.example: https://a.example/v1, Text, confirmed, replaces abc
    "#]],
    );
    // The same key at another address isn't replaced.
    check_group(
        "abc",
        json!({"hasKey": true, "baseUrl": "https://b.example/v1"}),
        expect![[r#"
        b.example: https://b.example/v1, Group, replaces abc
    "#]],
    );
    check_group(
        "none",
        json!({"hasKey": false, "baseUrl": " "}),
        expect![[r#"
        ai-gateway.vercel.sh: https://ai-gateway.vercel.sh/v1, None, replaces none
    "#]],
    );
    check_group(
        "none",
        json!({"baseUrl": "nonsense"}),
        expect![[r#"
        Manage Models: problem: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1, None
    "#]],
    );
    // VS Code made this group to keep what the user chose in its picker.
    check_group("none", json!({}), expect![[""]]);
}
