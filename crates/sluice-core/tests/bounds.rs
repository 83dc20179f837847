//! There are bounds on what a server can make us show, store and do. An honest answer never reaches them.

use crate::support::*;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{BodyEnd, ChunkStream, NoteKind, Outcome, Output, Part, ResponseStream, Status, StreamOptions};

fn event(json: &Value) -> String {
    format!("data: {json}\n\n")
}

fn completed() -> String {
    event(&json!({"type": "response.completed", "response": {}}))
}

fn chunks(body: &str) -> (Vec<Output>, Outcome) {
    let mut stream = ChunkStream::new(StreamOptions::default());
    let mut outputs: Vec<Output> = stream.push(body.as_bytes()).collect();
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    (outputs, outcome)
}

fn rendered(outputs: &[Output]) -> String {
    let line = |output: &Output| match output {
        Output::Part(part) => serde_json::to_string(part).unwrap() + "\n",
        Output::Note(note) => format!("{:?} {}\n", note.kind, note.detail),
    };
    outputs.iter().map(line).collect()
}

#[test]
fn beyond_a_few_hundred_notes_one_note_says_how_many_more() {
    let body = "data:x\n\n".repeat(100_000);
    let finished = [run_whole(format!("{body}{}", completed()).as_bytes()), chunks(&format!("{body}data: [DONE]\n\n"))];
    let cut_off = [run_whole(body.as_bytes()), chunks(&body)];
    for (outputs, _) in finished.into_iter().chain(cut_off) {
        assert_eq!(outputs.len(), 257);
        assert_eq!(rendered(&outputs[255..]), "Malformed \nMoreNotes 99744\n");
    }
    assert_eq!(run_whole(body.as_bytes()), run(body.as_bytes(), 1000));

    let mut traced = ResponseStream::new(StreamOptions { trace: true, ..StreamOptions::default() });
    let outputs = traced.push("data:{\"type\":\"response.queued\"}\n\n".repeat(70_000).as_bytes()).len();
    assert_eq!(outputs, 65_536);
}

#[test]
fn long_server_texts_are_shortened_before_they_are_shown() {
    let long = "x".repeat(100_000);
    let added = json!({"type": "response.output_item.added", "item": {"type": "function_call", "call_id": long, "name": long, "id": long}});
    let created = json!({"type": "response.created", "response": {"id": long, "model": long, "provider_metadata": {"gateway": {
        "cost": long[..500], "generationId": long[..500], "routing": {"finalProvider": long[..500]}}}}});
    let (_, outcome) = run_whole([event(&created), event(&added), completed()].concat().as_bytes());
    assert_eq!(outcome.status, Status::Failed);
    assert_eq!((outcome.response_id, outcome.model.map(|model| model.len())), (None, Some(200)));
    let gateway = outcome.gateway.unwrap();
    let lengths = [gateway.cost, gateway.generation_id, gateway.provider].map(|text| text.unwrap().len());
    assert_eq!(lengths, [120; 3]);
    let failure = outcome.error.unwrap();
    assert_eq!(failure.tool.unwrap().len(), 120);
    assert!(failure.message.len() < 200, "{}", failure.message);

    let start = json!({"type": "tool-input-start", "toolCallId": long, "toolName": long});
    let metadata = json!({"type": "response-metadata", "id": long, "modelId": long});
    let finish = json!({"type": "finish"});
    let (_, outcome) = chunks(&[event(&metadata), event(&start), event(&finish), "data: [DONE]\n\n".into()].concat());
    assert_eq!((outcome.response_id, outcome.model.map(|model| model.len())), (None, Some(200)));
    assert!(outcome.error.unwrap().message.len() < 200);

    for error in [json!(long), json!({"message": long, "code": long, "type": long})] {
        let (_, outcome) = run_whole(event(&json!({"type": "error", "error": error})).as_bytes());
        assert!(json!(outcome.error).to_string().len() < 3000);
        let (_, outcome) = chunks(&event(&json!({"type": "error", "error": error})));
        assert!(json!(outcome.error).to_string().len() < 3000);
    }

    // The name of a reported call is shortened, too.
    let item = json!({"type": "function_call", "call_id": "c", "name": long, "arguments": "{}"});
    let (outputs, _) = run_whole(event(&json!({"type": "response.output_item.done", "item": item})).as_bytes());
    assert!(matches!(&outputs[..], [Output::Part(Part::ToolCall { name, .. })] if name.len() == 256));
}

