//! A faster path for deltas that differ from the one before only in their text, their number and their padding, as nearly
//! all deltas do.
//!
//! The bytes between these fields are compared with those of the earlier event. If they are equal, everything that was
//! read from them still holds, including where the lines end. So an event that is in one chunk isn't even split into
//! lines. For any other event this returns `None`, and it is read field by field (`delta.rs`), which also defines what is
//! correct: the tests below compare the two.

use std::borrow::Cow;

use super::decode::{Decoded, Frame, decode_delta};
use super::delta::{Spans, Variable, Walk, find_variables};
use super::sse::SseEvent;
use crate::wire::{Address, Channel, MAX_ID_BYTES, StreamEvent};

/// Learning from an event costs as much as reading it. After this many events that were learned in vain, because the events
/// of the stream differ in other ways, nothing more is learned.
const MAX_USELESS: u32 = 16;

/// The last delta that was read field by field.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeated {
    /// The value of its `event:` line, and its data.
    line_name: Vec<u8>,
    data: Vec<u8>,
    variables: Spans,
    /// `None` if nothing was learned.
    meaning: Option<Meaning>,
    /// The bytes before and after the data, if the event was in one chunk.
    around: Option<(Vec<u8>, Vec<u8>)>,
    /// How many events were learned since one was recognized.
    useless: u32,
}

/// What the fields of a delta say that don't vary.
#[derive(Clone, Debug)]
struct Meaning {
    name: String,
    names_differ: bool,
    output_index: Option<u64>,
    item_id: Option<String>,
    channel: Channel,
    index: Option<u64>,
}

