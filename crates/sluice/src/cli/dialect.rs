//! Which dialect a captured stream is in, how it is framed, and the right way through the core for it.

use std::mem;

use clap::ValueEnum;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use sluice_core::sse::SseParser;
use sluice_core::{
    BodyEnd, ChunkStream, Outcome, Output, ResponseStream, StreamOptions, is_ai_sdk_chunk, is_open_responses_event,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dialect {
    /// Open Responses, as server-sent events
    Openresponses,
    /// What the Vercel AI SDK's fullStream gives: a JSON array, or one JSON object a line
    AiSdk,
    /// The AI SDK's UI message stream, as server-sent events or one JSON object a line
    UiMessage,
}

/// How much of a stream is looked at before one of the dialects is taken for granted.
const ENOUGH: usize = 1 << 20;

/// A stream that is read in the dialect it turns out to be in.
#[derive(Debug)]
pub enum Reader {
    /// Not decided yet; the bytes so far.
    Undecided(Vec<u8>, StreamOptions),
    OpenResponses(Box<ResponseStream>),
    Events(Box<ChunkStream>),
    Lines(Box<ChunkStream>, Lines),
    Array(Box<ChunkStream>, Vec<u8>),
}

/// Nothing that any dialect could be.
#[derive(Debug)]
pub struct Unrecognised {
    /// How it starts.
    pub start: String,
}

impl Unrecognised {
    fn of(bytes: &[u8]) -> Self {
        let start: String = String::from_utf8_lossy(bytes.trim_ascii()).chars().take(60).collect();
        Self { start: start.escape_debug().to_string() }
    }
}

impl Reader {
    pub fn new(dialect: Option<Dialect>, options: StreamOptions) -> Self {
        match dialect {
            Some(Dialect::Openresponses) => Self::OpenResponses(Box::new(ResponseStream::new(options))),
            None | Some(Dialect::AiSdk | Dialect::UiMessage) => Self::Undecided(Vec::new(), options),
        }
    }

    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Undecided(..) | Self::Array(..) => false,
            Self::OpenResponses(stream) => stream.is_terminal(),
            Self::Events(stream) | Self::Lines(stream, _) => stream.is_terminal(),
        }
    }

    /// Takes the next bytes, in any cut. `asked` is what the user called the dialect.
    pub fn push(&mut self, bytes: &[u8], asked: Option<Dialect>) -> Vec<Output> {
        match self {
            Self::Undecided(start, options) => {
                let is_first = start.trim_ascii_start().is_empty();
                start.extend_from_slice(bytes);
                // Only the end of a line can tell more than was known before it.
                if !is_first && !bytes.contains(&b'\n') && !bytes.contains(&b'\r') {
                    return Vec::new();
                }
                let Some(mut decided) = decide(start, asked, options, false) else { return Vec::new() };
                let start = mem::take(start);
                let outputs = decided.push(&start, asked);
                *self = decided;
                outputs
            }
            Self::OpenResponses(stream) => stream.push(bytes).collect(),
            Self::Events(stream) => stream.push(bytes).collect(),
            Self::Lines(stream, lines) => {
                let mut outputs = Vec::new();
                lines.push(bytes, &mut |json| outputs.extend(stream.push_chunk(json)));
                outputs
            }
            Self::Array(_, all) => {
                all.extend_from_slice(bytes);
                Vec::new()
            }
        }
    }

    pub fn finish(self, asked: Option<Dialect>) -> Result<(Vec<Output>, Outcome), Unrecognised> {
        match self {
            Self::Undecided(start, options) => {
                let Some(mut decided) = decide(&start, asked, &options, true) else {
                    return Err(Unrecognised::of(&start));
                };
                let mut outputs = decided.push(&start, asked);
                let (rest, outcome) = decided.finish(asked)?;
                outputs.extend(rest);
                Ok((outputs, outcome))
            }
            Self::OpenResponses(stream) => Ok(stream.finish(BodyEnd::Eof)),
            Self::Events(stream) => Ok(stream.finish(BodyEnd::Eof)),
            Self::Lines(mut stream, lines) => {
                let mut outputs = Vec::new();
                lines.finish(&mut |json| outputs.extend(stream.push_chunk(json)));
                let (rest, outcome) = stream.finish(BodyEnd::Eof);
                outputs.extend(rest);
                Ok((outputs, outcome))
            }
            Self::Array(mut stream, all) => {
                let chunks = serde_json::from_slice::<Vec<Box<RawValue>>>(&all);
                let chunks =
                    chunks.map_err(|error| Unrecognised { start: format!("[, but is no JSON array: {error}") })?;
                if asked.is_none() && !chunks.iter().any(|chunk| is_ai_sdk_chunk(chunk.get())) {
                    return Err(Unrecognised::of(&all));
                }
                let mut outputs: Vec<Output> = Vec::new();
                for chunk in &chunks {
                    outputs.extend(stream.push_chunk(chunk.get()));
                }
                let (rest, outcome) = stream.finish(BodyEnd::Eof);
                outputs.extend(rest);
                Ok((outputs, outcome))
            }
        }
    }
}

