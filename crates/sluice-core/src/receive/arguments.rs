//! The text of a call's arguments: whether it is a JSON object, and whether two such texts mean the same.
//!
//! Answering either question takes a pass over the text, and the server decides how often they come up. So results are
//! remembered, and checking a text again after it has grown must be paid for by the bytes that arrived.

use std::fmt;
use std::hash::Hasher;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use siphasher::sip::SipHasher13;

use super::long_line::dense_bytes;
use crate::surrogates::mend_surrogates;

const WORK_FOR_A_BYTE: usize = 2;
/// Longer objects are compared by their spelling: hashing what each value means takes ten times as long.
const MAX_COMPARED_BY_MEANING: usize = 64 << 10;

/// The most that arguments may contain outside of JSON strings. No model writes that many numbers or brackets.
const MAX_DENSE_ARGUMENTS: usize = 512 << 10;

/// A text that arrives in pieces, or whole, and perhaps more than once.
#[derive(Clone, Debug)]
pub(crate) struct ArgumentsText {
    text: String,
    is_blank: bool,
    found: Found,
    /// How many bytes may still be checked.
    credit: usize,
}

/// The result of the last check.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// The text has changed since it was last checked.
    Nothing,
    NoObject,
    /// An object with this hash.
    Object(u64),
}

impl Default for ArgumentsText {
    fn default() -> Self {
        Self { text: String::new(), is_blank: true, found: Found::Nothing, credit: 0 }
    }
}

impl ArgumentsText {
    /// Appends a delta. Returns the added [`work`](Self::work).
    pub(crate) fn push(&mut self, piece: &str) -> usize {
        /// The budget that an event adds, in addition to its bytes.
        const EVENT: usize = 64;
        const LOOKS_AT_EACH_BYTE: usize = 8;
        self.credit = self.credit.saturating_add(LOOKS_AT_EACH_BYTE * (EVENT + piece.len()));
        self.is_blank = self.is_blank && piece.trim().is_empty();
        self.found = Found::Nothing;
        self.text.push_str(piece);
        WORK_FOR_A_BYTE * piece.len()
    }

    /// Replaces the text, unless the new one is blank. Returns the [`work`](Self::work) that was added and removed.
    pub(crate) fn replace(&mut self, whole: &str) -> (usize, usize) {
        if whole.trim().is_empty() {
            return (0, 0);
        }
        let before = std::mem::take(self);
        self.push(whole);
        (self.work(), before.work())
    }

    /// The amount that counts in `Sink::retain_waiting`: parsing a text takes longer than delivering it.
    pub(crate) fn work(&self) -> usize {
        WORK_FOR_A_BYTE * self.text.len()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Returns whether it is a JSON object, as far as the budget allows.
    pub(crate) fn is_object(&mut self) -> bool {
        if matches!(self.found, Found::Nothing)
            && let Some(credit) = self.credit.checked_sub(self.text.len())
        {
            self.credit = credit;
            mend(&mut self.text);
            self.found = object_hash(&self.text).map_or(Found::NoObject, Found::Object);
        }
        matches!(self.found, Found::Object(_))
    }

    /// Returns whether it is the beginning of a JSON object.
    pub(crate) fn ends_early(&self) -> bool {
        let parsed = serde_json::from_str::<IgnoredAny>(&self.text);
        self.text.trim_start().starts_with('{') && parsed.is_err_and(|error| error.is_eof())
    }

    /// The answer is over, so one more check is free.
    pub(crate) fn allow_last_look(&mut self) {
        self.credit = self.credit.saturating_add(self.text.len());
    }

    /// Returns the object, if it is known to be one, without the white space around it.
    pub(crate) fn take(&mut self) -> Option<Object> {
        let Found::Object(hash) = self.found else { return None };
        let text = std::mem::take(self).text;
        let trimmed = text.trim();
        Some(Object { hash, json: if trimmed.len() == text.len() { text } else { trimmed.to_owned() } })
    }
}

/// The text of a JSON object, and a hash that doesn't depend on white space or the order of keys.
#[derive(Debug)]
pub(crate) struct Object {
    pub json: String,
    hash: u64,
}

impl Object {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut json = text.trim().to_owned();
        mend(&mut json);
        object_hash(&json).map(|hash| Self { json, hash })
    }

    pub(crate) fn empty() -> Self {
        Self { json: "{}".to_owned(), hash: object_hash("{}").unwrap_or_default() }
    }

    /// Identifies a call by its name and the meaning of its arguments.
    pub(crate) fn hash_of_call(&self, name: &str) -> u64 {
        mix(hash(name.as_bytes()), self.hash)
    }
}

/// Replaces unpaired surrogates, which many parsers reject.
fn mend(json: &mut String) {
    if json.contains("\\ud") || json.contains("\\uD") {
        *json = mend_surrogates(json);
    }
}

