//! A fast path for deltas, which make up most of a stream.
//!
//! A delta is a flat object of short strings, small numbers and empty lists, which can be read in one pass several
//! times faster than by a general JSON parser. For anything else this returns `None`, and the event takes the general
//! path. That path also defines what is correct: the tests below compare the two.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

/// More fields than any delta has. An event with many more takes the general path whatever its length, so that its cost
/// grows evenly with its length.
const MAX_FIELDS: usize = 16;

/// Most strings in a delta are shorter than this, and then looking at each byte takes the least time.
const MAX_SHORT: usize = 24;

/// What differs between the deltas of one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    SequenceNumber,
    Delta,
    Obfuscation,
}

#[derive(Debug, Default)]
pub(super) struct Delta<'a> {
    pub name: &'a str,
    pub sequence_number: Option<u64>,
    pub output_index: Option<u64>,
    pub item_id: Option<&'a str>,
    pub content_index: Option<u64>,
    pub summary_index: Option<u64>,
    pub piece: Cow<'a, str>,
}

/// Where the variable fields of an event are, in their order, with the quotes of strings.
pub(super) type Spans = Vec<(Variable, Range<usize>)>;

/// Reads the event if it is an ordinary delta.
pub(super) fn read_delta(data: &[u8]) -> Option<Delta<'_>> {
    read_fields(data, |_, _| {})
}

/// Returns where the variable fields of an ordinary delta are.
pub(super) fn find_variables(data: &[u8]) -> Option<Spans> {
    let mut spans = Spans::new();
    read_fields(data, |variable, span| spans.push((variable, span)))?;
    Some(spans)
}

fn read_fields(data: &[u8], mut found: impl FnMut(Variable, Range<usize>)) -> Option<Delta<'_>> {
    let mut walk = Walk { rest: data };
    let mut event = Delta::default();
    walk.expect(b'{')?;
    for _ in 0..MAX_FIELDS {
        walk.skip_spaces();
        let field = walk.field()?;
        let start = data.len() - walk.rest.len();
        let variable = match field {
            Field::SequenceNumber => Some(Variable::SequenceNumber),
            Field::Delta => Some(Variable::Delta),
            Field::Obfuscation => Some(Variable::Obfuscation),
            _ => None,
        };
        match field {
            Field::Type => event.name = walk.string()?,
            Field::SequenceNumber => event.sequence_number = Some(walk.number()?),
            Field::OutputIndex => event.output_index = Some(walk.number()?),
            Field::ItemId => event.item_id = Some(walk.string()?),
            Field::ContentIndex => event.content_index = Some(walk.number()?),
            Field::SummaryIndex => event.summary_index = Some(walk.number()?),
            Field::Delta => event.piece = walk.text()?,
            Field::Obfuscation => drop(walk.plain()?),
            Field::Logprobs => walk.empty_list()?,
        }
        if let Some(variable) = variable {
            found(variable, start..data.len() - walk.rest.len());
        }
        if walk.expect(b',').is_none() {
            return (walk.rest == b"}").then_some(event);
        }
    }
    None
}

/// The fields that deltas have.
enum Field {
    Type,
    SequenceNumber,
    OutputIndex,
    ItemId,
    ContentIndex,
    SummaryIndex,
    Delta,
    Logprobs,
    Obfuscation,
}

/// The rest of the text. Every step consumes something from the front, or returns `None`.
pub(super) struct Walk<'a> {
    pub rest: &'a [u8],
}

impl<'a> Walk<'a> {
    fn expect(&mut self, byte: u8) -> Option<()> {
        let (_, rest) = self.rest.split_first().filter(|(first, _)| **first == byte)?;
        self.rest = rest;
        Some(())
    }

