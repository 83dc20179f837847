//! The card of a test is right for each model of the embedded gateway that follows the rules of a real provider, and for
//! each mistake that people make.

use std::net::TcpListener;

use crate::support::clock::{Clock, PATIENT};
use expect_test::{Expect, expect};
use sluice_client::{ApiKey, Client};
use sluice_core::{Card, CheckResult, Endpoint, ProbeStep, Topic, join_messages};
use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Faults, Imitated, Options, model_ids};

/// What every card of the embedded gateway begins and ends with is left out.
const USUAL: [Topic; 8] = [
    Topic::Address,
    Topic::Proxy,
    Topic::Encryption,
    Topic::Models,
    Topic::Key,
    Topic::Answer,
    Topic::Cancellation,
    Topic::Errors,
];

/// Models that don't chat.
const OTHERS: [&str; 2] = ["sluice/embedding", "sluice/painter"];

async fn probe(base_url: &str, key: Option<&str>, model: Option<&str>) -> Card {
    let endpoint = Endpoint::parse(base_url).unwrap();
    let key = key.map(|key| ApiKey::for_origin(key, &endpoint.origin).unwrap());
    let client = Client::new(endpoint, key, PATIENT).unwrap();
    let mut asked = Vec::new();
    let card = client
        .probe(model.map(str::to_owned), None, &mut |step, _| {
            if let ProbeStep::Ask { chat, .. } = step {
                asked.push(chat.options.max_output_tokens.unwrap());
            }
        })
        .await;
    assert!(asked.len() <= 13 && card.requests <= 17, "a test must be short: {asked:?}");
    card
}

fn rendered(card: &Card, base_url: &str, leave_out: &[Topic]) -> String {
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
    let origin = base_url.trim_end_matches("/v1");
    text.replace(origin, "ORIGIN")
}

async fn check(model: &str, expected: Expect) {
    let simulator = Simulator::start(Config::default()).unwrap();
    let card = probe(&simulator.url(), None, Some(model)).await;
    let wrong: Vec<_> =
        card.checks.iter().filter(|check| USUAL.contains(&check.topic) && check.result != CheckResult::Works).collect();
    assert!(wrong.is_empty(), "{model}: {wrong:?}");
    expected.assert_eq(&rendered(&card, &simulator.url(), &USUAL));
}

