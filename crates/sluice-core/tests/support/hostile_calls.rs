//! Hostile tool calls.

use super::{Body, Streams, added, call, delta, done, fill, list};

pub(super) const GENERATORS: Streams<'_> = &[
    ("one call id, other arguments", |n| {
        Body::default().events(n, |i| done(i, &call("c", "f", &format!(r#"{{"a":{i}}}"#)))).completed()
    }),
    ("one call id, other names", |n| {
        Body::default().events(n, |i| done(i, &call("c", &format!("f{i}"), "{}"))).completed()
    }),
    ("one call id, the same call", |n| {
        Body::default().events(n, |i| done(i, &call("c", "f", r#"{"a":1}"#))).completed()
    }),
    ("one call id, the same call spelled differently", |n| {
        Body::default()
            .events(n, |i| done(i, &call("c", "f", &format!(r#"{{"a":1{}}}"#, " ".repeat(i % 300)))))
            .completed()
    }),
    ("one call id, long arguments that differ at the end", |n| {
        let long = "x".repeat(2000);
        Body::default().events(n, |i| done(i, &call("c", "f", &format!(r#"{{"a":"{long}{i}"}}"#)))).completed()
    }),
    ("one call id, long arguments that repeat", |n| {
        let arguments = format!("{{{}}}", list(2000, |i| format!(r#""k{i}":[{i}]"#)));
        Body::default().events(n, |i| done(i, &call("c", "f", &arguments))).completed()
    }),
    ("one call id, only announced", |n| Body::default().events(n, |i| added(i, &call("c", "f", ""))).completed()),
    ("one call id in the final output", |n| {
        Body::default()
            .events(n / 2, |i| added(i + 1_000_000, &call("c", "f", "")))
            .completed_with(&list(n / 2, |i| format!("{{{}}}", call("c", "f", &format!(r#"{{"a":{i}}}"#)))))
    }),
    ("call ids that look like our own counters", |n| {
        let ids = |i: usize| if i.is_multiple_of(2) { "c".to_owned() } else { format!("c-{}", i / 2 + 2) };
        Body::default().events(n, |i| done(i, &call(&ids(i), "f", &format!(r#"{{"a":{i}}}"#)))).completed()
    }),
    ("call ids that are the same when shortened", |n| {
        let long = "c".repeat(64);
        Body::default()
            .events(n, |i| done(i, &call(&format!("{long}{}", "!".repeat(i % 50)), "f", &format!(r#"{{"a":{i}}}"#))))
            .completed()
    }),
    ("long call ids", |n| {
        let long = "c".repeat(2000);
        Body::default().events(n, |i| done(i, &call(&format!("{long}{i}"), "f", "{}"))).completed()
    }),
    ("long tool names", |n| {
        let long = "f".repeat(2000);
        Body::default().events(n, |i| done(i, &call(&format!("c{i}"), &long, "{}"))).completed()
    }),
    ("one very long tool name, not finished", |n| {
        Body::default().event(&added(0, &call("c", &"f".repeat(n), ""))).completed()
    }),
    ("one very long tool name, announced again and again", |n| {
        let name = "f".repeat(n / 2);
        Body::default()
            .event(&added(0, &call("c", &name, "")))
            .events(n / 2, |_| added(0, &call("c", "", "")))
            .completed()
    }),
    ("arguments done again and again", |n| {
        Body::default()
            .event(&added(0, &call("c", "", "")))
            .event(&arguments_delta(0, &format!(r#"{{\"a\":\"{}"#, "x".repeat(n / 2))))
            .events(n / 2, |_| arguments_done(0, ""))
            .completed()
    }),
    ("items done again and again without a name", |n| {
        Body::default()
            .event(&arguments_delta(0, &format!(r#"{{\"a\":\"{}\"}}"#, "x".repeat(n / 2))))
            .events(n / 2, |_| done(0, r#""type":"function_call","call_id":"c""#))
            .completed()
    }),
    ("arguments done, no object, then items done", |n| {
        Body::default()
            .event(&added(0, &call("c", "f", "")))
            .event(&arguments_done(0, &format!("[{}", "1,".repeat(n / 4))))
            .events(n / 2, |_| done(0, r#""type":"function_call","call_id":"c""#))
            .completed()
    }),
    ("arguments announced, long, then items done", |n| {
        Body::default()
            .event(&added(0, &call("c", "f", &format!("[{}", "1,".repeat(n / 4)))))
            .events(n / 2, |_| done(0, r#""type":"function_call","call_id":"c""#))
            .completed()
    }),
    ("arguments in the announcement", |n| {
        let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(2000));
        Body::default().events(n, |i| added(i, &call(&format!("c{i}"), "f", &arguments))).completed()
    }),
    ("arguments announced again and again", |n| {
        let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(2000));
        Body::default().events(n, |_| added(0, &call("c", "f", &arguments))).completed()
    }),
    ("arguments done, each with other words", |n| {
        Body::default()
            .event(&added(0, &call("", "", "")))
            .events(n, |i| arguments_done(0, &format!(r#"{{\"a\":{i}"#)))
            .completed()
    }),
    ("arguments as an object of many fields", |n| {
        let arguments = list(n, |i| format!(r#""k{i}":{i}"#));
        Body::default()
            .event(&done(0, &format!(r#""type":"function_call","call_id":"c","name":"f","arguments":{{{arguments}}}"#)))
            .completed()
    }),
    ("arguments as objects, deep", |n| {
        let arguments = format!("{}1{}", r#"{"a":"#.repeat(90), "}".repeat(90));
        Body::default()
            .events(n, |i| {
                done(i, &format!(r#""type":"function_call","call_id":"c","name":"f","arguments":{arguments}"#))
            })
            .completed()
    }),
    ("arguments of escapes", |n| {
        let arguments = format!(r#"{{\"a\":\"{}\"}}"#, fill(n, r"\\u0041\\n"));
        Body::default()
            .event(&done(0, &format!(r#""type":"function_call","call_id":"c","name":"f","arguments":"{arguments}""#)))
            .completed()
    }),
    ("arguments of half surrogates", |n| {
        let arguments = format!(r#"{{\"a\":\"{}\"}}"#, fill(n, r"\\ud83d"));
        Body::default()
            .event(&done(0, &format!(r#""type":"function_call","call_id":"c","name":"f","arguments":"{arguments}""#)))
            .completed()
    }),
    ("blank arguments", |n| {
        Body::default().events(n, |i| done(i, &call(&format!("c{i}"), "f", &" ".repeat(1000)))).completed()
    }),
    ("arguments in tiny pieces", |n| {
        Body::default().event(&added(0, &call("c", "f", ""))).events(n, |_| arguments_delta(0, "1")).completed()
    }),
    ("calls in turns", |n| {
        Body::default()
            .events(n / 4, |i| added(i, &call(&format!("c{i}"), "f", "")))
            .events(3 * n / 4, |i| arguments_delta(i * 997 % (n / 1000 + 1), "1"))
            .completed()
    }),
    ("open calls, and events that are not JSON", |n| {
        Body::default()
            .events(n / 2, |i| added(i, &call("c", "f", "")))
            .raw(n / 2, |_| b"data:x\n\n".to_vec())
            .completed()
    }),
    ("open calls, and arguments of nobody", |n| {
        Body::default()
            .events(n / 2, |i| added(i, &call("", "f", "")).replace(&format!(r#""output_index":{i},"#), ""))
            .events(n / 2, |_| r#"{"type":"response.function_call_arguments.delta","delta":"1"}"#.into())
            .completed()
    }),
    ("open calls, and arguments of unknown ids", |n| {
        Body::default()
            .events(n / 2, |i| added(i, &call("", "f", "")))
            .events(n / 2, |i| delta("function_call_arguments", &format!(r#""item_id":"u{i}""#), "1"))
            .completed()
    }),
    ("open calls, and items done of unknown ids", |n| {
        Body::default()
            .events(n / 2, |i| added(i, &call("", "f", "")))
            .events(n / 2, |i| {
                format!(r#"{{"type":"response.output_item.done","item":{{"id":"u{i}",{}}}}}"#, call("", "f", ""))
            })
            .completed()
    }),
    ("open calls, and other calls in the final output", |n| {
        Body::default()
            .events(n / 2, |i| added(i + 1_000_000, &call("", "f", "")))
            .completed_with(&list(n / 2, |i| format!("{{{}}}", call(&format!("d{i}"), "g", "{}"))))
    }),
    ("calls closed first to last", |n| {
        Body::default()
            .events(n / 2, |i| added(i, &call(&format!("c{i}"), "f", "")))
            .events(n / 2, |i| done(i, &call(&format!("c{i}"), "f", "{}")))
            .completed()
    }),
    ("calls without an id in a response with a long one", |n| {
        let id = "r".repeat(n / 2);
        Body::default()
            .event(&format!(r#"{{"type":"response.created","response":{{"id":"{id}"}}}}"#))
            .events(n / 2, |i| done(i, &call("", "f", "{}")))
            .completed()
    }),
    ("incomplete calls", |n| {
        let item = |i: usize| call(&format!("c{i}"), "f", "{}") + r#","status":"incomplete""#;
        Body::default().events(n, |i| done(i, &item(i))).completed()
    }),
    ("one call given up again and again", |n| {
        let item = call("c", &"f".repeat(500), "{}") + r#","status":"incomplete""#;
        Body::default().events(n, |_| done(0, &item)).completed()
    }),
    ("many calls dropped at the end", |n| {
        Body::default()
            .events(n, |i| added(i, &call(&format!("c{i}"), "f", "{")))
            .event(r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#)
            .0
    }),
    ("more calls than there may be items", |n| {
        Body::default()
            .events(n, |i| {
                format!(
                    r#"{{"type":"response.output_item.added","output_index":{i},"item":{{"type":"function_call"}}}}"#
                )
            })
            .completed()
    }),
];

fn arguments_delta(index: usize, text: &str) -> String {
    delta("function_call_arguments", &format!(r#""output_index":{index}"#), text)
}

/// `arguments` is the text between the quotes.
fn arguments_done(index: usize, arguments: &str) -> String {
    format!(r#"{{"type":"response.function_call_arguments.done","output_index":{index},"arguments":"{arguments}"}}"#)
}
