//! Shared by the stream tests: made-up events, named streams, a driver, and checks that hold for every stream.
//!
//! Everything here uses wire text. A test that used the core's own types couldn't notice a misspelled field.

#![allow(dead_code, unused_imports, reason = "every test file uses its own share of this")]
#![allow(clippy::wildcard_imports, reason = "the event constructors are a vocabulary, used by the dozen")]
#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

pub mod catalog;
pub mod chat_view;
pub mod chunks;
pub mod dialogs;
pub mod events;
pub mod exchange;
pub mod faults;
pub mod hostile;
pub mod model;
pub mod providers;
pub mod send;
pub mod spending;
pub mod streams;
mod streams_odd;
pub mod windows;
pub mod wire;

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;
use sluice_core::{BodyEnd, Note, NoteKind, Outcome, Output, Part, ReplayItem, ResponseStream, Status, StreamOptions};

pub use events::*;
pub use streams::streams;
pub use wire::Wire;

/// Feeds the whole body in chunks of `chunk` bytes, including what follows the terminal event, and ends it with EOF.
pub fn run(bytes: &[u8], chunk: usize) -> (Vec<Output>, Outcome) {
    run_until(bytes, chunk, BodyEnd::Eof)
}

/// Like [`run`], but the body ends in another way.
pub fn run_until(bytes: &[u8], chunk: usize, end: BodyEnd) -> (Vec<Output>, Outcome) {
    run_pieces(bytes.chunks(chunk.max(1)), end)
}

/// Feeds the given chunks. Nothing may be returned after the stream says that it is terminal.
pub fn run_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, end: BodyEnd) -> (Vec<Output>, Outcome) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    let mut outputs = Vec::new();
    for piece in pieces {
        let (was_terminal, before) = (stream.is_terminal(), outputs.len());
        outputs.extend(stream.push(piece));
        assert!(!was_terminal || outputs.len() == before, "after the end came {:?}", &outputs[before..]);
    }
    let was_terminal = stream.is_terminal();
    let (rest, outcome) = stream.finish(end);
    assert!(!was_terminal || rest.is_empty(), "after the end came {rest:?}");
    outputs.extend(rest);
    (outputs, outcome)
}

/// Feeds the whole body at once.
pub fn run_whole(bytes: &[u8]) -> (Vec<Output>, Outcome) {
    run(bytes, usize::MAX)
}

/// Checks every item, using all cores. A failed check fails the test as usual.
pub fn in_parallel<T: Sync>(items: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            check(item);
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(worker))));
}

/// A reported tool call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub input: String,
}

/// The outputs of one answer, combined into what a reader would see, regardless of chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub text: String,
    pub calls: Vec<Call>,
    /// The thinking blocks in order of appearance, each with its id and text.
    pub thinking: Vec<(String, String)>,
    /// Encrypted reasoning to send back.
    pub replay: Vec<String>,
    /// Images: media type and base64.
    pub data: Vec<(String, String)>,
    /// The URLs of the cited sources.
    pub sources: Vec<String>,
    pub notes: Vec<Note>,
}

impl Summary {
    pub fn of(outputs: &[Output]) -> Self {
        let mut summary = Self::default();
        for output in outputs {
            match output {
                Output::Part(part) => summary.add(part),
                Output::Note(note) => summary.notes.push(note.clone()),
            }
        }
        summary
    }

    fn add(&mut self, part: &Part) {
        match part {
            // Line breaks don't count: the blank lines between messages and between blocks have tests of their own.
            Part::Text { value } => self.text.push_str(&value.replace('\n', "")),
            Part::Thinking { value, id, replay } => {
                let value = value.replace('\n', "");
                match self.thinking.iter_mut().find(|(known, _)| known == id) {
                    Some((_, text)) => text.push_str(&value),
                    None if value.is_empty() => {}
                    None => self.thinking.push((id.clone(), value)),
                }
                let encrypted = |item: &ReplayItem| match item {
                    ReplayItem::Reasoning(item) => item.encrypted_content.clone(),
                    _ => None,
                };
                self.replay.extend(replay.iter().flat_map(|replay| &replay.items).filter_map(encrypted));
            }
            Part::ToolCall { call_id, name, input_json } => {
                self.calls.push(Call { id: call_id.clone(), name: name.clone(), input: input_json.clone() });
            }
            Part::Data { mime_type, base64 } => self.data.push((mime_type.clone(), base64.clone())),
            Part::Citations { citations, .. } => self.sources.extend(citations.iter().filter_map(|c| c.url.clone())),
        }
    }

