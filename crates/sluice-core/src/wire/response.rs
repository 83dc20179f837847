//! The response object in life-cycle events, and errors in the formats of various servers.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::item::Item;
use super::json::{FieldName, Fields, Json};
use crate::boundary::{TokenDetails, Usage};

#[derive(Debug, Default)]
pub(crate) struct Response<'a> {
    pub id: Option<Cow<'a, str>>,
    pub model: Option<Cow<'a, str>>,
    pub status: Option<Cow<'a, str>>,
    pub output: Vec<Item<'a>>,
    pub usage: Option<Usage>,
    /// Why the response is incomplete.
    pub incomplete_reason: Option<Cow<'a, str>>,
    pub error: ErrorField<'a>,
    /// What the gateway reports about itself.
    pub metadata: Option<Value>,
}

impl<'a> Response<'a> {
    pub(crate) fn read(mut fields: Fields<'a>) -> Self {
        // Vercel documents the first spelling and sends the second.
        let metadata =
            fields.whole(FieldName::ProviderMetadata).or_else(|| fields.whole(FieldName::ProviderMetadataInCamelCase));
        let status = fields.text(FieldName::Status);
        Self {
            id: fields.text(FieldName::Id),
            model: fields.text(FieldName::Model),
            output: fields.objects(FieldName::Output).into_iter().map(Item::read).collect(),
            usage: fields.whole(FieldName::Usage).and_then(read_usage),
            incomplete_reason: match fields.take(FieldName::IncompleteDetails) {
                Json::Object(mut details) => details.text(FieldName::Reason),
                Json::Text(reason) => Some(reason),
                _ if status.as_deref() == Some("cancelled") => Some(Cow::Borrowed("cancelled")),
                _ => None,
            }
            .map(|reason| match &*reason {
                // The words of chat completions.
                "length" | "max_tokens" => Cow::Borrowed("max_output_tokens"),
                _ => reason,
            }),
            error: ErrorField::read(fields.take(FieldName::Error)),
            metadata: metadata.map(Value::Object),
            status,
        }
    }

    /// Reads the response of a terminal event. Some servers have its fields, or some of them, in the event itself.
    pub(crate) fn read_last(mut event: Fields<'a>) -> Box<Self> {
        let Some(response) = event.object(FieldName::Response) else { return Box::new(Self::read(event)) };
        let mut response = Self::read(response);
        response.usage = response.usage.or_else(|| event.whole(FieldName::Usage).and_then(read_usage));
        if response.error.is_empty() {
            response.error = ErrorField::read(event.take(FieldName::Error));
        }
        Box::new(response)
    }
}

/// Returns the counts, unless the object has none: an empty object says as little as `null`. Some proxies pass on the
/// spelling of chat completions, some next to zeros in the spelling of this protocol.
fn read_usage(mut fields: Map<String, Value>) -> Option<Usage> {
    let [input_tokens, output_tokens, total_tokens] = [
        ["input_tokens", "prompt_tokens", "inputTokens"],
        ["output_tokens", "completion_tokens", "outputTokens"],
        ["total_tokens", "totalTokens", ""],
    ]
    .map(|names| {
        let count = |name: &str| match fields.remove(name)? {
            Value::Number(number) => whole_number(&number),
            Value::String(digits) => digits.parse().ok(),
            _ => None,
        };
        names.map(count).into_iter().flatten().max()
    });
    let [input_tokens_details, output_tokens_details] =
        [["input_tokens_details", "prompt_tokens_details"], ["output_tokens_details", "completion_tokens_details"]]
            .map(|names| {
                let details = |name: &str| match fields.remove(name)? {
                    Value::Object(details) => Some(TokenDetails(details)),
                    _ => None,
                };
                names.map(details).into_iter().flatten().next()
            });
    input_tokens.or(output_tokens).or(total_tokens)?;
    Some(Usage { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details, more: fields })
}

/// Returns a non-negative integer, such as an index or a token count. Servers in languages with a single number type
/// send `12.0`.
pub(super) fn whole_number(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let number = number.as_f64()?;
        let whole = number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: whole and in range")]
        whole.then_some(number as u64)
    })
}

/// Returns a stream of one event with the same meaning as a whole JSON response, for servers that don't stream. Returns
/// `None` if the JSON isn't a response.
pub(crate) fn as_stream(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        output: &'a RawValue,
        status: Option<&'a RawValue>,
    }
    let answer: Answer<'_> = serde_json::from_str(json).ok()?;
    if !answer.output.get().starts_with('[') {
        return None;
    }
    let event = match answer.status.map(RawValue::get) {
        Some("\"incomplete\"") => "response.incomplete",
        Some("\"failed\"") => "response.failed",
        _ => "response.completed",
    };
    // In JSON, line endings occur only between tokens, where a space means the same.
    let one_line = json.trim().replace(['\n', '\r'], " ");
    Some(format!("data: {{\"type\":\"{event}\",\"response\":{one_line}}}\n\n"))
}

/// An error, either nested (`{"message": …, "code": …}`) or just a string.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ErrorField<'a> {
    pub message: Option<Cow<'a, str>>,
    /// The code, or else the status or the type. A number is converted to a string.
    pub code: Option<Cow<'a, str>>,
}

impl<'a> ErrorField<'a> {
    pub(crate) fn new(message: Option<Cow<'a, str>>, code: Option<Cow<'a, str>>) -> Self {
        Self { message: message.map(clipped), code: code.map(clipped) }
    }

    /// Most responses have none.
    pub(crate) fn read(error: Json<'a>) -> Self {
        if matches!(error, Json::Null) { Self::default() } else { Self::read_some(error) }
    }

    #[inline(never)]
    fn read_some(error: Json<'a>) -> Self {
        match error {
            Json::Text(message) => Self::new(Some(message), None),
            Json::Number(code) if !code.is_f64() => Self::new(None, Some(Cow::Owned(code.to_string()))),
            Json::Object(mut fields) => {
                let nested = fields.take(FieldName::Error);
                if !matches!(nested, Json::Null) {
                    return Self::read(nested);
                }
                let message = fields.text(FieldName::Message).or_else(|| fields.text(FieldName::Detail));
                let code = [FieldName::Code, FieldName::Status, FieldName::StatusCode, FieldName::Type];
                Self::new(message, code.into_iter().find_map(|name| fields.word(name)))
            }
            // A validator lists each problem.
            Json::List(problems) => {
                problems.into_iter().map(|problem| Self::read(Json::Object(problem))).next().unwrap_or_default()
            }
            _ => Self::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.message.is_none() && self.code.is_none()
    }
}

/// Enough for everything that is read in an error. A longer one is a dump.
fn clipped(text: Cow<'_, str>) -> Cow<'_, str> {
    const MAX_BYTES: usize = 8 << 10;
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.split_at(text.floor_char_boundary(MAX_BYTES)).0),
        Cow::Owned(mut text) => {
            text.truncate(text.floor_char_boundary(MAX_BYTES));
            Cow::Owned(text)
        }
    }
}