    fn skip_spaces(&mut self) {
        while let [b' ', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Reads a name and its colon. The first letters determine which name it can be.
    #[inline(never)]
    fn field(&mut self) -> Option<Field> {
        let rest = self.rest;
        let (field, rest) = match rest {
            [b'"', b't', ..] => (Field::Type, rest.strip_prefix(b"\"type\":")?),
            [b'"', b's', b'e', ..] => (Field::SequenceNumber, rest.strip_prefix(b"\"sequence_number\":")?),
            [b'"', b'i', ..] => (Field::ItemId, rest.strip_prefix(b"\"item_id\":")?),
            [b'"', b'o', b'u', ..] => (Field::OutputIndex, rest.strip_prefix(b"\"output_index\":")?),
            [b'"', b'c', ..] => (Field::ContentIndex, rest.strip_prefix(b"\"content_index\":")?),
            [b'"', b'd', ..] => (Field::Delta, rest.strip_prefix(b"\"delta\":")?),
            [b'"', b'l', ..] => (Field::Logprobs, rest.strip_prefix(b"\"logprobs\":")?),
            [b'"', b'o', ..] => (Field::Obfuscation, rest.strip_prefix(b"\"obfuscation\":")?),
            _ => (Field::SummaryIndex, rest.strip_prefix(b"\"summary_index\":")?),
        };
        self.rest = rest;
        self.skip_spaces();
        Some(field)
    }

    /// Reads a string without escapes, as bytes.
    #[inline(never)]
    pub(super) fn plain(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let plain = self.up_to_quote_or_escape()?;
        self.expect(b'"')?;
        Some(plain)
    }

    fn string(&mut self) -> Option<&'a str> {
        str::from_utf8(self.plain()?).ok()
    }

    #[inline(never)]
    pub(super) fn text(&mut self) -> Option<Cow<'a, str>> {
        self.expect(b'"')?;
        let plain = str::from_utf8(self.up_to_quote_or_escape()?).ok()?;
        if self.expect(b'"').is_some() { Some(Cow::Borrowed(plain)) } else { self.unescaped(plain).map(Cow::Owned) }
    }

    /// Reads the rest of a string, after the part before its first escape.
    #[inline(never)]
    fn unescaped(&mut self, plain: &str) -> Option<String> {
        // Deltas are short, so with some spare capacity there is only one allocation.
        let mut text = String::with_capacity(plain.len() + self.rest.len().min(64));
        text.push_str(plain);
        while self.expect(b'\\').is_some() {
            text.push(self.escaped()?);
            text.push_str(str::from_utf8(self.up_to_quote_or_escape()?).ok()?);
        }
        self.expect(b'"')?;
        Some(text)
    }