/// What a stream that starts like this is. `None` if that cannot be told yet, or, at its end, at all.
fn decide(start: &[u8], asked: Option<Dialect>, options: &StreamOptions, is_end: bool) -> Option<Reader> {
    let stream = || Box::new(ChunkStream::new(options.clone()));
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    match text.first() {
        None => return None,
        Some(b'[') => return Some(Reader::Array(stream(), Vec::new())),
        Some(b'{') => {
            let mut is_ai_sdk = asked.is_some();
            let mut lines = Lines::default();
            lines.push(start, &mut |json| is_ai_sdk |= is_ai_sdk_chunk(json));
            if is_end {
                lines.finish(&mut |json| is_ai_sdk |= is_ai_sdk_chunk(json));
            }
            return (is_ai_sdk || start.len() > ENOUGH).then(|| Reader::Lines(stream(), Lines::default()));
        }
        Some(_) => {}
    }
    if asked.is_some() {
        return Some(Reader::Events(stream()));
    }
    let mut is_ai_sdk = None;
    let mut parser = SseParser::new(usize::MAX);
    let _ = parser.push(start, &mut |event| {
        let json = event.data();
        // Some names are in both dialects; an event that has one of those says nothing.
        is_ai_sdk = is_ai_sdk.or(match (is_ai_sdk_chunk(&json), is_open_responses_event(&json)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        });
    });
    let open_responses = || Reader::OpenResponses(Box::new(ResponseStream::new(options.clone())));
    match is_ai_sdk {
        Some(true) => Some(Reader::Events(stream())),
        Some(false) => Some(open_responses()),
        // Server-sent events that say nothing clear, or were cut off in the first one.
        None if is_end || start.len() > ENOUGH => looks_like_events(start).then(open_responses),
        None => None,
    }
}

fn looks_like_events(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines
        .any(|line| [b"data".as_slice(), b"event", b"id:", b"retry:", b":"].iter().any(|field| line.starts_with(field)))
}

/// JSON texts one after the other: one a line, or spread over lines as people print them.
#[derive(Debug, Default)]
pub struct Lines {
    line: Vec<u8>,
    /// Lines that are no JSON text yet.
    open: String,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], on_json: &mut impl FnMut(&str)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            self.end_line(on_json);
        }
        self.line.extend_from_slice(rest);
    }

    fn finish(mut self, on_json: &mut impl FnMut(&str)) {
        self.end_line(on_json);
        if !self.open.is_empty() {
            on_json(&self.open);
        }
    }

    fn end_line(&mut self, on_json: &mut impl FnMut(&str)) {
        let bytes = mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end().trim_start_matches('\u{FEFF}');
        let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
        // What is indented belongs to what was begun before it.
        if line.starts_with('{') && is_json(line) {
            let open = mem::take(&mut self.open);
            if !open.is_empty() {
                on_json(&open);
            }
            on_json(line);
        } else if !line.is_empty() {
            self.open.push_str(line);
            self.open.push('\n');
            if line.starts_with('}') && is_json(&self.open) {
                on_json(&mem::take(&mut self.open));
            }
        }
    }
}
