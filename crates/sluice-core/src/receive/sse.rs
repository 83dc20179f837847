//! Turns bytes into SSE events, following the WHATWG rules, for any chunking.
//!
//! An event inside one chunk is passed on without copying; only what spans chunks is buffered. Every byte is inspected
//! once, so the work is linear whatever the chunks are.
//!
//! Only `data` and `event` matter to this protocol. All other lines (comments, `id`, `retry`, junk) are dropped as they
//! arrive instead of being buffered.

use std::borrow::Cow;
use std::str::Utf8Chunk;
use std::{fmt, mem};

use memchr::memchr2_iter;
use serde::de::IgnoredAny;

use super::long_line::{EventLimits, LongLine, MAX_DENSE_BYTES, MAX_PLAIN_BYTES};
use crate::message::{Message, MessageCode};
use crate::wire::LongRuns;

/// A dispatched event, still as bytes, because most are not needed as text. Line endings are ASCII, so decoding an
/// event equals decoding the whole body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// Empty if there is no `event` field.
    pub name: &'a [u8],
    /// The data, with its lines joined by line feeds.
    pub data: &'a [u8],
    /// The strings that were taken out of the data. Only [`SseParser::taking_out_long_runs`] does that.
    pub(crate) long_runs: &'a LongRuns,
}

impl<'a> SseEvent<'a> {
    /// Returns the event's type as text.
    pub fn name(self) -> Cow<'a, str> {
        decode_utf8(self.name)
    }

    /// Returns the data as text.
    pub fn data(self) -> Cow<'a, str> {
        decode_utf8(self.data)
    }

    /// Returns the data, unless it must be copied and the copy would be longer than this: one byte can become three.
    pub(crate) fn data_within(self, max_bytes: usize) -> Result<Cow<'a, str>, EventTooLarge> {
        let replaced = |chunk: Utf8Chunk<'_>| if chunk.invalid().is_empty() { 0 } else { '\u{FFFD}'.len_utf8() };
        if let Ok(data) = str::from_utf8(self.data) {
            return Ok(Cow::Borrowed(data));
        }
        let bytes: usize = self.data.utf8_chunks().map(|chunk| chunk.valid().len() + replaced(chunk)).sum();
        if bytes > max_bytes {
            return Err(EventTooLarge::Longer { max_bytes });
        }
        let mut data = String::with_capacity(bytes);
        for chunk in self.data.utf8_chunks() {
            data.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                data.push('\u{FFFD}');
            }
        }
        Ok(Cow::Owned(data))
    }
}

/// Invalid bytes become U+FFFD.
fn decode_utf8(bytes: &[u8]) -> Cow<'_, str> {
    // Checking first is many times faster than the lossy conversion.
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// One event exceeded a limit, so nothing after it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTooLarge {
    /// The event is too long.
    Longer {
        /// The limit that it exceeds.
        max_bytes: usize,
    },
    /// Too much of it is outside of JSON strings.
    Denser {
        /// The limit that it exceeds.
        max_bytes: usize,
    },
}

impl From<EventTooLarge> for Message {
    fn from(error: EventTooLarge) -> Self {
        match error {
            EventTooLarge::Longer { max_bytes } => Self::new(MessageCode::EventLargerThan, [&max_bytes]),
            EventTooLarge::Denser { max_bytes } => Self::new(MessageCode::EventDenserThan, [&max_bytes]),
        }
    }
}

impl fmt::Display for EventTooLarge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Message::from(*self).fmt(formatter)
    }
}

/// Events up to this size may be as dense as they like.
const ALWAYS_READABLE: usize = 256 << 10;
/// A line is scanned in pieces of this size, however large the chunks are.
const SCANNED_AT_ONCE: usize = 64 << 10;
/// Buffers that have grown larger release their memory. The whole text of a long answer comes several times at its end, and
/// growing a buffer for each would take longer than reading it.
const KEPT_CAPACITY: usize = 512 << 10;
/// The longest name of an event. A longer one is cut to this length, and no event has that name either.
const MAX_NAME_BYTES: usize = 256;

/// Splits the bytes of a body into events, in whatever chunks they arrive.
#[derive(Clone, Debug)]
pub struct SseParser {
    limits: EventLimits,
    /// How many bytes of a leading byte order mark were seen. If there was none, this has its maximum, too.
    bom_seen: usize,
    /// Whether the last chunk ended with CR, so that an LF now belongs to it.
    after_cr: bool,
    /// The start of an incomplete line, if it can still become a field that we read.
    line: Vec<u8>,
    /// The scan of that line, if the event is a long one.
    long_line: LongLine,
    /// Whether this is inside another line, whose bytes are dropped until it ends.
    skipping_line: bool,
    /// The part of the current event that arrived in earlier chunks.
    block: Block,
}

