//! Detects the dialect and the framing of a captured stream, and reads it accordingly.

use std::{fmt, mem};

use clap::ValueEnum;
use serde::Deserializer;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use sluice_core::sse::SseParser;
use sluice_core::{
    BodyEnd, ChunkStream, Outcome, Output, ResponseStream, StreamOptions, is_ai_sdk_chunk, is_open_responses_event,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dialect {
    /// Open Responses, as server-sent events
    Openresponses,
    /// The Vercel AI SDK's fullStream, as a JSON array or one JSON object per line
    AiSdk,
    /// The AI SDK's UI message stream, as server-sent events or one JSON object per line
    UiMessage,
}

/// How much of a stream is buffered to detect its dialect.
const ENOUGH: usize = 1 << 20;

/// A stream that is read in the dialect that was detected.
#[derive(Debug)]
pub enum Reader {
    /// Not detected yet: the bytes so far, and how many of them have been inspected.
    Undecided(Vec<u8>, usize, StreamOptions),
    OpenResponses(Box<ResponseStream>),
    Events(Box<ChunkStream>),
    Lines(Box<ChunkStream>, Lines),
    /// The bytes so far, and how many there may be.
    Array(Box<ChunkStream>, Vec<u8>, usize),
}

/// The stream isn't in a known dialect.
#[derive(Debug)]
pub struct Unrecognised {
    /// Continues a sentence that begins with "it".
    pub why: String,
}

impl Unrecognised {
    fn of(bytes: &[u8]) -> Self {
        let bytes = bytes.trim_ascii();
        let start: String = String::from_utf8_lossy(bytes.get(..240).unwrap_or(bytes)).chars().take(60).collect();
        if start.is_empty() {
            return Self { why: "is empty".to_owned() };
        }
        Self { why: format!("starts with {}", start.escape_debug()) }
    }

    fn too_large(what: &str, limit: usize) -> Self {
        Self { why: format!("has {what} of more than {limit} bytes") }
    }
}

impl Reader {
    pub fn new(dialect: Option<Dialect>, options: StreamOptions) -> Self {
        match dialect {
            Some(Dialect::Openresponses) => Self::OpenResponses(Box::new(ResponseStream::new(options))),
            None | Some(Dialect::AiSdk | Dialect::UiMessage) => Self::Undecided(Vec::new(), 0, options),
        }
    }

    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Undecided(..) | Self::Array(..) => false,
            Self::OpenResponses(stream) => stream.is_terminal(),
            Self::Events(stream) | Self::Lines(stream, _) => stream.is_terminal(),
        }
    }

    /// Handles the next bytes. `asked` is the dialect that the user specified.
    pub fn push(&mut self, bytes: &[u8], asked: Option<Dialect>) -> Result<Vec<Output>, Unrecognised> {
        match self {
            Self::Undecided(start, looked_at, options) => {
                start.extend_from_slice(bytes);
                let is_enough = start.len() > ENOUGH;
                // Until then, only the end of a line adds information. Inspecting again only after the buffer has
                // doubled keeps the time linear.
                let has_line_end = || start[*looked_at..].iter().any(|byte| matches!(byte, b'\n' | b'\r'));
                if *looked_at > 0 && !is_enough && (start.len() < 2 * *looked_at || !has_line_end()) {
                    return Ok(Vec::new());
                }
                *looked_at = if start.trim_ascii().is_empty() { 0 } else { start.len() };
                let Some(mut decided) = decide(start, asked, options, false) else {
                    return if is_enough { Err(Unrecognised::of(start)) } else { Ok(Vec::new()) };
                };
                let start = mem::take(start);
                let outputs = decided.push(&start, asked);
                *self = decided;
                outputs
            }
            Self::OpenResponses(stream) => Ok(stream.push(bytes).collect()),
            Self::Events(stream) => Ok(stream.push(bytes).collect()),
            Self::Lines(stream, lines) => {
                let mut outputs = Vec::new();
                lines.push(bytes, &mut |json| outputs.extend(stream.push_chunk(json)))?;
                Ok(outputs)
            }
            Self::Array(_, all, limit) => {
                if all.len() + bytes.len() > *limit {
                    return Err(Unrecognised::too_large("a JSON array", *limit));
                }
                all.extend_from_slice(bytes);
                Ok(Vec::new())
            }
        }
    }

    /// Ends the stream and passes on its last outputs one by one.
    pub fn finish(self, asked: Option<Dialect>, give: &mut dyn FnMut(&Output)) -> Result<Outcome, Unrecognised> {
        let (rest, outcome) = match self {
            Self::Undecided(start, _, options) => {
                let Some(mut decided) = decide(&start, asked, &options, true) else {
                    return Err(Unrecognised::of(&start));
                };
                decided.push(&start, asked)?.iter().for_each(&mut *give);
                return decided.finish(asked, give);
            }
            Self::OpenResponses(stream) => stream.finish(BodyEnd::Eof),
            Self::Events(stream) => stream.finish(BodyEnd::Eof),
            Self::Lines(mut stream, lines) => {
                lines.finish(&mut |json| stream.push_chunk(json).for_each(|output| give(&output)));
                stream.finish(BodyEnd::Eof)
            }
            Self::Array(mut stream, all, _) => {
                let mut is_ai_sdk = asked.is_some();
                let read = each_element(&all, &mut |json| is_ai_sdk = is_ai_sdk || is_ai_sdk_chunk(json));
                if let Err(error) = read {
                    return Err(Unrecognised { why: format!("starts with [, but is not a JSON array: {error}") });
                }
                if !is_ai_sdk {
                    return Err(Unrecognised::of(&all));
                }
                let _ = each_element(&all, &mut |json| stream.push_chunk(json).for_each(|output| give(&output)));
                stream.finish(BodyEnd::Eof)
            }
        };
        rest.iter().for_each(give);
        Ok(outcome)
    }
}

