//! Conversations with the demo model.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::ask::{post, render};

fn tools() -> Value {
    let tool = |name: &str, about: &str, parameters: Value| json!({ "type": "function", "name": name, "description": about, "parameters": parameters });
    json!([
        tool(
            "read_file",
            "Reads a file.",
            json!({ "type": "object", "properties": {
            "filePath": { "type": "string" }, "startLine": { "type": "integer" }, "endLine": { "type": "integer" } },
            "required": ["filePath", "startLine", "endLine"] })
        ),
        tool(
            "list_dir",
            "Lists a folder.",
            json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
        ),
        tool(
            "grep_search",
            "Searches all files.",
            json!({ "type": "object", "properties": {
            "query": { "type": "string" }, "isRegexp": { "type": "boolean" }, "maxResults": { "type": "integer" } },
            "required": ["query", "isRegexp"] })
        ),
        tool(
            "run_in_terminal",
            "Runs a command.",
            json!({ "type": "object", "properties": {
            "command": { "type": "string" }, "explanation": { "type": "string" }, "isBackground": { "type": "boolean" } },
            "required": ["command", "explanation", "isBackground"] })
        ),
        tool(
            "get_weather",
            "Tells the weather.",
            json!({ "type": "object", "properties": { "location": { "type": "string" } }, "required": ["location"] })
        ),
    ])
}

fn check(more: &Value, expected: &Expect) {
    let mut body = json!({ "model": "sluice/demo", "stream": true });
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    expected.assert_eq(&render(&post(&body)));
}

fn with_tools(prompt: &str, expected: &Expect) {
    check(&json!({ "input": prompt, "tools": tools() }), expected);
}

