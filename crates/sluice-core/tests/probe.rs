//! What a connection test finds out about servers that the embedded gateway doesn't imitate. The answers are modelled on what
//! such servers are known to send.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{
    CheckResult, HttpResponse, LedgerEntry, Parameter, Probe, ProbeAnswer, ProbeEvent, ProbeFailure, ProbeOptions,
    ProbeStep, Status, Topic, Transport, join_messages,
};

/// A server, as a function from the number of a chat to its answer.
struct Server {
    list: (u16, &'static str),
    answer: fn(&Value) -> ProbeAnswer,
}

const TINY: &str = r#"{"object":"list","data":[{"id":"tiny","object":"model"}]}"#;

fn ok(entry: &Value) -> ProbeAnswer {
    ProbeAnswer {
        status: Status::Completed,
        entry: serde_json::from_value::<LedgerEntry>(entry.clone()).unwrap(),
        failure: None,
        parts: 4,
        is_thinking_shown: false,
        refused: Vec::new(),
        is_reasoning_refused: false,
        elsewhere: None,
        milliseconds: 120,
    }
}

fn failed(kind: &str, message: &str, status: u16) -> ProbeAnswer {
    let failure = ProbeFailure {
        kind: serde_json::from_value(kind.into()).unwrap(),
        message: message.to_owned(),
        text: message.to_owned(),
        status: Some(status),
    };
    ProbeAnswer { status: Status::Failed, failure: Some(failure), parts: 0, ..ok(&json!({})) }
}

/// Answers as a plain server would: two calls if there is a tool, else a few words.
fn plain(chat: &Value) -> ProbeAnswer {
    let has_results = chat["messages"].as_array().unwrap().len() > 2;
    let call = |id: &str| json!({"type": "toolCall", "callId": id, "name": "get_weather", "inputJson": "{}"});
    let answer = if chat["tools"].as_array().is_some_and(|tools| !tools.is_empty()) && !has_results {
        json!([call("c1"), call("c2")])
    } else {
        json!([{"type": "text", "value": "one two"}])
    };
    let limit = chat["options"]["maxOutputTokens"].as_u64().unwrap();
    let output = limit.min(16);
    ok(&json!({"isAnswered": true, "usage": {"input_tokens": 9, "output_tokens": output}, "answer": answer}))
}

/// Runs a test to its end.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
fn check(server: Server, leave_out: &[Topic], expected: Expect) {
    let base_url = "https://models.example/v1".to_owned();
    let mut probe = Probe::new(ProbeOptions { base_url, ..ProbeOptions::default() });
    let card = loop {
        let event = match probe.poll() {
            ProbeStep::Get { request, .. } => {
                assert!(request.url.ends_with("/models"), "without a key, there is nothing else to get");
                let (status, body) = server.list;
                ProbeEvent::Received(HttpResponse { status, headers: Vec::new(), body: body.to_owned() })
            }
            ProbeStep::Ask { chat, stops_early, .. } => {
                let mut answer = (server.answer)(&serde_json::to_value(chat).unwrap());
                if stops_early && answer.failure.is_none() {
                    answer.status = Status::Cancelled;
                }
                ProbeEvent::Answered(Box::new(answer))
            }
            ProbeStep::Done(card) => break card,
        };
        probe.handle(&event);
    };
    let mut text = String::new();
    for check in card.checks.iter().filter(|check| !leave_out.contains(&check.topic)) {
        let mark = match check.result {
            CheckResult::Works => '+',
            CheckResult::Absent => '-',
            CheckResult::Failed => '!',
            CheckResult::Unknown => '?',
        };
        text.push_str(&format!("{mark} {}: {}\n", check.label, join_messages(&check.detail, " ")));
    }
    for difference in &card.differences {
        text.push_str(&format!("=> {difference}\n"));
    }
    expected.assert_eq(&text);
}

const REASONING: [Topic; 6] = [
    Topic::Summaries,
    Topic::PlainReasoning,
    Topic::EncryptedReasoning,
    Topic::ReasoningBack,
    Topic::Phase,
    Topic::Caching,
];

/// llama.cpp answers whichever model the request names, and reports an answer that it cut off as complete.
#[test]
fn a_server_that_answers_for_any_model() {
    check(
        Server { list: (200, TINY), answer: plain },
        &[],
        expect![[r#"
            + Address: https://models.example/v1
            + Encryption: The connection is encrypted, and the certificate is trusted.
            + Proxy: No proxy is set.
            + Models: 1 model can chat.
            + Key: No key is sent, and the list needs none.
            + Answer: tiny answered in 0.1 s. Compliance case: basic-response.
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 4 pieces. Compliance case: streaming-response.
            + Token counts: 9 tokens in, 16 out.
            - Output limit: The server cuts an answer off after 16 tokens and calls it complete.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            + Images in results: The server accepts them.
            - Summaries: The server sent none.
            - Plain thinking: The server sent none.
            - Encrypted thinking: The server sent none.
            ? Thinking returned: There was none to send back.
            - Phases: The server marks none.
            - Prompt cache: The server reports no cached tokens.
            - Context window: Unknown; 128,000 tokens are assumed.
            + Cancelling: An answer was cancelled, and the server still answers.
            - Errors: The server answers whatever the model's name is.
            => Sluice cannot tell an answer that was cut off from a short one.
            => The context window is assumed until an error of the server reveals it.
            => A wrong model name is not noticed.
        "#]],
    );
}

/// vLLM refuses an output limit that is larger than its window, and says how large that is.
#[test]
fn a_window_is_learned_from_an_error() {
    let answer = |chat: &Value| {
        if chat["options"]["maxOutputTokens"].as_u64().unwrap() > 2048 {
            let message = "This model's maximum context length is 2048 tokens. However, you requested 16390 tokens.";
            return failed("contextOverflow", message, 400);
        }
        if chat["model"] != "tiny" {
            return failed("modelNotFound", "The model does not exist.", 404);
        }
        plain(chat)
    };
    check(
        Server { list: (200, TINY), answer },
        &REASONING,
        expect![[r#"
            + Address: https://models.example/v1
            + Encryption: The connection is encrypted, and the certificate is trusted.
            + Proxy: No proxy is set.
            + Models: 1 model can chat.
            + Key: No key is sent, and the list needs none.
            + Answer: tiny answered in 0.1 s. Compliance case: basic-response.
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 4 pieces. Compliance case: streaming-response.
            + Token counts: 9 tokens in, 16 out.
            - Output limit: The server cuts an answer off after 16 tokens and calls it complete.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            + Images in results: The server accepts them.
            + Context window: 2,048 tokens, according to an error.
            + Cancelling: An answer was cancelled, and the server still answers.
            + Errors: An unknown model is refused with a clear error (HTTP 404).
            => Sluice cannot tell an answer that was cut off from a short one.
            => The context window was learned from an error and is remembered for 30 days.
        "#]],
    );
}

/// Hugging Face's responses.js takes no list as the output of a tool, has no list of models and reports a wrong model as
/// its own failure.
#[test]
fn images_in_results_are_refused() {
    let answer = |chat: &Value| {
        let text = chat.to_string();
        if text.contains("image/png") {
            return failed("badRequest", "Expected string, received array", 400);
        }
        if chat["model"] != "tiny" {
            return failed("serverDown", "Internal error", 500);
        }
        ProbeAnswer { refused: vec![Parameter::ReasoningEffort], ..plain(chat) }
    };
    check(
        Server { list: (200, TINY), answer },
        &REASONING,
        expect![[r#"
            + Address: https://models.example/v1
            + Encryption: The connection is encrypted, and the certificate is trusted.
            + Proxy: No proxy is set.
            + Models: 1 model can chat.
            + Key: No key is sent, and the list needs none.
            + Answer: tiny answered in 0.1 s. Compliance case: basic-response.
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            - Images: The server refuses them: Expected string, received array Compliance case: image-input.
            + Streaming: An answer arrived in 4 pieces. Compliance case: streaming-response.
            + Token counts: 9 tokens in, 16 out.
            - Output limit: The server cuts an answer off after 16 tokens and calls it complete.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            - Images in results: The server refuses them: Expected string, received array
            - Context window: Unknown; 128,000 tokens are assumed.
            + Cancelling: An answer was cancelled, and the server still answers.
            - Errors: An unknown model gives an error that does not say so (HTTP 500).
            => Requests to this model leave out `reasoning.effort`, which the server refuses.
            => Sluice cannot tell an answer that was cut off from a short one.
            => Tools that return images fail with this model.
            => The context window is assumed until an error of the server reveals it.
            => A wrong model name looks like a problem of the server.
        "#]],
    );
}

/// A server that counts nothing, streams nothing and calls no tools still chats.
#[test]
fn a_server_that_can_do_almost_nothing() {
    let answer = |_: &Value| ProbeAnswer { parts: 1, ..ok(&json!({"answer": [{"type": "text", "value": "Yes."}]})) };
    check(
        Server { list: (200, TINY), answer },
        &REASONING,
        expect![[r#"
            + Address: https://models.example/v1
            + Encryption: The connection is encrypted, and the certificate is trusted.
            + Proxy: No proxy is set.
            + Models: 1 model can chat.
            + Key: No key is sent, and the list needs none.
            + Answer: tiny answered in 0.1 s. Compliance case: basic-response.
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            - Streaming: An answer arrived in one piece. Compliance case: streaming-response.
            - Token counts: The server reports no token counts.
            ? Output limit: The answer was too short to tell.
            - Tool calls: The model called no tool. Compliance case: tool-calling.
            - Context window: Unknown; 128,000 tokens are assumed.
            + Cancelling: An answer was cancelled, and the server still answers.
            - Errors: The server answers whatever the model's name is.
            => Answers appear all at once.
            => Sluice counts tokens itself, so the numbers are estimates.
            => Agents need tools, so use this model to ask questions.
            => The context window is assumed until an error of the server reveals it.
            => A wrong model name is not noticed.
        "#]],
    );
}

#[test]
fn a_list_without_chat_models_ends_the_test() {
    let embeddings = r#"{"data":[{"id":"text-embedding-3-small","type":"embedding"}]}"#;
    check(
        Server { list: (200, embeddings), answer: plain },
        &[],
        expect![[r#"
        + Address: https://models.example/v1
        + Encryption: The connection is encrypted, and the certificate is trusted.
        + Proxy: No proxy is set.
        ! Models: The server lists no model that chats.
    "#]],
    );
}

/// `LiteLLM` answers a request without a key with a plain 500.
#[test]
fn a_list_that_fails_without_a_key_is_requested_with_it() {
    let base_url = "https://models.example/v1".to_owned();
    let mut probe = Probe::new(ProbeOptions { base_url, has_key: true, ..ProbeOptions::default() });
    let body = "Internal Server Error".to_owned();
    probe.handle(&ProbeEvent::Received(HttpResponse { status: 500, headers: Vec::new(), body }));
    let ProbeStep::Get { with_key, .. } = probe.poll() else { panic!("the list is requested again") };
    assert!(with_key);
}

#[test]
fn an_address_that_cannot_be_used_is_the_only_check() {
    let options = ProbeOptions { base_url: "ftp://example".to_owned(), ..ProbeOptions::default() };
    let ProbeStep::Done(card) = Probe::new(options).poll() else { panic!("nothing may be sent") };
    assert_eq!(card.failed().map(|check| check.topic), Some(Topic::Address));
}

#[test]
fn a_certificate_that_is_not_trusted_is_about_encryption() {
    let base_url = "https://models.example/v1".to_owned();
    let mut probe = Probe::new(ProbeOptions { base_url, ..ProbeOptions::default() });
    probe.handle(&ProbeEvent::Unreachable(Transport::Connect, Some("SELF_SIGNED_CERT_IN_CHAIN".to_owned())));
    let ProbeStep::Done(card) = probe.poll() else { panic!("the test is over") };
    assert_eq!(card.failed().map(|check| check.topic), Some(Topic::Encryption));
}
