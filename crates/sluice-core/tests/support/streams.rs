//! Named, made-up streams: everything that a server may do, one thing at a time. Each is smaller than 20 KB.

use std::slice;

use serde_json::{Value, json};

use super::events::*;
use super::streams_odd::odd_streams;
use super::wire::body;

type Named<T> = Vec<(&'static str, T)>;

/// Returns all streams as bytes, each with a unique name.
pub fn streams() -> Named<Vec<u8>> {
    let mut all: Named<Vec<u8>> = event_streams().iter().map(|(name, events)| (*name, body(events))).collect();
    all.extend(odd_streams());
    all
}

/// Returns the streams with ordinary framing, as events.
pub fn event_streams() -> Named<Vec<Value>> {
    [texts(), thinking(), calls(), odd_calls(), ends()].concat()
}

/// Returns the bytes of one stream.
pub fn stream(name: &str) -> Vec<u8> {
    let found = streams().into_iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no stream is called {name}")).1
}

/// Returns `created`, the given events and a terminal event.
pub fn around(events: impl IntoIterator<Item = Value>, end: Value) -> Vec<Value> {
    let mut all = vec![created()];
    all.extend(events);
    all.push(end);
    all
}

/// The answer "Hello, world" in three deltas, with all the events around them.
pub fn hello() -> Vec<Value> {
    around(text_events(0, &["Hel", "lo, ", "world"]), completed(&[message(0, "Hello, world")]))
}

/// Two calls whose arguments arrive in turns.
pub fn interleaved_calls() -> Vec<Value> {
    let (path, dir) = ("{\"path\":\"a.txt\"}", "{\"dir\":\"/srv\"}");
    let events = [
        call_added(0, "call_a", "read_file"),
        call_added(1, "call_b", "list_dir"),
        args_delta(0, "{\"path\":"),
        args_delta(1, "{\"dir\":\"/"),
        args_delta(0, "\"a.txt\"}"),
        args_delta(1, "srv\"}"),
        args_done(1, dir),
        args_done(0, path),
        call_done(0, "call_a", "read_file", path, "completed"),
        call_done(1, "call_b", "list_dir", dir, "completed"),
    ];
    around(events, completed(&[call(0, "call_a", "read_file", path), call(1, "call_b", "list_dir", dir)]))
}

/// Thinking, text with a source, and a call: a bit of everything.
pub fn everything() -> Vec<Value> {
    let thought = "γνῶθι σεαυτόν";
    let mut events = vec![queued(), in_progress(), reasoning_added(0), summary_part_added(0, 0)];
    events.extend(["γνῶθι ", "σεαυτόν"].map(|delta| thinking_delta("reasoning_summary_text", 0, 0, delta)));
    events.extend([
        thinking_done("reasoning_summary_text", 0, 0, thought),
        summary_part_done(0, 0, thought),
        done(0, &encrypted(0, &[thought])),
    ]);
    let mut text = text_events(1, &["I will ", "look."]);
    text.insert(4, annotation_added(1, &citation("https://example.org/a", "A page")));
    events.extend(text);
    events.extend(call_events(2, "call_1", "search", &["{\"q\":", "\"rust\"}"]));
    let found = call(2, "call_1", "search", "{\"q\":\"rust\"}");
    around(events, completed(&[encrypted(0, &[thought]), message(1, "I will look."), found]))
}

fn encrypted(index: u64, summary: &[&str]) -> Value {
    with(reasoning_item(index, summary, &[]), &json!({"encrypted_content": "c2VjcmV0"}))
}

fn texts() -> Named<Vec<Value>> {
    let unicode = ["Grüße, ", "世界", " 👩‍👩‍👧 ", "\u{1F600}\u{200D}", " \u{2028}e\u{301}\t\"\\ "];
    let no = message_of(0, &[refusal_part("I cannot.")]);
    let refusal = [
        message_added(0),
        refusal_delta(0, "I can"),
        refusal_delta(0, "not."),
        refusal_done(0, "I cannot."),
        part_done(0, &refusal_part("I cannot.")),
        done(0, &no),
    ];
    let mut two = text_events(0, &["First."]);
    two.extend(text_events(1, &["Sec", "ond."]));
    let sources = json!({"annotations": [citation("https://example.org/(x)", "A [page]")]});
    let cited = message_of(0, &[with(output_text("See it."), &sources)]);
    let citing = [
        text_delta(0, "See it."),
        annotation_added(0, &citation("http://example.net/", "")),
        annotation_added(0, &citation("javascript:alert(1)", "Bad")),
        done(0, &cited),
    ];
    vec![
        ("text", hello()),
        ("text-unicode", around(text_events(0, &unicode), completed(&[message(0, &unicode.concat())]))),
        ("text-only-in-text-done", around([text_done(0, "Hello")], completed(&[]))),
        ("text-only-in-part-done", around([part_done(0, &output_text("Hello"))], completed(&[]))),
        ("text-only-in-item-done", around([message_done(0, "Hello")], completed(&[]))),
        ("text-only-in-completed", around([], completed(&[message(0, "Hello")]))),
        ("text-longer-in-done", around([text_delta(0, "Hel"), text_done(0, "Hello")], completed(&[]))),
        ("text-contradicted", around([text_delta(0, "Hi"), text_done(0, "Hello")], completed(&[]))),
        ("text-final-output-empty", around(text_events(0, &["Hello"]), completed(&[]))),
        ("refusal", around(refusal, completed(&[no]))),
        ("two-messages", around(two, completed(&[message(0, "First."), message(1, "Second.")]))),
        ("citations", around(citing, completed(&[cited]))),
        ("image", around([done(0, &image(0))], completed(&[image(0)]))),
        ("everything", everything()),
    ]
}

fn thinking() -> Named<Vec<Value>> {
    let spelled = |spelling: &str| {
        let (summary, content): (&[&str], &[&str]) =
            if spelling.contains("summary") { (&["σκέψις"], &[]) } else { (&[], &["σκέψις"]) };
        let item = reasoning_item(0, summary, content);
        let mut events = vec![reasoning_added(0)];
        events.extend(["σκέ", "ψις"].map(|delta| thinking_delta(spelling, 0, 0, delta)));
        events.extend([thinking_done(spelling, 0, 0, "σκέψις"), done(0, &item)]);
        events.extend(text_events(1, &["Done."]));
        around(events, completed(&[item, message(1, "Done.")]))
    };
    let two_parts = [
        reasoning_added(0),
        summary_part_added(0, 0),
        thinking_delta("reasoning_summary_text", 0, 0, "πρῶτον"),
        thinking_done("reasoning_summary_text", 0, 0, "πρῶτον"),
        summary_part_done(0, 0, "πρῶτον"),
        summary_part_added(0, 1),
        thinking_delta("reasoning_summary_text", 0, 1, "δεύτε"),
        thinking_done("reasoning_summary_text", 0, 1, "δεύτερον"),
        summary_part_done(0, 1, "δεύτερον"),
        done(0, &reasoning_item(0, &["πρῶτον", "δεύτερον"], &[])),
    ];
    let secret = encrypted(0, &[]);
    vec![
        ("reasoning", spelled("reasoning")),
        ("reasoning-text", spelled("reasoning_text")),
        ("reasoning-summary-text", spelled("reasoning_summary_text")),
        ("reasoning-summary", spelled("reasoning_summary")),
        ("reasoning-two-summaries", around(two_parts, completed(&[]))),
        ("reasoning-encrypted", around([reasoning_added(0), done(0, &secret)], completed(&[secret]))),
        ("reasoning-only-in-completed", around([], completed(&[reasoning_item(0, &["σκέψις"], &[])]))),
    ]
}

/// A call with all its events, streamed in two deltas.
fn search() -> (Vec<Value>, Value) {
    let events = call_events(0, "call_1", "search", &["{\"q\"", ":\"rust\"}"]);
    (events, call(0, "call_1", "search", "{\"q\":\"rust\"}"))
}

fn calls() -> Named<Vec<Value>> {
    let (events, item) = search();
    let whole = around(events.clone(), completed(slice::from_ref(&item)));
    let no_index = events.iter().map(|event| without(event.clone(), &["output_index"]));
    let no_added = events.iter().skip(1).cloned();
    let now = around(call_events(0, "call_1", "now", &[""]), completed(&[call(0, "call_1", "now", "")]));
    let again = [events.clone(), events[3..].to_vec()].concat();
    vec![
        ("call", whole.clone()),
        ("calls-interleaved", interleaved_calls()),
        ("call-ids-rotate", rotate_ids(&whole)),
        ("calls-interleaved-ids-rotate", rotate_ids(&interleaved_calls())),
        ("call-without-index", around(no_index, completed(slice::from_ref(&item)))),
        ("call-without-added", around(no_added, completed(slice::from_ref(&item)))),
        ("call-no-arguments", now),
        ("call-only-in-completed", around([], completed(slice::from_ref(&item)))),
        ("call-final-output-empty", around(events.clone(), completed(&[]))),
        ("call-deltas-only", around(events.iter().take(3).cloned(), completed(&[]))),
        ("call-never-finished", around(events.iter().take(2).cloned(), completed(&[]))),
        ("call-done-twice", around(again, completed(&[item]))),
    ]
}

fn odd_calls() -> Named<Vec<Value>> {
    let (_, item) = search();
    let one_index = [("call_a", "a", "{\"n\":1}"), ("call_b", "b", "{\"n\":2}")].map(|(call_id, id, arguments)| {
        let mut events = call_events(0, call_id, "count", &[arguments]);
        for event in &mut events {
            set_ids(event, id);
        }
        events
    });
    let mut reused = call_events(0, "call_1", "count", &["{\"n\":1}"]);
    reused.extend(call_events(1, "call_1", "count", &["{\"n\":2}"]));
    let both = [call(0, "call_1", "count", "{\"n\":1}"), call(1, "call_1", "count", "{\"n\":2}")];
    let odd_ids = [call(0, &"x".repeat(400), "search", "{}"), call(1, "ümlaut id", "search", "{}")];
    let nameless = done(0, &with(item, &json!({"call_id": null})));
    let big = call_events(0, "call_1", "add", &["{\"n\":12345678901234567890123}"]);
    vec![
        ("calls-at-one-index", around(one_index.concat(), completed(&[]))),
        ("call-id-reused", around(reused.clone(), completed(&[]))),
        ("call-id-reused-final", around(reused, completed(&both))),
        ("call-id-long", around([], completed(&odd_ids))),
        ("call-id-missing", around([nameless], completed(&[]))),
        ("call-big-number", around(big, completed(&[]))),
        ("call-malformed", around(call_events(0, "call_1", "search", &["{\"q\":", "oops}"]), completed(&[]))),
        ("call-array", around(call_events(0, "call_1", "search", &["[1,2]"]), completed(&[]))),
    ]
}

fn ends() -> Named<Vec<Value>> {
    let length = |output: &[Value]| incomplete("max_output_tokens", output);
    let cut_call = vec![call_added(0, "call_1", "search"), args_delta(0, "{\"q\":\"ru")];
    let given_up = [cut_call.clone(), vec![call_done(0, "call_1", "search", "{\"q\":\"ru", "incomplete")]].concat();
    let half_text = || [message_added(0), text_delta(0, "Once upon")];
    let half_message = with(message(0, "Once upon a"), &json!({"status": "incomplete"}));
    let mut after = hello();
    after.extend([text_delta(0, " again"), failed("x", "y"), call_done(1, "call_9", "late", "{}", "completed")]);
    vec![
        ("incomplete-call", around(given_up, length(&[]))),
        ("incomplete-call-open", around(cut_call, length(&[]))),
        ("incomplete-length", around([], length(&[]))),
        ("incomplete-length-text", around(half_text(), length(&[half_message]))),
        ("incomplete-filter", around([], incomplete("content_filter", &[]))),
        ("incomplete-no-reason", around([], json!({"type": "response.incomplete", "response": null}))),
        ("failed", around(half_text(), failed("server_error", "The model is gone."))),
        ("failed-at-once", vec![failed("rate_limit_exceeded", "Slow down.")]),
        ("error-nested", vec![created(), error("overloaded", "Too busy.")]),
        ("error-flat", vec![json!({"type": "error", "code": 429, "message": "Too many.", "param": null})]),
        ("error-string", vec![json!({"type": "error", "error": "It broke."})]),
        ("error-after-text", around(half_text(), error("x", "Broke\u{202E} off\nhere."))),
        ("completed-without-response", vec![json!({"type": "response.completed"})]),
        ("completed-empty", around([], completed(&[]))),
        ("done-marker-early", around(half_text(), text_delta(0, "…"))),
        ("events-after-terminal", after),
    ]
}

/// Gives the event's item another id, if it has one.
pub fn set_ids(event: &mut Value, id: &str) {
    for place in ["/item_id", "/item/id"] {
        if let Some(known) = event.pointer_mut(place) {
            *known = json!(id);
        }
    }
}

/// Gives every event, and every item of the final output, an id that was never used before.
pub fn rotate_ids(events: &[Value]) -> Vec<Value> {
    let mut events = events.to_vec();
    for (event, count) in events.iter_mut().zip(0..) {
        set_ids(event, &format!("rotated_{count}"));
        let output = event.pointer_mut("/response/output").and_then(Value::as_array_mut);
        for (item, place) in output.into_iter().flatten().zip(0..) {
            item["id"] = json!(format!("rotated_{count}_{place}"));
        }
    }
    events
}
