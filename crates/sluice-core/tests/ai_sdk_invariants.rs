//! The invariants of the AI SDK dialect. All chunk sequences up to length 6 (4 in debug builds) over 14 chunks are
//! compared with a small oracle that knows nothing about the code, and random streams are split anywhere.
//!
//! *alpha* arrives in pieces, whole, or both. *beta* always arrives whole, and its id is reused with another input.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use sluice_core::{BodyEnd, ChunkStream, FailureKind, Outcome, Output, Part, Status, StreamOptions};
use support::{Summary, in_parallel};

const DEPTH: usize = if cfg!(debug_assertions) { 4 } else { 6 };

/// The chunks are wire text, so that a name that is misspelled in the code is noticed.
const CHUNKS: [(&str, Chunk); 14] = [
    (r#"{"type":"text-delta","id":"t","text":"a"}"#, Chunk::Text),
    (r#"{"type":"tool-input-start","id":"alpha","toolName":"f"}"#, Chunk::Start),
    (r#"{"type":"tool-input-delta","id":"alpha","delta":"{\"x\":"}"#, Chunk::Piece("{\"x\":")),
    (r#"{"type":"tool-input-delta","toolCallId":"alpha","inputTextDelta":"1}"}"#, Chunk::Piece("1}")),
    (r#"{"type":"tool-input-end","id":"alpha"}"#, Chunk::End),
    (r#"{"type":"tool-call","toolCallId":"alpha","toolName":"f","input":{"x":1}}"#, Chunk::Alpha),
    (r#"{"type":"tool-input-available","toolCallId":"beta","toolName":"g","input":{"y":2}}"#, Chunk::Beta(2)),
    (r#"{"type":"tool-call","toolCallId":"beta","toolName":"g","args":{"y":3}}"#, Chunk::Beta(3)),
    (r#"{"type":"finish-step","finishReason":"tool-calls"}"#, Chunk::Step),
    (r#"{"type":"finish","finishReason":"stop"}"#, Chunk::Finish),
    (r#"{"type":"finish","finishReason":"length"}"#, Chunk::Length),
    (r#"{"type":"error","error":"boom"}"#, Chunk::Error),
    (r#"{"type":"abort"}"#, Chunk::Abort),
    (r#"{"type":"tool-input-delta","id":"al"#, Chunk::Broken),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    Text,
    Start,
    Piece(&'static str),
    End,
    Alpha,
    Beta(u8),
    Step,
    Finish,
    Length,
    Error,
    Abort,
    Broken,
}

/// What a sequence must lead to.
#[derive(Debug, Default)]
struct Oracle {
    text: String,
    /// The reported calls: the name, and the number in the input.
    calls: Vec<(&'static str, u8)>,
    /// The pieces of alpha while it is open.
    open: Option<String>,
    /// Whether one of them may have been lost.
    doubtful: bool,
    ended: bool,
    /// Whether alpha was reported from its pieces and may still arrive whole.
    awaits_whole: bool,
    finish: Option<Chunk>,
    last: Option<Chunk>,
}

impl Oracle {
    fn of(sequence: &[usize]) -> Self {
        let mut oracle = Self::default();
        for index in sequence {
            oracle.take(CHUNKS[*index].1);
            if oracle.last.is_some() {
                return oracle;
            }
        }
        oracle.end_of_step();
        oracle
    }

    fn take(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Text => self.text.push('a'),
            Chunk::Start => {
                self.end_of_step();
                (self.open, self.doubtful, self.ended, self.awaits_whole) = (Some(String::new()), false, false, false);
            }
            // Before alpha begins, a piece belongs to no call. After alpha was reported, it is a repetition.
            Chunk::Piece(piece) => self.open.iter_mut().for_each(|pieces| pieces.push_str(piece)),
            Chunk::End => self.ended = self.open.is_some(),
            Chunk::Alpha => {
                if !std::mem::take(&mut self.awaits_whole) {
                    self.report("f", 1);
                }
                self.open = None;
            }
            Chunk::Beta(input) => _ = self.report("g", input),
            Chunk::Step => self.end_of_step(),
            Chunk::Finish | Chunk::Length => {
                self.end_of_step();
                self.finish = Some(chunk);
            }
            Chunk::Broken => self.doubtful = true,
            Chunk::Error | Chunk::Abort => self.last = Some(chunk),
        }
    }

    /// A call that was only streamed is reported if its pieces form a complete object, or if they are blank and have
    /// ended.
    fn end_of_step(&mut self) {
        let input = match &self.open {
            Some(pieces) if pieces == "{\"x\":1}" && !self.doubtful => 1,
            Some(pieces) if pieces.is_empty() && self.ended && !self.doubtful => 0,
            _ => return,
        };
        self.awaits_whole = self.report("f", input);
        self.open = None;
    }

    fn report(&mut self, name: &'static str, input: u8) -> bool {
        let is_new = !self.calls.contains(&(name, input));
        if is_new {
            self.calls.push((name, input));
        }
        is_new
    }

    fn status(&self) -> Status {
        match (self.last, self.finish, &self.open) {
            (Some(Chunk::Abort), ..) => Status::Cancelled,
            (Some(_), ..) | (None, Some(Chunk::Finish), Some(_)) => Status::Failed,
            (None, Some(Chunk::Length), _) => Status::Incomplete,
            (None, None, Some(_)) => Status::Truncated,
            (None, _, None) | (None, Some(_), _) => Status::Completed,
        }
    }
}

fn run_chunks<'a>(chunks: impl IntoIterator<Item = &'a str>) -> (Vec<Output>, Outcome) {
    let mut stream = ChunkStream::new(StreamOptions::default());
    let mut outputs = Vec::new();
    for chunk in chunks {
        let (was_terminal, before) = (stream.is_terminal(), outputs.len());
        outputs.extend(stream.push_chunk(chunk));
        assert!(!was_terminal || outputs.len() == before, "after the end came {:?}", &outputs[before..]);
    }
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    (outputs, outcome)
}

fn number(input: &str) -> u8 {
    let digits: String = input.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

fn check(sequence: &[usize]) {
    let (outputs, outcome) = run_chunks(sequence.iter().map(|index| CHUNKS[*index].0));
    let oracle = Oracle::of(sequence);
    let shown: Vec<Chunk> = sequence.iter().map(|index| CHUNKS[*index].1).collect();
    let summary = Summary::of(&outputs);
    assert_eq!(summary.text, oracle.text, "{shown:?}");
    let calls: Vec<(&str, u8)> = summary.calls.iter().map(|call| (call.name.as_str(), number(&call.input))).collect();
    assert_eq!(calls, oracle.calls, "{shown:?}");
    assert_eq!(outcome.status, oracle.status(), "{shown:?} {outcome:?}");
    let ids: BTreeSet<&str> = summary.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), summary.calls.len(), "ids are unique: {shown:?}");
    let gave_part = outputs.iter().any(|output| matches!(output, Output::Part(_)));
    assert!(!outcome.retry_safe || !gave_part, "{shown:?}");
    if outcome.status == Status::Failed && oracle.last.is_none() {
        assert_eq!(outcome.error.unwrap().kind, FailureKind::ToolCall, "{shown:?}");
    }
}

#[test]
fn all_short_chunk_sequences_keep_the_invariants() {
    let starts: Vec<usize> = (0..CHUNKS.len()).collect();
    let checked = AtomicU64::new(0);
    in_parallel(&starts, |start| _ = checked.fetch_add(check_all(&mut vec![*start]), Ordering::Relaxed));
    let expected: u64 = (1..=u32::try_from(DEPTH).unwrap()).map(|length| 14_u64.pow(length)).sum();
    assert_eq!(checked.into_inner(), expected);
}

/// Checks the sequence and every longer one that starts with it.
fn check_all(sequence: &mut Vec<usize>) -> u64 {
    check(sequence);
    let mut count = 1;
    if sequence.len() < DEPTH {
        for next in 0..CHUNKS.len() {
            sequence.push(next);
            count += check_all(sequence);
            sequence.pop();
        }
    }
    count
}

/// Chunks of every kind, with content that is difficult for framing and for JSON.
fn any_chunk() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just("a".to_owned()),
        Just("水\u{1F600}\u{2028}".to_owned()),
        Just("\n\ndata: x\r\n\r\n".to_owned()),
        Just("[DONE]".to_owned()),
        "\\PC{0,12}",
    ];
    let id = prop_oneof![Just("0"), Just("call_1"), Just("")];
    let kind = prop_oneof![
        Just("text-start"),
        Just("text-delta"),
        Just("text-end"),
        Just("reasoning-start"),
        Just("reasoning-delta"),
        Just("reasoning-end"),
        Just("tool-input-start"),
        Just("tool-input-delta"),
        Just("tool-input-end"),
        Just("tool-call"),
        Just("tool-input-available"),
        Just("tool-result"),
        Just("source-url"),
        Just("file"),
        Just("data-x"),
        Just("finish-step"),
        Just("finish"),
        Just("unheard-of"),
        Just("raw"),
        Just("reset-step"),
    ];
    (kind, id, text, any::<bool>()).prop_map(|(kind, id, text, flag)| {
        serde_json::json!({
            "type": kind, "id": id, "toolCallId": id, "toolName": "f", "delta": text, "input": {"a": text}, "data": [text],
            "url": format!("https://a.example/{text}"), "mediaType": "text/plain", "providerExecuted": flag,
            "usage": {"inputTokens": 1}, "finishReason": if flag { "stop" } else { "length" },
        })
        .to_string()
    })
}

/// Reads a body in these pieces.
fn run_body(pieces: &[&[u8]]) -> (Vec<Output>, Outcome) {
    let mut stream = ChunkStream::new(StreamOptions::default());
    let mut outputs = Vec::new();
    for piece in pieces {
        outputs.extend(stream.push(piece));
    }
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    (outputs, outcome)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(debug_assertions) { 200 } else { 5000 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks invariant S13.
    #[test]
    fn any_chunking_of_a_body_gives_the_same_outputs(
        chunks in prop::collection::vec(any_chunk(), 0..12),
        line_end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut body: String = chunks.iter().map(|chunk| format!("data: {chunk}{line_end}{line_end}")).collect();
        body += &format!("data: [DONE]{line_end}{line_end}");
        let whole = run_body(&[body.as_bytes()]);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).chain([0, body.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &body.as_bytes()[cut[0]..cut[1]]).collect();
        prop_assert_eq!(&run_body(&pieces), &whole);
        let bytes: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
        prop_assert_eq!(&run_body(&bytes), &whole);

        // The same as individual chunks. Only the reason for a truncation may differ.
        let (outputs, outcome) = run_chunks(chunks.iter().map(String::as_str));
        prop_assert_eq!(&outputs, &whole.0);
        prop_assert_eq!(outcome.status, whole.1.status);
        prop_assert_eq!(outcome.usage, whole.1.usage);
    }

    #[test]
    fn no_call_is_reported_twice_or_truncated(chunks in prop::collection::vec(any_chunk(), 0..30)) {
        let (outputs, _) = run_chunks(chunks.iter().map(String::as_str));
        let mut seen = BTreeSet::new();
        for output in &outputs {
            if let Output::Part(Part::ToolCall { call_id, input_json, .. }) = output {
                prop_assert!(seen.insert(call_id.clone()), "{} twice", call_id);
                prop_assert!(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(input_json).is_ok());
            }
        }
        // The same content with the same id is reported once. Each whole call without an id is a new call.
        let mut by_content: BTreeMap<(String, String), usize> = BTreeMap::new();
        for call in Summary::of(&outputs).calls {
            *by_content.entry((call.name, call.input)).or_default() += 1;
        }
        let nameless = |chunk: &&String| {
            let is_whole = chunk.contains(r#""type":"tool-call""#) || chunk.contains(r#""type":"tool-input-available""#);
            is_whole && chunk.contains(r#""toolCallId":"""#)
        };
        for ((_, input), count) in by_content {
            let without_id = chunks.iter().filter(nameless).filter(|chunk| chunk.contains(&input)).count();
            prop_assert!(count <= 2 + without_id, "{input} {count} times");
        }
    }

    #[test]
    fn junk_never_becomes_output(junk in prop::collection::vec("\\PC{0,40}", 0..10)) {
        let (outputs, _) = run_chunks(junk.iter().map(String::as_str));
        prop_assert!(outputs.iter().all(|output| matches!(output, Output::Note(_))), "{:?}", outputs);
    }
}
