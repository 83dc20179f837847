//! Hostile messages, thinking, citations, images and responses; lists of models and errors.

use super::{Body, Input, Others, Streams, added, delta, done, fill, list, message};

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

pub(super) const OTHERS: Others<'_> = &[
    ("models", Input::ModelList, |n| models(&list(n, |i| format!(r#"{{"id":"acme/m{i}"}}"#)))),
    ("one model again and again", Input::ModelList, |n| models(&list(n, |_| r#"{"id":"acme/m"}"#.into()))),
    ("many models listed twice", Input::ModelList, |n| models(&list(n, |i| format!(r#"{{"id":"acme/m{}"}}"#, i / 2)))),
    ("models without an id", Input::ModelList, |n| {
        models(&(r#"{"id":"a/b"},"#.to_owned() + &list(n, |_| "{}".into())))
    }),
    ("models that are no objects", Input::ModelList, |n| {
        models(&(r#"{"id":"a/b"},"#.to_owned() + &list(n, |_| "0".into())))
    }),
    ("models that do not chat", Input::ModelList, |n| {
        models(&(r#"{"id":"a/b"},"#.to_owned() + &list(n, |i| format!(r#"{{"id":"acme/m{i}","type":"embedding"}}"#))))
    }),
    ("models of one family, one version each", Input::ModelList, |n| {
        models(&list(n, |i| format!(r#"{{"id":"acme/gpt-{i}.{i}-{i}","name":"GPT {i}"}}"#)))
    }),
    ("models with full descriptions", Input::ModelList, |n| {
        let more = r#""description":"a b","context_window":128000,"max_tokens":8192,"tags":["reasoning","tool-use","vision"],"pricing":{"input":"0.000001","output":"0.000002"}"#;
        models(&list(n, |i| format!(r#"{{"id":"acme/m{i}",{more}}}"#)))
    }),
    ("a long model id", Input::ModelList, |n| models(&format!(r#"{{"id":"acme/{}"}}"#, fill(n, "a-1.")))),
    ("a long description", Input::ModelList, |n| {
        models(&format!(r#"{{"id":"a/b","description":"{}"}}"#, fill(n, "\u{202e}a ")))
    }),
    ("model ids of digits and dashes", Input::ModelList, |n| {
        models(&list(n, |i| format!(r#"{{"id":"{}{i}"}}"#, "1-2.3-".repeat(30))))
    }),
    ("tags of one model", Input::ModelList, |n| {
        one_model(&format!(r#""tags":[{}]"#, list(n, |i| format!(r#""t{i}""#))))
    }),
    ("one tag again and again", Input::ModelList, |n| {
        one_model(&format!(r#""tags":[{}]"#, list(n, |_| r#""reasoning""#.into())))
    }),
    ("parameters of one model", Input::ModelList, |n| {
        one_model(&format!(r#""supported_parameters":[{}]"#, list(n, |i| format!(r#""p{i}""#))))
    }),
    ("modalities of one model", Input::ModelList, |n| {
        one_model(&format!(r#""architecture":{{"modality":"{}->text"}}"#, fill(n, "image+a+")))
    }),
    ("lists of modalities", Input::ModelList, |n| {
        let words = list(n / 2, |i| format!(r#""w{i}""#));
        one_model(&format!(r#""modalities":{{"input":[{words}],"output":["text",{words}]}}"#))
    }),
    ("regions of one model", Input::ModelList, |n| {
        one_model(&format!(r#""regions":[{}]"#, list(n, |i| format!(r#""r{i}""#))))
    }),
    ("efforts of one model", Input::ModelList, |n| {
        let values = list(n, |i| format!(r#""e{i}""#));
        one_model(&format!(r#""reasoning_options":[{{"type":"effort","values":[{values}]}}]"#))
    }),
    ("reasoning options of one model", Input::ModelList, |n| {
        let options = list(n, |i| format!(r#"{{"type":"effort","values":["e{i}"]}}"#));
        one_model(&format!(r#""reasoning_options":[{options}]"#))
    }),
    ("price tiers, first to last", Input::ModelList, |n| {
        let tiers = list(n, |i| format!(r#"{{"min":{},"cost":"0.000{:05}"}}"#, i + 1, i % 90_000 + 1));
        one_model(&format!(r#""pricing":{{"input":"0.000001","output":"0.000001","input_tiers":[{tiers}]}}"#))
    }),
    ("price tiers of every kind, last to first", Input::ModelList, |n| {
        let tiers = |odd: usize| {
            list(n / 4, |i| format!(r#"{{"min":{},"cost":"0.000{:05}"}}"#, 90_000_000 - 2 * i + odd, i % 90_000 + 1))
        };
        one_model(&format!(
            r#""pricing":{{"input":1e-6,"output":1e-6,"input_tiers":[{}],"output_tiers":[{}],"input_cache_read_tiers":[{}],"input_cache_write_tiers":[{}]}}"#,
            tiers(0),
            tiers(1),
            tiers(0),
            tiers(1)
        ))
    }),
    ("price tiers in many models", Input::ModelList, |n| {
        let tiers = list(400, |i| format!(r#"{{"min":{},"cost":"0.000{:05}"}}"#, i + 1, i + 1));
        models(&list(n, |i| format!(r#"{{"id":"a/m{i}","pricing":{{"input":"1e-6","input_tiers":[{tiers}]}}}}"#)))
    }),
    ("a deep model beside others", Input::ModelList, |n| {
        let deep = format!(r#"{{"id":"a/deep","x":{}{}}}"#, "[".repeat(n / 2), "]".repeat(n / 2));
        models(&format!(r#"{{"id":"a/b"}},{deep}"#))
    }),
    ("a list of numbers instead of models", Input::ModelList, |n| {
        format!("[{}]", list(n, |_| "1".into())).into_bytes()
    }),
    ("fields of one model", Input::ModelList, |n| one_model(&list(n, |i| format!(r#""k{i}":{i}"#)))),
    ("endpoints", Input::ModelEndpoints, |n| endpoints(&list(n, |i| format!(r#"{{"provider_name":"p{i}"}}"#)))),
    ("one endpoint again and again", Input::ModelEndpoints, |n| {
        endpoints(&list(n, |_| r#"{"provider_name":"p"}"#.into()))
    }),
    ("empty endpoints", Input::ModelEndpoints, |n| endpoints(&list(n, |_| "{}".into()))),
    ("parameters of one endpoint", Input::ModelEndpoints, |n| {
        endpoints(&format!(r#"{{"supported_parameters":[{}]}}"#, list(n, |i| format!(r#""p{i}""#))))
    }),
    ("tags and parameters of many endpoints", Input::ModelEndpoints, |n| {
        endpoints(&list(n, |i| format!(r#"{{"name":"p{i}","supported_parameters":["p{i}","q{i}"],"tags":["t{i}"]}}"#)))
    }),
    ("price tiers of endpoints", Input::ModelEndpoints, |n| {
        let tiers = list(n / 2, |i| format!(r#"{{"min":{},"cost":"0.000{:05}"}}"#, i + 1, i % 90_000 + 1));
        let one = format!(r#"{{"provider_name":"p","pricing":{{"prompt":"1e-6","input_tiers":[{tiers}]}}}}"#);
        endpoints(&format!("{one},{one}"))
    }),
    ("a long name of a provider", Input::ModelEndpoints, |n| {
        endpoints(&format!(r#"{{"provider_name":"{}"}}"#, "p".repeat(n)))
    }),
    ("error body: numbers and signs", Input::ErrorBody, |n| {
        format!(r#"{{"error":{{"message":"context window {}{}"}}}}"#, fill(n / 2, "> "), fill(n / 2, "1000 "))
            .into_bytes()
    }),
    ("error body: keys", Input::ErrorBody, |n| {
        format!(r#"{{"error":{{"message":"{}"}}}}"#, fill(n, "sk-0123456789abcdef ")).into_bytes()
    }),
    ("error body: one word", Input::ErrorBody, |n| format!(r#"{{"error":"{}"}}"#, "a1".repeat(n / 2)).into_bytes()),
    ("error body: long code and ids", Input::ErrorBody, |n| {
        let long = "c".repeat(n / 3);
        format!(r#"{{"error":{{"message":"m","code":"{long}","type":"{long}"}},"generationId":"{long}"}}"#).into_bytes()
    }),
    ("error body: deep", Input::ErrorBody, |n| {
        format!(r#"{{"error":{}{}}}"#, "[".repeat(n / 2), "]".repeat(n / 2)).into_bytes()
    }),
    ("error body: objects", Input::ErrorBody, |n| {
        format!(r#"{{"error":{{"param":[{}]}}}}"#, list(n, |_| "{}".into())).into_bytes()
    }),
    ("error body: a page", Input::ErrorBody, |n| {
        format!("<html>{}", fill(n, "<p>context window > 1000</p>")).into_bytes()
    }),
    ("error body: a text", Input::ErrorBody, |n| fill(n, "context window > 1000 ").into_bytes()),
    ("error body: half surrogates", Input::ErrorBody, |n| {
        format!(r#"{{"error":"{}"}}"#, fill(n, r"\ud800")).into_bytes()
    }),
    ("retry after many digits", Input::RetryAfter, |n| "9".repeat(n).into_bytes()),
    ("retry after many zeros", Input::RetryAfter, |n| format!("0.{}1", "0".repeat(n)).into_bytes()),
    ("retry after blanks", Input::RetryAfter, |n| " ".repeat(n).into_bytes()),
    ("retry after a long date", Input::RetryAfter, |n| {
        format!("Sun, {}06 Nov 1994 08:49:37 GMT", fill(n, "0 ")).into_bytes()
    }),
    ("a whole answer of messages", Input::WholeAnswer, |n| whole(&list(n, |_| format!("{{{}}}", message("a"))))),
    ("a whole answer of empty objects", Input::WholeAnswer, |n| whole(&list(n, |_| "{}".into()))),
    ("a whole answer, deep", Input::WholeAnswer, |n| whole(&("[".repeat(n / 2) + &"]".repeat(n / 2)))),
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

fn models(list: &str) -> Vec<u8> {
    format!(r#"{{"data":[{list}]}}"#).into_bytes()
}

fn one_model(fields: &str) -> Vec<u8> {
    models(&format!(r#"{{"id":"acme/m",{fields}}}"#))
}

fn endpoints(list: &str) -> Vec<u8> {
    format!(r#"{{"data":{{"id":"acme/m","endpoints":[{list}]}}}}"#).into_bytes()
}

fn whole(output: &str) -> Vec<u8> {
    format!(r#"{{"status":"completed","output":[{output}]}}"#).into_bytes()
}