impl Repeated {
    /// Reads an event from the start of a chunk if it differs from the learned one only in its variable fields. Also
    /// returns the rest of the chunk. Nothing before the chunk may matter to the event.
    pub(super) fn read_chunk<'s, 'a: 's>(&'s self, chunk: &'a [u8], max_bytes: usize) -> Option<(Frame<'s>, &'a [u8])> {
        let (before, after) = self.around.as_ref()?;
        let (frame, rest) = self.read_data(chunk.strip_prefix(before.as_slice())?)?;
        let rest = rest.strip_prefix(after.as_slice())?;
        (chunk.len() - rest.len() <= max_bytes.min(MAX_ID_BYTES)).then_some((frame, rest))
    }

    /// Reads an event that differs from the learned one only in its variable fields.
    pub(super) fn read<'a>(&'a self, event: SseEvent<'a>) -> Option<Frame<'a>> {
        if event.name != self.line_name || event.data.len() > MAX_ID_BYTES || !event.long_runs.is_empty() {
            return None;
        }
        let (frame, rest) = self.read_data(event.data)?;
        rest.is_empty().then_some(frame)
    }

    /// Reads the data of an event. Also returns what follows it.
    fn read_data<'s, 'a: 's>(&'s self, data: &'a [u8]) -> Option<(Frame<'s>, &'a [u8])> {
        let meaning = self.meaning.as_ref()?;
        let mut walk = Walk { rest: data };
        let mut sequence_number = None;
        let mut piece = Cow::Borrowed("");
        let mut known = 0;
        for (variable, span) in &self.variables {
            walk.rest = walk.rest.strip_prefix(self.data.get(known..span.start)?)?;
            known = span.end;
            match variable {
                Variable::SequenceNumber => sequence_number = Some(walk.number()?),
                Variable::Delta => piece = walk.text()?,
                Variable::Obfuscation => drop(walk.plain()?),
            }
        }
        let rest = walk.rest.strip_prefix(self.data.get(known..)?)?;
        let at = Address { output_index: meaning.output_index, item_id: meaning.item_id.as_deref().map(Cow::Borrowed) };
        let frame = Frame::Event(Decoded {
            event: StreamEvent::Delta { at, channel: meaning.channel, index: meaning.index, delta: piece },
            name: Cow::Borrowed(&meaning.name),
            sequence_number,
            names_differ: meaning.names_differ,
        });
        Some((frame, rest))
    }

    /// An event was recognized.
    pub(super) fn succeeded(&mut self) {
        self.useless = 0;
    }

    /// Returns whether it is unknown what is before and after the data of the learned event.
    pub(super) fn lacks_lines(&self) -> bool {
        self.around.is_none()
    }

    /// Learns from an event that was read field by field.
    #[inline(never)]
    pub(super) fn learn(&mut self, event: SseEvent<'_>) {
        self.meaning = None;
        self.around = None;
        if self.useless == MAX_USELESS {
            return;
        }
        self.useless += 1;
        let (Some(variables), Some(Frame::Event(decoded))) = (find_variables(event.data), decode_delta(event)) else {
            return;
        };
        let StreamEvent::Delta { at, channel, index, .. } = decoded.event else { return };
        self.line_name.clear();
        self.line_name.extend_from_slice(event.name);
        self.data.clear();
        self.data.extend_from_slice(event.data);
        self.variables = variables;
        self.meaning = Some(Meaning {
            name: decoded.name.into_owned(),
            names_differ: decoded.names_differ,
            output_index: at.output_index,
            item_id: at.item_id.map(Cow::into_owned),
            channel,
            index,
        });
    }

    /// Learns what is before and after the data of the learned event, from all bytes of that event.
    #[inline(never)]
    pub(super) fn learn_lines(&mut self, event: &[u8]) {
        if self.meaning.is_none() {
            return;
        }
        // This takes linear time, because the first bytes of a delta, `{"type"` or the like, don't occur inside of it.
        let Some(start) = event.windows(self.data.len()).position(|bytes| bytes == self.data) else { return };
        let (before, data_and_after) = event.split_at(start);
        // A comment before the event has an empty line after it. The next event won't have the same comment.
        let comment_end = before.windows(2).rposition(|bytes| bytes == b"\n\n").map_or(0, |at| at + 2);
        let before = before.get(comment_end..).unwrap_or_default();
        let after = data_and_after.get(self.data.len()..).unwrap_or_default();
        self.around = Some((before.to_vec(), after.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Repeated;
    use crate::receive::decode::decode_delta;
    use crate::receive::sse::SseEvent;
    use crate::wire::{LongRuns, MAX_ID_BYTES};

    /// Learns from one event and reads another. Returns whether it was recognized.
    fn recognizes(learned: (&str, &str), read: (&str, &[u8])) -> bool {
        let long_runs = LongRuns::default();
        let event = |name: &'static str, data| SseEvent { name: name.as_bytes(), data, long_runs: &long_runs };
        let leak = |name: &str| -> &'static str { Box::leak(name.to_owned().into_boxed_str()) };
        let mut repeated = Repeated::default();
        repeated.learn(event(leak(learned.0), learned.1.as_bytes()));
        let event = event(leak(read.0), read.1);
        let Some(frame) = repeated.read(event) else { return false };
        assert_eq!(format!("{:?}", Some(frame)), format!("{:?}", decode_delta(event)), "the slower path");
        true
    }

    fn text(number: &str, id: &str, delta: &str, padding: &str) -> String {
        format!(
            r#"{{"type":"response.output_text.delta","sequence_number":{number},"item_id":"{id}","output_index":0,"content_index":0,"delta":"{delta}","logprobs":[],"obfuscation":"{padding}"}}"#
        )
    }

    #[test]
    fn deltas_of_the_same_text_are_recognized() {
        let first = text("9", "msg_1", " the", "a");
        for other in [
            text("10", "msg_1", " gate", "abc"),
            text("0", "msg_1", "", ""),
            text("123456789", "msg_1", r#"\"ü\n\\"#, "…"),
        ] {
            assert!(recognizes(("", &first), ("", other.as_bytes())), "{other}");
        }
        for other in [
            text("10", "msg_2", " gate", "a"),
            text("010", "msg_1", " gate", "a"),
            text("", "msg_1", " gate", "a"),
            text("1", "msg_1", "\\u00e9", "a"),
            text("1", "msg_1", "a\tb", "a"),
            text("1", "msg_1", "a", "\t"),
            text("1", "msg_1", "a", r#"\""#),
            text("1", "msg_1", r#"a","delta":"b"#, "a"),
            format!("{} ", text("1", "msg_1", "a", "b")),
            text("1", "msg_1", "a", "b").replace("\"content_index\":0", "\"content_index\":1"),
        ] {
            assert!(!recognizes(("", &first), ("", other.as_bytes())), "{other}");
        }
        assert!(!recognizes(("", &first), ("response.output_text.delta", first.as_bytes())), "another event line");
        assert!(recognizes(("x", &first), ("x", first.as_bytes())), "which is noted each time");
        let invalid: Vec<u8> = first.bytes().map(|byte| if byte == b'h' { 0xFF } else { byte }).collect();
        assert!(!recognizes(("", &first), ("", &invalid)), "invalid UTF-8");
        assert!(!recognizes(("", "{}"), ("", b"{}")), "not a delta");
    }

    #[test]
    fn only_short_deltas_that_are_whole_are_recognized() {
        let (none, one) = (LongRuns::default(), LongRuns::new(vec!["AAAA".to_owned()]));
        let first = text("1", "msg_1", "", "a");
        let of_length = |bytes: usize| text("1", "msg_1", &"a".repeat(bytes - first.len()), "a");
        let chunk = |data: &str| format!("data: {data}\n\n").into_bytes();
        let mut repeated = Repeated::default();
        repeated.learn(SseEvent { name: b"", data: first.as_bytes(), long_runs: &none });
        assert!(repeated.lacks_lines());
        // The next event doesn't have this comment.
        repeated.learn_lines(&[b": comment\n\n".as_slice(), &chunk(&first)].concat());
        assert!(!repeated.lacks_lines());

        let reads = |bytes: usize, long_runs: &LongRuns| {
            repeated.read(SseEvent { name: b"", data: of_length(bytes).as_bytes(), long_runs }).is_some()
        };
        assert_eq!(
            [reads(MAX_ID_BYTES, &none), reads(MAX_ID_BYTES + 1, &none), reads(300, &one)],
            [true, false, false]
        );

        let reads_chunk = |bytes: usize, max_bytes: usize| {
            let chunk = chunk(&of_length(bytes - "data: \n\n".len()));
            assert_eq!(chunk.len(), bytes);
            repeated.read_chunk(&chunk, max_bytes).is_some()
        };
        assert_eq!([reads_chunk(300, 300), reads_chunk(301, 300)], [true, false]);
        let max = usize::MAX;
        assert_eq!([reads_chunk(MAX_ID_BYTES, max), reads_chunk(MAX_ID_BYTES + 1, max)], [true, false]);
    }

    #[test]
    fn a_stream_of_changing_ids_is_given_up() {
        let long_runs = LongRuns::default();
        let mut repeated = Repeated::default();
        for id in 0..100 {
            let data = text("1", &id.to_string(), "a", "b");
            repeated.learn(SseEvent { name: b"", data: data.as_bytes(), long_runs: &long_runs });
        }
        assert!(repeated.meaning.is_none());
    }

    #[test]
    fn a_stream_whose_deltas_are_recognized_is_not_given_up() {
        let long_runs = LongRuns::default();
        let mut repeated = Repeated::default();
        for id in 0..100 {
            let data = text("1", &id.to_string(), "a", "b");
            repeated.learn(SseEvent { name: b"", data: data.as_bytes(), long_runs: &long_runs });
            repeated.succeeded();
        }
        assert!(repeated.meaning.is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_recognized_is_read_as_by_the_slower_path(
            fields in prop::collection::vec(prop::sample::select(vec![
                r#""type":"response.output_text.delta""#, r#""type":"response.function_call_arguments.delta""#,
                r#""sequence_number":7"#, r#""item_id":"i""#, r#""item_id":"""#, r#""output_index":0"#,
                r#""summary_index":1"#, r#""delta":"one""#, r#""delta":"""#, r#""logprobs":[]"#, r#""obfuscation":"x""#,
                r#""sequence_number": 8"#,
            ]), 1..8),
            values in prop::array::uniform3(prop_oneof!["[0-9]{1,20}", r#""([a-z ü]|\\[nrtbf"/\\u])*""#, ".{0,3}"]),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let [number, delta, padding] = values;
            let learned = format!("{{{}}}", fields.join(","));
            let other = fields.iter().map(|field| match field.split_once(':') {
                Some((name @ "\"sequence_number\"", _)) => format!("{name}:{number}"),
                Some((name @ "\"delta\"", _)) => format!("{name}:{delta}"),
                Some((name @ "\"obfuscation\"", _)) => format!("{name}:{padding}"),
                _ => (*field).to_owned(),
            });
            let mut other = format!("{{{}}}", other.collect::<Vec<_>>().join(",")).into_bytes();
            recognizes(("", &learned), ("", &other));
            let at = at.index(other.len());
            other.splice(at..=at, [byte]);
            recognizes(("", &learned), ("", &other));
        }
    }
}