#[derive(Clone, Debug, Default)]
struct Block {
    name: Vec<u8>,
    data: Vec<u8>,
    /// The start of the data in the buffer of its line.
    data_start: usize,
    /// Whether there was a `data` line, which may be empty.
    has_data: bool,
    /// The number of bytes in all field lines, how many of them were not taken out, and how many are expensive to read.
    bytes: usize,
    plain_bytes: usize,
    dense_bytes: usize,
    long_runs: Vec<String>,
}

/// The part of the current event that is still in the chunk and hasn't been copied.
#[derive(Clone, Copy, Default)]
struct Borrowed<'a> {
    name: Option<&'a [u8]>,
    data: Option<&'a [u8]>,
}

impl Borrowed<'_> {
    fn is_some(self) -> bool {
        self.name.is_some() || self.data.is_some()
    }
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl SseParser {
    /// Makes a parser that gives up on events longer than `max_event_bytes`.
    pub fn new(max_event_bytes: usize) -> Self {
        Self::with_limits(EventLimits { max_bytes: max_event_bytes, takes_out_runs: false })
    }

    /// Returns a parser that takes long strings out of the data of its events and puts them into
    /// [`SseEvent::long_runs`].
    pub(crate) fn taking_out_long_runs(max_event_bytes: usize) -> Self {
        Self::with_limits(EventLimits { max_bytes: max_event_bytes, takes_out_runs: true })
    }

    fn with_limits(limits: EventLimits) -> Self {
        Self {
            limits,
            bom_seen: 0,
            after_cr: false,
            line: Vec::new(),
            long_line: LongLine::default(),
            skipping_line: false,
            block: Block::default(),
        }
    }

    /// Handles the next bytes of the body and passes on each event that they complete.
    pub fn push(&mut self, mut chunk: &[u8], on_event: &mut impl FnMut(SseEvent<'_>)) -> Result<(), EventTooLarge> {
        while !chunk.is_empty() {
            chunk = self.push_event(chunk, on_event)?;
        }
        Ok(())
    }

    /// Handles the bytes up to the end of the next event, passes it on, and returns the rest of the chunk.
    pub(super) fn push_event<'a>(
        &mut self,
        chunk: &'a [u8],
        on_event: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<&'a [u8], EventTooLarge> {
        let chunk = if self.bom_seen < BOM.len() { self.without_bom(chunk) } else { chunk };
        let mut borrowed = Borrowed::default();
        let mut line_start = 0;
        for line_end in memchr2_iter(b'\n', b'\r', chunk) {
            let is_lf = chunk.get(line_end) == Some(&b'\n');
            if is_lf && self.after_cr && line_end == line_start {
                self.after_cr = false;
                line_start = line_end + 1;
                continue;
            }
            self.after_cr = !is_lf;
            let line = chunk.get(line_start..line_end).unwrap_or_default();
            line_start = line_end + 1;
            if mem::take(&mut self.skipping_line) {
                continue;
            }
            if !self.line.is_empty() {
                self.buffer(line)?;
                self.handle_buffered_line(&mut borrowed)?;
            } else if line.is_empty() {
                if self.dispatch(mem::take(&mut borrowed), on_event) {
                    return Ok(self.after_line(chunk.get(line_start..).unwrap_or_default()));
                }
            } else {
                self.handle_line(line, &mut borrowed)?;
            }
        }
        // Usually a chunk has whole events, and nothing is left of it.
        match chunk.get(line_start..) {
            Some(rest) if !rest.is_empty() || borrowed.is_some() => self.keep(borrowed, rest)?,
            _ => {}
        }
        Ok(&[])
    }

    /// Returns what follows a line, without the second half of its line ending.
    fn after_line<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match rest {
            [b'\n', after @ ..] if self.after_cr => {
                self.after_cr = false;
                after
            }
            _ => rest,
        }
    }

    /// Returns whether the next byte is the first of an event, and nothing before it matters.
    pub(super) fn is_between_events(&self) -> bool {
        self.bom_seen == BOM.len()
            && !self.after_cr
            && !self.skipping_line
            && self.line.is_empty()
            && self.block.bytes == 0
    }

    /// The chunk ends here: copies its part of the current event, and the start of a line.
    #[inline(never)]
    fn keep(&mut self, borrowed: Borrowed<'_>, rest: &[u8]) -> Result<(), EventTooLarge> {
        self.block.keep(borrowed, self.limits.max_bytes);
        if rest.is_empty() {
            return Ok(());
        }
        self.after_cr = false;
        if self.skipping_line {
            return Ok(());
        }
        let (start, rest) = rest.split_at(rest.len().min(b"event:".len()));
        self.line.extend_from_slice(start);
        if !may_become_field(&self.line) {
            self.line.clear();
            self.skipping_line = true;
        } else if self.line.len() > b"event:".len() || !rest.is_empty() {
            return self.buffer(rest);
        }
        Ok(())
    }

    /// Appends to the incomplete line, and checks whether its event becomes too large.
    #[inline(never)]
    fn buffer(&mut self, mut bytes: &[u8]) -> Result<(), EventTooLarge> {
        let EventLimits { max_bytes, takes_out_runs } = self.limits;
        loop {
            let (piece, rest) = bytes.split_at(bytes.len().min(SCANNED_AT_ONCE));
            append(&mut self.line, piece, max_bytes);
            let event_bytes = self.block.bytes + self.line_bytes();
            if event_bytes > max_bytes {
                return Err(EventTooLarge::Longer { max_bytes });
            }
            self.long_line.scan(&mut self.line, self.block.long_runs.len(), self.limits);
            if event_bytes > ALWAYS_READABLE {
                if self.block.dense_bytes + self.long_line.dense_bytes() > MAX_DENSE_BYTES {
                    return Err(EventTooLarge::Denser { max_bytes: MAX_DENSE_BYTES });
                }
                if takes_out_runs && self.block.plain_bytes + self.long_line.plain_bytes() > MAX_PLAIN_BYTES {
                    return Err(EventTooLarge::Longer { max_bytes: MAX_PLAIN_BYTES });
                }
            }
            if rest.is_empty() {
                return Ok(());
            }
            bytes = rest;
        }
    }

    /// Returns the length of the buffered line, including what was taken out of it.
    fn line_bytes(&self) -> usize {
        self.line.len() + self.long_line.bytes_taken_out
    }

    /// The body has ended. WHATWG drops an event without an empty line after it, but we deliver it if its data is
    /// complete, because servers forget the last line ending. Returns whether there were bytes left that don't form an
    /// event.
    pub fn finish(&mut self, on_event: &mut impl FnMut(SseEvent<'_>)) -> bool {
        if !self.line.is_empty() {
            // Nothing follows, so an event beyond the limit is just dropped.
            let _ = self.handle_buffered_line(&mut Borrowed::default());
        }
        let mut block = mem::take(&mut self.block);
        if !block.has_data {
            return false;
        }
        let long_runs = &LongRuns::new(mem::take(&mut block.long_runs));
        let whole = block.data() == b"[DONE]" || serde_json::from_slice::<IgnoredAny>(block.data()).is_ok();
        if whole {
            on_event(SseEvent { name: &block.name, data: block.data(), long_runs });
        }
        !whole
    }

    #[inline(never)]
    fn without_bom<'a>(&mut self, mut chunk: &'a [u8]) -> &'a [u8] {
        while self.bom_seen < BOM.len() {
            match (chunk.split_first(), BOM.get(self.bom_seen)) {
                (Some((byte, rest)), Some(expected)) if byte == expected => {
                    self.bom_seen += 1;
                    chunk = rest;
                }
                (Some(_), _) => {
                    // This isn't a byte order mark after all. The bytes that looked like one start a line that isn't a
                    // field.
                    self.skipping_line = self.bom_seen > 0;
                    self.bom_seen = BOM.len();
                }
                (None, _) => break,
            }
        }
        chunk
    }

    // In native code, the call would cost more than the line.
    #[cfg_attr(target_family = "wasm", inline(never))]
    fn handle_line<'a>(&mut self, line: &'a [u8], borrowed: &mut Borrowed<'a>) -> Result<(), EventTooLarge> {
        // This is cheaper than comparing names: no other field that we read starts with these letters.
        if !matches!(line.first(), Some(b'd' | b'e')) {
            return Ok(());
        }
        if self.block.bytes + line.len() > ALWAYS_READABLE {
            return self.handle_long_line(line, borrowed);
        }
        let max_bytes = self.limits.max_bytes;
        if let Some(value) = field(line, b"data") {
            self.block.count(line, max_bytes)?;
            if !self.block.has_data && borrowed.data.is_none() {
                borrowed.data = Some(value);
            } else {
                self.block.append_data(borrowed.data.take(), max_bytes);
                self.block.append_data(Some(value), max_bytes);
            }
        } else if let Some(value) = field(line, b"event") {
            self.block.count(line, max_bytes)?;
            borrowed.name = value.get(..MAX_NAME_BYTES).or(Some(value));
        }
        Ok(())
    }

    /// Like `handle_line`, for a line that must be scanned.
    #[inline(never)]
    fn handle_long_line(&mut self, line: &[u8], borrowed: &mut Borrowed<'_>) -> Result<(), EventTooLarge> {
        if field(line, b"data").is_none() && field(line, b"event").is_none() {
            return Ok(());
        }
        self.buffer(line)?;
        self.handle_buffered_line(borrowed)
    }

    /// Like `handle_line`, for the line collected in `self.line`, which is never empty.
    #[inline(never)]
    fn handle_buffered_line(&mut self, borrowed: &mut Borrowed<'_>) -> Result<(), EventTooLarge> {
        let max_bytes = self.limits.max_bytes;
        if field(&self.line, b"data").is_some() || field(&self.line, b"event").is_some() {
            self.block.bytes += self.line_bytes();
            if self.block.bytes > max_bytes {
                return Err(EventTooLarge::Longer { max_bytes });
            }
            self.block.plain_bytes += self.line.len();
            if self.block.bytes > ALWAYS_READABLE {
                self.block.dense_bytes += self.long_line.dense_bytes();
            }
            self.block.long_runs.append(&mut self.long_line.runs);
        }
        if let Some(value) = field(&self.line, b"data") {
            self.block.append_data(borrowed.data.take(), max_bytes);
            if self.block.has_data {
                self.block.append_data(Some(value), max_bytes);
            } else {
                // The line is moved and not copied, because it may be the only one of a very large event.
                self.block.data_start = self.line.len() - value.len();
                mem::swap(&mut self.block.data, &mut self.line);
                self.block.has_data = true;
            }
        } else if let Some(value) = field(&self.line, b"event") {
            borrowed.name = None;
            self.block.name.clear();
            self.block.name.extend_from_slice(value.get(..MAX_NAME_BYTES).unwrap_or(value));
        }
        self.long_line = LongLine::default();
        self.line.clear();
        self.line.shrink_to(KEPT_CAPACITY);
        Ok(())
    }

    /// An empty line ends an event. Returns whether there was one.
    fn dispatch(&mut self, borrowed: Borrowed<'_>, on_event: &mut impl FnMut(SseEvent<'_>)) -> bool {
        let long_runs = &LongRuns::new(mem::take(&mut self.block.long_runs));
        let name = borrowed.name.unwrap_or(&self.block.name);
        let data = borrowed.data.or(self.block.has_data.then(|| self.block.data()));
        if let Some(data) = data {
            on_event(SseEvent { name, data, long_runs });
        }
        let had_event = data.is_some();
        self.block.clear();
        had_event
    }
}

