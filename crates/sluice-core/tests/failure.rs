//! Failed responses and broken connections: the messages that users see, and when the request is sent again.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;
use sluice_core::{
    Action, BodyEnd, Ending, Endpoint, Exchange, ExchangeOptions, Failure, HttpResponse, Limits, ModelCatalog,
    ResponseStream, StreamOptions, Transport, VERCEL,
};

/// Sunday, 6 November 1994, 08:49:37 GMT.
const NOW: u64 = 784_111_777;

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Failure {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Failure::from_http(&HttpResponse { status, headers, body: body.to_owned() }, NOW)
}

fn check(status: u16, body: &str, expected: Expect) {
    let failure = answer(status, &[], body);
    let retry = if failure.may_retry { "may retry" } else { "final" };
    expected.assert_eq(&format!("{:?}, {retry}: {}", failure.kind, failure.sentence()));
}

/// The title of a web page tells what is in the way: a sign-in page of the network, or a proxy.
#[test]
fn the_title_of_a_web_page_is_shown() {
    check(
        200,
        "<!DOCTYPE html><html><head><TITLE lang=en>Sign in to\n Corp Wi-Fi</TITLE></head>",
        expect![[
            r#"NotAStream, final: HTTP 200: The server answered with something that is not an event stream. It sent a web page with the title "Sign in to  Corp Wi-Fi". Check the base URL: this does not look like an Open Responses endpoint."#
        ]],
    );
    check(
        502,
        "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
        expect![[
            r#"ServerDown, may retry: HTTP 502: The server has a problem. It sent a web page with the title "502 Bad Gateway". Try again later or choose another model."#
        ]],
    );
    check(
        502,
        "<html><title></title></html>",
        expect!["ServerDown, may retry: HTTP 502: The server has a problem. Try again later or choose another model."],
    );
    check(
        502,
        "<html><title>never ends",
        expect!["ServerDown, may retry: HTTP 502: The server has a problem. Try again later or choose another model."],
    );
}

#[test]
fn the_cause_of_a_missing_connection_is_shown() {
    let check = |code: &str, expected: Expect| {
        let mut exchange = Exchange::new(ExchangeOptions { max_attempts: 1, ..ExchangeOptions::default() });
        exchange.handle_no_connection(code);
        let Action::End(report) = exchange.poll(0) else { panic!("it goes on") };
        expected.assert_eq(&report.outcome.error.as_ref().unwrap().sentence());
    };
    check(
        "ECONNREFUSED",
        expect![
            "No connection to the server. The server can be reached, but nothing is listening on that port. (ECONNREFUSED) Check the network, the proxy settings and the base URL."
        ],
    );
    check(
        "ENOTFOUND",
        expect![
            "No connection to the server. No server has that name, or the DNS server can't be reached. (ENOTFOUND) Check the network, the proxy settings and the base URL."
        ],
    );
    // `fetch` has the same error for a connection that broke as for one that was never made. The client can tell them apart.
    for code in ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE"] {
        check(code, expect!["The connection to the server broke before the answer was complete. Try again."]);
    }
    check(
        "not a code",
        expect!["No connection to the server. Check the network, the proxy settings and the base URL."],
    );
}

/// The links that a shell may show are ours.
#[test]
fn refusals_of_known_servers_have_a_page() {
    let page = |origin: &str, status: u16| {
        let mut exchange =
            Exchange::new(ExchangeOptions { origin: origin.to_owned(), max_attempts: 1, ..ExchangeOptions::default() });
        exchange.handle_head(status, Vec::new(), NOW);
        exchange.handle_end();
        match exchange.poll(0) {
            Action::End(report) => match &report.ending {
                Ending::Rejected { page, .. } => page.unwrap_or("none"),
                ending => panic!("{ending:?}"),
            },
            action => panic!("{action:?}"),
        }
    };
    let vercel = "https://ai-gateway.vercel.sh";
    assert_eq!(page(vercel, 401), "https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai-gateway%2Fapi-keys");
    assert_eq!(page(vercel, 402), "https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai-gateway");
    assert_eq!(page(vercel, 400), "none");
    assert_eq!(page("https://ai-gateway.vercel.sh.evil.example", 401), "none");
}

