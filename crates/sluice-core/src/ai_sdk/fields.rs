//! The fields of a JSON object, parsed only on access. A field that is missing, `null` or of another type counts as
//! absent and affects nothing else.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::wire::string;

/// No chunk has more fields, and no list that is read has more elements. The rest is ignored: the stored pointers take
/// more memory than the shortest fields.
const MAX_FIELDS: usize = 1024;

#[derive(Clone, Debug, Default)]
pub(super) struct RawFields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawFields<'a> {
    /// Returns `None` if the text isn't a JSON object.
    pub(super) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Returns the JSON text of the first of these fields that isn't empty. Versions of the AI SDK have different names
    /// for the same thing, so most fields are looked up by several names.
    pub(super) fn json(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| {
            // If a key occurs twice, the last one counts, as in JavaScript.
            let (_, raw) = self.0.iter().rev().find(|(field, _)| field == name)?;
            Some(raw.get()).filter(|raw| *raw != "null")
        })
    }

    /// Returns the first of these fields that is a string.
    pub(super) fn text(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        names.iter().find_map(|name| self.json(&[name]).and_then(string))
    }

    /// Like [`text`](Self::text), for ids and names, which are absent if empty.
    pub(super) fn word(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        names.iter().find_map(|name| self.text(&[name]).filter(|text| !text.is_empty()))
    }

    pub(super) fn object(&self, names: &[&str]) -> Option<RawFields<'a>> {
        names.iter().find_map(|name| self.json(&[name]).and_then(RawFields::read))
    }

    pub(super) fn list(&self, name: &str) -> Vec<&'a str> {
        let list = self.json(&[name]).and_then(|json| serde_json::from_str::<List<'a>>(json).ok());
        list.unwrap_or_default().0
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.json(&[name]) == Some("true")
    }

    pub(super) fn number(&self, names: &[&str]) -> Option<u64> {
        names.iter().find_map(|name| self.json(&[name])?.parse().ok())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, raw)| (name.as_ref(), raw.get()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawFields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = RawFields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(8);
                while let Some(field) = map.next_entry::<Key<'de>, &RawValue>()? {
                    if fields.len() < MAX_FIELDS {
                        fields.push((field.0.0, field.1));
                    }
                }
                Ok(RawFields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// The name of a field. Without the attribute, serde would always copy the string.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Returns the JSON texts of a list's elements.
#[derive(Default)]
struct List<'a>(Vec<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for List<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;

        impl<'de> Visitor<'de> for Elements {
            type Value = List<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = elements.next_element::<&RawValue>()? {
                    if list.len() < MAX_FIELDS {
                        list.push(element.get());
                    }
                }
                Ok(List(list))
            }
        }
        deserializer.deserialize_seq(Elements)
    }
}
