//! S12: a field that is missing, `null` or of another type affects nothing but itself. Every field of every event in
//! the schema is damaged in every way, one at a time, at any depth: no panic, no wrong "completed", no wrong call, no
//! invented text. Where another event repeats the value, there is no difference at all.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use crate::support::wire::{Wire, name_of, numbered, verb_of};
use crate::support::*;
use serde_json::{Value, json};
use sluice_core::{BodyEnd, FailureKind, Outcome, Output, ResponseStream, Status, StreamOptions};

/// The schema's 24 event types.
const EVENT_TYPES: [&str; 24] = [
    "error",
    "response.completed",
    "response.content_part.added",
    "response.content_part.done",
    "response.created",
    "response.failed",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.in_progress",
    "response.incomplete",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.annotation.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.queued",
    "response.reasoning.delta",
    "response.reasoning.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.refusal.delta",
    "response.refusal.done",
];

/// One field that is removed or replaced.
struct Damage<'a> {
    event: &'a Value,
    /// A JSON pointer into the event.
    field: &'a str,
    /// `None` removes the field.
    value: Option<&'a Value>,
}

impl Damage<'_> {
    fn key(&self) -> &str {
        self.field.rsplit('/').find(|key| key.parse::<usize>().is_err()).unwrap_or_default()
    }

    fn is(&self, value: &Value) -> bool {
        self.value == Some(value)
    }

    /// Returns whether the event's type can no longer be read.
    fn hides_type(&self, wire: Wire) -> bool {
        self.field == "/type" && (self.is(&json!("x")) || !wire.event_lines)
    }

    /// Returns whether the damaged stream is valid and means something else, because a field that identifies something,
    /// or the only field with some content, has another valid value.
    fn changes_meaning(&self, wire: Wire) -> bool {
        let streams = verb_of(self.event) == "delta" && !name_of(self.event).contains("function_call");
        let is_text = self.is(&json!("x"));
        match self.key() {
            "type" => self.hides_type(wire),
            "delta" => streams,
            // A whole text at another index is still the same text.
            "content_index" | "summary_index" => {
                self.is(&json!(7)) && !["text", "refusal"].iter().any(|key| self.event.get(key).is_some())
            }
            "name" | "call_id" | "encrypted_content" => is_text,
            "arguments" => self.value.is_some_and(Value::is_object),
            _ => false,
        }
    }

    fn apply(&self) -> Value {
        let mut event = self.event.clone();
        let (parent, key) = self.field.rsplit_once('/').expect("a pointer has a slash");
        match (event.pointer_mut(parent).expect("the field is there"), self.value) {
            (Value::Object(fields), Some(value)) => drop(fields.insert(key.to_owned(), value.clone())),
            (Value::Object(fields), None) => drop(fields.remove(key)),
            (Value::Array(list), value) => {
                let at: usize = key.parse().expect("a place in a list");
                list.splice(at..=at, value.cloned());
            }
            _ => unreachable!("only objects and lists have fields"),
        }
        event
    }
}

impl fmt::Display for Damage<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.map_or("nothing".to_owned(), Value::to_string);
        write!(formatter, "{} {} = {value}", name_of(self.event), self.field)
    }
}

/// An answer that repeats everything as often as the schema allows.
fn whole_answer() -> Vec<Value> {
    let both = with(reasoning_item(0, &["ἓν οἶδα"], &["σκέψις"]), &json!({"encrypted_content": "c2VjcmV0"}));
    let source = json!({"annotations": [citation("https://example.org/a", "a page")], "logprobs": [{"token": "a"}]});
    let text = with(output_text("Hello, world"), &source);
    let second = |event| with(event, &json!({"content_index": 1, "obfuscation": "zz"}));
    let answer = message_of(1, &[text.clone(), refusal_part("Not so.")]);
    let (path, dir) = ("{\"path\":\"a\"}", "{\"dir\":\"b\"}");
    let calls = [call(2, "call_a", "read_file", path), call(3, "call_b", "list_dir", dir)];
    let mut events = vec![created(), queued(), in_progress(), reasoning_added(0), part_added(0, &reasoning_text(""))];
    events.extend(["σκέ", "ψις"].map(|delta| thinking_delta("reasoning", 0, 0, delta)));
    events.extend([thinking_done("reasoning", 0, 0, "σκέψις"), part_done(0, &reasoning_text("σκέψις"))]);
    events.push(summary_part_added(0, 0));
    events.extend(["ἓν ", "οἶδα"].map(|delta| thinking_delta("reasoning_summary_text", 0, 0, delta)));
    events.extend([thinking_done("reasoning_summary_text", 0, 0, "ἓν οἶδα"), summary_part_done(0, 0, "ἓν οἶδα")]);
    events.extend([done(0, &both), message_added(1), part_added(1, &output_text(""))]);
    events.extend(["Hel", "lo, ", "world"].map(|delta| text_delta(1, delta)));
    events.push(annotation_added(1, &citation("https://example.org/a", "a page")));
    events.extend([text_done(1, "Hello, world"), part_done(1, &text), second(part_added(1, &refusal_part("")))]);
    events.extend(["Not", " so."].map(|delta| second(refusal_delta(1, delta))));
    events.extend([second(refusal_done(1, "Not so.")), second(part_done(1, &refusal_part("Not so.")))]);
    events.extend([done(1, &answer), call_added(2, "call_a", "read_file"), call_added(3, "call_b", "list_dir")]);
    events.extend([args_delta(2, "{\"path\":"), args_delta(3, "{\"dir\":"), args_delta(2, "\"a\"}")]);
    events.extend([args_delta(3, "\"b\"}"), args_done(2, path), args_done(3, dir)]);
    events.extend([done(2, &calls[0]), done(3, &calls[1])]);
    let metadata = json!({"provider_metadata": {"gateway": {"cost": "0.1", "routing": {"finalProvider": "inc"}}}});
    let mut end = completed(&[both, answer, calls[0].clone(), calls[1].clone()]);
    merge(&mut end["response"], &metadata);
    events.push(end);
    events
}

