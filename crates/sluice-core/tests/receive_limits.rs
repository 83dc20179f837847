//! How much an answer may contain, to the byte: everything that is kept counts, and what is released doesn't any more.

use expect_test::expect;
use serde_json::{Value, json};
use sluice_core::{BodyEnd, Limits, Output, Part, ResponseStream, Status, StreamOptions};

const LIMITS: Limits =
    Limits { max_event_bytes: 1 << 20, max_answer_bytes: 100_000, max_items: 50, max_content_parts: 20 };

const MANY_ITEMS: Limits = Limits { max_items: 4_000, ..LIMITS };

fn run(limits: Limits, events: &[Value]) -> (Vec<Output>, Status) {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let mut stream = ResponseStream::new(StreamOptions { limits, ..StreamOptions::default() });
    let mut outputs: Vec<Output> = stream.push(body.as_bytes()).collect();
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    (outputs, outcome.status)
}

/// Returns the largest number below `end` for which the answer with these events doesn't fail.
fn most(limits: Limits, end: usize, events: &dyn Fn(usize) -> Vec<Value>) -> usize {
    let fits = |number: usize| {
        let mut events = events(number);
        events.push(json!({"type": "response.completed", "response": {}}));
        run(limits, &events).1 == Status::Completed
    };
    let (mut fitting, mut too_many) = (0, end);
    while fitting + 1 < too_many {
        let middle = usize::midpoint(fitting, too_many);
        if fits(middle) { fitting = middle } else { too_many = middle }
    }
    fitting
}

fn x(bytes: usize) -> String {
    "x".repeat(bytes)
}

fn delta(kind: &str, index: usize, delta: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "delta": delta})
}

