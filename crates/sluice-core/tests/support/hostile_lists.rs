//! Hostile lists of models, error responses, headers, and text to mask.

use super::{Input, Others, fill, list, message};

pub(super) const GENERATORS: Others<'_> = &[
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
    ("mask: one letter", Input::Masked, |n| "a".repeat(n).into_bytes()),
    ("mask: starts of a secret", Input::Masked, |n| fill(n, "canary-0123456789abcde").into_bytes()),
    ("mask: a secret again and again", Input::Masked, |n| fill(n, "canary-0123456789abcdef").into_bytes()),
    ("mask: a secret in pieces", Input::Masked, |n| fill(n, "canary-\u{200b}0123456789\u{200b}abcdef ").into_bytes()),
    ("mask: percent signs", Input::Masked, |n| fill(n, "%25%2525%41%4").into_bytes()),
    ("mask: backslashes", Input::Masked, |n| fill(n, r"\\\u0063\u00").into_bytes()),
    ("mask: base64", Input::Masked, |n| fill(n, "Y2FuYXJ5LTAxMjM0NTY3ODlhYmNkZW").into_bytes()),
    ("mask: hexadecimal digits", Input::Masked, |n| fill(n, "63616e6172792d303132").into_bytes()),
    ("mask: starts of tokens", Input::Masked, |n| fill(n, "eyJ.").into_bytes()),
    ("mask: one long token", Input::Masked, |n| format!("eyJ{}", "a".repeat(n)).into_bytes()),
    ("mask: words before credentials", Input::Masked, |n| fill(n, "Bearer Basic ").into_bytes()),
    ("mask: addresses with passwords", Input::Masked, |n| fill(n, "https://a:b").into_bytes()),
    ("mask: one address without an end", Input::Masked, |n| format!("https://{}", "a:".repeat(n / 2)).into_bytes()),
    ("mask: parameters named like a key", Input::Masked, |n| fill(n, "?key=&api_key=x").into_bytes()),
    ("mask: prefixes of keys", Input::Masked, |n| fill(n, "sk-ghp_AIza").into_bytes()),
    ("mask: invisible characters", Input::Masked, |n| fill(n, "\u{200b}").into_bytes()),
    ("mask: a text beyond ASCII", Input::Masked, |n| fill(n, "ä€😀").into_bytes()),
];

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
