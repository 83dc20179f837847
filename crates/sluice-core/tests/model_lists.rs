//! The lists of models of an editor's connections: when a server is asked, what is stored, and which messages the user sees.

#![expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{EditorState, Received, RequestsTask, ShellWork, WorkResult, WorkStep, WorkTask, join_messages};

const HOUR: u64 = 3_600_000;

/// An editor with one connection.
#[derive(Default)]
struct World {
    state: EditorState,
    files: BTreeMap<String, Vec<u8>>,
    /// What the server answers, by the end of the address. It can't be reached otherwise.
    server: BTreeMap<&'static str, Value>,
    now_ms: u64,
    /// Fields of the task that differ from the usual ones.
    task: Value,
}

impl World {
    fn start(&mut self, work: &Value) -> (ShellWork, WorkStep) {
        let mut task = json!({
            "connection": "https://a.example/v1 f1f1", "label": "A", "baseUrl": "https://a.example/v1", "isDemo": false,
            "isTrial": false, "settings": {}, "extraHeaders": {"X-Team": "red"}, "work": work,
        });
        for (name, value) in self.task.as_object().into_iter().flatten() {
            task[name] = value.clone();
        }
        let task: WorkTask<RequestsTask> =
            serde_json::from_value(json!({"task": {"models": task}, "nowMs": self.now_ms, "random": vec![7; 16]}))
                .unwrap();
        let mut work = task.start(&self.state);
        let step = work.next(None);
        (work, step)
    }

    /// Does what a step says. Returns a line about it.
    fn perform(&mut self, step: WorkStep) -> (String, WorkResult) {
        match step {
            WorkStep::Read { names } => {
                let file = self.files.get(&names[0]).cloned();
                (format!("read {}", names[0]), file.map_or(WorkResult::Missing, WorkResult::Content))
            }
            WorkStep::Write { name, content } => {
                let line = format!("write {}", name.replace(&"07".repeat(16), "A"));
                self.files.insert(name, content);
                (line, WorkResult::Done(true))
            }
            WorkStep::Rename { from, to, .. } => {
                let content = self.files.remove(&from).unwrap();
                self.files.insert(to, content);
                (String::new(), WorkResult::Done(true))
            }
            WorkStep::Delete { name } => {
                self.files.remove(&name);
                (format!("delete {name}"), WorkResult::Done(true))
            }
            WorkStep::Get { requests } => {
                let answer = |url: &str| {
                    let known = self.server.iter().find(|(end, _)| url.ends_with(*end));
                    let unreachable = json!({"transport": "connect"});
                    let received = known.map_or(unreachable, |(_, answer)| answer.clone());
                    serde_json::from_value::<Received>(received).unwrap()
                };
                let received = requests.iter().map(|request| answer(&request.url)).collect();
                assert!(requests.iter().all(|request| request.headers.contains(&("x-team".into(), "red".into()))));
                let urls = requests.iter().map(|request| request.url.trim_start_matches("https://a.example"));
                (format!("get {}", urls.collect::<Vec<_>>().join(" ")), WorkResult::Received(received))
            }
            step => panic!("{step:?}"),
        }
    }

