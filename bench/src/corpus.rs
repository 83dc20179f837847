//! The streams that every benchmark reads. They are made up, the same in every run, and identical to those of
//! `node/corpus.mjs`. Recorded streams would put other people's answers into the repository. Each event looks like
//! OpenAI's, because the time per byte depends on how much of an event isn't text.

use std::fmt::Write;

/// A server's answer, and what a reader must get out of it.
pub struct Corpus {
    pub name: &'static str,
    pub body: Vec<u8>,
    /// The end of each event in `body`.
    pub ends: Vec<usize>,
    pub truth: Answer,
}

#[derive(Default, PartialEq)]
pub struct Answer {
    pub text: String,
    pub calls: Vec<Call>,
}

#[derive(PartialEq)]
pub struct Call {
    pub call_id: String,
    pub name: String,
    pub arguments: String,
}

/// OpenAI has sent the fields of a delta in two different orders, and a reader must not depend on either.
#[derive(Clone, Copy)]
pub enum FieldOrder {
    Alphabetical,
    SequenceFirst,
}

impl Corpus {
    pub fn megabytes(&self) -> f64 {
        self.body.len() as f64 / 1e6
    }

    pub fn chunks(&self, size: usize) -> Vec<&[u8]> {
        self.body.chunks(size).collect()
    }