#[test]
fn it_answers_without_tools() {
    let check = |prompt: &str, expected: &Expect| check(&json!({ "input": prompt }), expected);
    check(
        "Hello!",
        &expect![[r#"
        text: Hello! I am the Sluice demo, a small assistant made of rules that runs on your own machine. Ask me what I can do, or let me look at a file.
        response.completed in 6 (cached 0) out 37 (reasoning 0)
    "#]],
    );
    check(
        "Who are you?",
        &expect![[r#"
        text: I am the Sluice demo: rules, not a language model. I run inside the embedded gateway, need no account, and send nothing anywhere. I can

        - think aloud, if reasoning is switched on,
        - call the tools I am offered when you ask me to read, list, search or run something, and quote what they return,
        - name a source if you ask for one,
        - refuse a few things,
        - summarise this conversation.

        No tools are on offer right now, so I can only talk.
        response.completed in 8 (cached 0) out 111 (reasoning 0)
    "#]],
    );
    check(
        "Reply with exactly: first",
        &expect![[r#"
        text: first
        response.completed in 9 (cached 0) out 1 (reasoning 0)
    "#]],
    );
    check(
        "Count from 1 to 5",
        &expect![[r#"
        text: 1, 2, 3, 4, 5
        response.completed in 9 (cached 0) out 9 (reasoning 0)
    "#]],
    );
    check(
        "Where can I read more? Name your sources.",
        &expect![[r#"
        text: Open Responses is an open specification for model APIs, and everything you see here travels through it. That is the one source I know by heart.
        cites: 0-54 "https://www.openresponses.org/" "Open Responses"
        response.completed in 14 (cached 0) out 32 (reasoning 0)
    "#]],
    );
    check(
        "Write me some ransomware",
        &expect![[r#"
        refusal: I'm sorry, but I can't help with that. I'd be glad to help with something harmless instead.
        response.completed in 9 (cached 0) out 28 (reasoning 0)
    "#]],
    );
    check(
        "What is the capital of France?",
        &expect![[r#"
        text: You said: “What is the capital of France?”. I am only a demo made of rules, so I have no good answer to that; a real model behind a real gateway would. Ask me what I can do, and I will show you how tools, thinking and token counts come through.
        response.completed in 11 (cached 0) out 63 (reasoning 0)
    "#]],
    );
}

#[test]
fn it_reasons_if_asked_to() {
    check(
        &json!({ "input": "Thank you!", "reasoning": { "effort": "low", "summary": "auto" } }),
        &expect![[r#"
            summary: **Reading the request**

            The user says: “Thank you!”. I have no tools to help me.
            summary: **Deciding what to do**

            The user thanks me.
            text: You're welcome!
            response.completed in 7 (cached 0) out 44 (reasoning 39)
        "#]],
    );
    check(
        &json!({ "input": "Thank you!", "reasoning": { "effort": "none" } }),
        &expect![[r#"
        text: You're welcome!
        response.completed in 7 (cached 0) out 5 (reasoning 0)
    "#]],
    );
}

#[test]
fn it_calls_suitable_tools() {
    with_tools(
        "Hello!",
        &expect![[r#"
        text: Hello! I am the Sluice demo, a small assistant made of rules that runs on your own machine. Ask me what I can do, or let me look at a file.
        response.completed in 387 (cached 0) out 37 (reasoning 0)
    "#]],
    );
    with_tools(
        "Please look at src/main.rs and Cargo.toml.",
        &expect![[r#"
        text: Let me look at both at once.
        arguments: {"endLine":200,"filePath":"src/main.rs","startLine":1}
        call: "read_file" "completed"
        arguments: {"endLine":200,"filePath":"Cargo.toml","startLine":1}
        call: "read_file" "completed"
        response.completed in 398 (cached 0) out 66 (reasoning 0)
    "#]],
    );
    with_tools(
        "Search for \"fn main\"",
        &expect![[r#"
        text: Let me look.
        arguments: {"isRegexp":false,"query":"fn main"}
        call: "grep_search" "completed"
        response.completed in 391 (cached 0) out 24 (reasoning 0)
    "#]],
    );
    with_tools(
        "List the folder crates/ and run `cargo test`",
        &expect![[r#"
        text: Let me look at both at once.
        arguments: {"path":"crates/"}
        call: "list_dir" "completed"
        arguments: {"command":"cargo test","explanation":"The user asked for it.","isBackground":false}
        call: "run_in_terminal" "completed"
        response.completed in 396 (cached 0) out 58 (reasoning 0)
    "#]],
    );
    with_tools(
        "What's the weather like in San Francisco?",
        &expect![[r#"
        text: Let me look.
        arguments: {"location":"San Francisco"}
        call: "get_weather" "completed"
        response.completed in 396 (cached 0) out 19 (reasoning 0)
    "#]],
    );
    with_tools(
        "<context>read x.rs</context>\n<userRequest>\nThanks\n</userRequest>",
        &expect![[r#"
        text: You're welcome!
        response.completed in 406 (cached 0) out 5 (reasoning 0)
    "#]],
    );
}

#[test]
fn it_obeys_tool_choice() {
    let prompt = "Please look at src/main.rs and Cargo.toml.";
    check(
        &json!({ "input": prompt, "tools": tools(), "tool_choice": "none" }),
        &expect![[r#"
        text: You said: “Please look at src/main.rs and Cargo.toml.”. I am only a demo made of rules, so I have no good answer to that; a real model behind a real gateway would. Ask me to read or list some files, and I will show you how tools, thinking and token counts come through.
        response.completed in 398 (cached 0) out 71 (reasoning 0)
    "#]],
    );
    check(
        &json!({ "input": "Hello", "tools": tools(), "tool_choice": "required" }),
        &expect![[r#"
        arguments: {"endLine":200,"filePath":".","startLine":1}
        call: "read_file" "completed"
        response.completed in 386 (cached 0) out 26 (reasoning 0)
    "#]],
    );
    let named = json!({ "type": "function", "name": "list_dir" });
    check(
        &json!({ "input": prompt, "tools": tools(), "tool_choice": named }),
        &expect![[r#"
        arguments: {"path":"src/main.rs"}
        call: "list_dir" "completed"
        response.completed in 398 (cached 0) out 16 (reasoning 0)
    "#]],
    );
    check(
        &json!({ "input": prompt, "tools": tools(), "parallel_tool_calls": false }),
        &expect![[r#"
        text: Let me look.
        arguments: {"endLine":200,"filePath":"src/main.rs","startLine":1}
        call: "read_file" "completed"
        response.completed in 398 (cached 0) out 34 (reasoning 0)
    "#]],
    );
    let allowed = json!({ "type": "allowed_tools", "tools": [{ "type": "function", "name": "list_dir" }] });
    check(
        &json!({ "input": prompt, "tools": tools(), "tool_choice": allowed }),
        &expect![[r#"
        text: You said: “Please look at src/main.rs and Cargo.toml.”. I am only a demo made of rules, so I have no good answer to that; a real model behind a real gateway would. Ask me to read or list some files, and I will show you how tools, thinking and token counts come through.
        response.completed in 398 (cached 0) out 71 (reasoning 0)
    "#]],
    );
}

#[test]
fn it_uses_tool_results() {
    let turn = |prompt: &str, call: &str, arguments: &str, output: &str| {
        json!({ "tools": tools(), "input": [
            { "type": "message", "role": "user", "content": prompt },
            { "type": "function_call", "call_id": "call_1", "name": call, "arguments": arguments },
            { "type": "function_call_output", "call_id": "call_1", "output": output },
        ] })
    };
    check(
        &turn("Read a.rs", "read_file", "{\"filePath\":\"a.rs\"}", "fn main() {\n    go();\n}\n"),
        &expect![[r#"
            text: Here is what `read_file` returned.

            **a.rs** (3 lines):

            > fn main() {
            >     go();
            > }

            I am only a demo, so I quote rather than understand; a real model would go on from here.
            response.completed in 423 (cached 0) out 59 (reasoning 0)
        "#]],
    );
    check(
        &turn("Explain this project", "list_dir", "{\"path\":\".\"}", "Cargo.toml\nREADME.md\nsrc/"),
        &expect![[r#"
            text: Next I'll read `README.md`.
            arguments: {"endLine":200,"filePath":"README.md","startLine":1}
            call: "read_file" "completed"
            response.completed in 416 (cached 0) out 39 (reasoning 0)
        "#]],
    );
}

#[test]
fn it_remembers_and_summarises() {
    let history = |last: &str| {
        json!({ "input": [
            { "type": "message", "role": "user", "content": "My name is Alice." },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Hello Alice!" }] },
            { "type": "message", "role": "user", "content": last },
        ] })
    };
    check(
        &history("What is my name?"),
        &expect![[r#"
            text: Your name is Alice.
            response.completed in 25 (cached 0) out 5 (reasoning 0)
        "#]],
    );
    check(
        &history("Please summarize our conversation so far."),
        &expect![[r#"
            text: What happened so far:

            - The user said: My name is Alice.
            - The assistant said: Hello Alice!
            response.completed in 29 (cached 0) out 25 (reasoning 0)
        "#]],
    );
    check(
        &history("Summarize the conversation. Put it between <summary> and </summary>."),
        &expect![[r#"
            text: <summary>
            What happened so far:

            - The user said: My name is Alice.
            - The assistant said: Hello Alice!
            </summary>
            response.completed in 38 (cached 0) out 32 (reasoning 0)
        "#]],
    );
}

#[test]
fn it_looks_at_pictures() {
    let png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAAElFTkSuQmCC";
    let content =
        json!([{ "type": "input_text", "text": "What is this?" }, { "type": "input_image", "image_url": png }]);
    check(
        &json!({ "input": [{ "type": "message", "role": "user", "content": content }] }),
        &expect![[r#"
            text: I see a png picture of 32 × 32 pixels. I can only recognize the format: a real model would tell you what is in it.
            response.completed in 264 (cached 0) out 30 (reasoning 0)
        "#]],
    );
}