#[allow(clippy::needless_pass_by_value, reason = "`json!` is written as an argument of each case")]
fn added(index: usize, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

#[allow(clippy::needless_pass_by_value, reason = "`json!` is written as an argument of each case")]
fn done(index: usize, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn call(index: usize, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": format!("c{index}"), "name": "f", "arguments": arguments})
}

/// Returns arguments with this many bytes, or with the fewest that are an object with a text.
fn object(bytes: usize) -> String {
    format!(r#"{{"a":"{}"}}"#, x(bytes.saturating_sub(8)))
}

type Kind<'a> = (&'a str, &'a dyn Fn(usize) -> Vec<Value>);

fn table(limits: Limits, end: usize, kinds: &[Kind<'_>]) -> String {
    kinds.iter().map(|(name, events)| format!("{name}: {}\n", most(limits, end, *events))).collect()
}

#[test]
fn every_byte_that_is_kept_counts() {
    let part = |index: usize, text: &str| json!({"type": "response.output_text.delta", "output_index": 0, "content_index": index, "delta": text});
    let thought = |id: &str, bytes: usize| json!({"type": "reasoning", "id": id, "encrypted_content": x(bytes)});
    let summary = |bytes: usize| json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": x(bytes)}]});
    let arguments = |piece: &str| delta("function_call_arguments", 0, piece);
    let whole = |arguments: &str| json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": arguments});
    let kinds: [Kind<'_>; 16] = [
        ("text", &|n| vec![delta("output_text", 0, &x(n))]),
        ("text in two parts", &|n| vec![part(0, &x(n)), part(1, &x(n))]),
        ("whole text", &|n| vec![json!({"type": "response.output_text.done", "output_index": 0, "text": x(n)})]),
        ("thinking", &|n| vec![delta("reasoning", 0, &x(n))]),
        ("blank thinking", &|n| vec![delta("reasoning", 0, &" ".repeat(n))]),
        ("encrypted thinking", &|n| vec![done(0, thought("r", n))]),
        ("encrypted thinking, twice the same", &|n| vec![done(0, thought("r", n)), done(0, thought("r", n))]),
        ("encrypted thinking of two items", &|n| vec![done(0, thought("r", n)), done(1, thought("s", n))]),
        ("a summary that isn't shown", &|n| vec![delta("reasoning", 0, "a"), done(0, summary(n))]),
        ("arguments in a delta", &|n| vec![added(0, call(0, "")), arguments(&object(n)), done(0, call(0, ""))]),
        ("arguments in two deltas", &|n| {
            vec![added(0, call(0, "")), arguments(&format!("{{\"a\":\"{}", x(n))), arguments(&format!("{}\"}}", x(n)))]
        }),
        ("arguments in the item", &|n| vec![done(0, call(0, &object(n)))]),
        ("arguments in the announcement", &|n| vec![added(0, call(0, &object(n))), done(0, call(0, ""))]),
        ("arguments everywhere", &|n| vec![added(0, call(0, &object(n))), arguments(&object(n)), whole(&object(n))]),
        ("arguments of three calls", &|n| (0..3).map(|index| done(index, call(index, &object(n)))).collect()),
        ("arguments of three open calls", &|n| {
            let opened = (0..3).map(|index| added(index, call(index, &object(n))));
            opened.chain((0..3).map(|index| done(index, call(index, "")))).collect()
        }),
    ];
    expect![[r#"
        text: 99424
        text in two parts: 49616
        whole text: 99424
        thinking: 99424
        blank thinking: 49712
        encrypted thinking: 19999
        encrypted thinking, twice the same: 19999
        encrypted thinking of two items: 9999
        a summary that isn't shown: 20000
        arguments in a delta: 10000
        arguments in two deltas: 4996
        arguments in the item: 10000
        arguments in the announcement: 10000
        arguments everywhere: 3333
        arguments of three calls: 10000
        arguments of three open calls: 3333
    "#]]
    .assert_eq(&table(LIMITS, 100_001, &kinds));
}

#[test]
fn ids_names_and_sources_count() {
    let long_id = |index: usize| format!("{index:01000}");
    let with_id = |kind: &str, index: usize| added(index, json!({"type": kind, "id": long_id(index)}));
    let named = |call_id: &str, name: &str| json!({"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"});
    let cite = |index: usize| {
        let annotation =
            json!({"type": "url_citation", "url": format!("https://a.example/{index:02}"), "title": "0123456789"});
        json!({"type": "response.output_text.annotation.added", "output_index": 0, "annotation": annotation})
    };
    let message = |index: usize| done(index, json!({"type": "message", "content": []}));
    let kinds: [Kind<'_>; 7] = [
        ("messages with a long id", &|n| (0..n).map(|index| with_id("message", index)).collect()),
        ("reasoning with a long id", &|n| (0..n).map(|index| with_id("reasoning", index)).collect()),
        ("calls with a long id", &|n| (0..n).map(|index| done(index, named(&long_id(index), "f"))).collect()),
        ("calls with a long name", &|n| (0..n).map(|index| done(index, named(&index.to_string(), &x(250)))).collect()),
        ("long names of one call", &|n| {
            (0..n).map(|_| added(0, named("c", &x(250)))).chain([done(0, named("c", "f"))]).collect()
        }),
        ("sources", &|n| (0..n).map(cite).collect()),
        ("sources of two messages", &|n| {
            let first = (0..50).map(cite).chain([message(0)]);
            let second = (0..n).map(|index| {
                let mut event = cite(index);
                event["output_index"] = json!(1);
                event
            });
            first.chain(second).collect()
        }),
    ];
    expect![[r#"
        messages with a long id: 41
        reasoning with a long id: 41
        calls with a long id: 24
        calls with a long name: 78
        long names of one call: 999
        sources: 83
        sources of two messages: 83
    "#]]
    .assert_eq(&table(MANY_ITEMS, 1000, &kinds));
}

#[test]
fn items_of_every_kind_count() {
    let of_kinds = |kinds: &'static [&'static str]| {
        move |n: usize| {
            (0..n)
                .map(|index| match kinds[index % kinds.len()] {
                    "message" => delta("output_text", index, "a"),
                    "reasoning" => delta("reasoning", index, "a"),
                    "call" => done(index, call(index, "{}")),
                    // Images are told apart by their content.
                    _ => done(index, json!({"type": "image_generation_call", "result": format!("{index:04}")})),
                })
                .collect()
        }
    };
    let mixtures: [&'static [&'static str]; 7] = [
        &["message"],
        &["reasoning"],
        &["call"],
        &["image"],
        &["message", "reasoning"],
        &["reasoning", "call"],
        &["call", "image"],
    ];
    let line = |kinds: &&'static [&'static str]| {
        let [items, bytes] = [LIMITS, MANY_ITEMS].map(|limits| most(limits, 400, &of_kinds(kinds)));
        format!("{}: {items}, by their size {bytes}\n", kinds.join(" and "))
    };
    expect![[r#"
        message: 50, by their size 173
        reasoning: 50, by their size 173
        call: 50, by their size 96
        image: 50, by their size 399
        message and reasoning: 50, by their size 173
        reasoning and call: 50, by their size 124
        call and image: 50, by their size 192
    "#]]
    .assert_eq(&mixtures.iter().map(line).collect::<String>());
}

#[test]
fn items_of_the_final_output_count_only_if_they_are_new() {
    let limits = Limits { max_items: 2, ..LIMITS };
    let message = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let run = |output: &[Value]| {
        let streamed = [delta("output_text", 0, "one"), delta("output_text", 1, "two")];
        let completed = json!({"type": "response.completed", "response": {"output": output}});
        let (outputs, status) = run(limits, &[streamed.as_slice(), &[completed]].concat());
        let texts = outputs.iter().filter(|output| matches!(output, Output::Part(Part::Text { .. }))).count();
        (texts, status)
    };
    let search = json!({"type": "web_search_call"});
    assert_eq!(run(&[message("one"), message("two")]), (2, Status::Completed));
    assert_eq!(run(&[search.clone(), message("one"), search, message("two")]), (2, Status::Completed));
    assert_eq!(run(&[message("one"), message("two"), message("three")]), (2, Status::Failed));
}

#[test]
fn text_that_does_not_fit_is_not_shown() {
    for kind in ["output_text", "reasoning"] {
        let (outputs, status) = run(LIMITS, &[delta(kind, 0, &x(60_000)), delta(kind, 0, &x(60_000))]);
        assert_eq!((outputs.len(), status), (1, Status::Failed), "{kind}");
    }
}

/// An event with invalid bytes is copied, and a copy may have a sixteenth of the largest event.
#[test]
fn an_event_that_must_be_repaired_is_short() {
    use Status::{Failed, Truncated};

    let status = |bytes: usize, invalid: usize| {
        let (start, end) = (r#"{"type":"response.output_text.delta","delta":""#, r#""}"#);
        let valid = bytes - start.len() - end.len() - 3 * invalid;
        let data = [start.as_bytes(), x(valid).as_bytes(), &b"\xFF".repeat(invalid), end.as_bytes()].concat();
        let mut stream = ResponseStream::new(StreamOptions {
            limits: Limits { max_event_bytes: 16_000, ..LIMITS },
            ..StreamOptions::default()
        });
        stream.push(&[b"data: ", data.as_slice(), b"\n\n"].concat());
        stream.finish(BodyEnd::Eof).1.status
    };
    let statuses = [(1000, 1), (1001, 1), (1002, 1), (1000, 100), (1001, 100), (15_000, 0)];
    let statuses = statuses.map(|(bytes, invalid)| status(bytes, invalid));
    assert_eq!(statuses, [Truncated, Failed, Failed, Truncated, Failed, Truncated]);
}
