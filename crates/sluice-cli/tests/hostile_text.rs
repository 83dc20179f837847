//! Text from others that would control a terminal or deceive its reader. The real program must print none of it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};

use crate::support;

/// One control sequence of each kind, between letters so that nothing is trimmed.
const HOSTILE: &str = "a\u{1b}]52;c;eA==\u{7}b\u{9b}2Jc\u{9d}d\u{7f}e\u{202e}f\u{2066}g\u{200f}h\u{61c}i\u{200b}j\u{2028}k\u{2029}l\u{feff}m\u{ad}n\u{e0041}o\u{2060}p\r\ncompleted";

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile-text").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Returns standard output and standard error.
fn sluice(directory: &Path, url: &str, arguments: &[&str], input: &str) -> (String, String) {
    let mut command = support::sluice(directory, arguments);
    let output = support::run(command.env("SLUICE_BASE_URL", url).env("COLUMNS", "999999"), input.as_bytes());
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Responds to every request with this.
fn server(content_type: &'static str, status: &'static str, body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                head.push(byte[0]);
            }
            let length = String::from_utf8_lossy(&head).to_ascii_lowercase();
            let length = length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            let _ = stream.read_exact(&mut vec![0; length.unwrap_or(0)]);
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

fn events(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// An answer with hostile text wherever a server can put it.
fn answer() -> String {
    let call = json!({
        "type": "function_call", "call_id": HOSTILE, "name": HOSTILE,
        "arguments": json!({HOSTILE: HOSTILE}).to_string(),
    });
    let citation = json!({"type": "url_citation", "url": "https://a.example/", "title": HOSTILE, "start_index": 0, "end_index": 1});
    let message =
        json!({"type": "message", "content": [{"type": "output_text", "text": HOSTILE, "annotations": [citation]}]});
    let metadata = json!({"gateway": {"cost": HOSTILE, "routing": {"finalProvider": HOSTILE}}});
    events(&[
        json!({"type": "response.reasoning_text.delta", "output_index": 0, "item_id": HOSTILE, "delta": HOSTILE}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": HOSTILE}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": message}),
        json!({"type": HOSTILE}),
        json!({"type": "response.output_item.done", "output_index": 2, "item": call}),
        json!({"type": "response.completed", "response": {
            "id": HOSTILE, "model": HOSTILE, "provider_metadata": metadata,
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        }}),
    ])
}

fn failure() -> Value {
    json!({"error": {"message": HOSTILE, "code": HOSTILE, "type": HOSTILE, "param": HOSTILE}})
}

fn deceives(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || "\u{202e}\u{2066}\u{200f}\u{61c}\u{200b}\u{2028}\u{2029}\u{feff}\u{ad}\u{e0041}\u{2060}".contains(c)
}

/// Checks an output for people, in which lines may only start in these ways.
fn check(what: &str, shown: &str, beginnings: &[&str]) {
    assert!(!shown.contains(deceives), "{what}: {shown:?}");
    for line in shown.lines().filter(|line| !line.is_empty()) {
        assert!(beginnings.iter().any(|beginning| line.starts_with(beginning)), "{what}: {line:?} in {shown}");
    }
}

/// Checks an output for programs: it has the same text as JSON, without any of the characters themselves.
fn check_json(what: &str, shown: &str, count: usize) {
    assert!(!shown.contains(deceives), "{what}: {shown:?}");
    let values: Vec<Value> = match serde_json::from_str(shown) {
        Ok(value) => vec![value],
        Err(_) => shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    };
    let found: usize = values.iter().map(|value| value.to_string().matches('\u{202e}').count()).sum();
    assert!(found >= count, "{what} has lost text: {found} of {count} in {shown}");
}

#[test]
fn hostile_answers_are_printed_safely() {
    let directory = directory("answers");
    let url = server("text/event-stream", "200 OK", answer());
    // The model's text may contain line breaks; a call, a title, a note and the last line may not.
    let lines = ["a]52", "k", "l", "completed", "→ ", "◦ ", "· "];
    for arguments in [&["chat", "-v", "-m", "m", "Hello"][..], &["decode", "-v", "--events", "-"]] {
        let (shown, errors) = sluice(&directory, &url, arguments, &answer());
        check(arguments[0], &shown, &lines);
        check(arguments[0], &errors, &[&lines[..], &["sluice: "]].concat());
        let all = shown + &errors;
        assert!(all.contains("→ ") && all.contains("\\u202e"), "{all}");
    }
    for arguments in [&["chat", "--json", "-m", "m", "Hello"][..], &["decode", "--json", "-"]] {
        let (shown, _) = sluice(&directory, &url, arguments, &answer());
        check_json(arguments[0], &shown, 8);
    }
}

#[test]
fn hostile_failures_are_printed_safely() {
    let directory = directory("failures");
    let stream = events(&[json!({"type": "error", "message": HOSTILE, "code": HOSTILE})]);
    let servers = [
        server("application/json", "400 Bad Request", failure().to_string()),
        server("text/event-stream", "200 OK", stream),
        server("text/html", "500 Internal Server Error", HOSTILE.to_owned()),
        server("text/plain", "404 Not Found", HOSTILE.to_owned()),
    ];
    for url in servers {
        let (shown, errors) = sluice(&directory, &url, &["chat", "-v", "-m", "m", "Hello"], "");
        check("chat", &shown, &[]);
        check("chat", &errors, &["failed: ", "· ", "sluice: "]);
        check_json("chat", &sluice(&directory, &url, &["chat", "--json", "-m", "m", "Hello"], "").0, 0);
        let (shown, errors) = sluice(&directory, &url, &["models"], "");
        check("models", &shown, &[]);
        check("models", &errors, &["sluice: "]);
    }
}

#[test]
fn models_counts_and_files_are_printed_safely() {
    let directory = directory("models");
    let list = json!({"object": "list", "data": [
        {"id": format!("a/{HOSTILE}"), "name": HOSTILE, "type": "language", "tags": [HOSTILE], "owned_by": HOSTILE, "description": HOSTILE},
        {"id": format!("b/{HOSTILE}"), "name": HOSTILE, "type": HOSTILE},
    ]});
    let url = server("application/json", "200 OK", list.to_string());
    let (shown, errors) = sluice(&directory, &url, &["models", "--all"], "");
    check("models", &shown, &["ID ", "a/a", "b/a"]);
    check("models", &errors, &["sluice: "]);
    assert!(shown.lines().count() >= 2, "{shown}");
    check_json("models", &sluice(&directory, &url, &["models", "--all", "--json"], "").0, 0);

    let request = json!({"model": HOSTILE, "input": [{"type": HOSTILE}, {"role": "user", "content": HOSTILE}], "tools": [{"type": HOSTILE}]});
    let (shown, _) = sluice(&directory, &url, &["count", "--request", "-"], &request.to_string());
    check("count", &shown, &["1", "2", "3", "4", "5", "6", "7", "8", "9", "  "]);
    let (shown, _) = sluice(&directory, &url, &["count", "--request", "--json", "-"], &request.to_string());
    check_json("count", &shown, 1);
    let (shown, _) = sluice(&directory, &url, &["count", "-m", HOSTILE], "Hello");
    check("count", &shown, &["1 tokens ± 15 % (a", "2 tokens ± 15 % (a", "  text, messages, calls, tools: "]);

    for input in [HOSTILE, &format!("{{\"{HOSTILE}"), &format!("[\"{HOSTILE}")] {
        let (shown, errors) = sluice(&directory, &url, &["decode", "-"], input);
        check("decode", &shown, &[]);
        check("decode", &errors, &["sluice: ", "Give the body"]);
    }

    let url = server("text/event-stream", "200 OK", answer());
    sluice(&directory, &url, &["chat", "-m", HOSTILE, "Hello"], "");
    let (shown, _) = sluice(&directory, &url, &["usage"], "");
    // Only the end of a name is shown.
    assert!(shown.contains("o\\u2060p  completed"), "{shown}");
    assert!(!shown.contains(deceives), "{shown}");
    check_json("usage", &sluice(&directory, &url, &["usage", "--json"], "").0, 1);
}

#[test]
fn huge_numbers_and_names_are_printed_safely() {
    let directory = directory("numbers");
    let all = u64::MAX;
    let usage = json!({
        "input_tokens": all, "output_tokens": all, "total_tokens": all,
        "input_tokens_details": {"cached_tokens": all}, "output_tokens_details": {"reasoning_tokens": all},
    });
    let metadata = json!({"gateway": {"cost": "99999999999999999999999999999999"}});
    let response = json!({"id": "r", "model": "m", "usage": usage, "provider_metadata": metadata});
    let answer = events(&[
        json!({"type": "response.output_text.delta", "output_index": all, "content_index": all, "delta": "Hi"}),
        json!({"type": "response.completed", "sequence_number": all, "response": response}),
    ]);
    let url = server("text/event-stream", "200 OK", answer);
    let commands: [&[&str]; 5] = [
        &["chat", "-v", "-m", "m", "Hello"],
        &["chat", "--json", "-m", "m", "Hello"],
        &["usage"],
        &["usage", "--month"],
        &["usage", "--json"],
    ];
    for arguments in commands {
        let (shown, errors) = sluice(&directory, &url, arguments, "");
        assert!(!shown.is_empty() && !errors.contains("panicked"), "{arguments:?}: {errors}");
    }
    // The other name is so much shorter that a formatter couldn't pad it.
    let long = "x".repeat(70_000);
    sluice(&directory, &url, &["chat", "-m", &long, "Hello"], "");
    let (shown, errors) = sluice(&directory, &url, &["usage"], "");
    assert!(!shown.is_empty() && !errors.contains("panicked"), "{errors}");
    let list = json!({"data": [{"id": long, "name": long, "tags": [long]}, {"id": "a/b", "type": long}]});
    let url = server("application/json", "200 OK", list.to_string());
    for arguments in [&["models", "--all"][..], &["models", "--all", "--json"], &["models", "x"], &["models", "y"]] {
        let (_, errors) = sluice(&directory, &url, arguments, "");
        assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    }
}
