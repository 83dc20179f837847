//! The streams of the servers that the gateway imitates: which events there are, in which order, and which of them have an
//! index (`@`) and the id of an item (`#`). A line of a recording can be compared with a line of this table.

use expect_test::expect_file;
use serde_json::{Value, json};
use sluice_simulator::{Faults, Imitated, Options, Request, Responder};

/// Returns the events of an answer in one line. Deltas that follow each other are one event.
fn stream(server: Imitated, body: &Value) -> String {
    let faults = Faults::parse(&format!("as={}", server.name())).unwrap();
    let path = if server == Imitated::CodexProxy { "/responses" } else { "/v1/responses" };
    let request = Request {
        method: "POST".to_owned(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    };
    let reply = Responder::new(Options { faults, ..Options::default() }).respond(&request, 1_800_000_000_000);
    let text = String::from_utf8(reply.body()).unwrap();
    let mut words: Vec<String> = Vec::new();
    let mut event_line = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("event: ") {
            event_line = name;
        }
        let Some(event) = line.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok()) else {
            continue;
        };
        let name = event["type"].as_str().unwrap_or(event_line).trim_start_matches("response.");
        let item = match &event["item"] {
            Value::Null => String::new(),
            item => format!(" {}", described(item)),
        };
        let index = event.get("output_index").map(|index| format!("@{index}")).unwrap_or_default();
        let id = if event.get("item_id").is_some() { "#" } else { "" };
        let output: Vec<String> = event["response"]["output"].as_array().into_iter().flatten().map(described).collect();
        let output = if output.is_empty() { String::new() } else { format!(" [{}]", output.join(", ")) };
        let word = format!("{name}{index}{id}{item}{output}");
        if words.last() != Some(&word) {
            words.push(word);
        }
    }
    words.join("\n  ")
}

/// Returns the kind and the status of an item, and the fields that say something.
fn described(item: &Value) -> String {
    let filled = |name: &&str| match &item[*name] {
        Value::String(text) => !text.is_empty(),
        Value::Array(parts) => !parts.is_empty(),
        _ => false,
    };
    let fields = ["name", "arguments", "content", "summary", "encrypted_content"].into_iter().filter(filled);
    let words = [item["type"].as_str(), item["status"].as_str()].into_iter().flatten().chain(fields);
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn each_server_sends_the_events_that_it_was_seen_to_send() {
    let tool = json!({ "type": "function", "name": "read_file", "parameters": {
        "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] } });
    let reasoning = json!({ "effort": "low", "summary": "auto" });
    let question = |model: &str, prompt: &str| {
        json!({ "model": model, "input": prompt, "stream": true, "tools": [tool], "reasoning": reasoning,
            "include": ["reasoning.encrypted_content"] })
    };
    let mut table = String::new();
    for server in Imitated::ALL {
        for (answer, question) in [
            ("thinks", question("sluice/encrypted-reasoning", "Hi")),
            ("speaks and calls", question("sluice/demo", "Read `a.txt` and `b.txt`")),
            ("only thinks", question("sluice/thinking-only", "Hi")),
            ("fails", question("sluice/failed", "Hi")),
        ] {
            table.push_str(&format!("{} {answer}\n  {}\n\n", server.name(), stream(server, &question)));
        }
    }
    expect_file!["../data/streams.txt"].assert_eq(&table);
}