/// Reads a JSON array element by element, because a list of millions of small elements would take many times the memory
/// of its text.
fn each_element(json: &[u8], on_element: &mut dyn FnMut(&str)) -> serde_json::Result<()> {
    struct Each<'a>(&'a mut dyn FnMut(&str));
    impl<'de> Visitor<'de> for Each<'_> {
        type Value = ();

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a JSON array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
            while let Some(element) = elements.next_element::<&RawValue>()? {
                (self.0)(element.get());
            }
            Ok(())
        }
    }
    let mut array = serde_json::Deserializer::from_slice(json);
    array.deserialize_seq(Each(on_element))?;
    array.end()
}

/// Returns the dialect of a stream that starts like this. `None` means that it can't be determined yet or, at the end,
/// at all.
fn decide(start: &[u8], asked: Option<Dialect>, options: &StreamOptions, is_end: bool) -> Option<Reader> {
    let stream = || Box::new(ChunkStream::new(options.clone()));
    let limit = options.limits.max_event_bytes;
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    match text.first() {
        None => return None,
        Some(b'[') => return Some(Reader::Array(stream(), Vec::new(), limit)),
        Some(b'{') => {
            let mut is_ai_sdk = asked.is_some();
            let mut lines = Lines::new(usize::MAX);
            let _ = lines.push(start, &mut |json| is_ai_sdk |= is_ai_sdk_chunk(json));
            if is_end {
                lines.finish(&mut |json| is_ai_sdk |= is_ai_sdk_chunk(json));
            }
            return (is_ai_sdk || start.len() > ENOUGH).then(|| Reader::Lines(stream(), Lines::new(limit)));
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
        // Some names occur in both dialects; an event with one of those says nothing.
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
        // Server-sent events that are ambiguous, or that were cut off in the first one.
        None if is_end || start.len() > ENOUGH => looks_like_events(start).then(open_responses),
        None => None,
    }
}

fn looks_like_events(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines
        .any(|line| [b"data".as_slice(), b"event", b"id:", b"retry:", b":"].iter().any(|field| line.starts_with(field)))
}

/// JSON texts one after the other: one per line, or spread over several lines.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    line: Vec<u8>,
    /// Lines that don't form a complete JSON text yet.
    open: String,
    /// The number of open brackets at the end of `open`.
    depth: usize,
}