#[test]
fn every_piece_of_thinking_has_a_short_id() {
    let long = "x".repeat(100_000);
    let delta =
        |id: &str| event(&json!({"type": "response.reasoning.delta", "output_index": 0, "item_id": id, "delta": "hm"}));
    let (outputs, _) = run_whole([delta(&long), delta("")].concat().as_bytes());
    assert_eq!(rendered(&outputs), "{\"type\":\"thinking\",\"value\":\"hm\",\"id\":\"thinking-0\"}\n".repeat(2));
    let (outputs, _) = chunks(&event(&json!({"type": "reasoning-delta", "id": long, "delta": "hm"})));
    assert_eq!(rendered(&outputs), "{\"type\":\"thinking\",\"value\":\"hm\",\"id\":\"thinking\"}\n");
}

#[test]
fn deep_nesting_costs_only_the_field_it_is_in() {
    for depth in [100, 126, 127, 128, 1000, 50_000] {
        let deep = ["[".repeat(depth), "]".repeat(depth)].concat();
        for field in ["usage", "provider_metadata", "providerMetadata", "output", "error", "id", "model", "anything"] {
            let text = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n";
            for value in [deep.clone(), format!(r#"{{"input_tokens":1,"content":{deep}}}"#)] {
                let end = format!(r#"data: {{"type":"response.completed","response":{{"{field}":{value}}}}}"#);
                let (outputs, outcome) = run_whole(format!("{text}{end}\n\n").as_bytes());
                assert_eq!((outputs.len(), outcome.status), (1, Status::Completed), "{field} {depth}");
            }
        }
        let item = format!(r#"{{"type":"function_call","call_id":"c","name":"f","arguments":{{"a":{deep}}}}}"#);
        let body = format!("data: {{\"type\":\"response.output_item.done\",\"item\":{item}}}\n\n{}", completed());
        let (outputs, outcome) = run_whole(body.as_bytes());
        assert_eq!(outcome.status, Status::Completed, "{depth}");
        let is_whole = matches!(&outputs[..], [Output::Part(Part::ToolCall { input_json, .. })] if input_json.len() == 2 * depth + 6);
        assert!(is_whole, "{depth}");
    }
}

#[test]
fn a_damaged_image_becomes_a_note_and_costs_nothing_else() {
    let check = |results: &[&str], expect: Expect| {
        let image = |result: &&str| {
            let item = json!({"type": "image_generation_call", "result": result});
            event(&json!({"type": "response.output_item.done", "item": item}))
        };
        let text = event(&json!({"type": "response.output_text.delta", "delta": "text"}));
        let body: String = results.iter().map(image).chain([text, completed()]).collect();
        let (outputs, outcome) = run_whole(body.as_bytes());
        assert_eq!(outcome.status, Status::Completed);
        expect.assert_eq(&rendered(&outputs));
    };
    check(
        &["iVBORw0KGgo", "iVBORw0KGgo=", "iVBORw0KGgoA", "iVBORw0KGgoAAA=="],
        expect![[r#"
            {"type":"data","mimeType":"image/png","base64":"iVBORw0KGgo="}
            {"type":"data","mimeType":"image/png","base64":"iVBORw0KGgo="}
            {"type":"data","mimeType":"image/png","base64":"iVBORw0KGgoA"}
            {"type":"data","mimeType":"image/png","base64":"iVBORw0KGgoAAA=="}
            {"type":"text","value":"text"}
        "#]],
    );
    check(
        &["iVBORw0KGgo==", "iVBORw0KGg===", "iVBORw0KG", "iVBO=Rw0", "iVBORw0KGh==", "iVBO\nRw0K", "é"],
        expect![[r#"
            IgnoredContent image_generation_call
            IgnoredContent image_generation_call
            IgnoredContent image_generation_call
            IgnoredContent image_generation_call
            IgnoredContent image_generation_call
            IgnoredContent image_generation_call
            IgnoredContent image_generation_call
            {"type":"text","value":"text"}
        "#]],
    );

    let file = |data: &str| event(&json!({"type": "file", "mediaType": "image/png", "data": data}));
    let output = json!({"type": "tool-result", "toolCallId": "t", "providerExecuted": true, "output": {"result": "iVBORw0KGgoAA"}});
    let text = json!({"type": "text-delta", "delta": "text"});
    let body = [file("iVBORw0KG"), file("iVBO=Rw0"), event(&output), file("iVBO Rw0-"), event(&text)].concat();
    expect![[r#"
        IgnoredContent file
        IgnoredContent file
        IgnoredContent image
        {"type":"data","mimeType":"image/png","base64":"iVBORw0+"}
        {"type":"text","value":"text"}
    "#]]
    .assert_eq(&rendered(&chunks(&body).0));
}

#[test]
fn files_have_real_media_types_and_never_those_of_control_parts() {
    let file = |kind: &str| {
        let (outputs, _) = chunks(&event(&json!({"type": "file", "mediaType": kind, "data": "AAAA"})));
        rendered(&outputs)
    };
    let control =
        ["usage", "stateful_marker", "cache_control", "context_management", "phase_data", "thinking", "Usage "];
    let nonsense =
        ["/", "image/", "/png", "x/y", "image/p ng", "image/png/x", "usage/usage", "image", "imäge/png", "a\u{0}/b"];
    for kind in control.into_iter().chain(nonsense) {
        assert_eq!(file(kind), "IgnoredContent file\n", "{kind:?}");
        let (outputs, _) = chunks(&event(&json!({"type": "file", "url": format!("data:{kind};base64,AAAA")})));
        assert_eq!(rendered(&outputs), "IgnoredContent file\n", "{kind:?} in a data URL");
    }
    let real =
        [("Image/PNG", "image/png"), ("text/plain; charset=utf-8", "text/plain"), ("audio/x-wav", "audio/x-wav")];
    for (kind, given) in real {
        assert_eq!(file(kind), format!("{{\"type\":\"data\",\"mimeType\":\"{given}\",\"base64\":\"AAAA\"}}\n"));
    }
    assert_eq!(file(""), "{\"type\":\"data\",\"mimeType\":\"application/octet-stream\",\"base64\":\"AAAA\"}\n");
}

/// Checks invariant S16.
#[test]
fn large_events_must_be_images_and_others_fail_the_answer() {
    let message = |body: &str| {
        let whole = run_whole(body.as_bytes());
        assert_eq!(whole, run(body.as_bytes(), 64 << 10));
        whole.1.error.map(|failure| failure.message).unwrap_or_default()
    };
    let image = |bytes: usize| {
        let item = json!({"type": "image_generation_call", "result": "A".repeat(bytes)});
        event(&json!({"type": "response.output_item.done", "item": item}))
    };
    for bytes in [6 << 20, (6 << 20) + 2, (15 << 20) + 3] {
        let (outputs, _) = run(image(bytes).as_bytes(), 64 << 10);
        let padded = bytes.next_multiple_of(4);
        assert!(matches!(&outputs[..], [Output::Part(Part::Data { base64, .. })] if base64.len() == padded));
    }
    // Several in one event, the first and the last of them with padding where none belongs.
    let image = |letter: &str, padding: &str| {
        format!(r#"{{"type":"image_generation_call","result":"{}{padding}"}}"#, letter.repeat(2 << 20))
    };
    let images = [image("A", r"\u003d="), image("B", ""), image("C", "==")].join(",");
    let body = format!("data: {{\"type\":\"response.completed\",\"response\":{{\"output\":[{images}]}}}}\n\n");
    let whole = run_whole(body.as_bytes());
    assert_eq!(whole, run(body.as_bytes(), 1000));
    let is_b = |output: &Output| matches!(output, Output::Part(Part::Data { base64, .. }) if base64.starts_with('B'));
    assert_eq!(whole.0.iter().map(is_b).collect::<Vec<_>>(), [false, true, false]);

    let list = |element: &str, bytes: usize| vec![element; bytes / (element.len() + 1)].join(",");
    let event_with = |field: &str, bytes: usize| {
        format!("data: {{\"type\":\"response.completed\",\"response\":{{\"{field}\":[{}]}}}}\n\n", list("{}", bytes))
    };
    let text = |piece: &str, bytes: usize| {
        event(&json!({"type": "response.output_text.delta", "delta": piece.repeat(bytes / piece.len())}))
    };
    let messages = [
        ("tools", message(&event_with("tools", 250 << 10))),
        ("many tools", message(&event_with("tools", 2 << 20))),
        ("output", message(&event_with("output", 250 << 10))),
        ("ASCII", message(&text("text ", 3 << 20))),
        ("Chinese", message(&text("漢字", 900 << 10))),
        ("much Chinese", message(&text("漢字", 3 << 20))),
        ("much ASCII", message(&text("text ", 5 << 20))),
        ("base64", message(&text("text", 3 << 20))),
        ("much base64", message(&text("text", 5 << 20))),
        ("more base64", message(&text("text", 17 << 20))),
        (
            "a long id",
            message(&event(
                &json!({"type": "response.output_text.delta", "item_id": "i".repeat(3 << 20), "delta": "a"}),
            )),
        ),
        ("many texts", message(&text("text ", 3 << 20).repeat(3))),
        ("line ends", message(&text("line\n", 3 << 20))),
        ("lines", message(&"data: 1,\n".repeat(200 << 10))),
    ];
    expect![[r#"
        tools: 
        many tools: One event of the answer has more than 1048576 bytes of JSON that is not plain text.
        output: One event of the answer needs more than 16777216 bytes of memory.
        ASCII: 
        Chinese: 
        much Chinese: 
        much ASCII: One event of the answer is larger than 4194304 bytes.
        base64: 
        much base64: One event of the answer needs more than 16777216 bytes of memory.
        more base64: One event of the answer is larger than 16777216 bytes.
        a long id: 
        many texts: The answer has more than 8388608 bytes of content.
        line ends: One event of the answer has more than 1048576 bytes of JSON that is not plain text.
        lines: One event of the answer has more than 1048576 bytes of JSON that is not plain text.
    "#]]
    .assert_eq(&messages.map(|(name, message)| format!("{name}: {message}\n")).concat());
}

#[test]
fn sources_are_listed_unless_the_text_links_to_them() {
    let check = |text: &str, urls: &[&str], expect: Expect| {
        let delta = event(&json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}));
        let cite = |url: &&str| {
            let annotation = json!({"type": "url_citation", "url": url});
            event(
                &json!({"type": "response.output_text.annotation.added", "output_index": 0, "annotation": annotation}),
            )
        };
        // The message's `done` event comes twice.
        let done = event(&json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "message"}}));
        let annotations: String = urls.iter().map(cite).collect();
        let (outputs, _) = run_whole([delta, annotations, done.clone(), done, completed()].concat().as_bytes());
        expect.assert_eq(&Summary::of(&outputs).sources.join("\n"));
    };
    check(
        "no links",
        &["https://b.example", "https://a.example"],
        expect![[r#"
        https://b.example
        https://a.example"#]],
    );
    check(
        "[a](https://a.example/x),(https://b.example/y_(z)).",
        &["https://a.example/x", "https://b.example/y_(z)"],
        expect![[""]],
    );
    check(
        "xhttps://a.example/path/more",
        &[
            "https://a.example/path/most",
            "https://a.example/path",
            "https://a.example",
            "https://a.example/path/more/",
            "HTTPS://a.example",
        ],
        expect![[r#"
            https://a.example/path/most
            https://a.example/path/more/
            HTTPS://a.example"#]],
    );
    check(
        "hhttphttp://http://a.b",
        &["http://a.b", "http://http://a.b", "http://http://a.bc"],
        expect!["http://http://a.bc"],
    );
    // When the budget is used up, no more links are searched for and every source is listed.
    check(
        &format!("{}https://a.b", "https://c.d ".repeat(100_000)),
        &["https://a.b", "https://c.d"],
        expect!["https://a.b"],
    );
}

#[test]
fn many_calls_with_one_id_get_different_ids() {
    let call = |(index, (call_id, arguments)): (usize, &(&str, &str))| {
        let item = json!({"type": "function_call", "call_id": call_id, "name": "f", "arguments": arguments});
        event(&json!({"type": "response.output_item.done", "output_index": index, "item": item}))
    };
    let long = "c".repeat(61);
    let calls = [
        ("c", r#"{"a":1,"b":2}"#),
        ("c-2", "{}"),
        ("c", r#"{"a":2}"#),
        ("c", r#"{ "b" : 2, "a" : 1 }"#),
        ("c", r#"{"a":3}"#),
        (&long, r#"{"a":1}"#),
        (&long, r#"{"a":2}"#),
    ];
    let calls: String = calls.iter().enumerate().map(call).collect();
    let (outputs, outcome) = run_whole((calls + &completed()).as_bytes());
    assert_sound(&outputs, &outcome);
    let summary = Summary::of(&outputs);
    let ids: Vec<&str> = summary.calls.iter().map(|call| call.id.as_str()).collect();
    let (whole, short) = (format!("gw-{long}"), format!("gw-{}-2", "c".repeat(59)));
    assert_eq!(ids, ["gw-c", "gw-c-2", "gw-c-3", "gw-c-4", &whole, &short]);
    assert_eq!(summary.notes.iter().filter(|note| note.kind == NoteKind::RepeatedCall).count(), 1);
}

#[test]
fn too_many_items_in_the_final_output_are_noticed_before_any_is_given() {
    let completed = |count: usize| {
        let item = json!({"type": "message", "content": [{"type": "output_text", "text": "a"}]});
        let body = event(&json!({"type": "response.completed", "response": {"output": vec![item; count]}}));
        let (outputs, outcome) = run_whole(body.as_bytes());
        (outputs.len(), outcome.status)
    };
    // The last output is what the server needs back.
    assert_eq!(completed(4096), (4097, Status::Completed));
    assert_eq!(completed(4097), (0, Status::Failed));
}
