//! Servers with other rules than the gateway's, as the simulator imitates them: what they refuse is left out, their lists
//! are understood, and a base URL without `/v1` is found.

use std::collections::BTreeMap;
use std::future::pending;

use crate::support::exchange::{Heard, PATIENT, ask, chat, client};
use serde_json::json;
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, Effort, ModelCatalog, ModelSettings, Parameter, Refresh, Role, Status,
    ToolDefinition,
};
use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Faults, Imitated, Options};

const TOO_MUCH: u64 = 200_000;

fn imitating(server: Imitated) -> Simulator {
    let faults = Faults::parse(&format!("as={}, pace=0", server.name())).unwrap();
    let options = Options { faults, ..Options::default() };
    Simulator::start(Config { options, ..Config::recording() }).unwrap()
}

/// A conversation with everything that some server refuses: an effort, a large limit, an image from a tool, and all the
/// gateway's own fields.
fn demanding() -> ChatRequest {
    let mut request = chat("sluice/reasoning", "Hello");
    request.options.max_output_tokens = Some(TOO_MUCH);
    request.options.reasoning_effort = Some("minimal".to_owned());
    request.options.automatic_caching = true;
    request.options.claude_context_management = true;
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB0KTCWgAAAABJRU5ErkJggg==";
    let call = ChatPart::ToolCall { call_id: "gw-1".to_owned(), name: "look".to_owned(), input_json: "{}".to_owned() };
    let image = ChatPart::Data { mime_type: "image/png".to_owned(), base64: pixel.to_owned() };
    let text = ChatPart::Text { value: "a pixel".to_owned() };
    let result = ChatPart::ToolResult { call_id: "gw-1".to_owned(), content: vec![text, image], is_error: false };
    request.messages.push(ChatMessage { role: Role::Assistant, content: vec![call] });
    request.messages.push(ChatMessage { role: Role::User, content: vec![result] });
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_a_server_refuses_is_left_out_and_remembered() {
    for server in Imitated::ALL {
        let simulator = imitating(server);
        let client = client(&simulator.url(), None, PATIENT);
        let first = client.respond(&demanding(), pending(), &mut |_| {}).await;
        assert_eq!(first.outcome.status, Status::Completed, "{server:?}: {:?}", first.outcome.error);
        let expected = match server {
            Imitated::OpenAi => {
                vec![Parameter::MostOutputTokens(112_000), Parameter::Effort(Effort::Minimal, Some(Effort::None))]
            }
            Imitated::DeepSeek | Imitated::Anthropic => vec![Parameter::MostOutputTokens(112_000)],
            Imitated::Smg | Imitated::Vllm => vec![Parameter::MaxOutputTokens],
            Imitated::Ollama => vec![Parameter::Effort(Effort::Minimal, Some(Effort::None))],
            Imitated::LlamaCpp => vec![Parameter::ToolOutputParts],
            Imitated::HuggingFace => {
                vec![Parameter::Effort(Effort::Minimal, Some(Effort::Low)), Parameter::ToolOutputParts]
            }
            _ => Vec::new(),
        };
        let mut refused = first.refused.clone();
        refused.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(refused, expected, "{server:?}");
        assert_eq!(first.attempts, 1, "{server:?}");
        // The second request needs no refusal.
        let before = simulator.requests().len();
        let second = client.respond(&demanding(), pending(), &mut |_| {}).await;
        assert_eq!((second.outcome.status, second.refused), (Status::Completed, Vec::new()), "{server:?}");
        assert_eq!(simulator.requests().len(), before + 1, "{server:?}");
    }
}

/// A validator may explain for every item why it isn't of any kind that it knows, which takes some kilobytes for each.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_refusal_may_be_long() {
    let simulator = imitating(Imitated::HuggingFace);
    let mut request = demanding();
    let round = request.messages.split_off(1);
    for nth in 0..40 {
        let rename = |part: &ChatPart| {
            let mut part = part.clone();
            if let ChatPart::ToolCall { call_id, .. } | ChatPart::ToolResult { call_id, .. } = &mut part {
                *call_id = format!("gw-{nth}");
            }
            part
        };
        let renamed = |message: &ChatMessage| ChatMessage {
            role: message.role,
            content: message.content.iter().map(rename).collect(),
        };
        request.messages.extend(round.iter().map(renamed));
    }
    let answer = client(&simulator.url(), None, PATIENT).respond(&request, pending(), &mut |_| {}).await;
    assert_eq!(answer.outcome.status, Status::Completed, "{:?}", answer.outcome.error);
    assert!(answer.refused.contains(&Parameter::ToolOutputParts), "{:?}", answer.refused);
}

