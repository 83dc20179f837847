//! `sluice decode` as a user runs it: the real binary, a stream on standard input, what it prints and how it exits.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use std::path::Path;

use expect_test::{Expect, expect};

use crate::support;

const DELTA: &str =
    "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"Hi \\u001b[31mthere\"}\n\n";
const CALL: &str = "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{ \\\"n\\\": 12345678901234567890123,\\n \\\"s\\\": \\\"a b\\\" }\"}}\n\n";
const UNKNOWN: &str = "data: {\"type\":\"acme:noise\"}\n\n";
const COMPLETED: &str = "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"model\":\"m\",\"usage\":{\"input_tokens\":5,\"output_tokens\":3,\"total_tokens\":8,\"input_tokens_details\":{\"cached_tokens\":2},\"output_tokens_details\":{\"reasoning_tokens\":1}}}}\n\n";

/// Returns the exit code, standard output and standard error. The time in the last line is replaced.
fn run(arguments: &[&str], input: &str) -> String {
    let arguments = [&["decode"], arguments].concat();
    let output = support::run(&mut support::sluice(Path::new("."), &arguments), input.as_bytes());
    let mut shown = String::from_utf8(output.stdout).unwrap();
    if let Some(time) = shown.rfind(" · ").filter(|_| shown.ends_with(" ms\n")) {
        shown.replace_range(time.., " · N ms\n");
    }
    let errors = String::from_utf8(output.stderr).unwrap();
    format!("{shown}{errors}exit {}\n", output.status.code().unwrap())
}

fn check(arguments: &[&str], input: &str, expected: Expect) {
    expected.assert_eq(&run(arguments, input));
}

#[test]
fn outputs_are_printed_as_json_lines() {
    check(
        &["--json", "-"],
        &[DELTA, UNKNOWN, CALL, COMPLETED].concat(),
        expect![[r#"
        {"type":"text","value":"Hi \u001b[31mthere"}
        {"type":"note","kind":"unknownEvent","detail":"acme:noise"}
        {"type":"toolCall","callId":"gw-c","name":"f","input":{"n":12345678901234567890123,"s":"a b"}}
        {"type":"outcome","status":"completed","reason":null,"error":null,"empty":null,"responseId":"resp_1","model":"m","usage":{"input_tokens":5,"output_tokens":3,"total_tokens":8,"input_tokens_details":{"cached_tokens":2},"output_tokens_details":{"reasoning_tokens":1}},"gateway":null,"retrySafe":false}
        exit 0
    "#]],
    );
}

#[test]
fn every_chunking_prints_the_same() {
    let body = [DELTA, UNKNOWN, CALL, COMPLETED].concat().replace('\n', "\r\n");
    let whole = run(&["--json", "-"], &body);
    for size in ["1", "2", "7", "64", "100000"] {
        assert_eq!(run(&["--json", "--chunk", size, "-"], &body), whole, "--chunk {size}");
    }
}

#[test]
fn outputs_are_printed_for_people() {
    check(
        &["-"],
        &[DELTA, UNKNOWN, CALL, COMPLETED].concat(),
        expect![[r#"
            Hi [31mthere
            → f {"n":12345678901234567890123,"s":"a b"}  (gw-c)
            completed · m · 5 tokens in (2 cached) · 3 out (1 reasoning) · N ms
            exit 0
        "#]],
    );
    check(
        &["-v", "--events", "-"],
        &[DELTA, UNKNOWN, COMPLETED].concat(),
        expect![[r#"
        · response.output_text.delta
        Hi [31mthere
        · acme:noise
        · unknownEvent: acme:noise
        · response.completed
        completed · m · 5 tokens in (2 cached) · 3 out (1 reasoning) · N ms
        exit 0
    "#]],
    );
}

#[test]
fn the_exit_code_says_how_the_stream_ended() {
    let incomplete = "data: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}\n\n";
    check(
        &["-"],
        incomplete,
        expect![[r#"
        incomplete: max_output_tokens · the output limit was used up before the first word · N ms
        exit 0
    "#]],
    );
    check(
        &["-"],
        &format!("{DELTA}data: {{\"type\":\"error\",\"message\":\"overloaded\"}}\n\n"),
        expect![[r#"
        Hi [31mthere
        failed: overloaded · N ms
        exit 1
    "#]],
    );
    check(
        &["-"],
        DELTA,
        expect![[r#"
        Hi [31mthere
        truncated: eof · N ms
        exit 1
    "#]],
    );
}

#[test]
fn input_that_is_not_a_stream_is_reported_clearly() {
    check(
        &["-"],
        "<html>502</html>",
        expect![[r#"
        sluice: standard input is not a stream that can be replayed: it starts with <html>502</html>
        Give the body of an Open Responses or AI SDK event stream, or AI SDK chunks as JSON lines or a JSON array; --dialect says which it is.
        exit 2
    "#]],
    );
    check(
        &["-"],
        "",
        expect![[r#"
        sluice: standard input is not a stream that can be replayed: it is empty
        Give the body of an Open Responses or AI SDK event stream, or AI SDK chunks as JSON lines or a JSON array; --dialect says which it is.
        exit 2
    "#]],
    );
    check(
        &["-"],
        "[{\"type\":\"start\"},",
        expect![[r#"
        sluice: standard input is not a stream that can be replayed: it starts with [, but is not a JSON array: EOF while parsing a value at line 1 column 18
        Give the body of an Open Responses or AI SDK event stream, or AI SDK chunks as JSON lines or a JSON array; --dialect says which it is.
        exit 2
    "#]],
    );
    check(
        &["-"],
        "{\"error\":{\"message\":\"no\"}}\n",
        expect![[r#"
        sluice: standard input is not a stream that can be replayed: it starts with {\"error\":{\"message\":\"no\"}}
        Give the body of an Open Responses or AI SDK event stream, or AI SDK chunks as JSON lines or a JSON array; --dialect says which it is.
        exit 2
    "#]],
    );
    check(
        &["-"],
        "[{\"role\":\"user\"}]",
        expect![[r#"
        sluice: standard input is not a stream that can be replayed: it starts with [{\"role\":\"user\"}]
        Give the body of an Open Responses or AI SDK event stream, or AI SDK chunks as JSON lines or a JSON array; --dialect says which it is.
        exit 2
    "#]],
    );
    check(
        &["--dialect", "ui-message", "-"],
        "\n",
        expect![[r#"
            sluice: standard input is not a stream that can be replayed: it is empty
            Give the body of an Open Responses or AI SDK event stream, or AI SDK chunks as JSON lines or a JSON array; --dialect says which it is.
            exit 2
        "#]],
    );
}

const FULL_STREAM: [&str; 5] = [
    r#"{"type":"text-delta","id":"0","text":"Hi"}"#,
    r#"{"type":"tool-input-start","id":"c","toolName":"f"}"#,
    r#"{"type":"tool-call","toolCallId":"c","toolName":"f","input":{"n":12345678901234567890123}}"#,
    r#"{"type":"unheard-of"}"#,
    r#"{"type":"finish","finishReason":"tool-calls","totalUsage":{"inputTokens":5,"outputTokens":3}}"#,
];

#[test]
fn ai_sdk_chunks_in_every_framing_print_the_same() {
    let expected = expect![[r#"
        {"type":"text","value":"Hi"}
        {"type":"note","kind":"unknownEvent","detail":"unheard-of"}
        {"type":"toolCall","callId":"gw-c","name":"f","input":{"n":12345678901234567890123}}
        {"type":"outcome","status":"completed","reason":null,"error":null,"empty":null,"responseId":null,"model":null,"usage":{"input_tokens":5,"output_tokens":3,"total_tokens":8,"input_tokens_details":null,"output_tokens_details":null},"gateway":null,"retrySafe":false}
        exit 0
    "#]];
    let lines = FULL_STREAM.join("\n");
    check(&["--json", "-"], &lines, expected);
    let shown = run(&["--json", "-"], &lines);
    let array = format!(" [\n{}\n]\n", FULL_STREAM.join(",\n"));
    let pretty: String = FULL_STREAM.map(|chunk| format!("{{\n  {}\n}}\n", &chunk[1..chunk.len() - 1])).concat();
    let events: String = FULL_STREAM.map(|chunk| format!("data: {chunk}\r\n\r\n")).concat() + "data: [DONE]\n\n";
    let commented = format!(": hello\n\n{events}");
    for (framing, input) in
        [("array", &array), ("pretty", &pretty), ("events", &events), ("a comment first", &commented)]
    {
        for arguments in
            [&["--json", "-"][..], &["--json", "--chunk", "1", "-"], &["--json", "--dialect", "ui-message", "-"]]
        {
            assert_eq!(run(arguments, input), shown, "{framing} {arguments:?}");
        }
    }
    assert_eq!(run(&["--json", "--dialect", "ai-sdk", "--chunk", "3", "-"], &lines), shown);
}

#[test]
fn names_in_both_dialects_do_not_decide() {
    check(
        &["-"],
        "data: {\"type\":\"error\",\"error\":{\"message\":\"a\"}}\n\n",
        expect![[r#"
        failed: a · N ms
        exit 1
    "#]],
    );
    check(
        &["-"],
        "data: {\"type\":\"error\",\"errorText\":\"b\"}\n\n",
        expect![[r#"
        failed: b · N ms
        exit 1
    "#]],
    );
    check(
        &["-"],
        "data: {\"type\":\"ping\"}\n\ndata: {\"type\":\"text-delta\",\"delta\":\"c\"}\n\ndata: [DONE]\n\n",
        expect![[r#"
            c
            completed · N ms
            exit 0
        "#]],
    );
}

#[test]
fn an_unknown_dialect_is_refused() {
    let shown = run(&["--dialect", "klingon", "-"], "");
    assert!(shown.contains("openresponses, ai-sdk, ui-message") && shown.contains("exit 2"), "{shown}");
}

#[test]
fn a_file_that_cannot_be_read_is_reported_clearly() {
    check(
        &["no/such/file.sse"],
        "",
        expect![[r#"
        sluice: cannot read no/such/file.sse: No such file or directory (os error 2)
        Give the path of a captured stream, or - to read one from standard input.
        exit 2
    "#]],
    );
    check(
        &["src"],
        "",
        expect![[r#"
        sluice: cannot read src: it is a directory
        Give the path of a captured stream, or - to read one from standard input.
        exit 2
    "#]],
    );
}
