//! Converts the SDK's error objects to failures. An error that comes from an HTTP response contains that response and
//! is classified by it, as if we had received it ourselves.

use super::fields::RawFields;
use crate::boundary::Failure;
use crate::failure::HttpResponse;
use crate::wire::string;

/// How deeply errors may be nested.
const MAX_DEPTH: usize = 8;
/// How much of a text is inspected.
const MAX_BYTES: usize = 64 << 10;

impl Failure {
    /// Makes a failure from an `error` chunk: `error` in `fullStream`, `errorText` in UI message streams.
    pub(super) fn from_chunk(chunk: &RawFields<'_>) -> Self {
        match chunk.json(&["error", "errorText"]) {
            // An inner error is parsed once for every error around it. To keep the time linear, all inner errors together may
            // have only a few more bytes than the outermost one.
            Some(json) => Self::from_error(json, MAX_DEPTH, json.len() + MAX_BYTES),
            None => Self::from_stream(None, None),
        }
    }

    fn from_error(json: &str, depth: usize, max_inner_bytes: usize) -> Self {
        if let Some(text) = string(json) {
            return Self::from_stream(Some(start(&text)), None);
        }
        let Some(error) = RawFields::read(json) else { return Self::from_stream(None, None) };
        // In retries and wrappers, the last error says the most.
        let inner = error.json(&["lastError"]).or_else(|| error.json(&["cause"]).filter(|_| !has_response(&error)));
        let inner = inner.filter(|inner| depth > 0 && inner.len() <= max_inner_bytes && inner.starts_with('{'));
        let read_inner = |inner: &str| Self::from_error(inner, depth - 1, max_inner_bytes - inner.len());
        if let Some(failure) = inner.map(read_inner) {
            let says_more = failure.status.is_some() || failure.code.is_some();
            if says_more || error.json(&["lastError"]).is_some() {
                return failure;
            }
        }
        let status = error.number(&["statusCode", "status"]).and_then(|status| u16::try_from(status).ok());
        if let (Some(status), Some(body)) = (status, error.text(&["responseBody"])) {
            let headers = error.object(&["responseHeaders"]).unwrap_or_default();
            let headers =
                headers.iter().filter_map(|(name, json)| Some((name.to_owned(), start(&string(json)?).to_owned())));
            // A date would be useless without a clock.
            let is_number = |value: &str| value.starts_with(|c: char| c.is_ascii_digit());
            let headers = headers.filter(|(name, value)| name != "retry-after" || is_number(value));
            let response = HttpResponse { status, headers: headers.collect(), body: start(&body).to_owned() };
            return Self::from_http(&response, 0);
        }
        let nested = error.object(&["error"]).or_else(|| error.object(&["data"])?.object(&["error"]));
        let nested = nested.unwrap_or_default();
        let message = error.word(&["message"]).or_else(|| nested.word(&["message"])).or_else(|| error.word(&["error"]));
        let code = error.word(&["code"]).or_else(|| nested.word(&["code"])).or_else(|| nested.word(&["type"]));
        Self::from_library(message.as_deref().map(start), code.as_deref().map(start), status)
    }
}

fn has_response(error: &RawFields<'_>) -> bool {
    error.json(&["statusCode"]).is_some()
}

fn start(text: &str) -> &str {
    text.split_at(text.floor_char_boundary(MAX_BYTES)).0
}