impl Lines {
    fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), open: String::new(), depth: 0 }
    }

    fn push(&mut self, bytes: &[u8], on_json: &mut impl FnMut(&str)) -> Result<(), Unrecognised> {
        let mut rest = bytes;
        loop {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            if self.open.len() + self.line.len() + line.len() > self.limit {
                return Err(Unrecognised::too_large("a JSON text", self.limit));
            }
            self.line.extend_from_slice(line);
            let Some((_, after)) = after.split_first() else { return Ok(()) };
            rest = after;
            self.end_line(on_json);
        }
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
        // An indented line belongs to the text before it.
        if line.starts_with('{') && is_json(line) {
            let open = mem::take(&mut self.open);
            self.depth = 0;
            if !open.is_empty() {
                on_json(&open);
            }
            on_json(line);
        } else if !line.is_empty() {
            self.open.push_str(line);
            self.open.push('\n');
            self.depth = depth_after(line, self.depth);
            if line.starts_with('}') && self.depth == 0 {
                on_json(&mem::take(&mut self.open));
            }
        }
    }
}

/// Returns the number of open brackets after a line of JSON. A JSON string never continues on the next line.
fn depth_after(line: &str, mut depth: usize) -> usize {
    let (mut in_string, mut escaped) = (false, false);
    for byte in line.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use sluice_core::{Limits, Status};

    use super::*;

    const LIMIT: usize = 2 << 20;

    /// Returns how much of an endless stream was read before it was rejected, and why.
    fn taken(start: &str, piece: &str) -> (usize, String) {
        let limits = Limits { max_event_bytes: LIMIT, ..Limits::default() };
        let mut reader = Reader::new(None, StreamOptions { limits, ..StreamOptions::default() });
        let piece = piece.repeat((64 << 10) / piece.len());
        let mut total = start.len();
        let mut pushed = reader.push(start.as_bytes(), None).map(|_| ());
        while pushed.is_ok() && !reader.is_terminal() {
            total += piece.len();
            pushed = reader.push(piece.as_bytes(), None).map(|_| ());
        }
        if let Err(unrecognised) = pushed {
            return (total, unrecognised.why);
        }
        let outcome = reader.finish(None, &mut |_| {}).unwrap();
        assert_eq!(outcome.status, Status::Failed);
        (total, outcome.error.unwrap().message)
    }

    #[test]
    fn no_stream_is_buffered_completely() {
        let check = |start, piece, why: &str| {
            let (total, given) = taken(start, piece);
            assert!(total < LIMIT + (128 << 10) && given.contains(why), "{start}{piece}: {total} bytes, {given}");
        };
        check("data: \"", "x", "larger than 2097152 bytes");
        check("data: {\"type\":\"text-delta\"}\n\ndata: \"", "x", "larger than 2097152 bytes");
        check("data: ", "x", "JSON that is not plain text");
        check("{\"a\":\"", "x", "has a JSON text of more than 2097152 bytes");
        check("{\n", "\n  1,", "has a JSON text of more than 2097152 bytes");
        check("{\"type\":\"text-delta\"}\n{\n", "}", "has a JSON text of more than 2097152 bytes");
        check("[", "1,", "has a JSON array of more than 2097152 bytes");
        check("<html>", "x", "starts with <html>xxxx");
        check("<html>", "x\n", "starts with <html>x\\nx");
        check("", " ", "is empty");
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        for (line, before, after) in [("{\"a\": [", 0, 2), (r#""}]\"}" ]"#, 2, 1), ("}}}", 1, 0), (r#""\\" }"#, 1, 0)] {
            assert_eq!(depth_after(line, before), after, "{line}");
        }
    }
}