    /// Reads up to the end of a string or its first escape. Raw control characters are not valid in JSON.
    fn up_to_quote_or_escape(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.get(..MAX_SHORT).unwrap_or(self.rest);
        let end = match start.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' ')) {
            Some(end) => end,
            None => self.end_of_long_string()?,
        };
        let (plain, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(plain)
    }

    /// Finds the end of a longer string many bytes at a time.
    #[inline(never)]
    fn end_of_long_string(&self) -> Option<usize> {
        let end = memchr2(b'"', b'\\', self.rest)?;
        let (blocks, rest) = self.rest.get(..end)?.as_chunks::<32>();
        #[expect(clippy::needless_bitwise_bool, reason = "the lazy operator is the branch this does without")]
        let has_control_character = |block: &[u8; 32]| block.iter().fold(false, |found, byte| found | (*byte < b' '));
        (!blocks.iter().any(has_control_character) && !rest.iter().any(|byte| *byte < b' ')).then_some(end)
    }

    /// Decodes an escape sequence whose backslash has already been read.
    fn escaped(&mut self) -> Option<char> {
        let (escape, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(match escape {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            // Code points, possibly as surrogate pairs, are left to the general path.
            _ => return None,
        })
    }

    /// Reads a number with at most 18 digits, so that it can't overflow, and without a leading zero, as in JSON.
    #[inline(never)]
    pub(super) fn number(&mut self) -> Option<u64> {
        let (mut number, mut digits) = (0, 0);
        for byte in self.rest.iter().take_while(|byte| byte.is_ascii_digit()).take(19) {
            number = number * 10 + u64::from(byte - b'0');
            digits += 1;
        }
        if digits == 0 || digits > 18 || (digits > 1 && self.rest.first() == Some(&b'0')) {
            return None;
        }
        self.rest = self.rest.get(digits..)?;
        matches!(self.rest.first(), Some(b',' | b'}')).then_some(number)
    }

    fn empty_list(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix(b"[]")?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::receive::decode::{decode, decode_delta};
    use crate::receive::sse::SseEvent;
    use crate::wire::{LongRuns, MAX_ID_BYTES};

    /// Checks that the fast path, if it returns a result, agrees with the general path. Returns whether there was a
    /// result.
    fn agrees(data: &str) -> bool {
        let event = SseEvent { name: b"", data: data.as_bytes(), long_runs: &LongRuns::default() };
        let Some(short) = decode_delta(event) else { return false };
        assert_eq!(format!("{short:?}"), format!("{:?}", decode(data, &LongRuns::default(), "", 1 << 20)), "{data}");
        true
    }

    #[test]
    fn the_fast_path_reads_only_plain_deltas() {
        let text = r#""type":"response.output_text.delta""#;
        let taken = [
            r#"{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi","logprobs":[],"obfuscation":"x"}"#.to_owned(),
            r#"{"delta": "a\n\"\\ ü", "type": "response.function_call_arguments.delta", "output_index": 10}"#.to_owned(),
            r#"{"type":"response.reasoning_summary.delta","summary_index":3,"content_index":1,"item_id":"","delta":""}"#.to_owned(),
            format!(r#"{{{text},"delta":"\n\t\r\b\f\"\\\/"}}"#),
            format!(r#"{{{text},"delta":"{}"}}"#, "two words, ".repeat(7)),
            format!(r#"{{{text},"output_index":123456789012345678}}"#),
            format!("{{{text},{text},\"delta\":\"a\",\"delta\":\"b\"}}"),
            format!("{{{text}}}"),
        ];
        for data in &taken {
            assert!(agrees(data), "{data}");
        }
        let left = [
            r#""type":"response.output_text.done""#,
            r#""text":"whole""#,
            r#""item":{}"#,
            r#""delta":null"#,
            r#""delta":"\ud83d\ude00""#,
            r#""delta":"\x""#,
            r#""delta":"\"#,
            r#""output_index":01"#,
            r#""output_index":1.0"#,
            r#""output_index":-1"#,
            r#""output_index":"#,
            r#""output_index":99999999999999999999"#,
            r#""logprobs":[{}]"#,
            r#""ty\u0070e":"x""#,
            "\"delta\":\"a\tb\"",
            "\"delta\":\"twenty-four letters or more\tin one block\"",
            "\"delta\":\"twenty-four letters or more\tin\tone\tblock\"",
            "\"delta\":\"thirty-two letters or more, and then\tone\"",
            r#""output_index":1234567890123456789"#,
            "",
        ];
        for field in left {
            let data = format!("{{{text},{field}}}");
            assert!(
                decode_delta(SseEvent { name: b"", data: data.as_bytes(), long_runs: &LongRuns::default() }).is_none(),
                "{data}"
            );
        }
        for data in ["{", "{}", "", "[]", &format!("{{{text}}} "), &format!("{{{text}}}{{}}")] {
            assert!(!agrees(data), "{data}");
        }
    }

    #[test]
    fn the_fast_path_reads_only_short_deltas_that_are_whole() {
        let reads = |bytes: usize, long_runs: &LongRuns| {
            let data = format!(r#"{{"type":"response.output_text.delta","delta":"{}"}}"#, "a".repeat(bytes - 48));
            assert_eq!(data.len(), bytes);
            decode_delta(SseEvent { name: b"", data: data.as_bytes(), long_runs }).is_some()
        };
        let (none, one) = (LongRuns::default(), LongRuns::new(vec!["AAAA".to_owned()]));
        assert_eq!(
            [reads(MAX_ID_BYTES, &none), reads(MAX_ID_BYTES + 1, &none), reads(100, &one)],
            [true, false, false]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_fast_path_agrees_with_the_general_path(
            kind in prop::sample::select(vec!["output_text", "refusal", "reasoning", "function_call_arguments", "x"]),
            fields in prop::collection::vec((
                prop::sample::select(vec!["type", "delta", "item_id", "output_index", "content_index", "summary_index",
                    "sequence_number", "logprobs", "obfuscation", "text", "error"]),
                prop_oneof![
                    any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
                    r#""([a-z ü]|\\[nrtbf"/\\])*""#,
                    r#""([a-z ü]|\\[nu0a-f"]{1,5})*""#,
                    any::<u64>().prop_map(|number| number.to_string()),
                    "[0-9]{1,3}",
                    "[0-9.eE+-]{1,4}",
                    prop::sample::select(vec!["null", "[]", "{}", "true", "[1]", ""]).prop_map(str::to_owned),
                ],
            ), 0..5),
            spaces in prop::sample::select(vec!["", " ", "  "]),
        ) {
            let fields = fields.iter().map(|(name, value)| format!(",{spaces}\"{name}\":{spaces}{value}"));
            agrees(&format!("{{\"type\":\"response.{kind}.delta\"{}}}", fields.collect::<String>()));
        }

        #[test]
        fn the_fast_path_agrees_on_damaged_text(cut in 0_usize..120, insert in any::<char>()) {
            let whole = r#"{"type":"response.output_text.delta","delta":"a\n\"ü","logprobs":[],"output_index":12}"#;
            let at = whole.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(whole.len());
            let mut damaged = whole.to_owned();
            damaged.insert(at, insert);
            agrees(&damaged);
            damaged.truncate(at);
            agrees(&damaged);
        }
    }
}