    /// Returns the text of all thinking blocks.
    pub fn thoughts(&self) -> String {
        self.thinking.iter().map(|(_, text)| text.as_str()).collect()
    }

    pub fn has_note(&self, kind: NoteKind) -> bool {
        self.notes.iter().any(|note| note.kind == kind)
    }

    /// Returns the calls in sorted order, for tests in which the order of reporting doesn't matter.
    pub fn calls_sorted(&self) -> Vec<Call> {
        let mut calls = self.calls.clone();
        calls.sort();
        calls
    }
}

/// Returns only the parts.
pub fn parts(outputs: &[Output]) -> Vec<&Part> {
    fn part(output: &Output) -> Option<&Part> {
        if let Output::Part(part) = output { Some(part) } else { None }
    }
    outputs.iter().filter_map(part).collect()
}

/// Checks what holds for any bytes: S2, S9, S14, and that parts and notes are well formed.
pub fn assert_sound(outputs: &[Output], outcome: &Outcome) {
    let mut ids = BTreeSet::new();
    for output in outputs {
        match output {
            Output::Part(Part::Text { value }) => assert!(!value.is_empty(), "an empty text part"),
            Output::Part(Part::Thinking { value, id, replay }) => {
                assert!(!id.is_empty(), "thinking without an id");
                assert_ne!(value.is_empty(), replay.is_none(), "thinking is text or replay, not both or neither");
            }
            Output::Part(Part::ToolCall { call_id, name, input_json }) => {
                assert!(ids.insert(call_id.clone()), "{call_id} was reported twice");
                assert!(call_id.starts_with("gw-") && call_id.len() <= 64, "call id {call_id}");
                let usable = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                assert!(call_id.chars().all(usable), "call id {call_id}");
                assert!(!name.is_empty(), "{call_id} has no name");
                let input: Value = serde_json::from_str(input_json).expect("input is JSON");
                assert!(input.is_object(), "input of {call_id} is {input}");
            }
            Output::Part(Part::Data { mime_type, base64 }) => {
                assert!(mime_type.starts_with("image/") && !base64.is_empty(), "a data part of {mime_type}");
            }
            Output::Part(Part::Citations { citations, markdown }) => {
                assert!(!citations.is_empty() && !markdown.is_empty(), "an empty list of sources");
                let is_web = |url: &str| url.starts_with("http://") || url.starts_with("https://");
                assert!(citations.iter().all(|citation| is_web(citation.url.as_deref().unwrap())), "{citations:?}");
            }
            Output::Note(note) => {
                let plain = |c: char| c.is_ascii_alphanumeric() || "._:-/".contains(c);
                assert!(note.detail.len() <= 80 && note.detail.chars().all(plain), "{note:?} may hold content");
            }
        }
    }
    let given = parts(outputs);
    let ended_badly = matches!(outcome.status, Status::Failed | Status::Truncated);
    assert_eq!(outcome.retry_safe, ended_badly && given.is_empty(), "{:?}, parts: {}", outcome.status, given.len());
    assert_eq!(outcome.error.is_some(), outcome.status == Status::Failed, "{outcome:?}");
    let has_answer = given.iter().any(|part| !matches!(part, Part::Thinking { .. } | Part::Citations { .. }));
    let ended_well = matches!(outcome.status, Status::Completed | Status::Incomplete);
    assert_eq!(outcome.empty.is_some(), ended_well && !has_answer, "{outcome:?}");
    if let Some(failure) = &outcome.error {
        assert!(!failure.message.is_empty(), "a failure without words");
    }
}
