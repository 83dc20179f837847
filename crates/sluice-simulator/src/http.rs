//! The responder's input and output: an HTTP request and a reply, as plain data with its timing.

use std::collections::VecDeque;

use crate::perform::Deltas;

/// Frames without a pause between them are combined into writes of about this size. A real server writes smaller
/// chunks, and larger ones would make clients grow their buffers.
const WRITE: usize = 2 * 1024;

/// An HTTP request. `path` includes the query string, as in the request line.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// Returns the first header with this name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the path without the query string.
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// Returns one parameter of the query string, without decoding it.
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Everything that a server has to do for one request, in order: open, send the chunks, end.
#[derive(Clone, Debug)]
pub struct Reply {
    pub opening: Opening,
    /// How long to wait before the status line.
    pub head_delay_ms: u64,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub chunks: Chunks,
    pub end: End,
}

/// Bytes that are written together, `delay_ms` after the previous chunk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TimedChunk {
    pub delay_ms: u64,
    pub bytes: Vec<u8>,
}

/// A body in the order in which it is sent. Deltas are generated only when they are due.
#[derive(Clone, Debug, Default)]
pub struct Chunks {
    parts: VecDeque<Part>,
    /// The time between two chunks, if it overrides their own.
    pub(crate) pace_ms: Option<u64>,
}

#[derive(Clone, Debug)]
enum Part {
    Written(TimedChunk),
    Deltas(Deltas),
}

impl Chunks {
    /// Adds a frame. It is combined with the previous ones if it has no delay.
    pub(crate) fn push(&mut self, delay_ms: u64, bytes: Vec<u8>) {
        match self.parts.back_mut() {
            Some(Part::Written(last)) if delay_ms == 0 && last.bytes.len() < WRITE => {
                last.bytes.reserve_exact(bytes.len());
                last.bytes.extend(bytes);
            }
            _ => self.parts.push_back(Part::Written(TimedChunk { delay_ms, bytes })),
        }
    }

    pub(crate) fn push_deltas(&mut self, deltas: Deltas) {
        self.parts.push_back(Part::Deltas(deltas));
    }

    /// Returns the delay of the next chunk.
    pub fn delay_ms(&self) -> u64 {
        let own = match self.parts.front() {
            Some(Part::Written(chunk)) => chunk.delay_ms,
            Some(Part::Deltas(deltas)) => deltas.delay_ms(),
            None => 0,
        };
        self.pace_ms.unwrap_or(own)
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns all remaining chunks.
    pub fn to_vec(&self) -> Vec<TimedChunk> {
        self.clone().collect()
    }
}

impl Iterator for Chunks {
    type Item = TimedChunk;

    fn next(&mut self) -> Option<TimedChunk> {
        let delay_ms = self.delay_ms();
        let bytes = match self.parts.pop_front()? {
            Part::Written(chunk) => chunk.bytes,
            Part::Deltas(mut deltas) => {
                let mut bytes = deltas.next()?.frame();
                while deltas.delay_ms() == 0
                    && bytes.len() < WRITE
                    && let Some(event) = deltas.next()
                {
                    bytes.extend(event.frame());
                }
                if !deltas.is_over() {
                    self.parts.push_front(Part::Deltas(deltas));
                }
                bytes
            }
        };
        Some(TimedChunk { delay_ms, bytes })
    }
}

impl From<Vec<TimedChunk>> for Chunks {
    fn from(chunks: Vec<TimedChunk>) -> Self {
        Self { parts: chunks.into_iter().map(Part::Written).collect(), pace_ms: None }
    }
}

/// How a reply begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Opening {
    /// With a status line, as usual.
    Answer,
    /// Not at all: the connection stays open and silent.
    Silence,
    /// Not at all: the connection is reset.
    Reset,
}

/// How a reply ends after its last chunk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// The body ends properly.
    Finish,
    /// The connection is closed in the middle of the body.
    Cut,
    /// The connection is reset in the middle of the body.
    Reset,
    /// Nothing more is sent, but the connection stays open.
    Hang,
    /// This chunk is repeated forever.
    Repeat(TimedChunk),
}

impl Reply {
    pub(crate) fn whole(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self {
            opening: Opening::Answer,
            head_delay_ms: 0,
            status,
            headers: vec![
                ("content-type".into(), content_type.into()),
                ("content-length".into(), body.len().to_string()),
            ],
            chunks: if body.is_empty() {
                Chunks::default()
            } else {
                vec![TimedChunk { delay_ms: 0, bytes: body }].into()
            },
            end: End::Finish,
        }
    }

    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::whole(status, "application/json", body.to_string().into_bytes())
    }

    /// Replaces a header, or removes it.
    pub(crate) fn set_header(&mut self, name: &str, value: Option<String>) {
        self.headers.retain(|(key, _)| key != name);
        self.headers.extend(value.map(|value| (name.to_owned(), value)));
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns all bytes of the body, without their timing.
    pub fn body(&self) -> Vec<u8> {
        self.chunks.clone().flat_map(|chunk| chunk.bytes).collect()
    }
}