/// The smallest number here is the size of the completion, not the limit.
#[test]
fn the_limit_is_recognized_by_the_words_around_it() {
    let message = "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (8100 in the messages, 1000 in the completion).";
    let body = serde_json::json!({ "error": { "message": message, "code": "context_length_exceeded" } });
    let overflow = answer(400, &[], &body.to_string()).overflow.unwrap();
    assert_eq!((overflow.asked_tokens, overflow.limit_tokens), (Some(9100), Some(8192)));
}

#[test]
fn every_shape_of_error_body_is_read() {
    check(
        400,
        r#"{"error":{"message":"Invalid 'input'","type":"invalid_request_error","param":"input","code":null}}"#,
        expect!["BadRequest, final: Invalid 'input'. Check the settings for this model."],
    );
    check(
        400,
        r#"{"message":"flat","code":"x"}"#,
        expect!["BadRequest, final: flat. Check the settings for this model."],
    );
    check(
        400,
        r#"{"code":"x","error":"just a string"}"#,
        expect!["BadRequest, final: just a string. Check the settings for this model."],
    );
    check(
        422,
        r#"{"detail":"unprocessable"}"#,
        expect!["BadRequest, final: unprocessable. Check the settings for this model."],
    );
    check(
        404,
        "<html><script>alert(1)</script></html>",
        expect![
            "NotAStream, final: HTTP 404: The server answered with something that is not an event stream. Check the base URL: this does not look like an Open Responses endpoint."
        ],
    );
    check(
        405,
        "",
        expect![
            "NotAStream, final: HTTP 405: The server answered with something that is not an event stream. Check the base URL: this does not look like an Open Responses endpoint."
        ],
    );
    check(
        200,
        "<html>",
        expect![
            "NotAStream, final: HTTP 200: The server answered with something that is not an event stream. Check the base URL: this does not look like an Open Responses endpoint."
        ],
    );
    check(
        502,
        "<html>Bad gateway</html>",
        expect!["ServerDown, may retry: HTTP 502: The server has a problem. Try again later or choose another model."],
    );
}

