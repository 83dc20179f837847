//! SSE framing: test vectors for the WHATWG rules, each in every two-way split and byte by byte.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use sluice_core::sse::{EventTooLarge, SseEvent, SseParser};

/// Renders events as lines of `name|data`, with escapes, and a tail that isn't an event as `leftover`.
fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, max_event_bytes: usize) -> Result<String, EventTooLarge> {
    let mut lines = String::new();
    let mut parser = SseParser::new(max_event_bytes);
    let mut on_event = |event: SseEvent<'_>| {
        lines.push_str(&format!(
            "{}|{}\n",
            event.name(),
            event.data().escape_debug().to_string().replace("\\\"", "\"")
        ));
    };
    for piece in pieces {
        parser.push(piece, &mut on_event)?;
    }
    if parser.finish(&mut on_event) {
        lines.push_str("leftover\n");
    }
    Ok(lines)
}

fn check(body: impl AsRef<[u8]>, expected: Expect) {
    let body = body.as_ref();
    let whole = parse([body], 1 << 20).unwrap();
    expected.assert_eq(&whole);
    assert_eq!(parse(body.chunks(1), 1 << 20).unwrap(), whole, "byte by byte");
    for at in 0..=body.len() {
        let (before, after) = body.split_at(at);
        assert_eq!(parse([before, after], 1 << 20).unwrap(), whole, "cut at {at}");
        assert_eq!(parse([before, &[], after], 1 << 20).unwrap(), whole, "cut at {at}, with an empty piece");
    }
}

#[test]
fn every_line_ending_is_accepted() {
    check("data:a\n\ndata:b\n\n", expect!["|a\n|b\n"]);
    check("data:a\r\rdata:b\r\r", expect!["|a\n|b\n"]);
    check("data:a\r\n\r\ndata:b\r\n\r\n", expect!["|a\n|b\n"]);
    check("data:a\n\r\ndata:b\r\n\rdata:c\r\n\n", expect!["|a\n|b\n|c\n"]);
    check("data:test\r\ndata\ndata:test\r\n\r", expect!["|test\\n\\ntest\n"]);
}

#[test]
fn byte_order_mark_is_stripped_once() {
    check("\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n", expect!["|1\n|3\n"]);
    check("\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\ndata:3\n\n", expect!["|2\n|3\n"]);
    // An incomplete mark is the start of a line that isn't a field.
    check(b"\xEF\xBBdata:1\n\ndata:2\n\n", expect!["|2\n"]);
    check("data:\u{FEFF}1\n\n", expect!["|\\u{feff}1\n"]);
}

#[test]
fn comments_are_ignored() {
    let long = "x".repeat(2048);
    let body = format!("data:1\r:\0\n:\r\ndata:2\n:{long}\rdata:3\n:data:fail\r:{long}\ndata:4\n\n");
    check(body, expect!["|1\\n2\\n3\\n4\n"]);
    check(": keep-alive\n\n: keep-alive\n\n", expect![""]);
}

#[test]
fn data_lines_are_joined() {
    check("data:\n\ndata\ndata\n\ndata:test\n\n", expect!["|\n|\\n\n|test\n"]);
    check("data:\ttest\rdata: \ndata:test\n\n", expect!["|\\ttest\\n\\ntest\n"]);
    check("data:  two\n\n", expect!["| two\n"]);
    check("data:\0\n\n", expect!["|\\0\n"]);
    check("data: a: b:c\n\n", expect!["|a: b:c\n"]);
    check("\n\n\ndata:1\n\n\n\n", expect!["|1\n"]);
}

#[test]
fn field_names_are_exact() {
    let body =
        "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n";
    check(body, expect!["|\\0\\n 2\\n1\\n3\\n\\n4\n"]);
    check(
        "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n",
        expect!["|test\\n\\ntest\n"],
    );
    check("id: 1\nretry: 100\ndata: x\nid\nretry: no\n\n", expect!["|x\n"]);
}

