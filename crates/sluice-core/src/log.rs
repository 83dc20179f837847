//! Describes requests for a log. What a server says may quote what the user wrote, so these lines contain only our own
//! words, numbers, plain ids of models, and terms that the protocol or the gateway defines.

use serde::Serialize;
use serde_json::Value;

use crate::boundary::{LogLevel, LoggedOutcome, Usage};
use crate::models::EFFORTS;
use crate::secrets::Secrets;

/// Terms that the protocol and the gateway define. Any other word in their place may be a quotation.
const PROTOCOL_TERMS: [&str; 36] = [
    // Why an answer is incomplete.
    "content_filter",
    "max_output_tokens",
    "max_tool_calls",
    // Codes and types of errors.
    "api_error",
    "authentication_error",
    "bad_gateway",
    "bad_request",
    "billing_error",
    "context_length_exceeded",
    "customer_verification_required",
    "forbidden",
    "gateway_timeout",
    "image_content_policy_violation",
    "insufficient_funds",
    "insufficient_quota",
    "internal_error",
    "internal_server_error",
    "invalid_api_key",
    "invalid_image",
    "invalid_prompt",
    "invalid_request_error",
    "model_error",
    "model_not_found",
    "not_found",
    "not_found_error",
    "overloaded_error",
    "permission_error",
    "quota_for_entity_exceeded",
    "rate_limit_error",
    "rate_limit_exceeded",
    "request_too_large",
    "server_error",
    "service_unavailable",
    "timeout",
    "timeout_error",
    "too_many_requests",
];

/// The longest id of a model that is logged.
const LONGEST_ID: usize = 100;
/// The maximum number of characters in a line.
const MAX_LINE: usize = 2_000;

/// Masks secrets, anything that looks like one, and the user's name in paths, and shortens a long line between words.
pub fn log_line(secrets: &Secrets, text: &str) -> String {
    // Half a secret wouldn't be recognized, so this comes first.
    let text = secrets.redact(text);
    let Some((limit, _)) = text.char_indices().nth(MAX_LINE) else { return text };
    let (start, _) = text.split_at(limit);
    let (kept, rest) = text.split_at(start.rfind(' ').map_or(0, |at| at + 1));
    format!("{kept}… ({} more characters)", rest.chars().count())
}

/// Describes how a request to a model ended, or why it is sent again. `message` is what the user sees if it failed. The first
/// line contains no word that a server chose. The second one, if there is anything to quote, contains the message for the user
/// and the server's own error code, so it must only be logged at a level at which servers may be quoted.
pub fn log_outcome(
    model: &str,
    outcome: &LoggedOutcome,
    message: Option<&str>,
    retry_ms: Option<u32>,
) -> (LogLevel, String, Option<String>) {
    let level = match (message, retry_ms) {
        (None, _) => LogLevel::Debug,
        (Some(_), None) => LogLevel::Error,
        (Some(_), Some(_)) => LogLevel::Warn,
    };
    let retry = retry_ms.map(|ms| format!(". Asking again in {:.1} s.", f64::from(ms) / 1000.0));
    let line = describe_outcome(model, outcome) + &retry.unwrap_or_default();
    let error = outcome.error.as_ref();
    let request = error.and_then(|error| error.request_id.as_ref()).map(|id| format!("request {id}"));
    let said = [message, error.and_then(|error| error.code.as_deref()), request.as_deref()];
    let said: Vec<&str> = said.into_iter().flatten().collect();
    (level, line, (!said.is_empty()).then(|| format!("{model}: {}", said.join(", "))))
}

