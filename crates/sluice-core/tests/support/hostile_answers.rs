//! Hostile messages, thinking, citations, images, responses and errors.

use super::{Body, Streams, added, delta, done, fill, list, message};

pub(super) const GENERATORS: Streams<'_> = &[
    ("citations in the text, and many dones", |n| {
        Body::default()
            .events(n / 4, |i| delta("output_text", PLACE, &format!("see https://a.b/{} ", i % 100)))
            .events(n / 4, annotation)
            .events(n / 2, |_| done(0, r#""type":"message""#))
            .completed()
    }),
    ("citations beside the text, and many dones", |n| {
        Body::default()
            .event(&delta("output_text", PLACE, &fill(n / 2, "https://a.b")))
            .events(n / 4, |i| annotation(i + 1_000_000))
            .events(n / 4, |_| done(0, r#""type":"message""#))
            .completed()
    }),
    ("citations that are nearly in the text", |n| {
        let url = format!("https://{}b", "a".repeat(2000));
        Body::default()
            .event(&delta("output_text", PLACE, &format!("https://{}", "a".repeat(n / 2))))
            .events(n / 2, |i| annotated(&format!("{url}{i}"), "t"))
            .completed()
    }),
    ("one citation again and again", |n| Body::default().events(n, |_| annotation(0)).completed()),
    ("citations with long addresses and titles", |n| {
        let long = "a".repeat(2000);
        Body::default()
            .events(n, |i| annotated(&format!("https://{long}{}", i % 100), &fill(9000, "*[x]\u{202e} ")))
            .completed()
    }),
    ("annotations inside done parts", |n| {
        let annotations = list(2000, |i| format!(r#"{{"url":"https://a.b/{i}"}}"#));
        let part = format!(r#"{{"type":"output_text","text":"a","annotations":[{annotations}]}}"#);
        Body::default()
            .events(n, |_| format!(r#"{{"type":"response.content_part.done",{PLACE},"part":{part}}}"#))
            .completed()
    }),
    ("messages with citations, all left open", |n| {
        let cite = |i: usize| {
            format!(
                r#"{{"type":"response.output_text.annotation.added","output_index":{},"annotation":{{"url":"https://a.b/{i}"}}}}"#,
                i / 5
            )
        };
        Body::default().events(n, cite).completed()
    }),
    ("dones that contradict a long text", |n| {
        Body::default()
            .event(&delta("output_text", PLACE, &"a".repeat(n / 2)))
            .events(n / 2, |_| done(0, &message("b")))
            .completed()
    }),
    ("dones with the start of a long text", |n| {
        Body::default()
            .event(&delta("output_text", PLACE, &"a".repeat(n / 2)))
            .events(n / 2, |_| done(0, &message("aaaa")))
            .completed()
    }),
    ("done parts that contradict a long text", |n| {
        Body::default()
            .event(&delta("output_text", PLACE, &"a".repeat(n / 2)))
            .events(n / 2, |_| format!(r#"{{"type":"response.output_text.done",{PLACE},"text":"ab"}}"#))
            .completed()
    }),
    ("the same text done again and again", |n| {
        let text = "a".repeat(1000);
        Body::default()
            .event(&delta("output_text", PLACE, &text))
            .events(n, |_| format!(r#"{{"type":"response.output_text.done",{PLACE},"text":"{text}"}}"#))
            .completed()
    }),
    ("texts that grow by one with every done", |n| {
        Body::default().events(n, |i| done(0, &message(&"a".repeat(i)))).completed()
    }),
    ("many content parts, deltas back and forth", |n| {
        let at = |i: usize| format!(r#""output_index":0,"content_index":{}"#, i * 997 % 1000);
        Body::default().events(n, |i| delta("output_text", &at(i), "a")).completed()
    }),
    ("content parts beyond the limit", |n| {
        let at = |i: usize| format!(r#""output_index":0,"content_index":{i}"#);
        Body::default().events(n, |i| delta("output_text", &at(i), "a")).completed()
    }),
    ("many content parts, and many dones", |n| {
        let at = |i: usize| format!(r#""output_index":0,"content_index":{}"#, i % 1000);
        Body::default()
            .events(n / 2, |i| delta("output_text", &at(i), "a"))
            .events(n / 2, |i| {
                format!(
                    r#"{{"type":"response.output_text.done","output_index":0,"content_index":{},"text":"z"}}"#,
                    i + 1000
                )
            })
            .completed()
    }),
    ("many content parts in every done", |n| {
        let part = r#"{"type":"output_text","text":"a"}"#;
        let content = vec![part; 500].join(",");
        Body::default().events(n, |_| done(0, &format!(r#""type":"message","content":[{content}]"#))).completed()
    }),
    ("content parts in reverse order in every done", |n| {
        let at = |i: usize| format!(r#""output_index":0,"content_index":{}"#, 500 - i % 500);
        let content = vec![r#"{"text":"a"}"#; 500].join(",");
        Body::default()
            .events(n / 2, |i| delta("output_text", &at(i), "a"))
            .events(n / 2, |_| done(0, &format!(r#""type":"message","content":[{content}]"#)))
            .completed()
    }),
    ("many messages", |n| Body::default().events(n, |i| added(i, r#""type":"message""#)).completed()),
    ("many messages, last index first", |n| {
        Body::default().events(n, |i| added(9_000_000_000 - i, r#""type":"message""#)).completed()
    }),
    ("many messages, closed first to last", |n| {
        Body::default()
            .events(n / 2, |i| added(i, r#""type":"message""#))
            .events(n / 2, |i| done(i, r#""type":"message""#))
            .completed()
    }),
    ("open messages, and dones of unknown ids", |n| {
        Body::default()
            .events(n / 2, |i| added(i, r#""type":"message""#))
            .events(n / 2, |i| {
                format!(r#"{{"type":"response.output_item.done","item":{{"type":"message","id":"u{i}"}}}}"#)
            })
            .completed()
    }),
    ("open messages, and deltas of unknown ids", |n| {
        Body::default()
            .events(n / 2, |i| added(i, r#""type":"message""#))
            .events(n / 2, |i| delta("output_text", &format!(r#""item_id":"u{i}""#), "a"))
            .completed()
    }),
    ("ids that rotate", |n| {
        Body::default()
            .events(n, |i| delta("output_text", &format!(r#""output_index":0,"item_id":"r{i}""#), "a"))
            .completed()
    }),
    ("ids last in the alphabet first", |n| {
        Body::default()
            .events(n, |i| delta("output_text", &format!(r#""item_id":"{:09}""#, 999_999_999 - i), "a"))
            .completed()
    }),
    ("long item ids that differ at the end", |n| {
        let long = "i".repeat(900);
        Body::default()
            .events(n, |i| delta("output_text", &format!(r#""output_index":{i},"item_id":"{long}{i}""#), "a"))
            .completed()
    }),
    ("open messages, and other messages in the final output", |n| {
        Body::default()
            .events(n / 2, |i| delta("output_text", &format!(r#""output_index":{}"#, i + 1_000_000), "a"))
            .completed_with(&list(n / 2, |_| format!("{{{}}}", message("b"))))
    }),
    ("open messages, and nothing but messages in the final output", |n| {
        Body::default()
            .events(n / 2, |i| added(i, r#""type":"message""#))
            .completed_with(&list(n / 2, |_| r#"{"type":"message"}"#.into()))
    }),
    ("messages with a long common start in the final output", |n| {
        let long = "a".repeat(1000);
        Body::default()
            .events(n / 2, |i| {
                delta("output_text", &format!(r#""output_index":{}"#, i + 1_000_000), &format!("{long}{i}"))
            })
            .completed_with(&list(n / 2, |i| format!("{{{}}}", message(&format!("{long}x{i}")))))
    }),
    ("one long message against every one in the final output", |n| {
        Body::default()
            .event(&delta("output_text", r#""output_index":1000000"#, &"a".repeat(n / 2)))
            .completed_with(&list(n / 2, |_| format!("{{{}}}", message("ab"))))
    }),
    ("thoughts in the final output", |n| {
        Body::default()
            .events(n / 2, |i| added(i + 1_000_000, r#""type":"reasoning""#))
            .completed_with(&list(n / 2, |_| r#"{"type":"reasoning"}"#.into()))
    }),
    ("tiny thoughts under a long id", |n| {
        let id = "r".repeat(n / 2);
        Body::default()
            .event(&added(0, &format!(r#""type":"reasoning","id":"{id}""#)))
            .events(n / 2, |_| delta("reasoning", PLACE, "a"))
            .completed()
    }),
    ("thoughts under long ids", |n| {
        let id = "r".repeat(1000);
        Body::default().events(n, |i| delta("reasoning", &format!(r#""item_id":"{id}{}""#, i % 50), "a")).completed()
    }),
    ("summaries and thoughts, and many dones", |n| {
        Body::default()
            .event(&delta("reasoning", PLACE, &"a".repeat(n / 4)))
            .event(&delta("reasoning_summary_text", PLACE, &"a".repeat(n / 4)))
            .events(n / 2, |_| done(0, r#""type":"reasoning","summary":[{"text":"b"}],"content":[{"text":"b"}]"#))
            .completed()
    }),
    ("encrypted thoughts", |n| {
        let secret = "e".repeat(500);
        Body::default()
            .events(n, |i| done(i, &format!(r#""type":"reasoning","encrypted_content":"{secret}""#)))
            .completed()
    }),
    ("one thought encrypted again and again", |n| {
        let secret = "e".repeat(500);
        Body::default()
            .events(n, |_| done(0, &format!(r#""type":"reasoning","encrypted_content":"{secret}""#)))
            .completed()
    }),
    ("items of unknown kinds", |n| Body::default().events(n, |i| done(i, r#""type":"x:y""#)).completed()),
    ("one large image", |n| {
        Body::default()
            .event(&done(0, &format!(r#""type":"image_generation_call","result":"{}""#, "A".repeat(n))))
            .completed()
    }),
    ("many images", |n| {
        Body::default()
            .events(n, |i| done(i, &format!(r#""type":"image_generation_call","result":"{i:08}""#)))
            .completed()
    }),
    ("one image again and again", |n| {
        let image = "A".repeat(2000);
        Body::default()
            .events(n, |i| done(i, &format!(r#""type":"image_generation_call","result":"{image}""#)))
            .completed()
    }),
    ("empty objects in the final output", |n| Body::default().completed_with(&list(n, |_| "{}".into()))),
    ("empty objects in a message's content", |n| {
        let content = list(n, |_| "{}".into());
        Body::default().event(&done(0, &format!(r#""type":"message","content":[{content}]"#))).completed()
    }),
    ("empty objects in a summary", |n| {
        let content = list(n, |_| "{}".into());
        Body::default().event(&done(0, &format!(r#""type":"reasoning","summary":[{content}]"#))).completed()
    }),
    ("empty objects in annotations", |n| {
        let part = format!(r#"{{"text":"a","annotations":[{}]}}"#, list(n, |_| "{}".into()));
        Body::default().event(&format!(r#"{{"type":"response.content_part.done","part":{part}}}"#)).completed()
    }),
    ("lists where an object belongs", |n| {
        let nulls = list(n / 2, |_| "0".into());
        let lists = list(n / 2, |_| "[]".into());
        Body::default()
            .event(&format!(r#"{{"type":"response.created","response":[{nulls}],"item":[{lists}]}}"#))
            .completed()
    }),
    ("a list in the usage", |n| {
        with_response(&format!(r#""usage":{{"input_tokens":1,"x":[{}]}}"#, list(n, |_| "0".into())))
    }),
    ("many fields in the usage", |n| {
        with_response(&format!(r#""usage":{{"input_tokens":1,{}}}"#, list(n, |i| format!(r#""k{i}":{i}"#))))
    }),
    ("many fields in the metadata, last first", |n| {
        with_response(&format!(
            r#""provider_metadata":{{{}}}"#,
            list(n, |i| format!(r#""{:08}":{{}}"#, 99_999_999 - i))
        ))
    }),
    ("usage again and again", |n| {
        let usage = format!(r#"{{"input_tokens":1,{}}}"#, list(900, |i| format!(r#""k{i}":[{i}]"#)));
        Body::default()
            .events(n, |_| {
                format!(
                    r#"{{"type":"response.in_progress","response":{{"usage":{usage},"provider_metadata":{usage}}}}}"#
                )
            })
            .completed()
    }),
    ("long names of response and model", |n| {
        let (id, model) = ("i".repeat(n / 4), "m".repeat(n / 4));
        let response = format!(r#"{{"type":"response.created","response":{{"id":"{id}","model":"{model}"}}}}"#);
        Body::default().event(&response).events(n / 2, |i| added(i, r#""type":"message""#)).completed()
    }),
    ("an error of numbers and signs", |n| {
        error(&format!("context window {}{}", fill(n / 2, "> "), fill(n / 2, "1000 ")))
    }),
    ("an error of words before a limit", |n| error(&format!("context length {}", fill(n, "maximum limit up to max ")))),
    ("an error of filler words", |n| error(&format!("context window limit {} 5000", fill(n, "is of the ")))),
    ("an error of sums", |n| error(&format!("context window {}", fill(n, "> 1000 + ")))),
    ("an error of one number", |n| error(&format!("context window > {}", "9".repeat(n)))),
    ("an error of digits and underscores", |n| error(&format!("context window {}", fill(n, "1_,")))),
    ("an error of blanks after numbers", |n| error(&format!("context window {}", fill(n, "1000        ")))),
    ("an error of hidden characters", |n| error(&fill(n, "\u{202e}\u{200b}a "))),
    ("an error of keys", |n| error(&fill(n, "sk-0123456789abcdef "))),
    ("an error of one key", |n| error(&format!("sk-{}", "a".repeat(n)))),
    ("an error of starts of keys", |n| error(&fill(n, "sk-"))),
    ("an error with a long code", |n| {
        Body::default().event(&format!(r#"{{"type":"error","code":"{}","message":"a"}}"#, fill(n, "a_b "))).completed()
    }),
];

const PLACE: &str = r#""output_index":0"#;

fn annotation(number: usize) -> String {
    annotated(&format!("https://a.b/{number}"), "t")
}

fn annotated(url: &str, title: &str) -> String {
    format!(
        r#"{{"type":"response.output_text.annotation.added",{PLACE},"annotation":{{"url":"{url}","title":"{title}"}}}}"#
    )
}

fn with_response(fields: &str) -> Vec<u8> {
    Body::default().event(&format!(r#"{{"type":"response.completed","response":{{"output":[],{fields}}}}}"#)).0
}

fn error(message: &str) -> Vec<u8> {
    Body::default().event(&format!(r#"{{"type":"error","error":{{"message":"{message}"}}}}"#)).0
}