#[test]
fn the_last_event_name_counts() {
    check("event:test\ndata:x\n\ndata:y\n\n", expect!["test|x\n|y\n"]);
    check("event: a\nevent: b\ndata:x\n\n", expect!["b|x\n"]);
    check("event: a\nevent: \ndata:x\n\n", expect!["|x\n"]);
    // A name without data dispatches nothing and isn't remembered.
    check("event: a\n\ndata:x\n\n", expect!["|x\n"]);
    check("data:x\nevent: late\n\n", expect!["late|x\n"]);
}

#[test]
fn invalid_utf_8_is_replaced() {
    check("data: ok…😀äß\n\n", expect!["|ok…😀äß\n"]);
    check(b"data: a\xFFb\n\n", expect!["|a\u{fffd}b\n"]);
    // A sequence cut off by the end of the line, one cut off by ASCII, an overlong one, and a surrogate.
    check(
        b"data: \xF0\x9F\x98\ndata: \xE2\x82x\ndata: \xC0\xAF\ndata: \xED\xA0\x80\n\n",
        expect!["|\u{fffd}\\n\u{fffd}x\\n\u{fffd}\u{fffd}\\n\u{fffd}\u{fffd}\u{fffd}\n"],
    );
}

#[test]
fn a_complete_last_event_needs_no_blank_line() {
    check("data: {\"a\":1}", expect!["|{\"a\":1}\n"]);
    check("data: {\"a\":1}\n", expect!["|{\"a\":1}\n"]);
    check("event: x\r\ndata: {\"a\":\r\ndata: 1}\r", expect!["x|{\"a\":\\n1}\n"]);
    check("data: [DONE]", expect!["|[DONE]\n"]);
    check("data: {\"a\":1}\nda", expect!["|{\"a\":1}\n"]);
    check("data: {\"a\":", expect!["leftover\n"]);
    check("data: [DONE] ", expect!["leftover\n"]);
    check("data: text\n", expect!["leftover\n"]);
    check("data: {\"a\":1}\ndata: x", expect!["leftover\n"]);
    check(": comment without an end", expect![""]);
    check("", expect![""]);
}

#[test]
fn an_event_over_the_limit_is_an_error_in_every_chunking() {
    let limit = 100;
    let fits = format!("data: {}\n\n", "x".repeat(94));
    let too_large = format!("data: ok\n\ndata: {}\n\ndata: never\n\n", "x".repeat(95));
    let many_lines = format!("{}\n", "data: 0123456789\n".repeat(7));
    for size in [1, 7, 1000] {
        assert!(parse(fits.as_bytes().chunks(size), limit).is_ok());
        for body in [&too_large, &many_lines] {
            let error = parse(body.as_bytes().chunks(size), limit);
            assert_eq!(error, Err(EventTooLarge::Longer { max_bytes: limit }), "in pieces of {size}");
        }
    }
}

#[test]
fn lines_that_are_not_fields_do_not_count_towards_the_limit() {
    let junk = "y".repeat(10_000);
    let body = format!(": {junk}\nid: {junk}\ndat{junk}\nevents{junk}\n{junk}\ndata: ok\n\n");
    for size in [1, 7, 1000, 100_000] {
        assert_eq!(parse(body.as_bytes().chunks(size), 100).unwrap(), "|ok\n", "in pieces of {size}");
    }
}

#[test]
fn the_event_before_an_oversized_one_is_delivered() {
    let mut names = Vec::new();
    let body = format!("event: first\ndata: 1\n\ndata: {}\n\n", "x".repeat(200));
    let error = SseParser::new(100).push(body.as_bytes(), &mut |event| names.push(event.name().into_owned()));
    assert_eq!(names, ["first"]);
    let message = error.expect_err("the second event is too large").to_string();
    assert!(message.contains("100"), "{message}");
}

#[test]
fn a_long_string_stays_in_its_event() {
    let body = format!("data: {{\"a\":\"{}\"}}\n\n", "A".repeat(300 << 10));
    let expected = format!("|{}\n", body.trim_start_matches("data: ").trim_end());
    for chunk in [1000, 100_000, body.len()] {
        assert!(parse(body.as_bytes().chunks(chunk), 1 << 20).unwrap() == expected, "{chunk}");
    }
}