fn describe_outcome(model: &str, outcome: &LoggedOutcome) -> String {
    let LoggedOutcome { status, reason, error, empty, usage } = outcome;
    let count = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
    let facts = [
        Some(name(status)),
        protocol_term(reason.as_deref()),
        empty.map(|empty| format!("empty: {}", name(&empty))),
        error.as_ref().map(|error| name(&error.kind)),
        error.as_ref().and_then(|error| error.status).map(|status| format!("HTTP {status}")),
        protocol_term(error.as_ref().and_then(|error| error.code.as_deref())),
        usage.as_ref().map(|Usage { input_tokens, output_tokens, .. }| {
            format!("{} tokens in, {} out", count(*input_tokens), count(*output_tokens))
        }),
    ];
    format!("{}: {}", logged_model(model), facts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Describes a request: what it is for, and how much the model should think.
pub(crate) fn describe_request(model: &str, purpose: &str, effort: Option<&str>, summary: Option<&str>) -> String {
    let effort = match effort {
        None => "the model's own effort".to_owned(),
        Some(effort) if EFFORTS.contains(&effort) => format!("effort {effort}"),
        Some(_) => "an unknown effort".to_owned(),
    };
    let summary = if summary.is_some() { "with a summary of the thinking" } else { "no summary of the thinking" };
    format!("{}: {purpose}, {effort}, {summary}", logged_model(model))
}

/// Returns a model's id for a log. A server chooses its ids and could write sentences in them, so only plain ids are
/// logged.
pub fn logged_model(id: &str) -> &str {
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:@+~-".contains(&byte))
    };
    if id.len() <= LONGEST_ID && id.split('/').all(is_plain) { id } else { "a model" }
}

/// Returns the word if it is a term that the protocol or the gateway defines.
pub(crate) fn protocol_term(word: Option<&str>) -> Option<String> {
    word.filter(|word| PROTOCOL_TERMS.contains(word)).map(str::to_owned)
}

/// Returns the name of a variant, as it crosses the boundary.
fn name(variant: &impl Serialize) -> String {
    serde_json::to_value(variant).ok().as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::{log_line, log_outcome};
    use crate::secrets::Secrets;

    /// Returns nothing if the outcome can't be read.
    fn logged(model: &str, outcome: Value, message: Option<&str>, retry_ms: Option<u32>) -> (String, Option<String>) {
        let Ok(outcome) = serde_json::from_value(outcome) else { return (String::new(), None) };
        let (level, line, quote) = log_outcome(model, &outcome, message, retry_ms);
        (format!("{level:?} {line}"), quote)
    }

    #[test]
    fn a_long_line_is_shortened_between_words_after_secrets_are_masked() {
        let check = |text: &str, expected: &str| {
            assert_eq!(log_line(&Secrets::new(["hunter-2 is my key"]), text), expected);
        };
        check("short", "short");
        check(&format!("acme/m: {}", "ä".repeat(3_000)), "acme/m: … (3000 more characters)");
        check(&"a ".repeat(1_000), &"a ".repeat(1_000));
        check(&format!("{}b", "a ".repeat(1_000)), &format!("{}… (1 more characters)", "a ".repeat(1_000)));
        let hidden = format!("{}[hidden]", "a ".repeat(995));
        check(&format!("{}hunter-2 is my key", "a ".repeat(995)), &hidden);
    }

    #[test]
    fn an_outcome_is_described_in_words_that_no_server_chose() {
        let mut lines = String::new();
        for (model, outcome) in [
            ("a/b", json!({"status": "completed", "usage": {"input_tokens": 12, "output_tokens": null}})),
            ("b", json!({"status": "incomplete", "reason": "max_output_tokens", "empty": "thinkingOnly"})),
            (
                "acme/m-1.5:free",
                json!({"status": "failed", "reason": "invalid_prompt", "error": {
                    "kind": "badRequest", "status": 400, "code": "invalid_prompt", "message": "You wrote: my diary",
                }}),
            ),
            (
                "my diary: I hate my boss",
                json!({"status": "failed", "reason": "diary", "error": {"kind": "server", "code": "diary"}}),
            ),
            ("a//b", json!({"status": "truncated"})),
            ("", json!({"status": "cancelled"})),
        ] {
            lines.push_str(&logged(model, outcome, None, None).0);
            lines.push('\n');
        }
        expect![[r#"
            Debug a/b: completed, 12 tokens in, ? out
            Debug b: incomplete, max_output_tokens, empty: thinkingOnly
            Debug acme/m-1.5:free: failed, invalid_prompt, badRequest, HTTP 400, invalid_prompt
            Debug a model: failed, server
            Debug a model: truncated
            Debug a model: cancelled
        "#]]
        .assert_eq(&lines);
        assert_eq!(super::logged_model(&"a".repeat(101)), "a model");
    }

    #[test]
    fn what_a_server_said_is_in_the_second_line_only() {
        let error = json!({"kind": "rateLimited", "status": 429, "code": "diary", "requestId": "req_1"});
        let lines = |message, retry_ms| {
            let (line, quote) = logged("a/b", json!({"status": "failed", "error": error}), message, retry_ms);
            format!("{line} | {}", quote.unwrap_or_default())
        };
        expect!["Warn a/b: failed, rateLimited, HTTP 429. Asking again in 1.5 s. | a/b: You wrote: my diary, diary, request req_1"].assert_eq(&lines(Some("You wrote: my diary"), Some(1_500)));
        expect!["Error a/b: failed, rateLimited, HTTP 429 | a/b: No, diary, request req_1"]
            .assert_eq(&lines(Some("No"), None));
        expect!["Debug a/b: failed, rateLimited, HTTP 429 | a/b: diary, request req_1"].assert_eq(&lines(None, None));
        let completed = logged("a/b", json!({"status": "completed"}), None, None);
        assert_eq!(completed, ("Debug a/b: completed".to_owned(), None));
    }
}