/// Answers that contain every value only once.
fn sparse_answers() -> Vec<(&'static str, Vec<Value>)> {
    let whole = whole_answer();
    let items: Vec<Value> = whole.iter().filter(|event| name_of(event).ends_with("item.done")).cloned().collect();
    let output: Vec<Value> = items.iter().map(|event| event["item"].clone()).collect();
    let kept = |event: &&Value| ["added", "delta"].contains(&verb_of(event));
    let deltas: Vec<Value> = whole.iter().filter(kept).cloned().collect();
    let cut = [message_added(0), text_delta(0, "Once"), call_added(1, "call_a", "cut"), args_delta(1, "{\"a\":")];
    let end = |last: Value| cut.iter().cloned().chain([last]).collect::<Vec<_>>();
    vec![
        ("items only", [items, vec![completed(&[])]].concat()),
        ("final output only", vec![created(), completed(&output)]),
        ("deltas only", [deltas, vec![completed(&[])]].concat()),
        ("incomplete", end(incomplete("max_output_tokens", &[message(0, "Once upon")]))),
        ("failed", end(failed("server_error", "It broke."))),
        ("error", end(error("server_error", "It broke."))),
    ]
}

#[test]
fn the_example_streams_cover_the_schema() {
    let streams = sparse_answers().into_iter().map(|(_, events)| events).chain([whole_answer()]);
    let seen: BTreeSet<String> = streams.flatten().map(|event| name_of(&event).to_owned()).collect();
    assert_eq!(seen, EVENT_TYPES.into_iter().map(str::to_owned).collect());
}

/// Checks invariant S12.
#[test]
fn a_damaged_field_changes_nothing_if_another_event_repeats_it() {
    let whole = essence(&run_whole(&Wire::default().bytes(&whole_answer())));
    let mut wrong = Vec::new();
    for_every_damage(&whole_answer(), |damage, wire, outputs, outcome| {
        let damaged = essence(&(outputs.to_vec(), outcome.clone()));
        if !damage.changes_meaning(wire) && damaged != whole {
            wrong.push(format!("{damage}: {damaged:?}"));
        }
    });
    assert_none(&wrong);
}

/// Checks invariant S12.
#[test]
fn a_damaged_field_never_leads_to_wrong_output() {
    let mut streams = sparse_answers();
    streams.push(("whole", whole_answer()));
    let wrong = Mutex::new(Vec::new());
    in_parallel(&streams, |(name, events)| {
        let right = run_whole(&Wire::default().bytes(events));
        let right = (Summary::of(&right.0), right.1);
        for_every_damage(events, |damage, wire, outputs, outcome| {
            assert_sound(outputs, outcome);
            let damaged = Summary::of(outputs);
            let checks = [
                status_is_right(damage, wire, outcome, &right.1),
                texts_are_right(damage, &damaged, &right.0),
                calls_are_right(damage, &damaged, outcome, &right.0),
            ];
            if checks != [true; 3] {
                let said = format!("{name}: {damage}: {checks:?} {:?} {:?}", damaged, outcome.status);
                wrong.lock().expect("no check panicked").push(said);
            }
        });
    });
    let wrong = wrong.into_inner().expect("no check panicked");
    assert_none(&wrong);
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong, the first:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}

/// Only a lost type can change how an answer ends, and losing the terminal event never makes it succeed.
fn status_is_right(damage: &Damage, wire: Wire, outcome: &Outcome, right: &Outcome) -> bool {
    let ends = ["response.completed", "response.incomplete", "response.failed", "error"];
    let lost_end = damage.hides_type(wire) && ends.contains(&name_of(damage.event));
    // An error is recognized even without its type, or with another one.
    let is_bare_error = name_of(damage.event) == "error";
    if lost_end && !is_bare_error {
        return outcome.status == Status::Truncated;
    }
    // A damaged call may fail an answer that was complete.
    let unusable_call = outcome.error.as_ref().is_some_and(|failure| failure.kind == FailureKind::ToolCall);
    outcome.status == right.status || (right.status == Status::Completed && unusable_call)
}

