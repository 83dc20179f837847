//! Which connections an editor may use, and with which keys.

#![expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{EditorState, RequestsTask, SourceKey, WorkResult, WorkStep, WorkTask, join_messages};

/// An editor. The fingerprint of a key is its text in parentheses.
#[derive(Default)]
struct World {
    state: EditorState,
    group_key: &'static str,
    origins: Vec<(String, Value)>,
}

impl World {
    fn check(&mut self, task: Value, expected: Expect) {
        let task = json!({"task": {"connections": task}, "nowMs": 0, "random": vec![0; 16]});
        let mut work = serde_json::from_value::<WorkTask<RequestsTask>>(task).unwrap().start(&self.state);
        let (mut step, mut seen) = (work.next(None), String::new());
        let result = loop {
            let result = match step {
                WorkStep::Done { result } => break result,
                WorkStep::Fingerprint { key } => {
                    let key = match key {
                        SourceKey::Text(text) => text,
                        SourceKey::Group => self.group_key.to_owned(),
                        SourceKey::Variable(name) => format!("${name}"),
                        other => panic!("{other:?} has no key"),
                    };
                    WorkResult::Fingerprint { fingerprint: format!("({key})"), is_sendable: !key.contains(' ') }
                }
                WorkStep::ReadOrigins => WorkResult::Origins(self.origins.clone()),
                WorkStep::WriteOrigins { origins } => {
                    seen += &format!("store {}\n", json!(origins));
                    self.origins = origins;
                    WorkResult::Done(true)
                }
                step => panic!("{step:?}"),
            };
            step = work.next(Some(result));
        };
        for found in result["found"].as_array().unwrap() {
            seen += &format!("{}: ", found["label"].as_str().unwrap());
            let texts = ["problem", "id"].map(|name| found[name].as_str().unwrap_or_default());
            seen += &texts.iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>().join(" | ");
            for name in ["mustConfirm", "isSignIn", "isDemo", "isTrial"] {
                seen += &if found[name] == true { format!(", {name}") } else { String::new() };
            }
            for name in ["notice", "question"] {
                if let Ok(text) = serde_json::from_value::<Vec<_>>(found[name]["text"].clone()) {
                    seen += &format!("\n  {name}: {}", join_messages(&text, " "));
                }
            }
            seen += "\n";
            assert_eq!(found["endpoint"].is_null(), found["problem"].is_string());
        }
        for origin in result["origins"].as_array().unwrap() {
            seen += &format!("may be sent to {}\n", origin.as_str().unwrap());
        }
        for line in result["log"].as_array().unwrap() {
            seen += &format!("{}: {}\n", line[0].as_str().unwrap(), line[1].as_str().unwrap());
        }
        expected.assert_eq(&seen);
    }
}

/// Returns a task that finds the connections of these sources.
fn find(sources: Value) -> Value {
    let mut all = json!({"baseUrl": "https://a.example/v1", "storedKeys": "", "environment": {"keys": []}});
    all.as_object_mut().unwrap().extend(sources.as_object().unwrap().clone());
    json!({ "find": all })
}

fn group(base_url: &str, has_key: bool) -> Value {
    find(json!({"group": {"baseUrl": base_url, "hasKey": has_key}}))
}