impl Block {
    fn data(&self) -> &[u8] {
        self.data.get(self.data_start..).unwrap_or_default()
    }

    fn count(&mut self, line: &[u8], max_bytes: usize) -> Result<(), EventTooLarge> {
        self.bytes += line.len();
        self.plain_bytes += line.len();
        if self.bytes > max_bytes { Err(EventTooLarge::Longer { max_bytes }) } else { Ok(()) }
    }

    fn append_data(&mut self, value: Option<&[u8]>, max_bytes: usize) {
        let Some(value) = value else { return };
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        append(&mut self.data, value, max_bytes);
    }

    fn keep(&mut self, borrowed: Borrowed<'_>, max_bytes: usize) {
        if let Some(name) = borrowed.name {
            self.name.clear();
            self.name.extend_from_slice(name);
        }
        self.append_data(borrowed.data, max_bytes);
    }

    fn clear(&mut self) {
        self.name.clear();
        self.has_data = false;
        self.data_start = 0;
        self.bytes = 0;
        self.plain_bytes = 0;
        self.dense_bytes = 0;
        // One huge event must not occupy memory for the rest of the stream.
        self.data.clear();
        self.data.shrink_to(KEPT_CAPACITY);
    }
}

/// Appends to a buffer that doubles as usual, but not beyond its maximum.
fn append(buffer: &mut Vec<u8>, bytes: &[u8], max_bytes: usize) {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        let capacity = (2 * buffer.len()).min(max_bytes).max(needed);
        buffer.reserve_exact(capacity - buffer.len());
    }
    buffer.extend_from_slice(bytes);
}

/// Returns the value of the line if it is the field `name`: the text after the colon, without one leading space.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(name)? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

fn may_become_field(line_start: &[u8]) -> bool {
    [b"data".as_slice(), b"event"].iter().any(|name| {
        name.starts_with(line_start)
            || line_start.strip_prefix(*name).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b':'))
    })
}
