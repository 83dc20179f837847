//! Hostile streams in the AI SDK's dialect.

use super::{Body, Streams, fill, list};

pub(super) const GENERATORS: Streams<'_> = &[
    ("sdk: tiny texts", |n| end(Body::default().events(n, |_| r#"{"type":"text-delta","id":"0","delta":"a"}"#.into()))),
    ("sdk: tiny thoughts under a long id", |n| {
        let id = "r".repeat(n / 2);
        let start = Body::default().event(&format!(r#"{{"type":"reasoning-start","id":"{id}"}}"#));
        end(start.events(n / 2, |_| r#"{"type":"reasoning-delta","delta":"a"}"#.into()))
    }),
    ("sdk: thoughts under long ids", |n| {
        let id = "r".repeat(1000);
        end(Body::default().events(n, |i| format!(r#"{{"type":"reasoning-delta","id":"{id}{}","delta":"a"}}"#, i % 50)))
    }),
    ("sdk: one thought begun again and again", |n| {
        end(Body::default().events(n, |_| r#"{"type":"reasoning-start","id":"0"}"#.into()))
    }),
    ("sdk: many thoughts begun", |n| {
        end(Body::default().events(n, |i| format!(r#"{{"type":"reasoning-start","id":"{i}"}}"#)))
    }),
    ("sdk: many texts begun", |n| end(Body::default().events(n, |i| format!(r#"{{"type":"text-start","id":"{i}"}}"#)))),
    ("sdk: encrypted thoughts", |n| {
        let start = |i: usize| {
            format!(
                r#"{{"type":"reasoning-end","id":"0","providerMetadata":{{"p":{{"itemId":"i{i}","reasoningEncryptedContent":"e"}}}}}}"#
            )
        };
        end(Body::default().events(n, start))
    }),
    ("sdk: many providers in one chunk", |n| {
        let providers = list(n, |i| format!(r#""p{i}":{{"itemId":"i{i}","reasoningEncryptedContent":"e"}}"#));
        end(Body::default()
            .event(&format!(r#"{{"type":"reasoning-end","id":"0","providerMetadata":{{{providers}}}}}"#)))
    }),
    ("sdk: one call id, other inputs", |n| {
        end(Body::default().events(n, |i| call("c", "f", &format!(r#"{{"a":{i}}}"#))))
    }),
    ("sdk: one call id, other names", |n| end(Body::default().events(n, |i| call("c", &format!("f{i}"), "{}")))),
    ("sdk: one call id, the same call", |n| end(Body::default().events(n, |_| call("c", "f", "{}")))),
    ("sdk: one call id, long inputs that differ at the end", |n| {
        let long = "x".repeat(2000);
        end(Body::default().events(n, |i| call("c", "f", &format!(r#"{{"a":"{long}{i}"}}"#))))
    }),
    ("sdk: many calls", |n| end(Body::default().events(n, |i| call(&format!("c{i}"), "f", "{}")))),
    ("sdk: calls without an id", |n| {
        end(Body::default().events(n, |i| format!(r#"{{"type":"tool-call","toolName":"f","input":{{"a":{i}}}}}"#)))
    }),
    ("sdk: calls that are no objects", |n| end(Body::default().events(n, |i| call(&format!("c{i}"), "f", "[")))),
    ("sdk: inputs as text", |n| {
        end(Body::default().events(n, |i| call(&format!("c{}", i % 3), "f", r#""{\"a\":\"\\u0041\"}""#)))
    }),
    ("sdk: inputs begun again and again", |n| {
        end(Body::default()
            .events(n / 2, |i| call("c", "f", &format!(r#"{{"a":{i}}}"#)))
            .events(n / 2, |_| input_start("c")))
    }),
    ("sdk: long inputs begun again and again", |n| {
        let body = Body::default().event(&input_start("c"));
        let body = body.event(&input_delta("c", &format!(r#"{{\"a\":\"{}"#, "x".repeat(n / 2))));
        end(body.events(n / 2, |_| r#"{"type":"finish-step"}"#.into()))
    }),
    ("sdk: open calls, and steps that end", |n| {
        let open =
            |i: usize| format!(r#"{{"type":"tool-input-delta","toolCallId":"c{i}","toolName":"f","delta":"{{"}}"#);
        end(Body::default().events(n / 2, open).events(n / 2, |_| r#"{"type":"finish-step"}"#.into()))
    }),
    ("sdk: settled calls, and steps that end", |n| {
        end(Body::default()
            .events(n / 2, |i| call(&format!("c{i}"), "f", "{}"))
            .events(n / 2, |_| r#"{"type":"finish-step"}"#.into()))
    }),
    ("sdk: open calls, and finishes", |n| {
        end(Body::default()
            .events(n / 2, |i| input_start(&format!("c{i}")))
            .events(n / 2, |_| r#"{"type":"finish"}"#.into()))
    }),
    ("sdk: open calls, and resets", |n| {
        end(Body::default()
            .events(n / 2, |i| input_start(&format!("c{i}")))
            .events(n / 2, |_| r#"{"type":"reset-step"}"#.into()))
    }),
    ("sdk: open calls, and chunks that are not JSON", |n| {
        end(Body::default().events(n / 2, |i| input_start(&format!("c{i}"))).raw(n / 2, |_| b"data:x\n\n".to_vec()))
    }),
    ("sdk: open calls, and pieces of nobody", |n| {
        let body = Body::default().events(n / 2, |i| input_start(&format!("c{i}")));
        end(body.events(n / 2, |_| r#"{"type":"tool-input-delta","delta":"1"}"#.into()))
    }),
    ("sdk: open calls, and ends of nobody", |n| {
        let body = Body::default().events(n / 2, |i| input_start(&format!("c{i}")));
        end(body.events(n / 2, |_| r#"{"type":"tool-input-end"}"#.into()))
    }),
    ("sdk: settled calls, and pieces of nobody", |n| {
        let body = Body::default().events(n / 2, |i| call(&format!("c{i}"), "f", "{}"));
        end(body.events(n / 2, |_| r#"{"type":"tool-input-delta","delta":"1"}"#.into()))
    }),
    ("sdk: results of calls", |n| {
        let body = Body::default().events(n / 2, |i| call(&format!("c{i}"), "f", "{}"));
        end(body.events(n / 2, |i| format!(r#"{{"type":"tool-result","toolCallId":"c{i}","output":[]}}"#)))
    }),
    ("sdk: long ids and names of calls", |n| {
        let long = "c".repeat(1000);
        end(Body::default().events(n, |i| call(&format!("{long}{i}"), &long, "{}")))
    }),
    ("sdk: one very long tool name, not finished", |n| {
        let name = "f".repeat(n);
        end(Body::default().event(&format!(r#"{{"type":"tool-input-start","toolCallId":"c","toolName":"{name}"}}"#)))
    }),
    ("sdk: inputs in tiny pieces", |n| {
        end(Body::default().event(&input_start("c")).events(n, |_| input_delta("c", "1")))
    }),
    ("sdk: sources", |n| {
        end(Body::default().events(n, |i| format!(r#"{{"type":"source-url","url":"https://a.b/{i}","title":"t"}}"#)))
    }),
    ("sdk: sources in texts", |n| {
        let sources = list(1000, |i| format!(r#"{{"type":"url_citation","url":"https://a.b/{i}"}}"#));
        let metadata = format!(r#"{{"openai":{{"annotations":[{sources}]}}}}"#);
        end(Body::default().events(n, |_| format!(r#"{{"type":"text-end","id":"0","providerMetadata":{metadata}}}"#)))
    }),
    ("sdk: a file as a list of numbers", |n| {
        let bytes = list(n, |i| (i % 256).to_string());
        end(Body::default().event(&format!(r#"{{"type":"file","mediaType":"image/png","data":[{bytes}]}}"#)))
    }),
    ("sdk: a file as an object of numbers", |n| {
        let bytes = list(n, |i| format!(r#""{i}":{}"#, i % 256));
        end(Body::default().event(&format!(r#"{{"type":"file","mediaType":"image/png","data":{{{bytes}}}}}"#)))
    }),
    ("sdk: a file as a data URL", |n| {
        end(Body::default().event(&format!(r#"{{"type":"file","url":"data:image/png,{}"}}"#, fill(n, "%41%"))))
    }),
    ("sdk: many files", |n| {
        end(Body::default().events(n, |i| format!(r#"{{"type":"file","mediaType":"image/png","data":"{i:08}"}}"#)))
    }),
    ("sdk: data of the application", |n| {
        end(Body::default().events(n, |i| format!(r#"{{"type":"data-x{i}","data":{{"a":[{i}]}}}}"#)))
    }),
    ("sdk: usage again and again", |n| {
        let usage = r#"{"inputTokens":{"total":1,"cacheRead":1},"outputTokens":{"total":1,"reasoning":1}}"#;
        end(Body::default().events(n, |_| format!(r#"{{"type":"finish-step","usage":{usage}}}"#)))
    }),
    ("sdk: many fields in every chunk", |n| {
        let fields = list(2000, |i| format!(r#""k{i}":{i}"#));
        end(Body::default().events(n, |_| format!(r#"{{{fields},"type":"text-delta","delta":"a"}}"#)))
    }),
    ("sdk: one chunk of many fields", |n| {
        let fields = list(n / 2, |i| format!(r#""k{i}":{i}"#));
        end(Body::default().event(&format!(r#"{{{fields},"type":"finish","usage":{{{fields}}}}}"#)))
    }),
    ("sdk: chunks that nobody knows", |n| end(Body::default().events(n, |i| format!(r#"{{"type":"x{i}"}}"#)))),
    ("sdk: errors inside errors", |n| {
        let (open, close) = (fill(n, r#"{"cause":"#), "}".repeat(n / 9));
        end(Body::default().event(&format!(r#"{{"type":"error","error":{open}1{close}}}"#)))
    }),
    ("sdk: an error of numbers and signs", |n| {
        let text = format!("context window {}{}", fill(n / 2, "> "), fill(n / 2, "1000 "));
        end(Body::default().event(&format!(r#"{{"type":"error","errorText":"{text}"}}"#)))
    }),
    ("sdk: an error with an answer", |n| {
        let headers = list(n / 2, |i| format!(r#""h{i}":"v""#));
        let body = format!(r#"{{\"error\":{{\"message\":\"{}\"}}}}"#, fill(n / 2, "context window > "));
        let error = format!(r#"{{"statusCode":500,"responseHeaders":{{{headers}}},"responseBody":"{body}"}}"#);
        end(Body::default().event(&format!(r#"{{"type":"error","error":{error}}}"#)))
    }),
    ("sdk: half surrogates", |n| {
        end(Body::default().event(&format!(r#"{{"type":"text-delta","delta":"{}"}}"#, fill(n, r"\ud800"))))
    }),
    ("sdk: many half surrogates", |n| {
        end(Body::default().events(n, |_| r#"{"type":"text-delta","delta":"a\ud800\udc00\ud800"}"#.into()))
    }),
];

fn end(body: Body) -> Vec<u8> {
    body.event(r#"{"type":"finish"}"#).event("[DONE]").0
}

/// Returns a whole call. `input` is JSON.
fn call(id: &str, name: &str, input: &str) -> String {
    format!(r#"{{"type":"tool-call","toolCallId":"{id}","toolName":"{name}","input":{input}}}"#)
}

fn input_start(id: &str) -> String {
    format!(r#"{{"type":"tool-input-start","toolCallId":"{id}","toolName":"f"}}"#)
}

/// `text` is the text between the quotes.
fn input_delta(id: &str, text: &str) -> String {
    format!(r#"{{"type":"tool-input-delta","toolCallId":"{id}","delta":"{text}"}}"#)
}
