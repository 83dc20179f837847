//! JSON of unknown shape. It is parsed once into a tree; then its readers take what they need by name. `null`, a wrong
//! type and a missing field all count as absent.
//!
//! It is a tree rather than a derived reader for each type, because engines compile WebAssembly when it first runs, so
//! the first answer waits for every kilobyte of code on its path.
//!
//! The tree is bounded: it contains only the fields that are read, each once, no deeper than [`MAX_DEPTH`], and the
//! caller limits its memory. Without that, three bytes of input (`{},`) could take hundreds in memory.

use std::borrow::Cow;
use std::cell::Cell;
use std::{fmt, mem};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::long_runs::LongRuns;
use super::response::whole_number;
use crate::surrogates::mend_surrogates;

/// Every field name that is read. Other fields are skipped: a response repeats the whole request, including tools and
/// instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
pub(crate) enum FieldName {
    Annotation,
    Annotations,
    Arguments,
    CallId,
    Code,
    Content,
    ContentIndex,
    Delta,
    Detail,
    EncryptedContent,
    Error,
    Id,
    IncompleteDetails,
    Item,
    ItemId,
    Message,
    Model,
    Name,
    Output,
    OutputFormat,
    OutputIndex,
    Part,
    Phase,
    #[serde(rename = "providerMetadata")]
    ProviderMetadataInCamelCase,
    ProviderMetadata,
    Reason,
    Refusal,
    Response,
    Result,
    SequenceNumber,
    Signature,
    Status,
    StatusCode,
    Summary,
    SummaryIndex,
    Text,
    Title,
    Type,
    Url,
    Usage,
    /// Any other name.
    #[serde(other)]
    Other,
}

/// Deeper than any event of the protocol. Values that are nested deeper count as absent, and nothing else is affected.
const MAX_DEPTH: u8 = 16;
/// The longest id that is read. Honest ones have a few hundred bytes.
pub(crate) const MAX_ID_BYTES: usize = 64 << 10;
/// The longest usage or metadata object that is read.
const MAX_WHOLE_BYTES: usize = 64 << 10;
/// Generic JSON values take up to a hundred times the size of their text. Few servers send such values.
const WHOLE_COST: usize = 32;
/// Copying a long string back into its place costs this many times its length.
const LONG_RUN_COST: usize = 4;
/// Long strings of up to this many bytes are copied for free.
const FREE_LONG_RUN: usize = 256 << 10;
/// The memory for a field and for an element of a list, here and in what the readers make of them. This is generous,
/// because an element is also work for them.
const FIELD_COST: usize = 64;
const ELEMENT_COST: usize = 1024;

/// The fields of an object.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(FieldName, Json<'a>)>);

