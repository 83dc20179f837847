//! How servers that we didn't write refuse a request. The bodies have the shapes of recorded ones.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::json;
use sluice_core::{Failure, FailureKind, HttpResponse};

fn refusal(status: u16, headers: &[(&str, &str)], body: &str) -> Failure {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Failure::from_http(&HttpResponse { status, headers, body: body.to_owned() }, 0)
}

fn check_refusal(status: u16, body: &str, expected: Expect) {
    let failure = refusal(status, &[], body);
    expected.assert_eq(&format!("{:?}: {}", failure.kind, failure.sentence()));
}

#[test]
fn error_texts_are_found_in_every_shape() {
    check_refusal(
        422,
        "Failed to deserialize the JSON body into the target type: input: data did not match any variant",
        expect![
            "BadRequest: Failed to deserialize the JSON body into the target type: input: data did not match any variant. Check the settings for this model."
        ],
    );
    check_refusal(
        400,
        r#"{"success":false,"error":[{"code":"invalid_enum_value","path":["reasoning","effort"],"message":"Invalid enum value. Expected 'low' | 'medium' | 'high', received 'minimal'"}]}"#,
        expect![
            "BadRequest: reasoning.effort: Invalid enum value. Expected 'low' | 'medium' | 'high', received 'minimal'. Check the settings for this model."
        ],
    );
    check_refusal(
        422,
        r#"{"detail":[{"type":"missing","loc":["body","input",0,"detail"],"msg":"Field required"},{"msg":"Too long"}]}"#,
        expect!["BadRequest: input.detail: Field required; Too long. Check the settings for this model."],
    );
    check_refusal(
        500,
        "data: {\"error\": {\"message\": \"Error processing stream start\", \"code\": \"500\"}}\n\n",
        expect!["ServerDown: Error processing stream start. Try again later or choose another model."],
    );
    check_refusal(
        429,
        "event: error\ndata: {\"error\":{\"message\":\"slow\"}}\n\ndata: [DONE]\n\n",
        expect!["RateLimited: slow. Wait a moment, then try again."],
    );
    check_refusal(
        500,
        "Internal Server Error",
        expect!["ServerDown: Internal Server Error. Try again later or choose another model."],
    );
    check_refusal(
        502,
        "",
        expect!["ServerDown: HTTP 502: The server has a problem. Try again later or choose another model."],
    );
    check_refusal(
        400,
        "[1,2]",
        expect!["BadRequest: HTTP 400: The server refused the request. Check the settings for this model."],
    );
}

#[test]
fn a_wrong_address_is_not_called_a_wrong_model() {
    for body in [
        r#"{"detail":"Not Found"}"#,
        r#"{"error":{"message":"Invalid URL (POST /responses)","type":"invalid_request_error"}}"#,
        r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#,
        "404 page not found",
    ] {
        assert_eq!(refusal(404, &[], body).kind, FailureKind::NotAStream, "{body}");
    }
    check_refusal(
        405,
        r#"{"detail":"Method Not Allowed"}"#,
        expect![
            "NotAStream: Method Not Allowed. Check the base URL: this does not look like an Open Responses endpoint."
        ],
    );
    check_refusal(
        404,
        r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
        expect!["ModelNotFound: The model `x` does not exist. Choose another model; the list may be out of date."],
    );
    check_refusal(
        404,
        r#"{"detail":"Model x is not served here"}"#,
        expect!["ModelNotFound: Model x is not served here. Choose another model; the list may be out of date."],
    );
}

#[test]
fn an_output_limit_is_not_a_conversation_that_is_too_long() {
    check_refusal(
        400,
        r#"{"error":{"message":"max_output_tokens=4000 cannot be greater than max_model_len=2048. Please request fewer output tokens."}}"#,
        expect![
            "BadRequest: max_output_tokens=4000 cannot be greater than max_model_len=2048. Please request fewer output tokens. Check the settings for this model."
        ],
    );
    let message = "This model's maximum context length is 2048 tokens, but the prompt has 36051 characters.";
    let overflow = refusal(400, &[], &json!({ "error": { "message": message } }).to_string()).overflow.unwrap();
    assert_eq!((overflow.asked_tokens, overflow.limit_tokens), (None, Some(2048)));
}

/// Trying again doesn't help, although the status says that the server has a problem.
#[test]
fn a_refusal_is_not_called_a_problem_of_the_server() {
    for message in [
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        "think value \"medium\" is not supported for this model",
    ] {
        let body = json!({ "error": { "message": message, "type": "api_error" } }).to_string();
        assert_eq!(refusal(500, &[], &body).kind, FailureKind::BadRequest, "{message}");
    }
}

/// `LiteLLM` has its own words for these.
#[test]
fn a_wrong_key_and_a_wrong_model_are_recognized_without_their_status() {
    check_refusal(
        400,
        r#"{"error":{"message":"No connected db.","type":"no_db_connection","param":null,"code":"400"}}"#,
        expect!["SignIn: No connected db. Enter a valid API key."],
    );
    check_refusal(
        400,
        r#"{"error":{"message":"/responses: Invalid model name passed in model=x.","type":"invalid_request_error","param":null,"code":"400"}}"#,
        expect![
            "ModelNotFound: /responses: Invalid model name passed in model=x. Choose another model; the list may be out of date."
        ],
    );
}

#[test]
fn the_headers_of_litellm_are_read() {
    let headers = [("llm_provider-retry-after", "7"), ("x-litellm-call-id", "abc")];
    let failure = refusal(429, &headers, "");
    assert_eq!((failure.retry_after_ms, failure.request_id.as_deref()), (Some(7000), Some("abc")));
}