/// All text that is shown comes from some event, thinking (Greek in this test) is never text, and nothing is shown
/// twice.
fn texts_are_right(damage: &Damage, damaged: &Summary, right: &Summary) -> bool {
    let is_greek = |c: char| ('\u{370}'..'\u{400}').contains(&c) || ('\u{1F00}'..'\u{2000}').contains(&c);
    let is_thought = |c: char| is_greek(c) || c == ' ' || (c == 'x' && damage.is(&json!("x")));
    let apart = !damaged.text.contains(is_greek) && damaged.thoughts().chars().all(is_thought);
    let readdressed = matches!(damage.key(), "content_index" | "summary_index") && damage.is(&json!(7));
    // A summary and the raw reasoning can replace each other.
    let thinking = if right.thinking.is_empty() { "" } else { "σκέψιςἓν οἶδα" };
    let once = is_subsequence(&damaged.text.replace('x', ""), &right.text)
        && is_subsequence(&damaged.thoughts().replace('x', ""), thinking);
    apart && (once || readdressed)
}

/// A call is reported as it was meant or not at all. A damaged name or id may be visible.
fn calls_are_right(damage: &Damage, damaged: &Summary, outcome: &Outcome, right: &Summary) -> bool {
    let is_text = damage.is(&json!("x"));
    let meant = |call: &Call| {
        let like = |other: &Call| {
            let same_id = call.id == other.id || damage.key() == "call_id";
            let same_name = call.name == other.name || (damage.key() == "name" && is_text);
            // Missing arguments mean an empty object; an object is used as if it were its text.
            let said = damage.value.filter(|value| !value.is_null()).cloned().unwrap_or_else(|| json!({})).to_string();
            let same_input = call.input == other.input || (damage.key() == "arguments" && call.input == said);
            same_id && same_name && same_input
        };
        right.calls.iter().any(like)
    };
    let extra = usize::from(damage.key() == "call_id" && is_text);
    let at_most = right.calls.len() + extra;
    // A completed answer has all its calls, unless the item itself was lost.
    let lost_item = matches!(damage.key(), "type" | "item" | "output" | "response");
    let all = outcome.status != Status::Completed || lost_item || damaged.calls.len() >= right.calls.len();
    damaged.calls.iter().all(meant) && damaged.calls.len() <= at_most && all
}

/// Returns what a reader gets, regardless of chunks, the order of calls and the ids of thinking blocks.
fn essence(run: &(Vec<Output>, Outcome)) -> (String, Vec<Call>, String, Vec<String>, Vec<String>, Status) {
    let summary = Summary::of(&run.0);
    let calls = summary.calls_sorted();
    let thoughts = summary.thoughts();
    (summary.text, calls, thoughts, summary.replay, summary.sources, run.1.status)
}

fn for_every_damage(events: &[Value], mut check: impl FnMut(&Damage, Wire, &[Output], &Outcome)) {
    let values =
        [json!("x"), json!(7), json!(-1), json!(1.5), json!(true), json!([]), json!({}), json!([1]), json!({"a": 1})];
    let values: Vec<Option<&Value>> = [None, Some(&Value::Null)].into_iter().chain(values.iter().map(Some)).collect();
    let events = numbered(events);
    for wire in [Wire::default(), Wire { event_lines: false, ..Wire::default() }] {
        let frames: Vec<String> = events.iter().map(|event| wire.frame(event, name_of(event))).collect();
        let mut before = ResponseStream::new(StreamOptions::default());
        let mut given = Vec::new();
        for (place, event) in events.iter().enumerate() {
            let rest = wire.join(&frames[place + 1..]);
            for field in fields(event) {
                for value in &values {
                    let damage = Damage { event, field: &field, value: *value };
                    let mut stream = before.clone();
                    let mut outputs = given.clone();
                    outputs.extend(stream.push(wire.frame(&damage.apply(), name_of(event)).as_bytes()));
                    outputs.extend(stream.push(&rest));
                    let (last, outcome) = stream.finish(BodyEnd::Eof);
                    outputs.extend(last);
                    check(&damage, wire, &outputs, &outcome);
                }
            }
            given.extend(before.push(frames[place].as_bytes()));
        }
    }
}

/// Returns JSON pointers to everything inside a value, at any depth.
fn fields(value: &Value) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(place, value)| (place.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let deeper = |(name, value): (String, &Value)| {
        let below: Vec<String> = fields(value).iter().map(|field| format!("/{name}{field}")).collect();
        [vec![format!("/{name}")], below].concat()
    };
    inner.into_iter().flat_map(deeper).collect()
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|c| rest.any(|other| other == c))
}