/// Any value.
#[derive(Debug, Default)]
pub(crate) enum Json<'a> {
    #[default]
    Null,
    Number(Number),
    /// A string, borrowed from the input unless it contains escapes.
    Text(Cow<'a, str>),
    /// A long string of base64, known to have no other characters than that, with its padding.
    Base64(String),
    /// The objects and strings in a list. Lists of anything else are never read.
    List(Vec<Fields<'a>>),
    Object(Fields<'a>),
    /// Any value as JSON text, for fields that are kept with all their contents.
    Whole(Cow<'a, str>),
}

/// Why a text couldn't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    NotAnObject,
    /// It contains more than the caller's memory limit allows.
    TooMuch,
}

impl<'a> Fields<'a> {
    /// Reads a JSON object into at most about `max_bytes` of memory.
    pub(crate) fn read(json: &'a str, long_runs: &LongRuns, max_bytes: usize) -> Result<Self, Unreadable> {
        let left = Cell::new(Some(max_bytes));
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let value = Reader { depth: 0, left: &left, long_runs, is_image: false }.deserialize(&mut deserializer);
        if left.get().is_none() {
            return Err(Unreadable::TooMuch);
        }
        match (value, deserializer.end()) {
            (Ok(Json::Object(fields)), Ok(())) => Ok(fields),
            _ => Err(Unreadable::NotAnObject),
        }
    }

    pub(crate) fn text(&mut self, name: FieldName) -> Option<Cow<'a, str>> {
        match self.take(name) {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns an id, unless it is too long to be one.
    pub(crate) fn id(&mut self, name: FieldName) -> Option<Cow<'a, str>> {
        self.text(name).filter(|id| id.len() <= MAX_ID_BYTES)
    }

    /// Returns the text of a JSON value. Some servers send arguments as an object instead of a string.
    pub(crate) fn json_text(&mut self, name: FieldName) -> Option<Cow<'a, str>> {
        match self.take(name) {
            Json::Whole(Cow::Borrowed(json)) if json.starts_with('"') => string(json),
            Json::Whole(json) if json.starts_with('"') => string(&json).map(|text| Cow::Owned(text.into_owned())),
            Json::Whole(json) => Some(json),
            _ => None,
        }
    }

    /// Returns an object with all its contents, unless it is absurdly long or deep.
    pub(crate) fn whole(&mut self, name: FieldName) -> Option<Map<String, Value>> {
        match self.take(name) {
            Json::Whole(json) if json.starts_with('{') => {
                serde_json::from_str(&json).or_else(|_| serde_json::from_str(&mend_surrogates(&json))).ok()
            }
            _ => None,
        }
    }

    /// Returns a string that isn't empty, or a number as a string.
    pub(crate) fn word(&mut self, name: FieldName) -> Option<Cow<'a, str>> {
        match self.take(name) {
            Json::Text(text) if !text.is_empty() => Some(text),
            Json::Number(number) => Some(Cow::Owned(number.to_string())),
            _ => None,
        }
    }

    pub(crate) fn index(&mut self, name: FieldName) -> Option<u64> {
        match self.take(name) {
            Json::Number(number) => whole_number(&number),
            _ => None,
        }
    }

    pub(crate) fn object(&mut self, name: FieldName) -> Option<Self> {
        match self.take(name) {
            Json::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the objects in a list. A value that isn't in a list is a list of one.
    pub(crate) fn objects(&mut self, name: FieldName) -> Vec<Self> {
        match self.take(name) {
            Json::List(list) => list,
            Json::Object(fields) => vec![fields],
            Json::Text(text) => vec![Self::of_text(text)],
            _ => Vec::new(),
        }
    }

    /// Some servers send a string in place of an object with a text.
    fn of_text(text: Cow<'a, str>) -> Self {
        Self(vec![(FieldName::Text, Json::Text(text))])
    }

    pub(crate) fn take(&mut self, name: FieldName) -> Json<'a> {
        let found = self.0.iter_mut().find(|(known, _)| *known == name);
        found.map(|(_, value)| mem::take(value)).unwrap_or_default()
    }
}

/// Returns the contents of a JSON string, borrowed unless it contains escapes.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(Cow::Borrowed(inside));
    }
    let text: String = serde_json::from_str(json).or_else(|_| serde_json::from_str(&mend_surrogates(json))).ok()?;
    Some(Cow::Owned(text))
}

/// Reads the next name in an object. As part of the loop around it, it would make a function so large that V8 optimizes
/// it during the first answer; see `receive.rs`.
#[inline(never)]
fn next_name<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<Option<FieldName>, A::Error> {
    entries.next_key()
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Reader<'b> {
    depth: u8,
    /// The memory in bytes that may still be used; `None` once it was exceeded.
    left: &'b Cell<Option<usize>>,
    long_runs: &'b LongRuns,
    /// Whether this is the value of a field with an image.
    is_image: bool,
}

