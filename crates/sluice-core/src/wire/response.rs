//! The response resource that life-cycle events carry, and errors in the shapes servers give them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Value, json};

use super::item::Item;
use super::lenient;
use crate::boundary::{TokenDetails, Usage};

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Response<'a> {
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub id: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub model: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::list", borrow)]
    pub output: Vec<Item<'a>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<RawUsage>,
    #[serde(default, deserialize_with = "lenient::object", borrow)]
    incomplete_details: Option<IncompleteDetails<'a>>,
    #[serde(default, borrow)]
    pub error: Option<ErrorField<'a>>,
    /// Vercel documents the first spelling and sends the second.
    #[serde(default)]
    provider_metadata: Option<Value>,
    #[serde(default, rename = "providerMetadata")]
    provider_metadata_camel: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct IncompleteDetails<'a> {
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    reason: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
struct RawUsage {
    #[serde(default, deserialize_with = "lenient::index")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::index")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::index")]
    total_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::object")]
    input_tokens_details: Option<TokenDetails>,
    #[serde(default, deserialize_with = "lenient::object")]
    output_tokens_details: Option<TokenDetails>,
    #[serde(flatten)]
    more: BTreeMap<String, Value>,
}

impl Response<'_> {
    /// The counts, unless the object holds none: an empty object says as little as `null`.
    pub fn take_usage(&mut self) -> Option<Usage> {
        let raw = self.usage.take()?;
        let counts = [raw.input_tokens, raw.output_tokens, raw.total_tokens];
        counts.iter().any(Option::is_some).then_some(Usage {
            input_tokens: raw.input_tokens,
            output_tokens: raw.output_tokens,
            total_tokens: raw.total_tokens,
            input_tokens_details: raw.input_tokens_details,
            output_tokens_details: raw.output_tokens_details,
            more: raw.more,
        })
    }

    pub fn take_metadata(&mut self) -> Option<Value> {
        [self.provider_metadata.take(), self.provider_metadata_camel.take()]
            .into_iter()
            .flatten()
            .find(Value::is_object)
    }

    pub fn incomplete_reason(&self) -> Option<&str> {
        self.incomplete_details.as_ref()?.reason.as_deref()
    }
}

/// The one-event stream that says the same as a whole answer in JSON, for servers that do not stream. `None` if the JSON
/// is no answer.
pub fn as_stream(json: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(json).ok()?;
    if !answer.get("output").is_some_and(Value::is_array) {
        return None;
    }
    let event = match answer.get("status").and_then(Value::as_str) {
        Some("incomplete") => "response.incomplete",
        Some("failed") => "response.failed",
        _ => "response.completed",
    };
    Some(format!("data: {}\n\n", json!({"type": event, "response": answer})))
}

/// An error: nested (`{"message": …, "code": …}`), or just a string.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ErrorField<'a> {
    pub message: Option<Cow<'a, str>>,
    /// The code, else the type; a number is spelled out.
    pub code: Option<Cow<'a, str>>,
}

impl ErrorField<'_> {
    pub fn is_empty(&self) -> bool {
        self.message.is_none() && self.code.is_none()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ErrorField<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ErrorVisitor)
    }
}

struct ErrorVisitor;

impl<'de> Visitor<'de> for ErrorVisitor {
    type Value = ErrorField<'de>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an error")
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(ErrorField { message: Some(Cow::Owned(value.to_owned())), code: None })
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        #[derive(Default, Deserialize)]
        struct Nested<'a> {
            #[serde(default, deserialize_with = "lenient::text", borrow)]
            message: Option<Cow<'a, str>>,
            #[serde(default, rename = "type", deserialize_with = "lenient::text", borrow)]
            kind: Option<Cow<'a, str>>,
            #[serde(default)]
            code: Value,
        }
        let nested = Nested::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(ErrorField { message: nested.message, code: code_text(&nested.code).map(Cow::Owned).or(nested.kind) })
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(ErrorField::default())
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(ErrorField { message: None, code: Some(Cow::Owned(value.to_string())) })
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(ErrorField { message: None, code: Some(Cow::Owned(value.to_string())) })
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(ErrorField::default())
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(ErrorField::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<de::IgnoredAny>()?.is_some() {}
        Ok(ErrorField::default())
    }
}

/// Error codes are strings here and HTTP status numbers there.
pub(super) fn code_text(code: &Value) -> Option<String> {
    match code {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
