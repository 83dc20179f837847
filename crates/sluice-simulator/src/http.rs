//! What crosses the border of the responder: one HTTP request in, one reply out, as plain data with its timing.

use std::collections::VecDeque;

use crate::perform::Deltas;

/// Frames that follow each other without a pause are written together until they have this size. A real server writes less at once;
/// one that writes more makes its clients grow their buffers.
const WRITE: usize = 2 * 1024;

/// One HTTP request. `path` carries the query string, as on the request line.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The first header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The path without its query.
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// One parameter of the query, as it stands there.
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Everything a server has to do for one request, in order: open, send the chunks, end.
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

/// Bytes that are written at once, `delay_ms` after those before them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TimedChunk {
    pub delay_ms: u64,
    pub bytes: Vec<u8>,
}

/// A body, in the order it is sent. What can be made when its turn comes is not kept ready.
#[derive(Clone, Debug, Default)]
pub struct Chunks {
    parts: VecDeque<Part>,
    /// The time between two chunks, if it is not their own affair.
    pub(crate) pace_ms: Option<u64>,
}

#[derive(Clone, Debug)]
enum Part {
    Written(TimedChunk),
    Deltas(Deltas),
}

impl Chunks {
    /// A whole frame. It joins those before it if it need not wait.
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

    /// How long the next chunk waits.
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

    /// All that is left, written out.
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
    /// With a status line, as it should.
    Answer,
    /// Not at all: the connection stays open and silent.
    Silence,
    /// Not at all: the connection is reset.
    Reset,
}

/// How a reply ends after its last chunk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// The body is over, and says so.
    Finish,
    /// The connection is closed in the middle of the body.
    Cut,
    /// The connection is reset in the middle of the body.
    Reset,
    /// Nothing comes any more, and the connection stays open.
    Hang,
    /// This chunk again and again, for ever.
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

    /// All bytes of the body, without their timing.
    pub fn body(&self) -> Vec<u8> {
        self.chunks.clone().flat_map(|chunk| chunk.bytes).collect()
    }
}
