//! Every fault does what it says, and nothing else.

use std::collections::BTreeSet;

use expect_test::expect;
use serde_json::{Value, json};
use sluice_simulator::{End, FAULT_HEADER, Faults, Opening, Outcome, Reply, TimedChunk, faults};

use crate::ask::{NOW_MS, events, json_body, post, request, responder, say};
use crate::dialects::{body, read, text};

#[test]
fn the_catalogue_is_consistent() {
    let names: BTreeSet<&str> = faults().iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), faults().len());
    for fault in faults() {
        assert!(sluice_simulator::model_ids().any(|id| id == fault.model));
        for variant in fault.variants() {
            assert!(Faults::parse(&variant).is_ok_and(|faults| faults.has(fault.name)), "{variant}");
        }
    }
    assert!(
        Faults::parse("crlf, cut-at=5+bom")
            .is_ok_and(|faults| faults.value("cut-at") == Some("5") && faults.has("bom"))
    );
    assert!(Faults::parse("no-such-fault").is_err());
}

#[test]
fn every_fault_changes_the_reply() {
    for fault in faults() {
        let small = match fault.name {
            "huge-event" => "huge-event=1000",
            "large-event" => "large-event=1000",
            "many-items" => "many-items=50",
            name => name,
        };
        let mut asked = request("POST", "/v1/responses", &body(fault.model));
        asked.headers.push(("accept-encoding".into(), "gzip".into()));
        let plain = responder().respond(&asked, NOW_MS);
        asked.headers.push((FAULT_HEADER.into(), small.into()));
        let faulty = responder().respond(&asked, NOW_MS);
        let face = |reply: &Reply| {
            (
                reply.opening,
                reply.head_delay_ms,
                reply.status,
                reply.headers.clone(),
                reply.chunks.to_vec(),
                reply.end.clone(),
            )
        };
        // A pace of 0 only affects models that have a pace.
        assert!(face(&plain) != face(&faulty) || fault.name == "pace", "{} does nothing", fault.name);

        let by_model = post(&body(&format!("{}+{small}", fault.model)));
        if fault.name != "gzip" {
            assert_eq!(by_model.chunks.to_vec(), faulty.chunks.to_vec(), "{}", fault.name);
        }
    }
}

/// With a fault whose outcome is the same answer, all of the answer must still be in the stream in some form.
#[test]
fn faults_with_the_same_outcome_keep_the_answer() {
    for fault in faults().iter().filter(|fault| fault.outcome == Outcome::Same) {
        let plain = responder().respond(&request("POST", "/v1/responses", &body(fault.model)), NOW_MS);
        let faulty = post(&body(&format!("{}+{}", fault.model, fault.name)));
        let said = |reply: &Reply| {
            let events = read(&reply.body());
            let last = events.iter().rfind(|event| event["type"] == "response.completed");
            assert!(last.is_some(), "{} has no terminal event", fault.name);
            let deltas: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
            let done: Vec<Value> =
                events.iter().filter(|e| e["type"] == "response.output_item.done").map(|e| e["item"].clone()).collect();
            (deltas, done, last.map(|event| event["response"]["output"].clone()).unwrap_or_default())
        };
        let (deltas, done, output) = said(&plain);
        let (some_deltas, some_done, some_output) = said(&faulty);
        let arguments = |items: &[Value]| items.iter().map(|item| item["arguments"].clone()).collect::<Vec<_>>();
        assert!(
            deltas == some_deltas
                || done == some_done
                || output == some_output
                || arguments(&done) == arguments(&some_done) && fault.model != "sluice/echo"
                || fault.name == "unknown-event",
            "{}",
            fault.name
        );
    }
}