/// Most servers have their API below `/v1`, one has it at the root, and some have both.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_wrong_base_url_works_and_is_corrected() {
    for server in Imitated::ALL {
        let simulator = imitating(server);
        let below_v1 = simulator.url();
        let root = below_v1.strip_suffix("/v1").unwrap();
        let (wrong, right) = match server {
            Imitated::CodexProxy => (below_v1.as_str(), root),
            _ => (root, below_v1.as_str()),
        };
        let has_both =
            matches!(server, Imitated::Aimock | Imitated::Anthropic | Imitated::LiteLlm | Imitated::LlamaCpp);
        let client = client(wrong, None, PATIENT);
        let report = client.respond(&chat("sluice/echo", "Hello"), pending(), &mut |_| {}).await;
        assert_eq!(report.outcome.status, Status::Completed, "{server:?}");
        let elsewhere = report.elsewhere.map(|elsewhere| elsewhere.base_url);
        assert_eq!(elsewhere.as_deref(), (!has_both).then_some(right), "{server:?}");
        // From now on, the right address is used at once.
        let report = client.respond(&chat("sluice/echo", "Hello"), pending(), &mut |_| {}).await;
        assert_eq!((report.outcome.status, report.elsewhere), (Status::Completed, None), "{server:?}");

        let mut catalog = ModelCatalog::new(client.endpoint());
        let refreshed = client.refresh_models(&mut catalog).await;
        let list = catalog.models(&ModelSettings::default(), 0);
        if server == Imitated::HuggingFace {
            let Refresh::Kept(note) = refreshed else { panic!("there is no list") };
            assert!(note.detail.contains(&format!("none at {right}")), "{}", note.detail);
            continue;
        }
        assert_eq!(refreshed, Refresh::Changed, "{server:?}");
        let advice = format!("Change the base URL to {right}.");
        let is_advised = list.notes.iter().any(|note| note.detail.ends_with(&advice));
        // This server has its list at one address and the rest of its API at another.
        let is_listed_here = server == Imitated::CodexProxy || (has_both && server != Imitated::Aimock);
        assert_eq!(is_advised, !is_listed_here, "{server:?}");
        assert!(list.models.iter().any(|model| model.id == "sluice/echo"), "{server:?}");
        assert!(list.models.iter().all(|model| model.id != "sluice/embedding"), "{server:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn extra_headers_go_with_every_request() {
    let simulator = imitating(Imitated::LiteLlm);
    let headers =
        BTreeMap::from([("X-Team".to_owned(), "blue".to_owned()), ("Authorization".to_owned(), "x".to_owned())]);
    let client = client(&simulator.url(), None, PATIENT).with_headers(headers);
    client.respond(&chat("sluice/echo", "Hello"), pending(), &mut |_| {}).await;
    client.refresh_models(&mut ModelCatalog::new(client.endpoint())).await;
    let requests = simulator.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!((request.header("x-team"), request.header("authorization")), (Some("blue"), None));
    }
}

/// Every server says the same in its own way: in another order, under repeated ids, in places that contradict each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_server_gives_the_same_answer() {
    let reading = |model: &str| {
        let input_schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        let tool =
            ToolDefinition { name: "read_file".into(), description: String::new(), input_schema: Some(input_schema) };
        ChatRequest { tools: vec![tool], ..chat(model, "Read `a.txt` and `b.txt`") }
    };
    let asked = [reading("sluice/demo"), chat("sluice/demo", "Hello"), chat("sluice/thinking-only", "Hello")];
    let options = Options { faults: Faults::parse("pace=0").unwrap(), ..Options::default() };
    let plain = Simulator::start(Config { options, ..Config::default() }).unwrap();
    let plain = client(&plain.url(), None, PATIENT);
    let mut expected = Vec::new();
    for request in &asked {
        expected.push(said(&ask(&plain, request, |_| false).await));
    }
    let (text, thinking, calls) = &expected[0];
    assert!(!text.is_empty() && !thinking.is_empty() && calls.len() == 2, "{expected:?}");
    for server in Imitated::ALL {
        let simulator = imitating(server);
        let client = client(&simulator.url(), None, PATIENT);
        for (request, expected) in asked.iter().zip(&expected) {
            let heard = ask(&client, request, |_| false).await;
            assert_eq!(heard.answer.outcome.status, Status::Completed, "{server:?}: {:?}", heard.answer.outcome.error);
            assert_eq!(&said(&heard), expected, "{server:?}");
        }
    }
}

/// The text, the words of the thinking, and the calls without their ids.
fn said(heard: &Heard) -> (String, Vec<String>, Vec<(String, String)>) {
    let words = heard.thinking.split_whitespace().map(str::to_owned).collect();
    let calls = heard.calls.iter().map(|(_, name, input)| (name.clone(), input.clone())).collect();
    (heard.text.clone(), words, calls)
}
