//! What crosses the border of the responder: one HTTP request in, one reply out, as plain data with its timing.

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
    pub chunks: Vec<TimedChunk>,
    pub end: End,
}

/// Bytes that are written at once, `delay_ms` after those before them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TimedChunk {
    pub delay_ms: u64,
    pub bytes: Vec<u8>,
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
            chunks: if body.is_empty() { Vec::new() } else { vec![TimedChunk { delay_ms: 0, bytes: body }] },
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
        self.chunks.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect()
    }
}