#[test]
fn faults_can_replace_the_reply() {
    let mut lines = String::new();
    for fault in [
        "status=401",
        "status=402",
        "status=429",
        "status=500",
        "retry-after=7",
        "retry-after=-5",
        "retry-after=864000",
        "retry-after-ms=1500",
        "retry-after-date=60",
        "status=503+retry-after=1",
        "html-200",
        "json-error-200",
        "html-404",
        "empty-405",
        "redirect",
        "error-body=flat",
        "error-body=string",
        "error-body=code",
        "error-body=html",
        "error-body=empty",
        "error-body=nested",
    ] {
        let reply = say(&format!("sluice/echo+{fault}"), "Hi");
        let headers: Vec<String> = ["content-type", "location", "retry-after", "retry-after-ms", "allow"]
            .iter()
            .filter_map(|name| reply.header(name).map(|value| format!("{name}={value}")))
            .collect();
        let start: String = text(&reply).chars().take(70).collect();
        lines.push_str(&format!("{fault} → {} {} {start}\n", reply.status, headers.join(" ")));
    }
    expect![[r#"
        status=401 → 401 content-type=application/json {"error":{"code":null,"message":"Authentication failed","param":null,"
        status=402 → 402 content-type=application/json {"error":{"code":null,"message":"The balance is used up; add credit to
        status=429 → 429 content-type=application/json {"error":{"code":null,"message":"Too many requests; slow down","param"
        status=500 → 500 content-type=application/json {"error":{"code":null,"message":"The service has failed","param":null,
        retry-after=7 → 429 content-type=application/json retry-after=7 {"error":{"code":null,"message":"Too many requests; slow down","param"
        retry-after=-5 → 429 content-type=application/json retry-after=-5 {"error":{"code":null,"message":"Too many requests; slow down","param"
        retry-after=864000 → 429 content-type=application/json retry-after=864000 {"error":{"code":null,"message":"Too many requests; slow down","param"
        retry-after-ms=1500 → 429 content-type=application/json retry-after-ms=1500 {"error":{"code":null,"message":"Too many requests; slow down","param"
        retry-after-date=60 → 429 content-type=application/json retry-after=Mon, 21 Sep 2026 14:14:20 GMT {"error":{"code":null,"message":"Too many requests; slow down","param"
        status=503+retry-after=1 → 503 content-type=application/json retry-after=1 {"error":{"code":null,"message":"The service has failed","param":null,
        html-200 → 200 content-type=text/html; charset=utf-8 <!DOCTYPE html><html><head><title>Sign in to the network</title></head
        json-error-200 → 200 content-type=application/json {"error":{"code":null,"message":"The service has failed","param":null,
        html-404 → 404 content-type=text/html; charset=utf-8 <!DOCTYPE html><html><head><title>404: This page could not be found</t
        empty-405 → 405 allow=GET 
        redirect → 307 content-type=text/plain location=http://127.0.0.1:9/v1/responses 
        error-body=flat → 500 content-type=application/json {"code":null,"message":"The service has failed","param":null,"type":"i
        error-body=string → 500 content-type=application/json {"error":"The service has failed"}
        error-body=code → 500 content-type=application/json {"code":"internal_server_error","error":"The service has failed"}
        error-body=html → 500 content-type=text/html <html><head><title>500</title></head><body><center>The service has fai
        error-body=empty → 500 content-type=application/json 
        error-body=nested → 500 content-type=application/json {"error":{"code":null,"message":"The service has failed","param":null,
    "#]].assert_eq(&lines);
}

#[test]
fn faults_change_how_replies_begin_and_end() {
    let face = |fault: &str| {
        let reply = say(&format!("sluice/echo+{fault}"), "Hi");
        (reply.opening, reply.head_delay_ms, reply.body().len(), reply.end)
    };
    let whole = say("sluice/echo", "Hi").body().len();
    assert_eq!(face("delay-headers=30"), (Opening::Answer, 30, whole, End::Finish));
    assert_eq!(face("never-headers").0, Opening::Silence);
    assert_eq!(face("reset-before-headers").0, Opening::Reset);
    assert_eq!(face("cut-at=100"), (Opening::Answer, 0, 100, End::Cut));
    assert_eq!(face("reset-at=0"), (Opening::Answer, 0, 0, End::Reset));
    assert_eq!(face("stall-at"), (Opening::Answer, 0, whole / 2, End::Hang));
    assert_eq!(face("cut-at=999999"), (Opening::Answer, 0, whole, End::Cut));
    assert_eq!(face("never-close"), (Opening::Answer, 0, whole, End::Hang));
    let done = "data: [DONE]\n\n".len();
    assert_eq!(face("no-done"), (Opening::Answer, 0, whole - done, End::Finish));
    assert_eq!(face("close-after-completed"), (Opening::Answer, 0, whole - done, End::Cut));
    assert_eq!(face("stall-after-completed"), (Opening::Answer, 0, whole - done, End::Hang));
    let comment = TimedChunk { delay_ms: 20, bytes: b": still here\n\n".to_vec() };
    assert_eq!(face("comments-forever").3, End::Repeat(comment));
    let length =
        |fault: &str| say(&format!("sluice/echo+{fault}"), "Hi").header("content-length").and_then(|l| l.parse().ok());
    assert_eq!(length("content-length-long=10"), Some(whole + 10));
    assert_eq!(length("content-length-short=10"), Some(whole - 10));
}

#[test]
fn splitting_keeps_the_order_of_bytes() {
    let plain = say("sluice/echo", "one two three").body();
    for (fault, sizes) in [
        ("chunk=1", 1..=1),
        ("chunk=7", 1..=7),
        ("chunk=1460", 1..=1460),
        ("chunk-random", 1..=200),
        ("dribble=3", 1..=1),
    ] {
        let reply = say(&format!("sluice/echo+{fault}"), "one two three");
        assert_eq!(reply.body(), plain, "{fault}");
        assert!(reply.chunks.clone().all(|chunk| sizes.contains(&chunk.bytes.len())), "{fault}");
    }
    let split = say("sluice/echo+split-frames", "one two three");
    assert_eq!(split.body(), plain);
    assert!(split.chunks.clone().all(|chunk| !chunk.bytes.ends_with(b"\n\n")));
    let paced = say("sluice/demo+pace=3", "Hello");
    assert!(paced.chunks.clone().all(|chunk| chunk.delay_ms == 3));
    assert!(say("sluice/demo+dribble=2", "Hello").chunks.clone().all(|chunk| chunk.delay_ms == 2));
}

/// Deltas that are generated when they are due equal those that are generated in advance.
#[test]
fn deltas_generated_late_are_the_same() {
    for model in sluice_simulator::model_ids().filter(|id| id.starts_with("sluice/")) {
        for budget in [Value::Null, json!(16)] {
            let answer = |model: &str| {
                let input = "Say 60 words, 水 and \"why\".";
                post(&json!({ "model": model, "input": input, "stream": true, "max_output_tokens": budget }))
            };
            let (waiting, written) = (answer(model), answer(&format!("{model}+delay-headers=0")));
            assert_eq!(waiting.status, written.status, "{model}, {budget}");
            assert!(waiting.body() == written.body(), "{model}, {budget}");
            let duration = |reply: &Reply| reply.chunks.clone().map(|chunk| chunk.delay_ms).sum::<u64>();
            assert_eq!(duration(&waiting), duration(&written), "{model}, {budget}");
            let paced = answer(&format!("{model}+pace=7"));
            assert!(paced.body() == written.body(), "{model}, {budget}");
            assert!(paced.chunks.clone().all(|chunk| chunk.delay_ms == 7 || paced.status != 200), "{model}, {budget}");
        }
    }
}

#[test]
fn events_and_outputs_can_be_large() {
    for name in ["large-event", "huge-event"] {
        let huge = events(&say(&format!("sluice/echo+{name}=300000"), "Hi"));
        assert!(huge.iter().any(|event| event["delta"].as_str().is_some_and(|delta| delta.len() == 300_000)), "{name}");
    }
    let many = events(&say("sluice/echo+many-items=300", "Hi"));
    assert_eq!(many.last().expect("events")["response"]["output"].as_array().map(Vec::len), Some(300));
}

#[test]
fn gzip_is_used_only_if_the_client_accepts_it() {
    let mut asked = request("POST", "/v1/responses", &body("sluice/echo+gzip"));
    assert_eq!(responder().respond(&asked, NOW_MS).header("content-encoding"), None);
    asked.headers.push(("Accept-Encoding".into(), "br, gzip".into()));
    let reply = responder().respond(&asked, NOW_MS);
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    let packed = reply.body();
    // The format is a header of ten bytes, then stored blocks: final flag, length, complement of the length, bytes.
    let (mut at, mut plain) = (10, Vec::new());
    loop {
        let length = usize::from(u16::from_le_bytes([packed[at + 1], packed[at + 2]]));
        plain.extend_from_slice(&packed[at + 5..at + 5 + length]);
        at += 5 + length;
        if packed[at - 5 - length] == 1 {
            break;
        }
    }
    assert_eq!(packed.len(), at + 8);
    assert_eq!(plain, post(&body("sluice/echo")).body());
}

/// A server that counts more tokens does so everywhere: in the usage, for the output limit, and for the context window.
#[test]
fn tokens_are_counted_by_another_rule_everywhere() {
    let usage = |model: &str, most: usize| {
        let input = format!("Say {}", "water runs down ".repeat(400));
        let asked = json!({ "model": model, "input": input, "max_output_tokens": most });
        let reply = json_body(&post(&asked));
        let usage = |name: &str| reply["usage"][name].as_u64().unwrap_or_default();
        (usage("input_tokens"), usage("output_tokens"), reply["status"].as_str().unwrap_or_default().to_owned())
    };
    let (input, output, status) = usage("sluice/echo", 10_000);
    assert_eq!(
        usage("sluice/echo+tokens=140", 10_000),
        ((input * 14).div_ceil(10), (output * 14).div_ceil(10), status)
    );
    // The limit holds in the server's own tokens.
    let (_, output, status) = usage("sluice/echo+tokens=140", 700);
    assert_eq!((output, status.as_str()), (700, "incomplete"));
    // So does the context window, which is 36,000 tokens.
    let fits = |model: &str| {
        let asked = json!({ "model": model, "input": "water ".repeat(30_000) });
        json_body(&post(&asked))["error"]["code"] != "context_length_exceeded"
    };
    assert!(fits("sluice/small"));
    assert!(!fits("sluice/small+tokens=140"));
}

#[test]
fn fail_times_counts_identical_requests() {
    let responder = responder();
    let status = |prompt: &str, fault: &str| {
        let body = json!({ "model": format!("sluice/echo+{fault}"), "input": prompt, "stream": true });
        let reply = responder.respond(&request("POST", "/v1/responses", &body), NOW_MS);
        (reply.status, reply.end == End::Finish)
    };
    let three = |prompt: &str, fault: &str| [status(prompt, fault), status(prompt, fault), status(prompt, fault)];
    assert_eq!(three("a", "fail-times=2"), [(503, true), (503, true), (200, true)]);
    assert_eq!(three("b", "fail-times=1+status=429"), [(429, true), (200, true), (429, true)]);
    assert_eq!(three("c", "fail-times=2+cut-at=50"), [(200, false), (200, false), (200, true)]);
}

#[test]
fn faults_apply_to_bodies_that_are_not_streamed() {
    let create = |model: &str| post(&json!({ "model": model, "input": "Hi" }));
    assert_eq!(create("sluice/echo+status=500").status, 500);
    assert_eq!(create("sluice/echo+cut-at=10").body().len(), 10);
    assert_eq!(json_body(&create("sluice/echo+incomplete"))["status"], "incomplete");
    let mut list = request("GET", "/v1/models", &Value::Null);
    list.headers.push((FAULT_HEADER.into(), "status=503".into()));
    assert_eq!(responder().respond(&list, NOW_MS).status, 503);
}