    pub fn chunk_per_event(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.body[start..end]).collect()
    }

    /// FNV-1a with 32 bits. Both generators compare it with the same number.
    pub fn checksum(&self) -> u32 {
        self.body.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

const TEXT_DELTAS: usize = 20_000;
const CALLS: usize = 200;
const DELTAS_PER_CALL: usize = 50;

pub const TEXT_CHECKSUM: u32 = 0x8588_2dfd;
pub const TOOLS_CHECKSUM: u32 = 0xad0b_b37c;

/// One long answer: 20,000 text deltas of one to six tokens, and the whole text four more times at the end.
pub fn text(order: FieldOrder) -> Corpus {
    let mut random = Random(0x51_u32);
    let mut stream = Writer::default();
    let id = format!("msg_{}", random.hex(50));
    let mut text = String::new();

    stream.begin();
    stream.event("response.output_item.added", &format!(r#""item":{},"output_index":0"#, message(&id, None)));
    stream.event(
        "response.content_part.added",
        &format!(r#""content_index":0,"item_id":"{id}","output_index":0,"part":{}"#, output_text("")),
    );
    for _ in 0..TEXT_DELTAS {
        let mut delta = String::new();
        for _ in 0..=random.below(6) {
            delta.push_str(random.pick(TOKENS));
        }
        let padding = random.letters(16 - delta.chars().count() % 16);
        let quoted = quote(&delta);
        let middle = format!(r#""content_index":0,"delta":{quoted}"#);
        let hidden = format!(r#""logprobs":[],"obfuscation":"{padding}""#);
        stream.event_with("response.output_text.delta", |sequence| match order {
            FieldOrder::Alphabetical => {
                format!(r#"{middle},"item_id":"{id}",{hidden},"output_index":0,"sequence_number":{sequence}"#)
            }
            FieldOrder::SequenceFirst => {
                format!(r#""sequence_number":{sequence},"item_id":"{id}","output_index":0,{middle},{hidden}"#)
            }
        });
        text.push_str(&delta);
    }
    let place = format!(r#""content_index":0,"item_id":"{id}""#);
    stream.event(
        "response.output_text.done",
        &format!(r#"{place},"logprobs":[],"output_index":0,"text":{}"#, quote(&text)),
    );
    stream.event("response.content_part.done", &format!(r#"{place},"output_index":0,"part":{}"#, output_text(&text)));
    let item = message(&id, Some(&text));
    stream.event("response.output_item.done", &format!(r#""item":{item},"output_index":0"#));
    stream.complete(&item);
    stream.into_corpus("text", Answer { text, calls: Vec::new() })
}

/// An agent's answer: 200 calls one after the other, each with its arguments in 50 deltas.
pub fn tools() -> Corpus {
    let mut random = Random(0x70_u32);
    let mut stream = Writer::default();
    let mut calls = Vec::new();
    let mut items = Vec::new();

    stream.begin();
    for index in 0..CALLS {
        let id = format!("fc_{}", random.hex(50));
        let call_id = format!("call_{}", random.letters(24));
        let name = random.pick(&["read_file", "search", "edit_file", "run_in_terminal"]);
        let mut query = String::new();
        for _ in 0..40 {
            query.push_str(random.pick(&TOKENS[..ASCII_TOKENS]));
        }
        let arguments = format!(
            r#"{{"path":"src/module_{}.rs","query":{},"limit":{}}}"#,
            random.below(1000),
            quote(&query),
            random.below(100)
        );
        let called = format!(r#""call_id":"{call_id}","name":"{name}""#);
        let item = |status: &str, arguments: &str| {
            format!(
                r#"{{"id":"{id}","type":"function_call","status":"{status}","arguments":{},{called}}}"#,
                quote(arguments)
            )
        };

        stream.event(
            "response.output_item.added",
            &format!(r#""item":{},"output_index":{index}"#, item("in_progress", "")),
        );
        for piece in 0..DELTAS_PER_CALL {
            let from = piece * arguments.len() / DELTAS_PER_CALL;
            let to = (piece + 1) * arguments.len() / DELTAS_PER_CALL;
            let padding = random.letters(16 - (to - from) % 16);
            stream.event(
                "response.function_call_arguments.delta",
                &format!(
                    r#""delta":{},"item_id":"{id}","obfuscation":"{padding}","output_index":{index}"#,
                    quote(&arguments[from..to])
                ),
            );
        }
        stream.event(
            "response.function_call_arguments.done",
            &format!(r#""arguments":{},"item_id":"{id}","output_index":{index}"#, quote(&arguments)),
        );
        let done = item("completed", &arguments);
        stream.event("response.output_item.done", &format!(r#""item":{done},"output_index":{index}"#));
        items.push(done);
        calls.push(Call { call_id, name: name.to_owned(), arguments });
    }
    stream.complete(&items.join(","));
    stream.into_corpus("tools", Answer { text: String::new(), calls })
}

/// A short answer whose one delta makes an event of `bytes` bytes, framing included.
pub fn one_huge_event(bytes: usize) -> Corpus {
    let mut random = Random(0x99_u32);
    let mut stream = Writer::default();
    let id = format!("msg_{}", random.hex(50));
    stream.begin();
    stream.event("response.output_item.added", &format!(r#""item":{},"output_index":0"#, message(&id, None)));

    let before = stream.body.len();
    let head = format!(r#""content_index":0,"item_id":"{id}","output_index":0,"delta":"#);
    // The rest of the event (field names, type, sequence number and quotes) is shorter than this.
    let room = bytes - head.len() - 200;
    let mut text = String::with_capacity(room);
    let mut escaped = 0;
    while escaped + 32 < room {
        let token = random.pick(TOKENS);
        escaped += quote(token).len() - 2;
        text.push_str(token);
    }
    stream.event("response.output_text.delta", &format!("{head}{}", quote(&text)));
    assert!(stream.body.len() - before <= bytes);
    stream.complete("");
    stream.into_corpus("one huge event", Answer { text, calls: Vec::new() })
}

#[derive(Default)]
struct Writer {
    body: String,
    ends: Vec<usize>,
}

impl Writer {
    fn begin(&mut self) {
        let response = response("in_progress", "", "null");
        self.event("response.created", &format!(r#""response":{response}"#));
        self.event("response.in_progress", &format!(r#""response":{response}"#));
    }

    fn complete(&mut self, output: &str) {
        let usage = concat!(
            r#"{"input_tokens":1219,"input_tokens_details":{"cached_tokens":1024},"#,
            r#""output_tokens":70000,"output_tokens_details":{"reasoning_tokens":0},"#,
            r#""total_tokens":71219}"#,
        );
        self.event("response.completed", &format!(r#""response":{}"#, response("completed", output, usage)));
    }

    fn event(&mut self, kind: &str, fields: &str) {
        self.event_with(kind, |sequence| format!(r#"{fields},"sequence_number":{sequence}"#));
    }

    fn event_with(&mut self, kind: &str, fields: impl FnOnce(usize) -> String) {
        let fields = fields(self.ends.len());
        // Writing to a `String` can't fail.
        let _ = write!(self.body, "event: {kind}\ndata: {{\"type\":\"{kind}\",{fields}}}\n\n");
        self.ends.push(self.body.len());
    }

    fn into_corpus(self, name: &'static str, truth: Answer) -> Corpus {
        Corpus { name, body: self.body.into_bytes(), ends: self.ends, truth }
    }
}

fn response(status: &str, output: &str, usage: &str) -> String {
    format!(
        concat!(
            r#"{{"id":"resp_0f33dc8eeb4f9cc000699ec454747c81978b3083c61be186da","object":"response","#,
            r#""created_at":1772012628,"status":"{}","background":false,"error":null,"#,
            r#""frequency_penalty":0.0,"incomplete_details":null,"instructions":null,"#,
            r#""max_output_tokens":null,"max_tool_calls":null,"model":"made-up-1","#,
            r#""output":[{}],"parallel_tool_calls":true,"presence_penalty":0.0,"#,
            r#""previous_response_id":null,"prompt_cache_key":null,"reasoning":{{"effort":null,"#,
            r#""summary":null}},"safety_identifier":null,"service_tier":"default","store":true,"#,
            r#""temperature":1.0,"text":{{"format":{{"type":"text"}},"verbosity":"medium"}},"#,
            r#""tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1.0,"truncation":"disabled","#,
            r#""usage":{},"user":null,"metadata":{{}}}}"#,
        ),
        status, output, usage
    )
}

fn message(id: &str, text: Option<&str>) -> String {
    let (status, content) = match text {
        None => ("in_progress", String::new()),
        Some(text) => ("completed", output_text(text)),
    };
    format!(r#"{{"id":"{id}","type":"message","status":"{status}","content":[{content}],"role":"assistant"}}"#)
}

fn output_text(text: &str) -> String {
    format!(r#"{{"type":"output_text","annotations":[],"logprobs":[],"text":{}}}"#, quote(text))
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Marsaglia's xorshift is good enough to vary lengths, and three lines in any language.
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn hex(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(self.pick(b"0123456789abcdef"))).collect()
    }

    fn letters(&mut self, length: usize) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        (0..length).map(|_| char::from(self.pick(alphabet))).collect()
    }
}

const ASCII_TOKENS: usize = 72;

/// Prose with some code in it: about one token in twenty needs an escape in JSON, one in twenty is not ASCII.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    " the", " a", " of", " to", " and", " in", " is", " it", " that", " for", " on", " with", " as", " are", " be",
    " this", " you", " not", " or", " each", " when", " which", " from", " can", " has", " one", " by", " all", " an",
    " stream", " event", " function", " value", " server", " returns", " buffer", " call", " because", " before",
    " between", " bytes", " chunk", " parser", " reading", " state", " first", " answer", " message", " token",
    ".", ",", ".", ",", ":", ";", "ing", "ed", "s", "ly", "er", " (", ")", " 1", "2", "=", " {", "}", " `", "`",
    "\n", "\n\n", " \"quoted\"",
    " na\u{ef}ve", " \u{2014}", "\u{2019}s", "\u{fc}ber",
];
