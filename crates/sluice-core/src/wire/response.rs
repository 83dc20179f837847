//! The response resource that life-cycle events carry, and errors in the shapes servers give them.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::item::Item;
use super::json::{Fields, Json};
use crate::boundary::{TokenDetails, Usage};

#[derive(Debug, Default)]
pub(crate) struct Response<'a> {
    pub id: Option<Cow<'a, str>>,
    pub model: Option<Cow<'a, str>>,
    pub output: Vec<Item<'a>>,
    pub usage: Option<Usage>,
    /// Why it is incomplete.
    pub incomplete_reason: Option<Cow<'a, str>>,
    pub error: ErrorField<'a>,
    /// What the gateway says about itself.
    pub metadata: Option<Value>,
}

impl<'a> Response<'a> {
    pub fn read(mut fields: Fields<'a>) -> Self {
        // Vercel documents the first spelling and sends the second.
        let metadata = fields.object("provider_metadata").or_else(|| fields.object("providerMetadata"));
        Self {
            id: fields.text("id"),
            model: fields.text("model"),
            output: fields.objects("output").into_iter().map(Item::read).collect(),
            usage: fields.object("usage").and_then(read_usage),
            incomplete_reason: fields.object("incomplete_details").and_then(|mut details| details.text("reason")),
            error: ErrorField::read(fields.take("error")),
            metadata: metadata.map(|metadata| Value::Object(metadata.rest())),
        }
    }
}

/// The counts, unless the object holds none: an empty object says as little as `null`.
fn read_usage(mut fields: Fields<'_>) -> Option<Usage> {
    let counts = ["input_tokens", "output_tokens", "total_tokens"].map(|name| fields.index(name));
    let details = ["input_tokens_details", "output_tokens_details"].map(|name| fields.object(name));
    let [input_tokens, output_tokens, total_tokens] = counts;
    let [input_tokens_details, output_tokens_details] = details.map(|details| Some(TokenDetails(details?.rest())));
    counts.iter().any(Option::is_some).then(|| Usage {
        input_tokens,
        output_tokens,
        total_tokens,
        input_tokens_details,
        output_tokens_details,
        more: fields.rest(),
    })
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

impl<'a> ErrorField<'a> {
    pub fn read(error: Json<'a>) -> Self {
        match error {
            Json::Text(message) => Self { message: Some(message), code: None },
            Json::Number(code) if !code.is_f64() => Self { message: None, code: Some(Cow::Owned(code.to_string())) },
            Json::Object(mut fields) => {
                Self { message: fields.text("message"), code: fields.word("code").or_else(|| fields.text("type")) }
            }
            _ => Self::default(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.message.is_none() && self.code.is_none()
    }
}
