//! Turns an SSE event into a wire event, or into a note if it isn't one.
//!
//! Deltas take a fast path, because they make up most of a stream. Everything else, and any unusual delta, takes the
//! general path.

use std::borrow::Cow;

use super::delta::{Delta, read_delta};
use super::sse::SseEvent;
use crate::boundary::{Note, NoteKind};
use crate::wire::{Address, Channel, ErrorField, FieldName, Fields, LongRuns, MAX_ID_BYTES, StreamEvent, Unreadable};

#[derive(Debug)]
pub(crate) struct Decoded<'a> {
    pub event: StreamEvent<'a>,
    /// The event's type, from the JSON or else from the `event:` line.
    pub name: Cow<'a, str>,
    pub sequence_number: Option<u64>,
    /// Whether both have a type and they differ. The JSON counts.
    pub names_differ: bool,
}

/// The result of decoding an SSE event.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    Event(Decoded<'a>),
    /// `[DONE]`: nothing more will come.
    Done,
    Note(Note),
    /// The event contains too much.
    TooLarge,
}

/// The fast path for deltas. `None` only means that the event must take the general path, which also knows which ids
/// are too long.
pub(crate) fn decode_delta(event: SseEvent<'_>) -> Option<Frame<'_>> {
    if event.data.len() > MAX_ID_BYTES || !event.long_runs.is_empty() {
        return None;
    }
    let Delta { name, output_index, item_id, content_index, summary_index, sequence_number, piece } =
        read_delta(event.data)?;
    let channel = Channel::of_delta(name)?;
    let at = Address { output_index, item_id: item_id.filter(|id| !id.is_empty()).map(Cow::Borrowed) };
    let index = channel.index(content_index, summary_index);
    let names_differ = !event.name.is_empty() && event.name != name.as_bytes();
    let event = StreamEvent::Delta { at, channel, index, delta: piece };
    Some(Frame::Event(Decoded { event, name: Cow::Borrowed(name), sequence_number, names_differ }))
}

/// The general path. `line_name` is the value of the `event:` line, and `max_bytes` limits the memory that reading
/// takes.
pub(crate) fn decode<'a>(data: &'a str, long_runs: &LongRuns, line_name: &'a str, max_bytes: usize) -> Frame<'a> {
    let data = data.trim_ascii();
    if data == "[DONE]" {
        return Frame::Done;
    }
    let mut fields = match Fields::read(data, long_runs, max_bytes) {
        Ok(fields) => fields,
        Err(Unreadable::TooMuch) => return Frame::TooLarge,
        Err(Unreadable::NotAnObject) => {
            return Frame::Note(Note::new(NoteKind::Malformed, protocol_word(line_name)));
        }
    };
    let json_name = fields.text(FieldName::Type).filter(|name| !name.is_empty());
    let names_differ = json_name.as_deref().is_some_and(|name| !line_name.is_empty() && name != line_name);
    let sequence_number = fields.index(FieldName::SequenceNumber);
    if json_name.is_none() {
        // Some gateways send a bare `{"error": …}` without a type after status 200.
        let error = ErrorField::read(fields.take(FieldName::Error));
        if !error.is_empty() {
            let (event, name) = (StreamEvent::Error(Box::new(error)), Cow::Borrowed("error"));
            return Frame::Event(Decoded { event, name, sequence_number, names_differ });
        }
    }
    let name = json_name.unwrap_or(Cow::Borrowed(line_name));
    let event = StreamEvent::read(&name, fields);
    Frame::Event(Decoded { event, name, sequence_number, names_differ })
}

/// Returns a type name for a note. It is short and can't contain any content.
pub(crate) fn protocol_word(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_alphanumeric() || "._:-/".contains(*c)).take(80).collect()
}
