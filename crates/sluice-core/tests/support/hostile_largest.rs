//! The largest things that a stream may contain, each just below its limit and completed by one event: nothing can make a
//! single push take longer.

use super::{Body, Generator, Input, added, call, delta, done, fill, list, message};

/// The generators, each with the number of bytes to make.
const GENERATORS: &[Largest] = &[
    ("an image", OPEN_RESPONSES, EVENT, |n| {
        Body::default().event(&done(0, &image(&"A".repeat(n / 4 * 4)))).completed()
    }),
    ("an image without its padding", OPEN_RESPONSES, EVENT, |n| {
        Body::default().event(&done(0, &image(&"A".repeat(n / 4 * 4 - 1)))).completed()
    }),
    ("an image that is not one", OPEN_RESPONSES, EVENT, |n| {
        Body::default().event(&done(0, &image(&"A".repeat(n / 4 * 4 + 1)))).completed()
    }),
    ("an image with escapes", OPEN_RESPONSES, PLAIN, |n| {
        Body::default().event(&done(0, &image(&fill(n, &format!(r"\/{}", "A".repeat(62)))))).completed()
    }),
    ("images in the final output", OPEN_RESPONSES, EVENT, |n| {
        Body::default().completed_with(&list(n, |i| format!("{{{}}}", image(&format!("{i:04}{}", "A".repeat(65_536))))))
    }),
    ("large images in the final output", OPEN_RESPONSES, EVENT - (2 << 20), |n| {
        Body::default()
            .completed_with(&list(n, |i| format!("{{{}}}", image(&format!("{i:04}{}", "A".repeat(2_200_000))))))
    }),
    ("images in the final output, all alike", OPEN_RESPONSES, EVENT, |n| {
        Body::default().completed_with(&list(n, |_| format!("{{{}}}", image(&"A".repeat(65_536)))))
    }),
    ("a part of an image, which is ignored", OPEN_RESPONSES, EVENT, |n| {
        let partial = format!(
            r#"{{"type":"response.image_generation_call.partial_image","partial_image_b64":"{}"}}"#,
            "A".repeat(n)
        );
        Body::default().event(&partial).completed()
    }),
    ("a text", OPEN_RESPONSES, PLAIN, |n| Body::default().event(&whole_text(&fill(n, "some words "))).completed()),
    ("a text of one word", OPEN_RESPONSES, PLAIN, |n| Body::default().event(&whole_text(&"a".repeat(n))).completed()),
    ("a text of one word that is too long", OPEN_RESPONSES, EVENT, |n| {
        Body::default().event(&whole_text(&"a".repeat(n))).completed()
    }),
    ("a text of escapes", OPEN_RESPONSES, 340 << 10, |n| {
        Body::default().event(&whole_text(&fill(n, r"\n"))).completed()
    }),
    ("a text with escapes", OPEN_RESPONSES, PLAIN, |n| {
        Body::default().event(&whole_text(&fill(n, r"thirty letters and a line end\n"))).completed()
    }),
    ("a text of Chinese", OPEN_RESPONSES, 1000 << 10, |n| {
        Body::default().event(&whole_text(&fill(n, "漢字"))).completed()
    }),
    ("a long text, and the same in the final output", OPEN_RESPONSES, PLAIN, |n| {
        Body::default()
            .events(n, |_| delta("output_text", r#""output_index":0"#, &"b".repeat(1000)))
            .completed_with(&format!("{{{}}}", message(&"b".repeat(n - (64 << 10)))))
    }),
    ("an item id", OPEN_RESPONSES, EVENT, |n| {
        Body::default().event(&delta("output_text", &format!(r#""item_id":"{}""#, "i".repeat(n)), "a")).completed()
    }),
    ("a call id", OPEN_RESPONSES, EVENT, |n| {
        Body::default().event(&done(0, &call(&"c".repeat(n), "f", "{}"))).completed()
    }),
    ("the name of a tool", OPEN_RESPONSES, PLAIN, |n| {
        Body::default().event(&done(0, &call("c", &fill(n, "f "), "{}"))).completed()
    }),
    ("arguments of one string", OPEN_RESPONSES, ARGUMENTS, |n| {
        Body::default().event(&done(0, &call("c", "f", &format!(r#"{{"a":"{}"}}"#, fill(n, "a word "))))).completed()
    }),
    ("arguments of numbers", OPEN_RESPONSES, ARGUMENTS, |n| {
        Body::default()
            .event(&done(0, &call("c", "f", &format!(r#"{{"a":[{}]}}"#, list(n, |_| "1".into())))))
            .completed()
    }),
    ("arguments of half surrogates", OPEN_RESPONSES, ARGUMENTS / 2, |n| {
        let arguments = format!(r#"{{\"a\":\"{}\"}}"#, fill(n, r"x\\ud83d word of some length "));
        let item = format!(r#""type":"function_call","call_id":"c","name":"f","arguments":"{arguments}""#);
        Body::default().event(&done(0, &item)).completed()
    }),
    ("arguments full of escapes", OPEN_RESPONSES, 850 << 10, |n| {
        let arguments = format!(r#"{{\"a\":\"{}\"}}"#, fill(n, r"\\u0041\\n"));
        let item = format!(r#""type":"function_call","call_id":"c","name":"f","arguments":"{arguments}""#);
        Body::default().event(&done(0, &item)).completed()
    }),
    ("arguments as an object", OPEN_RESPONSES, DENSE, |n| {
        let arguments = format!(r#"{{"a":[{}]}}"#, list(n, |_| "1".into()));
        let item = format!(r#""type":"function_call","call_id":"c","name":"f","arguments":{arguments}"#);
        Body::default().event(&done(0, &item)).completed()
    }),
    ("encrypted thinking", OPEN_RESPONSES, 1638 << 10, |n| {
        let item = format!(r#""type":"reasoning","encrypted_content":"{}""#, "e".repeat(n - 1000));
        Body::default().event(&done(0, &item)).completed()
    }),
    ("tools that are repeated", OPEN_RESPONSES, DENSE, |n| {
        let tools = list(n, |_| r#"{"a":[]}"#.into());
        Body::default().event(&format!(r#"{{"type":"response.created","response":{{"tools":[{tools}]}}}}"#)).completed()
    }),
    ("one field again and again in a long event", OPEN_RESPONSES, 1 << 20, |n| {
        let fields = fill(n, r#""item_id":"a","#);
        Body::default().event(&format!(r#"{{{fields}"type":"response.output_text.delta","delta":"x"}}"#)).completed()
    }),
    ("calls that are all completed at the end", OPEN_RESPONSES, ITEMS, |n| {
        let announced = |i| added(i, &call(&format!("c{i}"), "f", &format!(r#"{{"a":{i}}}"#)));
        Body::default().event_times(n, announced).completed()
    }),
    ("open messages, and as many in the final output", OPEN_RESPONSES, ITEMS, |n| {
        let open = |i| added(i + 1_000_000, r#""type":"message""#);
        Body::default().event_times(n, open).completed_with(&times(n, |i| format!("{{{}}}", message(&format!("b{i}")))))
    }),
    ("open thoughts, and as many in the final output", OPEN_RESPONSES, ITEMS, |n| {
        let open = |i| added(i + 1_000_000, r#""type":"reasoning""#);
        let thought = |i| format!(r#"{{"type":"reasoning","id":"r{i}","summary":[{{"text":"b"}}]}}"#);
        Body::default().event_times(n, open).completed_with(&times(n, thought))
    }),
    ("open calls, and as many in the final output", OPEN_RESPONSES, ITEMS, |n| {
        let open = |i| added(i + 1_000_000, &call(&format!("c{i}"), "f", ""));
        let whole = |i| format!("{{{}}}", call(&format!("c{i}"), "f", &format!(r#"{{"a":{i}}}"#)));
        Body::default().event_times(n, open).completed_with(&times(n, whole))
    }),
    ("more items in the final output than there may be", OPEN_RESPONSES, 7000, |n| {
        Body::default().completed_with(&times(n, |i| format!("{{{}}}", message(&format!("b{i}")))))
    }),
    ("messages with sources, all left open", OPEN_RESPONSES, ITEMS, |n| {
        let url = "u".repeat(200);
        let cite = |i| {
            format!(
                r#"{{"type":"response.output_text.annotation.added","output_index":{i},"annotation":{{"url":"https://{url}/{i}"}}}}"#
            )
        };
        Body::default().event_times(n, cite).completed()
    }),
    ("sdk: a file", Input::AiSdk, EVENT, |n| file(&format!(r#""data":"{}""#, "A".repeat(n / 4 * 4)))),
    ("sdk: a data URL", Input::AiSdk, EVENT, |n| {
        file(&format!(r#""url":"data:image/png;base64,{}==""#, "A".repeat(n / 4 * 4 - 2)))
    }),
    ("sdk: a data URL without base64", Input::AiSdk, EVENT, |n| {
        file(&format!(r#""url":"data:image/png,{}""#, "A".repeat(n)))
    }),
    ("sdk: a data URL of percent escapes", Input::AiSdk, PLAIN, |n| {
        file(&format!(r#""url":"data:image/png,{}""#, fill(n, "%41")))
    }),
    ("sdk: a data URL with an escape", Input::AiSdk, EVENT, |n| {
        file(&format!(r#""url":"data:image\/png;base64,{}""#, "A".repeat(n / 4 * 4)))
    }),
    ("sdk: a file as a list of many numbers", Input::AiSdk, DENSE, |n| {
        file(&format!(r#""data":[{}]"#, list(n, |_| "7".into())))
    }),
    ("sdk: errors in errors", Input::AiSdk, DENSE, |n| {
        let (open, close) = (fill(n / 5 * 4, r#"{"cause":"#), "}".repeat(n / 5 * 4 / 9));
        Body::default().event(&format!(r#"{{"type":"error","error":{open}1{close}}}"#)).0
    }),
    ("sdk: a text", Input::AiSdk, PLAIN, |n| {
        Body::default().event(&format!(r#"{{"type":"text-delta","delta":"{}"}}"#, "a".repeat(n))).0
    }),
    ("sdk: calls that are all completed at the end", Input::AiSdk, ITEMS, |n| {
        let piece =
            |i| format!(r#"{{"type":"tool-input-delta","toolCallId":"c{i}","toolName":"f","delta":"{{\"a\":{i}}}"}}"#);
        Body::default().event_times(n, piece).event(r#"{"type":"finish"}"#).event("[DONE]").0
    }),
];

type Largest = (&'static str, Input, usize, fn(usize) -> Vec<u8>);

const OPEN_RESPONSES: Input = Input::OpenResponses;
const EVENT: usize = (16 << 20) - (1 << 10);
const PLAIN: usize = (4 << 20) - (1 << 10);
const DENSE: usize = (1 << 20) - (1 << 10);
const ARGUMENTS: usize = (816 << 10) - (1 << 10);
const ITEMS: usize = 4000;

pub(super) fn generators() -> Vec<(Generator, usize)> {
    let all = GENERATORS.iter();
    all.map(|(name, input, bytes, make)| (Generator { name, input: *input, make: *make }, *bytes)).collect()
}

impl Body {
    fn event_times(self, count: usize, json: impl Fn(usize) -> String) -> Self {
        (0..count).fold(self, |body, number| body.event(&json(number)))
    }
}

fn times(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(",")
}

fn image(base64: &str) -> String {
    format!(r#""type":"image_generation_call","result":"{base64}""#)
}

fn whole_text(text: &str) -> String {
    format!(r#"{{"type":"response.output_text.done","output_index":0,"text":"{text}"}}"#)
}

fn file(fields: &str) -> Vec<u8> {
    Body::default().event(&format!(r#"{{"type":"file","mediaType":"image/png",{fields}}}"#)).0
}