    /// Does some work, and compares everything that is done for it.
    fn check(&mut self, work: &Value, expected: Expect) {
        let (mut running, mut step) = self.start(work);
        let mut seen = String::new();
        let result = loop {
            match step {
                WorkStep::Done { result } => break result,
                other => {
                    let (line, result) = self.perform(other);
                    seen += &if line.is_empty() { line } else { line + "\n" };
                    step = running.next(Some(result));
                }
            }
        };
        let text = |value: &Value| join_messages(&serde_json::from_value::<Vec<_>>(value.clone()).unwrap(), " ");
        let models: Vec<_> = result["models"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
        seen += &format!("{} known: {}, listed: {}", result["state"], result["check"]["models"], json!(models));
        for flag in ["changed", "mustRefresh"].into_iter().filter(|flag| result[flag] == true) {
            seen += &format!(" {flag}");
        }
        for (name, value) in
            [("tell", &result["tell"]), ("refusal", &result["check"]["refusal"]), ("problem", &result["problem"])]
        {
            seen += &if value.is_null() { String::new() } else { format!("\n{name}: {}", text(value)) };
        }
        if !result["credit"].is_null() {
            seen += &format!("\ncredit: {}", text(&json!([result["credit"]])));
        }
        for line in result["log"].as_array().unwrap() {
            seen += &format!("\n{}: {}", line[0].as_str().unwrap(), line[1].as_str().unwrap());
        }
        expected.assert_eq(&(seen + "\n"));
    }
}

fn ok(body: &Value) -> Value {
    json!({"status": 200, "headers": [], "body": body.to_string()})
}

fn refusing() -> Value {
    json!({"status": 401, "headers": [], "body": r#"{"error":{"message":"Wrong key."}}"#})
}

fn with_list() -> World {
    let list = ok(&json!({"data": [{"id": "acme/m"}]}));
    World { server: BTreeMap::from([("/v1/models", list)]), now_ms: 1_000 * HOUR, ..World::default() }
}

#[test]
fn a_list_is_requested_once_and_refreshed_when_it_is_old() {
    let mut world = with_list();
    world.check(
        &json!("list"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            get /v1/models /v1/credits
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: ["acme/m"] changed
        "#]],
    );
    world.check(
        &json!("list"),
        expect![[r#"
            "fresh" known: 1, listed: ["acme/m"]
        "#]],
    );
    // Another window, or the same one after a restart.
    world.state = EditorState::default();
    world.now_ms += HOUR;
    world.check(
        &json!("list"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            "stale" known: 1, listed: ["acme/m"] mustRefresh
        "#]],
    );
    world.check(
        &json!("refresh"),
        expect![[r#"
            get /v1/models
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: []
        "#]],
    );
    world.server.clear();
    world.now_ms += HOUR;
    world.check(&json!("refresh"), expect![[r#"
        get /v1/models
        "fresh" known: 1, listed: []
        trace: Models of https://a.example: No connection to https://a.example. Check the network, the proxy settings and the base URL. The known models stay available.
        info: Models of https://a.example: 1 models can chat; notes about the list, shown at trace: 1.
    "#]]);
    world.check(
        &json!("forget"),
        expect![[r#"
            delete models-https_a.example_v1_f1f1.json
            "missing" known: 0, listed: []
        "#]],
    );
    assert!(world.files.is_empty());
}

#[test]
fn the_other_address_is_tried_if_there_is_no_list() {
    let mut world = with_list();
    world.task = json!({"baseUrl": "https://a.example"});
    world.server.insert("example/models", json!({"status": 404, "headers": [], "body": ""}));
    world.check(&json!("refresh"), expect![[r#"
        read models-https_a.example_v1_f1f1.json
        get /models
        get /v1/models
        write models-https_a.example_v1_f1f1.json.A.tmp
        "fresh" known: 1, listed: [] changed
        trace: Models of https://a.example: The answer (HTTP 404) is not a list of models; check the base URL.
        info: Models of https://a.example: 0 models can chat; notes about the list, shown at trace: 1.
        info: Models of https://a.example: There is no Open Responses API at https://a.example, but there is one at https://a.example/v1. Change the base URL to https://a.example/v1.
    "#]]);
}

#[test]
fn the_user_is_told_once_that_a_key_was_refused() {
    let mut world = with_list();
    world.server.insert("/credits", refusing());
    world.check(
        &json!("list"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            get /v1/models /v1/credits
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: ["acme/m"] changed
            tell: Wrong key. Enter a valid API key.
            refusal: Wrong key. Enter a valid API key.
        "#]],
    );
    world.check(
        &json!("check"),
        expect![[r#"
            get /v1/models /v1/credits
            "fresh" known: 1, listed: []
            refusal: Wrong key. Enter a valid API key.
        "#]],
    );
    world.server.insert("/v1/models", refusing());
    world.check(
        &json!("refresh"),
        expect![[r#"
            get /v1/models
            "fresh" known: 1, listed: []
            refusal: Wrong key. Enter a valid API key.
            trace: Models of https://a.example: Wrong key. Enter a valid API key. The known models stay available.
            info: Models of https://a.example: 1 models can chat; notes about the list, shown at trace: 1.
        "#]],
    );
    let reason = json!([{"code": "plain", "args": ["No."]}]);
    world.check(
        &json!({"keyRefused": {"reason": reason}}),
        expect![[r#"
            "missing" known: 0, listed: []
        "#]],
    );
    world.state = EditorState::default();
    world.check(
        &json!({"keyRefused": {"reason": reason}}),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            "fresh" known: 1, listed: []
            tell: No.
        "#]],
    );
}

#[test]
fn a_key_that_is_being_checked_is_the_dialogs_business() {
    let mut world = with_list();
    world.server.insert("/v1/models", refusing());
    world.task = json!({"isTrial": true});
    world.check(
        &json!("check"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            get /v1/models /v1/credits
            "missing" known: 0, listed: []
            refusal: Wrong key. Enter a valid API key.
            trace: Models of https://a.example: Wrong key. Enter a valid API key.
            info: Models of https://a.example: 0 models can chat; notes about the list, shown at trace: 1.
        "#]],
    );
}

#[test]
fn nothing_of_the_demo_is_kept_or_checked() {
    let mut world = with_list();
    world.task = json!({"isDemo": true});
    world.check(
        &json!("list"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            get /v1/models
            "fresh" known: 1, listed: ["acme/m"] changed
        "#]],
    );
}

#[test]
fn credit_and_providers_are_requested_when_they_are_needed() {
    let mut world = with_list();
    world.server.insert("/credits", ok(&json!({"balance": "12.5"})));
    world.check(
        &json!("credit"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            get /v1/credits
            "missing" known: 0, listed: []
            credit: $12.50 of credit is left, according to the server.
        "#]],
    );
    world.check(
        &json!("refresh"),
        expect![[r#"
            get /v1/models
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: [] changed
        "#]],
    );
    let endpoints = json!({"data": {"id": "acme/m", "endpoints": [{"provider_name": "A", "context_length": 9000}]}});
    world.server.insert("/endpoints", ok(&endpoints));
    world.check(
        &json!({"enrich": {"model": "acme/m"}}),
        expect![[r#"
            get /v1/models/acme/m/endpoints
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: [] changed
        "#]],
    );
    world.check(
        &json!({"enrich": {"model": "acme/m"}}),
        expect![[r#"
            "missing" known: 0, listed: []
        "#]],
    );
}

#[test]
fn what_an_answer_showed_is_kept() {
    let mut world = with_list();
    world.check(
        &json!("refresh"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            get /v1/models
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: [] changed
        "#]],
    );
    let learn = |refused: Value| json!({"learn": {"model": "acme/m", "refused": refused, "overflow": null}});
    world.check(
        &learn(json!([])),
        expect![[r#"
            "missing" known: 0, listed: []
        "#]],
    );
    world.check(
        &learn(json!(["store"])),
        expect![[r#"
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: [] changed
        "#]],
    );
    world.check(
        &learn(json!(["store"])),
        expect![[r#"
            "fresh" known: 1, listed: []
        "#]],
    );
}

#[test]
fn a_damaged_file_is_replaced_and_notes_are_logged_once() {
    let mut world = with_list();
    world.files.insert("models-https_a.example_v1_f1f1.json".into(), b"{".into());
    world.task = json!({"settings": {"hide": ["nothing-like-it"]}});
    world.check(
        &json!("list"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            get /v1/models /v1/credits
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: ["acme/m"] changed
            trace: Models of https://a.example: The kept list of models is damaged; it will be fetched again
            info: Models of https://a.example: 0 models can chat; notes about the list, shown at trace: 1.
        "#]],
    );
    world.check(
        &json!("list"),
        expect![[r#"
            "fresh" known: 1, listed: ["acme/m"]
        "#]],
    );
}

#[test]
fn work_that_overlaps_sees_the_same_list() {
    let mut world = with_list();
    world.check(
        &json!("refresh"),
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            get /v1/models
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: [] changed
        "#]],
    );
    world.state = EditorState::default();
    let (mut slow, step) = world.start(&json!("list"));
    let learn = json!({"learn": {"model": "acme/m", "refused": ["store"], "overflow": null}});
    world.check(
        &learn,
        expect![[r#"
            read models-https_a.example_v1_f1f1.json
            write models-https_a.example_v1_f1f1.json.A.tmp
            "fresh" known: 1, listed: [] changed
        "#]],
    );
    // What was read before isn't used any more.
    let (_, result) = world.perform(step);
    let WorkStep::Done { result } = slow.next(Some(result)) else { panic!() };
    assert_eq!(result["models"][0]["refused"], json!(["store"]));
}

#[test]
fn a_server_that_lists_no_models_is_a_problem() {
    let mut world = with_list();
    world.server.clear();
    world.check(&json!("list"), expect![[r#"
        read models-https_a.example_v1_f1f1.json
        get /v1/models /v1/credits
        "missing" known: 0, listed: []
        problem: No connection to https://a.example. Check the network, the proxy settings and the base URL.
        trace: Models of https://a.example: No connection to https://a.example. Check the network, the proxy settings and the base URL.
        info: Models of https://a.example: 0 models can chat; notes about the list, shown at trace: 1.
    "#]]);
    world.server.insert("/models", ok(&json!({"data": []})));
    world.check(
        &json!("list"),
        expect![[r#"
        get /v1/models /v1/credits
        "missing" known: 0, listed: []
        problem: The server lists no model that chats.
        trace: Models of https://a.example: The server lists no model that chats.
        info: Models of https://a.example: 0 models can chat; notes about the list, shown at trace: 1.
    "#]],
    );
}