#[test]
fn a_key_belongs_to_the_origin_that_it_is_first_used_with() {
    let mut world = World { group_key: "k", ..World::default() };
    world.check(
        group("https://one.example/v1", true),
        expect![[r#"
            store [["(k)",["https://one.example"]]]
            one.example: https://one.example/v1 (k)
        "#]],
    );
    // Nothing has to be stored for the same origin, or for this machine.
    world.check(
        group("https://one.example/v2", true),
        expect![[r#"
            one.example: https://one.example/v2 (k)
        "#]],
    );
    world.check(
        group("http://localhost:11434/v1", true),
        expect![[r#"
            localhost:11434: http://localhost:11434/v1 (k)
        "#]],
    );
}

#[test]
fn the_user_is_asked_about_another_origin_once() {
    let mut world = World { group_key: "k", ..World::default() };
    world.origins = vec![("(k)".to_owned(), json!(["https://one.example"]))];
    world.check(group("https://two.example/v1", true), expect![[r#"
        two.example: Nothing is sent to https://two.example, because you have not confirmed that address. Run "Sluice: Refresh the Models" to confirm. | https://two.example (k), mustConfirm
          notice: Sluice: So far, this key was used with https://one.example. Now it would be sent to https://two.example.
          question: So far, this key was used with https://one.example. Now it would be sent to https://two.example.
        warn: Nothing is sent to https://two.example, because nobody confirmed that address.
    "#]]);
    world.check(group("https://two.example/v1", true), expect![[r#"
        two.example: Nothing is sent to https://two.example, because you have not confirmed that address. Run "Sluice: Refresh the Models" to confirm. | https://two.example (k), mustConfirm
          question: So far, this key was used with https://one.example. Now it would be sent to https://two.example.
    "#]]);
    world.check(json!({"confirm": "https://three.example (k)"}), expect![""]);
    world.check(
        json!({"confirm": "https://two.example (k)"}),
        expect![[r#"
            store [["(k)",["https://one.example","https://two.example"]]]
        "#]],
    );
    world.check(
        group("https://two.example/v1", true),
        expect![[r#"
            two.example: https://two.example/v1 (k)
        "#]],
    );
    world.check(
        json!({"origins": "k"}),
        expect![[r#"
            may be sent to https://one.example
            may be sent to https://two.example
        "#]],
    );
}

#[test]
fn an_address_without_a_key_has_to_be_confirmed() {
    let mut world = World::default();
    world.check(group("https://two.example/v1", false), expect![[r#"
        two.example: Nothing is sent to https://two.example, because you have not confirmed that address. Run "Sluice: Refresh the Models" to confirm. | https://two.example none, mustConfirm
          notice: Sluice: Chats will be sent to https://two.example without a key.
          question: Chats will be sent to https://two.example without a key.
        warn: Nothing is sent to https://two.example, because nobody confirmed that address.
    "#]]);
    world.check(
        json!({"confirm": "https://two.example none"}),
        expect![[r#"
            store [["none",["https://two.example"]]]
        "#]],
    );
    world.check(
        group("https://two.example/v1", false),
        expect![[r#"
            two.example: https://two.example/v1 none
        "#]],
    );
    world.check(
        json!({ "origins": null }),
        expect![[r#"
            may be sent to https://two.example
        "#]],
    );
    // It needs a key.
    world.check(
        group("https://ai-gateway.vercel.sh/v1", false),
        expect![[r#"
            ai-gateway.vercel.sh: https://ai-gateway.vercel.sh needs a key.
        "#]],
    );
}

#[test]
fn a_key_that_cannot_be_sent_is_a_problem() {
    World { group_key: "two halves", ..World::default() }.check(
        group("https://one.example/v1", true),
        expect![[r#"
            one.example: The key contains a line break, a space or another character that is not allowed in a key, so nothing was sent. Copy the key again and enter it on one line.
        "#]],
    );
}

#[test]
fn connections_outside_of_groups() {
    let keys = json!([
        {"name": "Work", "baseUrl": "https://a.example/v1", "key": "w"},
        {"name": "Ollama", "baseUrl": "http://nas:11434/v1"},
        {"name": "Old", "baseUrl": "nonsense", "key": "o"},
    ]);
    let sign_in = json!({"label": "Team / site", "origin": "https://a.example"});
    World::default().check(
        find(json!({"storedKeys": keys.to_string(), "signIn": sign_in})),
        expect![[r#"
            Team / site: https://a.example/v1 (Team / site), isSignIn
            Work: https://a.example/v1 (w)
            Ollama: http://nas:11434/v1 none
            Old: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1
        "#]],
    );
    let mut world = World::default();
    let environment = |base_url: &str, key: &str| find(json!({"environment": {"keys": [key], "baseUrl": base_url}}));
    world.check(environment("https://two.example/v1", "SLUICE_API_KEY"), expect![[r#"
        Environment: Nothing is sent to https://two.example, because you have not confirmed that address. Run "Sluice: Refresh the Models" to confirm. | https://two.example ($SLUICE_API_KEY), mustConfirm
          notice: Sluice: VS Code's environment specifies https://two.example as the address for your key.
          question: VS Code's environment specifies https://two.example as the address for your key.
        warn: Nothing is sent to https://two.example, because nobody confirmed that address.
    "#]]);
    // The log has a warning once.
    world.check(
        environment("http://localhost:4000", "AI_GATEWAY_API_KEY"),
        expect![[r#"
            Environment: http://localhost:4000 none
            warn: AI_GATEWAY_API_KEY is not sent to http://localhost:4000, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY.
        "#]],
    );
    world.check(
        environment("http://localhost:4000", "AI_GATEWAY_API_KEY"),
        expect![[r#"
            Environment: http://localhost:4000 none
        "#]],
    );
}

#[test]
fn the_demo_and_a_key_that_is_being_checked() {
    let mut world = World::default();
    world.check(
        json!("demo"),
        expect![[r#"
            Demo: https://demo.invalid/v1 demo, isDemo
        "#]],
    );
    world.check(
        json!({"enter": {"name": "New", "baseUrl": "https://one.example/v1", "key": "k"}}),
        expect![[r#"
            store [["(k)",["https://one.example"]]]
            New: https://one.example/v1 (k), isTrial
        "#]],
    );
    world.check(
        json!({"enter": {"name": "New", "baseUrl": "nonsense", "key": "k"}}),
        expect![[r#"
            New: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1
        "#]],
    );
}

#[test]
fn what_earlier_versions_stored_is_used() {
    let mut world = World { group_key: "k", ..World::default() };
    world.origins = vec![("(k)".to_owned(), json!("https://one.example")), ("(damaged)".to_owned(), json!(7))];
    world.check(
        group("https://one.example/v1", true),
        expect![[r#"
            one.example: https://one.example/v1 (k)
        "#]],
    );
    world.check(
        json!({"enter": {"name": "New", "baseUrl": "https://two.example/v1", "key": "k"}}),
        expect![[r#"
            store [["(k)",["https://one.example","https://two.example"]],["(damaged)",7]]
            New: https://two.example/v1 (k), isTrial
        "#]],
    );
}

#[test]
fn the_keys_that_were_bound_first_are_forgotten() {
    let mut world = World { group_key: "k", ..World::default() };
    world.origins = (0..100).map(|number| (format!("key {number}"), json!(["https://one.example"]))).collect();
    let task = json!({"enter": {"name": "New", "baseUrl": "https://two.example/v1", "key": "k"}});
    let task = json!({"task": {"connections": task}, "nowMs": 0, "random": vec![0; 16]});
    let mut work = serde_json::from_value::<WorkTask<RequestsTask>>(task).unwrap().start(&world.state);
    work.next(None);
    work.next(Some(WorkResult::Fingerprint { fingerprint: "(k)".to_owned(), is_sendable: true }));
    let WorkStep::WriteOrigins { origins } = work.next(Some(WorkResult::Origins(world.origins.clone()))) else {
        panic!("the origin isn't stored");
    };
    assert_eq!((origins.len(), origins[0].0.as_str(), origins[99].0.as_str()), (100, "key 1", "(k)"));
}
