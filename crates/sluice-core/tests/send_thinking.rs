//! How thinking is asked for, and how answers and data go back.

use crate::support::send::{assistant, build, call, check, result, user};
use expect_test::expect;
use serde_json::{Value, json};

#[test]
fn thinking_is_asked_for_as_the_user_and_the_kind_of_request_say() {
    let sent = |prompt: &str, options: Value| {
        let built = build(json!({"model": "acme/m-1", "messages": [user(prompt)], "options": options}));
        let body: Value = serde_json::from_str(&built.request.body).unwrap();
        format!("{}\n{}\n", body["reasoning"], built.description)
    };
    let title = "Please write a brief title for the following request:\n\nHi";
    let all = json!(["none", "low", "high"]);
    let cases = [
        sent("Hi", json!({})),
        sent("Hi", json!({"reasoningEffort": "low", "efforts": all})),
        sent("Hi", json!({"reasoningEffort": "low", "chosenEffort": "high", "efforts": all})),
        sent("Hi", json!({"reasoningEffort": "none"})),
        sent("Hi", json!({"reasoningEffort": "high", "extraBody": {"_enableThinking": false}})),
        sent("Hi", json!({"reasoningEffort": "a lot", "reasoningSummary": "detailed"})),
        sent(title, json!({"chosenEffort": "high", "efforts": all})),
        sent(title, json!({"chosenEffort": "high", "efforts": ["low", "high"]})),
        sent(title, json!({"chosenEffort": "high"})),
    ];
    expect![[r#"
        {"summary":"auto"}
        acme/m-1: conversation, the model's own effort, with a summary of the thinking
        {"effort":"low","summary":"auto"}
        acme/m-1: conversation, effort low, with a summary of the thinking
        {"effort":"high","summary":"auto"}
        acme/m-1: conversation, effort high, with a summary of the thinking
        {"effort":"none"}
        acme/m-1: conversation, effort none, no summary of the thinking
        null
        acme/m-1: conversation, the model's own effort, no summary of the thinking
        {"effort":"a lot","summary":"detailed"}
        acme/m-1: conversation, an unknown effort, with a summary of the thinking
        {"effort":"none"}
        acme/m-1: chat title, effort none, no summary of the thinking
        {"effort":"low"}
        acme/m-1: chat title, effort low, no summary of the thinking
        null
        acme/m-1: chat title, the model's own effort, no summary of the thinking
    "#]]
    .assert_eq(&cases.concat());
}

#[test]
fn text_and_documents_in_a_question_are_sent() {
    let data = |kind: &str, base64: &str| json!({"type": "data", "mimeType": kind, "base64": base64});
    check(
        json!([{"role": "user", "content": [
            {"type": "text", "value": "Read this:"},
            data("text/plain", "SGk="),
            data("application/json; charset=utf-8", "eyJhIjoxfQ=="),
            data("application/pdf", "JVBERi0xLjc="),
            data("application/pdf", "SGk="),
            data("application/zip", "UEsDBA=="),
        ]}]),
        expect![[r#"
            user [{"text":"Read this:","type":"input_text"},{"text":"Hi","type":"input_text"},{"text":"{\"a\":1}","type":"input_text"},{"file_data":"data:application/pdf;base64,JVBERi0xLjc=","filename":"document.pdf","type":"input_file"}]
            note LeftOut application/pdf
            note LeftOut application/zip
        "#]],
    );
}

/// The agent host keeps only strings, and a host that adds sources to the text changes it.
#[test]
fn an_answer_goes_back_in_the_servers_order() {
    let items = json!([
        {"reasoning": {"id": "rs_1", "summary": ["Hm."], "content": ["Hmm."], "signature": "S"}},
        {"message": {"phase": "commentary", "bytes": 2, "hash": 3_048_969_658_u32}},
        {"call": "gw-1"},
        {"message": {"phase": "final_answer", "bytes": 3, "hash": 0}},
        {"reasoning": {"id": "rs_2", "encrypted_content": "AAA"}},
        {"call": "gw-2"},
    ]);
    let replay = json!({"model": "m-1", "items": items});
    for replay in [replay.clone(), replay.to_string().into()] {
        let parts = json!([
            {"type": "thinking", "replay": replay},
            {"type": "text", "value": "Hi\n\nAll, and sources"},
            call("gw-2", "g"),
            call("gw-1", "f"),
        ]);
        check(
            json!([user("Go"), assistant(parts), result("gw-1", "1"), result("gw-2", "2")]),
            expect![[r#"
                user [{"text":"Go","type":"input_text"}]
                {"content":[{"text":"Hmm.","type":"reasoning_text"}],"id":"rs_1","signature":"S","summary":[{"text":"Hm.","type":"summary_text"}],"type":"reasoning"}
                commentary [{"text":"Hi","type":"output_text"}]
                call 1 f {"b":1, "a":2}
                final_answer [{"text":"All, and sources","type":"output_text"}]
                {"encrypted_content":"AAA","id":"rs_2","summary":[],"type":"reasoning"}
                call 2 g {"b":1, "a":2}
                result 1 "1"
                result 2 "2"
            "#]],
        );
    }
    // Another model gets the messages and the calls alone, and what isn't a replay is ignored.
    let parts = |replay: Value| json!([{"type": "thinking", "replay": replay}, {"type": "text", "value": "Hi"}]);
    check(
        json!([user("Go"), assistant(parts(json!({"model": "m-2", "items": items})))]),
        expect![[r#"
        user [{"text":"Go","type":"input_text"}]
        assistant [{"text":"Hi","type":"output_text"}]
        note LeftOut reasoning
    "#]],
    );
    // Empty lines before the first message belong to it. Between messages, they only separate.
    let items = json!([{"message": {"bytes": 9, "hash": 0}}]);
    let thinking = json!({"type": "thinking", "replay": {"model": "m-1", "items": items}});
    check(
        json!([user("Go"), assistant(json!([thinking, {"type": "text", "value": "\n\nHi"}]))]),
        expect![[r#"
        user [{"text":"Go","type":"input_text"}]
        assistant [{"text":"\n\nHi","type":"output_text"}]
    "#]],
    );
    check(
        json!([user("Go"), assistant(parts("gAAAA".into()))]),
        expect![[r#"
        user [{"text":"Go","type":"input_text"}]
        assistant [{"text":"Hi","type":"output_text"}]
    "#]],
    );
}
