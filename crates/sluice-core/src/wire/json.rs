//! JSON whose shape nobody vouches for. It is read once, as it is; then its readers take out what they want by name, and
//! `null`, a wrong type or a missing field all read as "not there".
//!
//! A tree, and not a derived reader for each type: an engine compiles WebAssembly when it is first run, so the first
//! answer waits for every kilobyte of code on its way.

use std::borrow::Cow;
use std::{fmt, mem};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// Every name that a reader asks for; one that is missing here is never found. Fields of other names are skipped where they
/// stand: a response repeats the whole request, tools and instructions included.
const NAMES: [&str; 32] = [
    "annotation",
    "annotations",
    "call_id",
    "code",
    "content",
    "content_index",
    "delta",
    "encrypted_content",
    "error",
    "id",
    "incomplete_details",
    "item",
    "item_id",
    "message",
    "model",
    "name",
    "output",
    "output_format",
    "output_index",
    "part",
    "reason",
    "refusal",
    "response",
    "result",
    "sequence_number",
    "status",
    "summary",
    "summary_index",
    "text",
    "title",
    "type",
    "url",
];

/// Names of objects that are kept with all they hold.
const NAMES_OF_WHOLES: [&str; 4] = ["arguments", "provider_metadata", "providerMetadata", "usage"];

/// The fields of an object.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

/// Any value.
#[derive(Debug, Default)]
pub(crate) enum Json<'a> {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    /// Borrowed from the input unless it holds escapes.
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Fields<'a>),
}

impl<'a> Fields<'a> {
    /// `None` if the text is no JSON object.
    pub fn read(json: &'a str) -> Option<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let value = Reader { whole: false }.deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()?;
        value.into_fields()
    }

    pub fn text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        match self.take(name) {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a JSON value: a string is one already. Some servers send arguments as the object itself.
    pub fn json_text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        match self.take(name) {
            Json::Null => None,
            Json::Text(text) => Some(text),
            other => Some(Cow::Owned(other.into_value().to_string())),
        }
    }

    /// A string that is not empty, or a number spelled out.
    pub fn word(&mut self, name: &str) -> Option<Cow<'a, str>> {
        match self.take(name) {
            Json::Text(text) if !text.is_empty() => Some(text),
            Json::Number(number) => Some(Cow::Owned(number.to_string())),
            _ => None,
        }
    }

    /// A non-negative integer, such as an index or a token count. Servers written in languages with one number type send
    /// `12.0`.
    pub fn index(&mut self, name: &str) -> Option<u64> {
        let Json::Number(number) = self.take(name) else { return None };
        number.as_u64().or_else(|| {
            let number = number.as_f64()?;
            let whole = number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: whole and in range")]
            whole.then_some(number as u64)
        })
    }

    pub fn object(&mut self, name: &str) -> Option<Self> {
        self.take(name).into_fields()
    }

    /// The objects in a list; its other elements are left out.
    pub fn objects(&mut self, name: &str) -> Vec<Self> {
        match self.take(name) {
            Json::List(list) => list.into_iter().filter_map(Json::into_fields).collect(),
            _ => Vec::new(),
        }
    }

    /// All that nobody has taken.
    pub fn rest<Map: Default + Extend<(String, Value)>>(self) -> Map {
        let mut rest = Map::default();
        rest.extend(self.0.into_iter().map(|(name, value)| (name.into_owned(), value.into_value())));
        rest
    }

    /// A name that is given twice means the second.
    pub fn take(&mut self, name: &str) -> Json<'a> {
        let mut taken = Json::Null;
        self.0.retain_mut(|(known, value)| {
            let is_meant = known == name;
            if is_meant {
                taken = mem::take(value);
            }
            !is_meant
        });
        taken
    }
}

impl<'a> Json<'a> {
    fn into_fields(self) -> Option<Fields<'a>> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(bool),
            Self::Number(number) => Value::Number(number),
            Self::Text(text) => Value::String(text.into_owned()),
            Self::List(list) => Value::Array(list.into_iter().map(Self::into_value).collect()),
            Self::Object(fields) => Value::Object(fields.rest()),
        }
    }
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Reader {
    /// With fields of any name.
    whole: bool,
}

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
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
        Ok(Json::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            list.push(element);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(Json::Text(name)) = entries.next_key_seed(self)? {
            let whole = self.whole || NAMES_OF_WHOLES.contains(&&*name);
            if whole || NAMES.contains(&&*name) {
                fields.push((name, entries.next_value_seed(Self { whole })?));
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Json::Object(Fields(fields)))
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "an `expect!` is a value of the case it stands in")]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(json: &str, expect: &Expect) {
        let rest = Fields::read(json).map(|fields| Value::Object(fields.rest()).to_string());
        expect.assert_eq(&rest.unwrap_or_else(|| "no object".to_owned()));
    }

    #[test]
    fn only_what_somebody_asks_for_is_kept() {
        check(
            r#"{"type":"a","tools":[{"type":"b"}],"item":{"id":"c","x":1}}"#,
            &expect![[r#"{"item":{"id":"c"},"type":"a"}"#]],
        );
        check(
            r#"{"usage":{"x":{"y":[1,-2,0.5,null,true]}},"x":{}}"#,
            &expect![[r#"{"usage":{"x":{"y":[1,-2,0.5,null,true]}}}"#]],
        );
        check(r#"{"arguments":{"x":"\u00fc"},"t\u0079pe":"ü"}"#, &expect![[r#"{"arguments":{"x":"ü"},"type":"ü"}"#]]);
        let deep = format!(r#"{{"type":"a","x":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
        check(&deep, &expect![[r#"{"type":"a"}"#]]);
    }

    #[test]
    fn other_text_is_no_object() {
        for text in ["", "{", "[]", "null", "\"{}\"", "{} {}", "{\"type\":}", "{\"x\":}", r#"{"id":"\ud800"}"#] {
            check(text, &expect!["no object"]);
        }
    }

    #[test]
    fn a_name_given_twice_means_the_second() {
        let mut fields = Fields::read(r#"{"id":"a","name":"b","id":"c","name":1,"id":"d"}"#).unwrap_or_default();
        assert_eq!(fields.text("id").as_deref(), Some("d"));
        assert_eq!(fields.text("name"), None);
        assert!(fields.0.is_empty());
    }

    #[test]
    fn numbers_that_are_an_index() {
        let index = |number: &str| Fields::read(&format!(r#"{{"output_index":{number}}}"#))?.index("output_index");
        let numbers = ["7", "12.0", "18446744073709551615", "1.5", "-1", "1e300", "\"7\"", "null"];
        let indexes = [Some(7), Some(12), Some(u64::MAX), None, None, None, None, None];
        assert_eq!(numbers.map(index), indexes);
    }
}