#[test]
fn every_status_and_code_has_its_advice() {
    let error = |kind: &str| format!(r#"{{"error":{{"message":"m","type":"{kind}"}}}}"#);
    check(401, &error("authentication_error"), expect!["SignIn, final: m. Enter a valid API key."]);
    check(402, &error("insufficient_funds"), expect!["NoCredit, final: m. Add credit or raise the budget."]);
    check(
        403,
        &error("customer_verification_required"),
        expect!["Forbidden, final: m. Ask for access, or choose another model."],
    );
    check(
        404,
        &error("model_not_found"),
        expect!["ModelNotFound, final: m. Choose another model; the list may be out of date."],
    );
    check(408, &error("timeout_error"), expect!["ServerDown, may retry: m. Try again later or choose another model."]);
    check(409, &error("conflict"), expect!["ServerDown, may retry: m. Try again later or choose another model."]);
    check(429, &error("rate_limit_exceeded"), expect!["RateLimited, may retry: m. Wait a moment, then try again."]);
    // Waiting doesn't help against an exhausted quota.
    check(
        429,
        r#"{"error":{"message":"m","code":"insufficient_quota"}}"#,
        expect!["NoCredit, final: m. Add credit or raise the budget."],
    );
    check(
        529,
        "",
        expect!["ServerDown, may retry: HTTP 529: The server has a problem. Try again later or choose another model."],
    );
}

#[test]
fn the_numbers_of_a_context_overflow_are_read() {
    let overflow = |message: &str| {
        let failure = answer(400, &[], &format!(r#"{{"error":{{"message":"{message}"}}}}"#));
        format!(
            "{:?} {:?}",
            failure.kind,
            failure.overflow.map(|overflow| (overflow.asked_tokens, overflow.limit_tokens))
        )
    };
    let cases = [
        "prompt is too long: 210,345 tokens > 200,000 maximum",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens.",
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        "Your input exceeds the context window of this model.",
        "Input is too long.",
    ];
    let lines: Vec<String> = cases.iter().map(|case| overflow(case)).collect();
    expect![[r#"
        ContextOverflow Some((Some(210345), Some(200000)))
        ContextOverflow Some((Some(130512), Some(128000)))
        ContextOverflow Some((Some(1048577), Some(1048576)))
        ContextOverflow None
        ContextOverflow None"#]]
    .assert_eq(&lines.join("\n"));
    let failure = answer(
        400,
        &[],
        r#"{"error":{"message":"m","code":"context_length_exceeded","param":{"actual":5,"limit":4}}}"#,
    );
    assert_eq!(failure.overflow.map(|overflow| overflow.limit_tokens), Some(Some(4)));
}

#[test]
fn every_form_of_retry_after_is_read() {
    let after = |headers: &[(&str, &str)]| answer(429, headers, "").retry_after_ms;
    assert_eq!(after(&[]), None);
    assert_eq!(after(&[("Retry-After", "7")]), Some(7_000));
    assert_eq!(after(&[("retry-after", " 1.5 ")]), Some(1_500));
    assert_eq!(after(&[("retry-after", "7"), ("Retry-After-Ms", "250")]), Some(250));
    assert_eq!(after(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), Some(30_000));
    assert_eq!(after(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(0));
    let headers = vec![("retry-after".to_owned(), "Thu, 29 Feb 2024 12:00:00 GMT".to_owned())];
    let leap_day = Failure::from_http(&HttpResponse { status: 429, headers, body: String::new() }, 1_709_208_000 - 7);
    assert_eq!(leap_day.retry_after_ms, Some(7_000));
    // A date in the far future still means a wait.
    for far in [
        "99999999999",
        "9".repeat(400).as_str(),
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Fri, 31 Dec 99999999999999999999999 23:59:59 GMT",
    ] {
        assert_eq!(after(&[("retry-after", far)]), Some(366 * 86_400_000), "{far}");
        assert_eq!(after(&[("retry-after", "1"), ("retry-after-ms", "99999999999999")]), Some(366 * 86_400_000));
    }
    assert_eq!(after(&[("retry-after", "0.0001")]), Some(0));
    assert_eq!(after(&[("retry-after", "007.0309")]), Some(7_030));
    assert_eq!(after(&[("retry-after", "7"), ("retry-after-ms", "250.9")]), Some(250));
    for nonsense in [
        "-5",
        "-99999999999",
        "+5",
        "1e300",
        ".",
        "1.",
        "1.5.5",
        "soon",
        "NaN",
        "inf",
        "infinity",
        "",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994",
    ] {
        assert_eq!(after(&[("retry-after", nonsense)]), None, "{nonsense}");
    }
}

/// Returns how long an exchange waits before each retry if the server always refuses.
fn delays(status: u16, headers: &[(&str, &str)], random: f64) -> Vec<u64> {
    let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut exchange = Exchange::new(ExchangeOptions { random, ..ExchangeOptions::default() });
    let mut delays = Vec::new();
    loop {
        match exchange.poll(0) {
            Action::Send { .. } => exchange.handle_head(status, headers.clone(), NOW),
            Action::Read { .. } => exchange.handle_end(),
            Action::Wait { timeout_ms, .. } => {
                delays.push(timeout_ms);
                exchange.handle_timeout();
            }
            Action::Output(_) => {}
            Action::End(_) => return delays,
        }
    }
}

#[test]
fn retry_delays_grow_and_end() {
    assert_eq!(delays(503, &[], 0.0), [500, 1_000]);
    assert_eq!(delays(503, &[], 1.0), [375, 750]);
    let asked = |seconds: &str| delays(429, &[("retry-after", seconds)], 0.0);
    assert_eq!(asked("3"), [3_000; 2]);
    assert_eq!(asked("60"), [60_000; 2]);
    assert!(asked("61").is_empty(), "a longer wait is left to the user");
    assert!(delays(400, &[], 0.0).is_empty());
    assert!(delays(503, &[("x-should-retry", "false")], 0.0).is_empty());
    let waits = answer(429, &[("retry-after", "3600")], r#"{"error":{"message":"Slow down"}}"#);
    assert_eq!(
        waits.sentence(),
        "Slow down. The server asks to wait 60 min. Try again after that, or choose another model."
    );
    let sentence = |wait: &str| answer(503, &[("retry-after", wait)], r#"{"error":{"message":"Busy"}}"#).sentence();
    expect![[r#"
        Busy. The server asks to wait 5 s. Try again later or choose another model.
        Busy. The server asks to wait 9 hours. Try again after that, or choose another model.
        Busy. The server asks to wait 6 days. Try again after that, or choose another model.
        Busy. The server asks to wait more than a year. Try again after that, or choose another model."#]]
    .assert_eq(&["5", "30000", "500000", "99999999999"].map(sentence).join("\n"));
    assert!(asked("99999999999").is_empty());
}

#[test]
fn server_text_has_no_control_characters() {
    let long = "x".repeat(2_000);
    let failure = answer(
        400,
        &[("x-vercel-id", "fra1::\u{1b}[31mabc")],
        &format!(r#"{{"error":{{"message":"a\u001b[2J\n\u202eb {long}","generationId":"gen_1"}}}}"#),
    );
    assert!(failure.message.starts_with("a[2J b xxx"), "{}", failure.message);
    assert_eq!(failure.message.chars().count(), 500);
    assert_eq!(
        (failure.request_id.as_deref(), failure.generation_id.as_deref()),
        (Some("fra1::[31mabc"), Some("gen_1"))
    );
}

#[test]
fn connection_errors_say_what_to_do() {
    let all = [
        Transport::Connect,
        Transport::HeadersTimeout,
        Transport::Broken,
        Transport::Idle,
        Transport::Redirect,
        Transport::TooLarge,
    ];
    let lines: Vec<String> = all
        .into_iter()
        .map(|transport| Failure::from_transport(transport, "example.com"))
        .map(|failure| format!("{} {}", failure.may_retry, failure.sentence()))
        .collect();
    expect![[r#"
        true No connection to example.com. Check the network, the proxy settings and the base URL.
        true example.com did not answer in time. Try again; if it stays silent, try another model.
        true The connection to example.com broke before the answer was complete. Try again.
        true example.com stopped sending in the middle of the answer. Try again; the idle time-out is a setting.
        false example.com redirects to another address, and the key must not follow. Set the base URL to the final address.
        false The response from example.com is too large and was not read to its end. Check the base URL."#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn keys_quoted_by_a_server_are_masked() {
    let message = |said: &str| answer(401, &[], &format!(r#"{{"error":{{"message":"{said}"}}}}"#)).message;
    let shown = message(
        "Incorrect API key provided: sk-proj-abcdefgh****wxyz. Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc, 'vck_0123456789abcdef'",
    );
    assert_eq!(shown, "Incorrect API key provided: [hidden]. Bearer [hidden], '[hidden]'");
    // Words that only start like a key stay.
    assert_eq!(message("sk-short and skip-this-very-long-word"), "sk-short and skip-this-very-long-word");
}

/// A shell that translates gets codes with arguments.
#[test]
fn the_text_is_codes_with_arguments() {
    let check =
        |failure: &Failure, expected: Expect| expected.assert_eq(&serde_json::to_string(&failure.text).unwrap());
    check(
        &answer(503, &[("retry-after", "7200")], ""),
        expect![[
            r#"[{"code":"httpStatus","args":["503"]},{"code":"serverProblem","args":[]},{"code":"waitHours","args":["2"]},{"code":"tryAfterThat","args":[]}]"#
        ]],
    );
    check(
        &answer(429, &[], r#"{"error":{"message":"Slow down"}}"#),
        expect![[r#"[{"code":"plain","args":["Slow down."]},{"code":"waitAMoment","args":[]}]"#]],
    );
    check(
        &Failure::from_transport(Transport::Connect, "https://a.example"),
        expect![[r#"[{"code":"noConnection","args":["https://a.example"]},{"code":"checkNetwork","args":[]}]"#]],
    );
}

/// Returns all texts in a failure.
fn texts(failure: &Failure) -> Vec<&String> {
    let Failure { message, code, tool, next, text, request_id, generation_id, .. } = failure;
    let arguments = text.iter().flat_map(|message| &message.args).filter(|argument| !argument.is_empty());
    [code, tool, request_id, generation_id].into_iter().flatten().chain([message, next]).chain(arguments).collect()
}

fn is_fit_to_show(failure: &Failure) -> bool {
    texts(failure)
        .iter()
        .all(|text| !text.is_empty() && text.chars().count() <= 501 && !text.chars().any(char::is_control))
        && failure.sentence().chars().count() < 700
}

proptest! {
    #[test]
    fn any_text_makes_a_failure_that_can_be_shown(text in "\\PC{0,40}|(.|\\s){0,40}", times in 1..60_usize, status in 100..600_u16, shape in 0..8_u8) {
        let text = text.repeat(times);
        let body = match shape {
            0 => text.clone(),
            1 => json!({ "error": text }).to_string(),
            2 => json!({ "error": { "message": text, "code": text, "type": text, "param": text, "generationId": text } }).to_string(),
            3 => json!({ "message": [text], "code": { "x": text }, "detail": text }).to_string(),
            4 => json!({ "error": { "message": format!("maximum context length {text} > {text}"), "param": { "actual": text, "limit": 1 } } }).to_string(),
            5 => json!([text]).to_string(),
            6 => format!("<html>{text}"),
            _ => json!({ "error": { "error": { "message": text } } }).to_string(),
        };
        let failure = answer(status, &[("x-request-id", &text), ("retry-after", &text)], &body);
        prop_assert!(is_fit_to_show(&failure), "{failure:?}");
        prop_assert!(is_fit_to_show(&Failure::from_transport(Transport::Connect, &text)));
        // The same error in a stream.
        let event = json!({ "type": "response.failed", "response": { "error": { "message": text, "code": text } } });
        let call = json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "function_call", "call_id": "c", "name": text, "arguments": "" } });
        for body in [format!("data: {event}\n\n"), format!("data: {call}\n\ndata: {{\"type\":\"response.completed\",\"response\":{{}}}}\n\n")] {
            let mut stream = ResponseStream::new(StreamOptions::default());
            let _ = stream.push(body.as_bytes()).count();
            let failure = stream.finish(BodyEnd::Eof).1.error.unwrap();
            prop_assert!(is_fit_to_show(&failure), "{failure:?}");
        }
    }
}

#[test]
fn token_limits_are_found_at_both_ends_of_a_long_message() {
    let endpoint = Endpoint::parse(VERCEL).unwrap();
    let limit = |message: String| ModelCatalog::new(&endpoint).learn("a/b", &message, NOW);
    let dump = "dump of the request ".repeat(10_000);
    let words = "the maximum context length is 8192 tokens";
    assert_eq!(limit(format!("{words} {dump}")), Some(8192));
    assert_eq!(limit(format!("{dump} {words}")), Some(8192));
    assert_eq!(limit(format!("{dump} {words} {dump}")), None);
    // A number that is far from the words for a limit isn't the limit.
    assert_eq!(limit(format!("the context length is {} 8192", "to ".repeat(100))), None);
}

#[test]
fn every_failure_says_what_to_do() {
    let limits = Limits { max_event_bytes: 64, ..Limits::default() };
    let mut stream = ResponseStream::new(StreamOptions { limits, ..StreamOptions::default() });
    let _ = stream.push("data: ".repeat(100).as_bytes()).count();
    let failure = stream.finish(BodyEnd::Eof).1.error.unwrap();
    expect!["One event of the answer is larger than 64 bytes. Ask for less at once, or choose another model."]
        .assert_eq(&failure.sentence());
}

#[test]
fn codes_of_connection_errors_are_explained() {
    let mut lines = String::new();
    for code in [
        "ENOTFOUND",
        "ERR_NAME_NOT_RESOLVED",
        "ECONNREFUSED",
        "SELF_SIGNED_CERT_IN_CHAIN",
        "ERR_TUNNEL_CONNECTION_FAILED",
        "ETIMEDOUT",
        "ENETUNREACH",
        "ECONNRESET",
        "not a code",
        "",
    ] {
        lines.push_str(&sluice_core::join_messages(&sluice_core::connection_cause(code), " "));
        lines.push('\n');
    }
    expect![[r#"
        No server has that name, or the DNS server can't be reached. (ENOTFOUND)
        No server has that name, or the DNS server can't be reached. (ERR_NAME_NOT_RESOLVED)
        The server can be reached, but nothing is listening on that port. (ECONNREFUSED)
        The server's certificate is not trusted. Behind a company proxy, its certificate must be installed in the operating system. (SELF_SIGNED_CERT_IN_CHAIN)
        The proxy refuses the connection. See the setting `http.proxy`. (ERR_TUNNEL_CONNECTION_FAILED)
        Nothing responds at that address; a firewall may be blocking it. (ETIMEDOUT)
        That network is unreachable from this machine. (ENETUNREACH)
        The connection failed. (ECONNRESET)


    "#]].assert_eq(&lines);
}