/// Returns `None` if the text isn't a JSON object.
fn object_hash(text: &str) -> Option<u64> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let meaning = || {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let meaning = Meaning.deserialize(&mut deserializer)?;
        deserializer.end().map(|()| meaning)
    };
    // An object that is very long, or nested too deeply for a parser, is compared as text.
    let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
    let is_long = text.len() > MAX_COMPARED_BY_MEANING;
    if is_long && dense_bytes(text) > MAX_DENSE_ARGUMENTS {
        return None;
    }
    let known = if is_long { None } else { meaning().ok() };
    known.or_else(|| is_json().then(|| hash(text.as_bytes())))
}

/// Hashes a value without storing it.
#[derive(Clone, Copy)]
struct Meaning;

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish()
}

fn mix(a: u64, b: u64) -> u64 {
    (a.rotate_left(23) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<'de> DeserializeSeed<'de> for Meaning {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Meaning {
    type Value = u64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<u64, E> {
        Ok(1)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<u64, E> {
        Ok(if value { 2 } else { 3 })
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(mix(8, value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        Ok(mix(9, value.cast_unsigned()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u64, E> {
        Ok(mix(10, value.to_bits()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<u64, E> {
        Ok(mix(11, hash(value.as_bytes())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<u64, A::Error> {
        let mut list = 4;
        while let Some(element) = elements.next_element_seed(self)? {
            list = mix(list, element);
        }
        Ok(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<u64, A::Error> {
        // A sum does not depend on the order.
        let mut object: u64 = 5;
        while let Some(name) = entries.next_key_seed(self)? {
            let value = entries.next_value_seed(self)?;
            object = object.wrapping_add(mix(mix(6, name), value));
        }
        Ok(mix(object, 7))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_the_same_however_it_is_spelled() {
        let hash = |name: &str, arguments: &str| Object::read(arguments).map(|object| object.hash_of_call(name));
        let same = |a: &str, b: &str| hash("f", a).is_some() && hash("f", a) == hash("f", b);
        assert!(same(r#"{"a":1,"b":[true,"ü",null]}"#, r#" { "b" : [ true, "\u00fc", null ], "a" : 1 } "#));
        for (a, b) in [
            (r#"{"a":1}"#, r#"{"a":2}"#),
            (r#"{"a":1}"#, r#"{"a":1.0}"#),
            (r#"{"a":1}"#, r#"{"a":-1}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
            (r#"{"a":[]}"#, r#"{"a":{}}"#),
            (r#"{"a":[[1],2]}"#, r#"{"a":[1,[2]]}"#),
            (r#"{"a":"b","c":"d"}"#, r#"{"a":"d","c":"b"}"#),
            (r#"{"a":null}"#, r#"{"a":false}"#),
            (r#"{"a":true}"#, r#"{"a":false}"#),
            (r#"{"a":-2}"#, r#"{"a":-1}"#),
            (r#"{"a":0.5}"#, r#"{"a":0.25}"#),
            ("{}", r#"{"a":null}"#),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
        assert_ne!(hash("f", "{}"), hash("g", "{}"));
        assert!(same(r#"{"a":"\ud83d"}"#, r#"{"a":"\uFFFD"}"#));
        assert_eq!(Object::read(r#"{"a":"\uDE00"}"#).map(|object| object.json).as_deref(), Some(r#"{"a":"\uFFFD"}"#));
        assert_eq!(["", "[]", "1", "{", "{}x", "{\"a\":}", "null"].map(|text| hash("f", text)), [None; 7]);
        let deep = |inside: &str| format!("{}{inside}{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        assert!(same(&deep("1"), &deep("1")) && !same(&deep("1"), &deep("2")));
    }

    #[test]
    fn long_objects_are_compared_by_their_spelling_and_may_not_be_dense() {
        let same_in_another_order = |bytes: usize| {
            let text = "x".repeat(bytes - r#"{"a":1,"b":""}"#.len());
            let (a, b) = (format!(r#"{{"a":1,"b":"{text}"}}"#), format!(r#"{{"b":"{text}","a":1}}"#));
            assert_eq!((a.len(), object_hash(&a).is_some()), (bytes, true));
            object_hash(&a) == object_hash(&b)
        };
        let max = MAX_COMPARED_BY_MEANING;
        assert_eq!([max - 1, max, max + 1, max + 2].map(same_in_another_order), [true, true, false, false]);

        let is_object = |bytes: usize| object_hash(&format!("{{{}}}", " ".repeat(bytes - 2))).is_some();
        let max = MAX_DENSE_ARGUMENTS;
        assert_eq!([max - 1, max, max + 1, max + 2].map(is_object), [true, true, false, false]);
    }

    #[test]
    fn checking_again_is_paid_for_by_new_bytes() {
        let mut text = ArgumentsText::default();
        assert!(text.is_blank() && !text.is_object());
        text.push(r#"{"a":""#);
        assert!(!text.is_object());
        text.push("\"} ");
        assert!(text.is_object());

        let mut long = ArgumentsText::default();
        long.push(&format!("{{\"a\":\"{}", "x".repeat(1 << 20)));
        let mut looks = 0;
        for _ in 0..1000 {
            long.push("y");
            let before = long.credit;
            assert!(!long.is_object());
            looks += usize::from(long.credit < before);
        }
        assert_eq!(looks, 8);
        long.push("\"}");
        assert!(!long.is_object());
        long.allow_last_look();
        assert!(long.is_object());
    }
}