impl Reader<'_> {
    /// Returns the reader for the contents, unless they are too deep.
    fn deeper(self) -> Option<Self> {
        (self.depth < MAX_DEPTH).then_some(Self { depth: self.depth + 1, is_image: false, ..self })
    }

    fn text<E: Error>(self, text: Cow<'_, str>) -> Result<Json<'_>, E> {
        if self.long_runs.is_empty() {
            return Ok(Json::Text(text));
        }
        if self.is_image
            && let Some(base64) = self.long_runs.take(&text)
        {
            return Ok(Json::Base64(base64));
        }
        Ok(Json::Text(self.put_back(text)?))
    }

    /// Puts back what was taken out of a text, if the memory limit allows it.
    fn put_back<E: Error>(self, text: Cow<'_, str>) -> Result<Cow<'_, str>, E> {
        let bytes = self.long_runs.bytes_in(&text);
        if bytes == 0 {
            return Ok(text);
        }
        // A shorter event may have come in one piece, with nothing taken out.
        if bytes > FREE_LONG_RUN {
            self.spend(LONG_RUN_COST * bytes)?;
        }
        Ok(Cow::Owned(self.long_runs.put_back(&text).into_owned()))
    }

    /// Reads a value that is kept as JSON text.
    #[inline(never)]
    fn whole<'de, A: MapAccess<'de>>(self, name: FieldName, entries: &mut A) -> Result<Json<'de>, A::Error> {
        let json = self.put_back(Cow::Borrowed(entries.next_value::<&RawValue>()?.get()))?;
        let max = MAX_WHOLE_BYTES.min(self.left.get().unwrap_or(0) / WHOLE_COST);
        let is_too_long = name != FieldName::Arguments && json.len() > max;
        Ok(if json == "null" || is_too_long { Json::Null } else { Json::Whole(json) })
    }

    fn spend<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.left.get().and_then(|left| left.checked_sub(bytes));
        self.left.set(left);
        if left.is_some() { Ok(()) } else { Err(E::custom("too much")) }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Json<'de>, E> {
        self.text(Cow::Borrowed(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json<'de>, E> {
        self.text(Cow::Owned(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        if let Some(inside) = self.deeper() {
            while let Some(element) = elements.next_element_seed(inside)? {
                let fields = match element {
                    Json::Object(fields) => fields,
                    Json::Text(text) => Fields::of_text(text),
                    _ => continue,
                };
                self.spend(ELEMENT_COST)?;
                list.push(fields);
            }
        } else {
            while elements.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut fields: Vec<(FieldName, Json<'de>)> = Vec::new();
        while let Some(name) = next_name(&mut entries)? {
            let (false, Some(inside)) = (name == FieldName::Other, self.deeper()) else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = match name {
                FieldName::Arguments
                | FieldName::ProviderMetadata
                | FieldName::ProviderMetadataInCamelCase
                | FieldName::Usage => self.whole(name, &mut entries)?,
                FieldName::Result => entries.next_value_seed(Self { is_image: true, ..inside })?,
                _ => entries.next_value_seed(inside)?,
            };
            // If a name occurs twice, the second one counts.
            if let Some((_, known)) = fields.iter_mut().find(|(known, _)| *known == name) {
                *known = value;
            } else {
                self.spend(FIELD_COST)?;
                fields.push((name, value));
            }
        }
        Ok(Json::Object(Fields(fields)))
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const ENOUGH: usize = 1 << 20;

    fn read(json: &str) -> Result<Fields<'_>, Unreadable> {
        Fields::read(json, &LongRuns::default(), ENOUGH)
    }

    fn check(json: &str, expect: &Expect) {
        expect.assert_eq(&format!("{:?}", read(json)));
    }

    fn deep(opening: &str, closing: &str) -> String {
        [opening.repeat(1000), closing.repeat(1000)].concat()
    }

    #[test]
    fn only_fields_that_are_read_are_kept() {
        check(
            r#"{"type":"a","tools":[{"type":"b"}],"item":{"id":"c","x":1}}"#,
            &expect![[r#"Ok(Fields([(Type, Text("a")), (Item, Object(Fields([(Id, Text("c"))])))]))"#]],
        );
        check(
            r#"{"usage":{"x":{"y":[1,-2,0.5,null,true]}},"x":{},"output":[1,{},[{}],"a",null]}"#,
            &expect![[
                r#"Ok(Fields([(Usage, Whole("{\"x\":{\"y\":[1,-2,0.5,null,true]}}")), (Output, List([Fields([]), Fields([(Text, Text("a"))])]))]))"#
            ]],
        );
        check(
            r#"{"arguments":{"x":"\u00fc"},"t\u0079pe":"ü","usage":null}"#,
            &expect![[r#"Ok(Fields([(Arguments, Whole("{\"x\":\"\\u00fc\"}")), (Type, Text("ü")), (Usage, Null)]))"#]],
        );
    }

    #[test]
    fn deep_nesting_affects_only_its_field() {
        for (name, spelled, json) in [
            (FieldName::Other, "x", deep("[", "]")),
            (FieldName::Id, "id", deep("[", "]")),
            (FieldName::Content, "content", deep("[", "]")),
            (FieldName::Item, "item", deep(r#"{"item":"#, "}").replace(":}", ":1}")),
            (FieldName::Usage, "usage", deep(r#"{"a":"#, "}").replace(":}", ":1}")),
            (FieldName::ProviderMetadata, "provider_metadata", deep("[", "]")),
        ] {
            let json = format!(r#"{{"{spelled}":{json},"type":"a"}}"#);
            let mut fields = read(&json).unwrap_or_default();
            assert_eq!(fields.text(FieldName::Type).as_deref(), Some("a"), "{name:?}");
            assert_eq!((fields.text(name), fields.whole(name)), (None, None), "{name:?}");
        }
        let arguments = format!(r#"{{"arguments":{{"a":{}}}}}"#, deep("[", "]"));
        let text = read(&arguments).unwrap_or_default().json_text(FieldName::Arguments).unwrap_or_default();
        assert_eq!(text.len(), 2006);
    }

    #[test]
    fn the_memory_of_a_tree_is_bounded() {
        for json in [
            format!(r#"{{"output":[{}]}}"#, vec!["{}"; 10_000].join(",")),
            format!(r#"{{"output":[{}]}}"#, vec![r#"{"content":[{},{},{}]}"#; 1000].join(",")),
            format!(
                r#"{{"output":[{}]}}"#,
                vec![r#"{"id":"","type":"","name":"","text":"","url":""}"#; 2000].join(",")
            ),
        ] {
            assert_eq!(read(&json).err(), Some(Unreadable::TooMuch));
        }
        for json in [
            format!(r#"{{"output":[{}]}}"#, vec!["0"; 100_000].join(",")),
            format!(r#"{{"tools":[{}]}}"#, vec!["{}"; 100_000].join(",")),
            format!(r#"{{{}}}"#, vec![r#""id":"""#; 100_000].join(",")),
            format!(r#"{{"usage":{{"a":[{}]}}}}"#, vec!["{}"; 100_000].join(",")),
        ] {
            let mut fields = Fields::read(&json, &LongRuns::default(), 1000).unwrap_or_default();
            assert!(!fields.0.is_empty() || json.contains("tools"));
            assert_eq!(fields.whole(FieldName::Usage), None);
        }
    }

    #[test]
    fn other_text_is_not_an_object() {
        for text in ["", "{", "[]", "null", "\"{}\"", "{} {}", "{\"type\":}", "{\"x\":}", r#"{"id":"\ud800"}"#] {
            check(text, &expect!["Err(NotAnObject)"]);
        }
    }

    #[test]
    fn the_second_of_two_equal_names_counts() {
        let json = r#"{"id":"a","name":"b","id":"c","name":1,"id":"d"}"#;
        let mut fields = read(json).unwrap_or_default();
        assert_eq!(fields.text(FieldName::Id).as_deref(), Some("d"));
        assert_eq!(fields.text(FieldName::Name), None);
    }

    #[test]
    fn arguments_are_text_or_an_object() {
        let arguments = |json: &str| {
            let json = format!(r#"{{"arguments":{json}}}"#);
            read(&json).ok()?.json_text(FieldName::Arguments).map(Cow::into_owned)
        };
        assert_eq!(arguments(r#""{\"a\": 1}""#).as_deref(), Some(r#"{"a": 1}"#));
        assert_eq!(
            arguments(r#"{"a": 12345678901234567890123}"#).as_deref(),
            Some(r#"{"a": 12345678901234567890123}"#)
        );
        assert_eq!(arguments(r#""a\ud83d""#).as_deref(), Some("a\u{fffd}"));
        assert_eq!(arguments("null"), None);
    }

    #[test]
    fn only_non_negative_integers_are_indexes() {
        let index = |number: &str| read(&format!(r#"{{"output_index":{number}}}"#)).ok()?.index(FieldName::OutputIndex);
        let numbers = ["7", "12.0", "18446744073709551615", "1.5", "-1", "1e300", "\"7\"", "null"];
        let indexes = [Some(7), Some(12), Some(u64::MAX), None, None, None, None, None];
        assert_eq!(numbers.map(index), indexes);
    }
}
