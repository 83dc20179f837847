//! `sluice count` as a user runs it: the real binary, what it prints and how it exits.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use std::path::Path;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::support;

fn check(arguments: &[&str], input: &[u8], expected: Expect) {
    let arguments = [&["count"], arguments].concat();
    let output = support::run(&mut support::sluice(Path::new("."), &arguments), input);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    expected.assert_eq(&format!("{out}{err}exit {}\n", output.status.code().unwrap()));
}

const REQUEST: &str = r#"{"model":"openai/gpt-4o","instructions":"Be brief.","input":[
    {"role":"user","content":[{"type":"input_text","text":"What's the weather in Florence?"},
        {"type":"input_image","image_url":"https://example.com/a.png"}]},
    {"type":"function_call","call_id":"c","name":"weather","arguments":"{\"location\":\"Florence\"}"},
    {"type":"function_call_output","call_id":"c","output":"40 C"}],
    "tools":[{"type":"function","name":"weather","description":"Get the weather","parameters":{"type":"object",
        "properties":{"location":{"type":"string"}},"required":["location"]}},{"type":"web_search"}]}"#;

#[test]
fn a_text_is_counted() {
    check(
        &["-"],
        b"hello world",
        expect![[r#"
            2 tokens ± 1 % (openai/gpt-5; 11 characters)
              vocabulary: documented by OpenAI; messages, calls, tools: fitted to 165 recorded requests from 12 repositories (2026-11-18)
            exit 0
        "#]],
    );
    check(
        &["-m", "gpt-4"],
        b"hello <|endoftext|>",
        expect![[r#"
            7 tokens ± 1 % (gpt-4; 19 characters)
              vocabulary: documented by OpenAI; messages, calls, tools: fitted to 315 recorded requests from 16 repositories (2026-11-18)
            exit 0
        "#]],
    );
    check(
        &["-m", "anthropic/claude-sonnet-4.5", "--json"],
        "The quick brown 狐".as_bytes(),
        expect![[r#"
            {"basis":"tools: documented by Anthropic; text, messages, tools, thinking: fitted to 962 recorded requests from 21 repositories; calls: fitted to 165 recorded requests from 13 repositories (2026-11-18)","bytes":19,"characters":17,"model":"anthropic/claude-sonnet-4.5","own_vocabulary":false,"tokenizer":"claude-4.5","tokens":6,"uncertainty":8}
            exit 0
        "#]],
    );
    check(
        &[],
        b"",
        expect![[r#"
            0 tokens ± 1 % (openai/gpt-5; 0 characters)
              vocabulary: documented by OpenAI; messages, calls, tools: fitted to 165 recorded requests from 12 repositories (2026-11-18)
            exit 0
        "#]],
    );
}

#[test]
fn a_request_is_counted() {
    check(
        &["--request", "-"],
        REQUEST.as_bytes(),
        expect![[r#"
            839 input tokens ± 3 % (openai/gpt-4o)
              instructions           7
              messages              10
              tool calls            16
              tool results           8
              tools                 30
              images               765
              framing                3
              vocabulary: documented by OpenAI; messages, calls, tools: fitted to 315 recorded requests from 16 repositories (2026-11-18)
              not all is known: an image is counted as 1024 x 1024 pixels: it is not in the request
              not all is known: `web_search`: the server's description of its own tool and the tool's results are not counted
            exit 0
        "#]],
    );
    check(
        &["--json", "--request", "-m", "xai/grok-4"],
        REQUEST.as_bytes(),
        expect![[r#"
            {"input_tokens":3032,"model":"xai/grok-4","tokenizer":"grok-4","own_vocabulary":false,"instructions":4,"messages":9,"tool_calls":344,"tool_results":19,"reasoning":0,"tools":183,"format":0,"images":1792,"framing":681,"uncertainty":15,"basis":"text, messages, calls, tools, the server's prompt: fitted to 16 recorded requests from 2 repositories (2026-11-18)","notes":["an image is counted as 1024 x 1024 pixels: it is not in the request","`web_search`: the server's description of its own tool and the tool's results are not counted"]}
            exit 0
        "#]],
    );
}

#[test]
fn what_cannot_be_counted_is_reported() {
    check(
        &["no-such-file"],
        b"",
        expect![[r#"
        sluice: cannot read no-such-file: No such file or directory (os error 2). Give the path of a file, or - for standard input.
        exit 2
    "#]],
    );
    check(
        &["--request", "-"],
        b"hello",
        expect![[r#"
        sluice: standard input: the request is not JSON: expected value at line 1 column 1. For plain text, leave out --request.
        exit 2
    "#]],
    );
    check(
        &["--request", "-"],
        b"[1]",
        expect![[r#"
        sluice: standard input: the request is not a JSON object with `model` and `input`. For plain text, leave out --request.
        exit 2
    "#]],
    );
    check(
        &["--request", "-m", "gpt-5", "-"],
        b"[1]",
        expect![[r#"
        sluice: standard input: the request is not a JSON object with `model` and `input`. For plain text, leave out --request.
        exit 2
    "#]],
    );
    check(
        &["-"],
        b"caf\xe9",
        expect![[r#"
            2 tokens ± 1 % (openai/gpt-5; 4 characters)
              vocabulary: documented by OpenAI; messages, calls, tools: fitted to 165 recorded requests from 12 repositories (2026-11-18)
            sluice: standard input is not UTF-8; invalid bytes are counted as �
            exit 0
        "#]],
    );
}

#[test]
fn a_long_text_is_counted_in_pieces() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let count = |name: &str, text: &str| -> Value {
        let file = directory.join(name);
        std::fs::write(&file, text).unwrap();
        let output = support::run(&mut support::sluice(directory, &["count", "--json", &file.to_string_lossy()]), b"");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let words = count("words.txt", &"word ".repeat(700_000));
    let tokens = words["tokens"].as_u64().unwrap();
    assert!((700_000..=700_010).contains(&tokens), "{words}");
    assert_eq!((&words["characters"], &words["bytes"]), (&3_500_000.into(), &3_500_000.into()));
    // Characters are never split.
    let wide = count("wide.txt", &"水".repeat(400_000));
    assert_eq!((&wide["characters"], &wide["bytes"]), (&400_000.into(), &1_200_000.into()));
}