#[tokio::test]
async fn the_card_is_right_for_each_provider() {
    check(
        "sluice/openai-like",
        expect![[r#"
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 52 pieces. Compliance case: streaming-response.
            + Token counts: 17 tokens in, 16 out.
            + Output limit: The server says when it cuts an answer off.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            + Images in results: The server accepts them.
            + Summaries: The server sends them.
            - Plain thinking: The server sent none.
            + Encrypted thinking: The server sends it.
            + Thinking returned: The server accepts it.
            + Phases: The server marks commentary and final answers.
            + Prompt cache: The server reports cached tokens; the most was 0.
            + Context window: 128,000 tokens, according to the list of models.
            => Encrypted thinking is sent back, to this model on this server only.
        "#]],
    )
    .await;
    check(
        "sluice/openai-unverified",
        expect![[r#"
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 30 pieces. Compliance case: streaming-response.
            + Token counts: 17 tokens in, 16 out.
            + Output limit: The server says when it cuts an answer off.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            + Images in results: The server accepts them.
            - Summaries: The server refuses requests that ask for it.
            - Plain thinking: The server sent none.
            + Encrypted thinking: The server sends it.
            + Thinking returned: The server accepts it.
            + Phases: The server marks commentary and final answers.
            + Prompt cache: The server reports cached tokens; the most was 0.
            + Context window: 128,000 tokens, according to the list of models.
            => Requests to this model leave out `reasoning.summary`, which the server refuses.
            => Encrypted thinking is sent back, to this model on this server only.
        "#]],
    )
    .await;
    check(
        "sluice/anthropic-like",
        expect![[r#"
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 42 pieces. Compliance case: streaming-response.
            + Token counts: 17 tokens in, 16 out.
            + Output limit: The server says when it cuts an answer off.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            + Images in results: The server accepts them.
            + Summaries: The server sends them.
            - Plain thinking: The server sent none.
            + Encrypted thinking: The server sends it.
            + Thinking returned: The server accepts it.
            - Phases: The server marks none.
            + Prompt cache: The server reports cached tokens; the most was 0.
            + Context window: 128,000 tokens, according to the list of models.
            => Encrypted thinking is sent back, to this model on this server only.
        "#]],
    )
    .await;
    check(
        "sluice/deepseek-like",
        expect![[r#"
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 25 pieces. Compliance case: streaming-response.
            + Token counts: 17 tokens in, 16 out.
            + Output limit: The server says when it cuts an answer off.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            + Images in results: The server accepts them.
            - Summaries: The server sent none.
            + Plain thinking: The server sends it.
            - Encrypted thinking: The server sent none.
            + Thinking returned: The server accepts it.
            - Phases: The server marks none.
            + Prompt cache: The server reports cached tokens; the most was 0.
            + Context window: 128,000 tokens, according to the list of models.
            => Plain thinking is sent back, to this model on this server only.
        "#]],
    )
    .await;
    check(
        "sluice/kimi-like",
        expect![[r#"
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 25 pieces. Compliance case: streaming-response.
            + Token counts: 17 tokens in, 16 out.
            + Output limit: The server says when it cuts an answer off.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            + Images in results: The server accepts them.
            - Summaries: The server sent none.
            + Plain thinking: The server sends it.
            - Encrypted thinking: The server sent none.
            + Thinking returned: The server accepts it.
            - Phases: The server marks none.
            + Prompt cache: The server reports cached tokens; the most was 0.
            + Context window: 128,000 tokens, according to the list of models.
            => Plain thinking is sent back, to this model on this server only.
        "#]],
    )
    .await;
    check(
        "sluice/vllm-like",
        expect![[r#"
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 25 pieces. Compliance case: streaming-response.
            + Token counts: 17 tokens in, 16 out.
            + Output limit: The server says when it cuts an answer off.
            + Tool calls: The model called the tool. Compliance case: tool-calling.
            + Parallel calls: One answer had 2 calls.
            + Tool results: The server accepts them.
            + Images in results: The server accepts them.
            - Summaries: The server sent none.
            + Plain thinking: The server sends it.
            - Encrypted thinking: The server sent none.
            + Thinking returned: The server accepts it.
            - Phases: The server marks none.
            + Prompt cache: The server reports cached tokens; the most was 0.
            + Context window: 128,000 tokens, according to the list of models.
            => Plain thinking is sent back, to this model on this server only.
        "#]],
    )
    .await;
    check(
        "sluice/echo",
        expect![[r#"
            + Instructions: The server accepts them. Compliance case: system-prompt.
            + Earlier messages: The server accepts them. Compliance case: multi-turn.
            + Images: The server accepts them. Compliance case: image-input.
            + Streaming: An answer arrived in 23 pieces. Compliance case: streaming-response.
            + Token counts: 17 tokens in, 13 out.
            ? Output limit: The answer was too short to tell.
            - Tool calls: The model called no tool. Compliance case: tool-calling.
            - Summaries: The server sent none.
            - Plain thinking: The server sent none.
            - Encrypted thinking: The server sent none.
            ? Thinking returned: There was none to send back.
            - Phases: The server marks none.
            + Prompt cache: The server reports cached tokens; the most was 0.
            + Context window: 128,000 tokens, according to the list of models.
            => Agents need tools, so use this model to ask questions.
        "#]],
    )
    .await;
}

async fn check_setup(config: Config, path: &str, key: Option<&str>, model: Option<&str>, expected: Expect) {
    let simulator = Simulator::start(config).unwrap();
    let origin = simulator.url().trim_end_matches("/v1").to_owned();
    let card = probe(&format!("{origin}{path}"), key, model).await;
    expected.assert_eq(&rendered(&card, &origin, &[Topic::Proxy, Topic::Encryption]));
}

fn with(options: Options) -> Config {
    Config { options, ..Config::default() }
}

#[tokio::test]
async fn the_first_thing_that_is_wrong_ends_the_test() {
    let locked = || with(Options { key: Some("right-key".to_owned()), ..Options::default() });
    let faulty = |faults: &str| with(Options { faults: Faults::parse(faults).unwrap(), ..Options::default() });
    check_setup(
        Config::default(),
        "/v2",
        None,
        None,
        expect![[r#"
        + Address: ORIGIN/v2
        ! Models: The server has no list of models. Name a model to go on.
    "#]],
    )
    .await;
    check_setup(
        locked(),
        "/v1",
        None,
        None,
        expect![[r#"
        + Address: ORIGIN/v1
        ! Key: This key is not valid here. Enter a valid API key.
    "#]],
    )
    .await;
    check_setup(
        locked(),
        "/v1",
        Some("wrong-key"),
        None,
        expect![[r#"
        + Address: ORIGIN/v1
        ! Key: This key is not valid here. Enter a valid API key.
    "#]],
    )
    .await;
    check_setup(
        Config::default(),
        "/v1",
        None,
        Some("acme/unknown"),
        expect![[r#"
            + Address: ORIGIN/v1
            + Models: 24 models can chat. acme/unknown is not one of them.
            + Key: No key is sent, and the list needs none.
            ! Answer: Model 'acme/unknown' not found. Choose another model; the list may be out of date. Compliance case: basic-response.
        "#]],
    )
    .await;
    check_setup(faulty("html-200"), "/v1", None, Some("sluice/echo"), expect![[r#"
        + Address: ORIGIN/v1
        + Models: 24 models can chat.
        + Key: No key is sent, and the list needs none.
        ! Answer: HTTP 200: The server answered with something that is not an event stream. It sent a web page with the title "Sign in to the network". Check the base URL: this does not look like an Open Responses endpoint. Compliance case: basic-response.
    "#]]).await;
}

/// `LiteLLM` answers a request with a wrong key as if it lacked something itself.
#[tokio::test]
async fn a_wrong_key_is_called_a_wrong_key() {
    let faults = Faults::parse("as=litellm").unwrap();
    let locked = with(Options { faults, key: Some("right-key".to_owned()), ..Options::default() });
    check_setup(
        locked,
        "/v1",
        Some("wrong-key"),
        None,
        expect![[r#"
        + Address: ORIGIN/v1
        ! Key: No connected db. Enter a valid API key.
    "#]],
    )
    .await;
}

/// A server without a list, and one whose list is at another address than the rest of its API.
#[tokio::test]
async fn an_address_without_an_api_is_named_even_if_the_list_does_not_show_it() {
    for (server, path, expected) in [("huggingface", "", "/v1"), ("codex-proxy", "/v1", "")] {
        let faults = Faults::parse(&format!("as={server}")).unwrap();
        let simulator = Simulator::start(with(Options { faults, ..Options::default() })).unwrap();
        let origin = simulator.url().trim_end_matches("/v1").to_owned();
        let card = probe(&format!("{origin}{path}"), None, Some("sluice/echo")).await;
        let address = card.checks.iter().find(|check| check.topic == Topic::Address).unwrap();
        let found = format!("but there is one at {origin}{expected}. Use that as the base URL.");
        assert!(join_messages(&address.detail, " ").contains(&found), "{server}: {address:?}");
        assert!(card.checks.iter().all(|check| check.result != CheckResult::Failed), "{server}");
    }
}

/// Chats find the right address by themselves, so the test goes on there.
#[tokio::test]
async fn an_address_without_v1_is_corrected() {
    let simulator = Simulator::start(Config::default()).unwrap();
    let origin = simulator.url().trim_end_matches("/v1").to_owned();
    let card = probe(&origin, None, Some("sluice/openai-like")).await;
    let rows = rendered(&card, &origin, &[Topic::PlainReasoning]);
    let rows: String = rows.lines().filter(|row| !row.starts_with('+')).map(|row| format!("{row}\n")).collect();
    expect![[r#"
        - Address: There is no Open Responses endpoint at this address, but there is one at ORIGIN/v1. Use that as the base URL.
        => Encrypted thinking is sent back, to this model on this server only.
    "#]]
    .assert_eq(&rows);
}

/// Every server that the embedded gateway imitates, with each of its models that chat. Each different card is shown once,
/// below the servers and models that have it, and without what is as it should be. The clock runs fast, because some
/// servers answer an unknown model with an error that is worth another attempt.
#[tokio::test(start_paused = true)]
async fn the_card_is_right_for_each_server_and_model() {
    let _clock = Clock::start();
    // Each different card, with a line for each server that has it.
    let mut cards: Vec<(String, Vec<String>)> = Vec::new();
    for server in Imitated::ALL.map(Imitated::name) {
        let faults = Faults::parse(&format!("as={server}, pace=0")).unwrap();
        let simulator = Simulator::start(with(Options { faults, ..Options::default() })).unwrap();
        let base_url = match server {
            "codex-proxy" => simulator.url().trim_end_matches("/v1").to_owned(),
            _ => simulator.url(),
        };
        for model in model_ids().filter(|id| !OTHERS.contains(id)) {
            let card = probe(&base_url, None, Some(model)).await;
            let rows = rendered(&card, &base_url, &[]);
            let unusual = rows.lines().filter(|row| !row.starts_with('+'));
            let rows: String = unusual.map(|row| format!("  {}\n", row.replace(model, "MODEL"))).collect();
            let at = cards.iter().position(|(known, _)| *known == rows).unwrap_or_else(|| {
                cards.push((rows, Vec::new()));
                cards.len() - 1
            });
            let name = model.trim_start_matches("sluice/");
            match cards[at].1.last_mut() {
                Some(line) if line.starts_with(&format!("{server}: ")) => line.push_str(&format!(", {name}")),
                _ => cards[at].1.push(format!("{server}: {name}")),
            }
        }
    }
    let text: String = cards.iter().map(|(rows, servers)| format!("{}\n{rows}\n", servers.join("\n"))).collect();
    expect_test::expect_file!["data/cards.txt"].assert_eq(&text);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_explained() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let card = probe(&url, None, None).await;
    expect![[r#"
        ! Address: No connection to ORIGIN. Check the network, the proxy settings and the base URL. The server can be reached, but nothing is listening on that port. (ECONNREFUSED)
        + Encryption: Nothing is encrypted, but nothing leaves this machine.
    "#]].assert_eq(&rendered(&card, &url, &[Topic::Proxy]));
}
