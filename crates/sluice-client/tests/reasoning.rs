//! Conversations with models that follow the rules of real providers about reasoning.

use crate::support::conversation::{Host, Server, Stop, chat, describe, is_question};
use expect_test::expect;
use serde_json::Value;
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, Parameter, Role, Status, ToolDefinition, ToolMode, Vault, build_request,
};

#[test]
fn thinking_is_shown_without_any_setting() {
    let mut shown = String::new();
    for name in ["demo", "openai-like", "anthropic-like", "deepseek-like", "kimi-like", "vllm-like"] {
        let mut server = Server::new(1);
        let mut chat = chat(&format!("sluice/{name}"));
        chat.tools.clear();
        let answer = server.ask(&mut chat, "Hello");
        shown.push_str(&format!("{name}: {:?}\n", answer.thinking()));
    }
    expect![[r#"
        demo: "**Reading the request**\n\nThe user says: “Hello”. I have no tools to help me.\n\n**Deciding what to do**\n\nThis is a greeting. I will return it."
        openai-like: "**Reading the request**\n\nThere are 0 results.\n\n**Going on**\n\nThat is all."
        anthropic-like: "**Reading the request**\n\nThere are 0 results.\n\n**Going on**\n\nThat is all."
        deepseek-like: "There are 0 results."
        kimi-like: "There are 0 results."
        vllm-like: "There are 0 results."
    "#]].assert_eq(&shown);
}

#[test]
fn an_organization_that_may_not_have_summaries_gets_an_answer_without_them() {
    let mut server = Server::new(1);
    let answer = server.ask(&mut chat("sluice/openai-unverified"), "Call it 0 times");
    assert_eq!(answer.report.refused, [Parameter::ReasoningSummary]);
    assert_eq!(server.requests.iter().map(|(_, status)| *status).collect::<Vec<_>>(), [400, 200]);
}

#[test]
fn a_server_that_refuses_many_tools_gets_the_first_ones_and_the_user_a_note() {
    let mut server = Server::new(1);
    let mut chat = chat("sluice/openai-like");
    let tool = chat.tools.pop().unwrap();
    chat.tools = (0..200).map(|n| ToolDefinition { name: format!("tool_{n}"), ..tool.clone() }).collect();
    // A tool that the model must call is among them.
    chat.tool_mode = ToolMode::Required;
    chat.required_tool = Some("tool_190".to_owned());
    chat.messages.push(ChatMessage::user("Call it 1 times"));
    let answer = server.respond(&chat);
    assert_eq!(answer.report.refused, [Parameter::MostTools(128)]);
    assert_eq!(server.requests.iter().map(|(_, status)| *status).collect::<Vec<_>>(), [400, 200]);
    expect![[r#"
        The server does not accept more than 128 tools at once, so the model is offered only the first ones. To choose them yourself, turn off others in the chat's tool picker.
    "#]]
    .assert_eq(&answer.told());
    let names = |body: &Value| -> Vec<String> {
        body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let sent = names(&server.requests[1].0);
    assert_eq!(sent.len(), 128);
    assert_eq!((sent[0].as_str(), sent[126].as_str(), sent[127].as_str()), ("tool_0", "tool_126", "tool_190"));
    // The next request has the same tools from the beginning, and the same note.
    let built = build_request(&chat, &server.endpoint).without(&answer.report.refused);
    assert_eq!(names(&serde_json::from_str(&built.request.body).unwrap()), sent);
    assert_eq!(built.notes.iter().filter(|note| !note.text.is_empty()).count(), 1);
    // As many tools as the server accepts are sent unchanged and without a note.
    chat.tools.truncate(128);
    assert_eq!(build_request(&chat, &server.endpoint).without(&answer.report.refused).notes, []);
}

const PROVIDERS: [&str; 5] = ["openai-like", "anthropic-like", "deepseek-like", "kimi-like", "vllm-like"];

/// Checks invariant R5.
#[test]
fn ten_rounds_of_tools_a_reload_and_a_change_of_models_keep_the_reasoning() {
    for name in PROVIDERS {
        let (mut server, mut host) = (Server::new(1), Host::vscode());
        let mut chat = chat(&format!("sluice/{name}"));
        server.ask_through(&mut host, &mut chat, "Call open_gate 10 times, and think twice");
        host.reload();
        let own = std::mem::replace(&mut chat.model, "sluice/echo".to_owned());
        server.ask_through(&mut host, &mut chat, "Say it again");
        chat.model = own;
        let answer = server.ask_through(&mut host, &mut chat, "Call open_gate 2 times in parallel");
        assert!(server.requests.iter().all(|(_, status)| *status == 200), "{name}: {:?}", server.requests.last());
        assert!(!answer.text().contains("stopped early"), "{name}: {}", answer.text());
    }
}

/// How VS Code asks for a summary.
const SUMMARIZE: &str = "Summarize the conversation history so far, paying special attention to the most recent agent \
    commands and tool results that triggered this summarization.\nFocus particularly on everything.";

/// Checks invariants R5 and S6a: through any host, in several conversations that share a vault, with answers that repeat
/// themselves, questions that are asked again, answers that are cancelled or cut off, histories that are replaced by a summary,
/// reloads and changes of models and servers.
///
/// A host that drops reasoning may leave two answers that look the same: the same question, and the same text as far as it was
/// kept. Then a model may get the reasoning of its other answer, but still only what this model at this server gave.
#[test]
fn what_comes_back_is_exactly_what_the_same_model_at_the_same_server_gave() {
    let mut rng = fastrand::Rng::with_seed(12);
    let (mut requests, mut repeated, mut compacted, mut ambiguous) = (0, 0, 0, 0);
    for _ in 0..400 {
        let mut servers = [Server::new(1), Server::new(2)];
        let mut host = match rng.u8(..4) {
            0 => Host::Keeps,
            1 => Host::Agent,
            _ => Host::vscode(),
        };
        // Each conversation, and what the servers gave in it: the server, the model and the item.
        let mut conversations = [(chat(""), Vec::new()), (chat(""), Vec::new())];
        let mut final_answers: Vec<FinalAnswer> = Vec::new();
        for _ in 0..rng.usize(2..8) {
            let (chat, given) = &mut conversations[rng.usize(..2)];
            // Another attempt at an earlier question forgets what came after it.
            let questions: Vec<usize> =
                (0..chat.messages.len()).filter(|at| is_question(&chat.messages[*at])).collect();
            if rng.u8(..5) == 0 && !questions.is_empty() {
                let at = questions[rng.usize(..questions.len())];
                chat.messages.truncate(at);
                given.retain(|(length, ..): &(usize, usize, String, String)| *length <= at);
            }
            // The host replaces everything before a question by a summary, which a model has written.
            let later: Vec<usize> = questions.into_iter().filter(|at| (1..chat.messages.len()).contains(at)).collect();
            if rng.u8(..4) == 0
                && let Some(at) = rng.choice(later)
            {
                let mut summarized = chat.clone();
                let model = PROVIDERS[rng.usize(..PROVIDERS.len())];
                summarized.model = format!("sluice/{model}");
                let server = &mut servers[rng.usize(..2)];
                let answer = server.ask_through(&mut host, &mut summarized, SUMMARIZE);
                assert_eq!(server.requests.last().unwrap().1, 200, "{model}");
                chat.messages.splice(..at, [ChatMessage::user(format!("Summary: {}", answer.text()))]);
                given.retain(|(length, ..)| *length > at);
                for (length, ..) in given.iter_mut() {
                    *length -= at - 1;
                }
                compacted += 1;
            }
            let name = PROVIDERS[rng.usize(..PROVIDERS.len())];
            chat.model = format!("sluice/{name}");
            let number = rng.usize(..2);
            let server = &mut servers[number];
            let before = server.given.len();
            let (prompt, answer) = if rng.u8(..4) == 0 {
                let stop = if rng.bool() { Stop::Cancelled } else { Stop::Broken };
                let events = rng.usize(..40);
                let prompt = "Call open_gate 0 times".to_owned();
                let answer = server.ask_and_stop(&mut host, chat, &prompt, (events, stop), rng.usize(..3));
                (prompt, answer)
            } else {
                let twice = if rng.bool() { ", and think twice" } else { "" };
                let parallel = if rng.bool() { " in parallel" } else { "" };
                let prompt = format!("Call open_gate {} times{parallel}{twice}", rng.usize(0..3));
                let answer = server.ask_through(&mut host, chat, &prompt);
                (prompt, answer)
            };
            requests += 1;
            assert!(!answer.text().contains("stopped early"), "{name}: {}", answer.text());
            let (sent, status) = server.requests.last().unwrap();
            assert_eq!(*status, 200, "{name}: {sent}");
            let own = |given: &[(usize, usize, String, String)]| -> Vec<String> {
                let own = given.iter().filter(|(_, at, model, _)| *at == number && *model == chat.model);
                own.map(|(.., item)| item.clone()).collect()
            };
            let at = chat.messages.len();
            let described = |(model, item): &(String, Value)| Some((at, number, model.clone(), describe(item)?));
            // The answer to the last request isn't in that request.
            let (earlier, last) = server.given[before..].split_at(server.last_given - before);
            given.extend(earlier.iter().filter_map(described));
            let expected = own(given);
            let foreign = |call: &String| call.starts_with("call ") && !expected.contains(call);
            let sent: Vec<String> =
                sent["input"].as_array().unwrap().iter().filter_map(describe).filter(|item| !foreign(item)).collect();
            let is_own = |other: &&FinalAnswer| other.server == number && other.model == chat.model;
            let others: Vec<&FinalAnswer> = final_answers
                .iter()
                .filter(is_own)
                .filter(|other| {
                    !other.items.iter().all(|item| expected.contains(item)) && other.looks_like_one_of(chat)
                })
                .collect();
            if !others.is_empty() && sent != expected {
                let others: Vec<&String> = others.iter().flat_map(|other| &other.items).collect();
                assert!(sent.iter().all(|item| expected.contains(item) || others.contains(&item)), "{name}: {sent:#?}");
                ambiguous += 1;
            } else {
                assert_eq!(sent, expected, "{name}");
            }
            let items = last.iter().filter_map(|(_, item)| describe(item)).collect();
            let is_whole = answer.report.outcome.status == Status::Completed;
            let text = without_spaces(&answer.text());
            final_answers.push(FinalAnswer {
                server: number,
                model: chat.model.clone(),
                prompt,
                text,
                is_whole,
                items,
            });
            given.extend(last.iter().filter_map(described));
            let texts: Vec<&String> = sent.iter().filter(|item| item.starts_with("message")).collect();
            repeated += usize::from(texts.iter().any(|text| texts.iter().filter(|other| other == &text).count() > 1));
            if rng.bool() {
                host.reload();
            }
        }
    }
    assert!(ambiguous * 500 < requests, "{ambiguous} of {requests} requests were ambiguous");
    assert!(repeated > 20, "only {repeated} requests have two equal messages");
    assert!(compacted > 20, "only {compacted} histories were replaced by a summary");
}

/// The last answer to a question.
struct FinalAnswer {
    server: usize,
    model: String,
    prompt: String,
    text: String,
    is_whole: bool,
    items: Vec<String>,
}

impl FinalAnswer {
    /// Returns whether the chat contains an answer to the same question that could be this one, judging by the text that
    /// the host has kept.
    fn looks_like_one_of(&self, chat: &ChatRequest) -> bool {
        let texts = |message: &ChatMessage| -> String {
            let text = |part: &ChatPart| match part {
                ChatPart::Text { value } => Some(without_spaces(value)),
                _ => None,
            };
            message.content.iter().filter_map(text).collect()
        };
        let is_it = |text: String| if self.is_whole { self.text == text } else { self.text.starts_with(&text) };
        let mut question = String::new();
        chat.messages.iter().any(|message| {
            if is_question(message) {
                question = texts(message);
            }
            message.role == Role::Assistant && question == without_spaces(&self.prompt) && is_it(texts(message))
        })
    }
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Checks invariant R6.
#[test]
fn reasoning_that_a_server_refuses_is_left_out_once_and_for_all() {
    let (mut server, mut host) = (Server::new(1), Host::vscode());
    let mut chat = chat("sluice/anthropic-like");
    server.ask_through(&mut host, &mut chat, "Call open_gate 0 times");
    // The summary is changed on the way, so the signature is no longer valid.
    let Host::VsCode { vault, .. } = &mut host else { unreachable!() };
    let damaged = String::from_utf8(vault.to_bytes()).unwrap().replace("There are", "There were");
    *vault = Vault::read(damaged.as_bytes());
    let answer = server.ask_through(&mut host, &mut chat, "And call open_gate 0 times now");
    assert!(answer.report.reasoning_refused && answer.report.refused.is_empty());
    server.ask_through(&mut host, &mut chat, "And call open_gate 0 times again");
    assert_eq!(server.requests.iter().map(|(_, status)| *status).collect::<Vec<_>>(), [200, 400, 200, 200]);
}

/// Checks invariant S6a.
#[test]
fn separate_messages_and_blocks_are_visibly_separate() {
    let mut server = Server::new(1);
    let mut chat = chat("sluice/openai-like");
    let answer = server.ask(&mut chat, "Call open_gate 0 times");
    expect![[r#"
        **Reading the request**

        There are 0 results.

        **Going on**

        That is all.
        ---
        I will look at it first (7185).

        Here is what I found (7185): Call open_gate 0 times"#]]
    .assert_eq(&format!("{}\n---\n{}", answer.thinking(), answer.text()));
    let text = chat.messages.last().unwrap().content.iter().find_map(|part| match part {
        ChatPart::Text { value } => Some(value.clone()),
        _ => None,
    });
    assert_eq!(text, Some(answer.text()));
}

/// Checks invariant R5. Models often give the same short answer twice, with other reasoning.
#[test]
fn equal_answers_get_their_own_reasoning_back() {
    for name in PROVIDERS {
        let (mut server, mut host) = (Server::new(1), Host::vscode());
        let mut chat = chat(&format!("sluice/{name}"));
        for _ in 0..4 {
            server.ask_through(&mut host, &mut chat, "Call open_gate 0 times");
            let own: Vec<String> = server.given.iter().filter_map(|(_, item)| describe(item)).collect();
            let (sent, status) = server.requests.last().unwrap();
            let sent: Vec<String> = sent["input"].as_array().unwrap().iter().filter_map(describe).collect();
            assert!(*status == 200 && own.starts_with(&sent), "{name}\nsent {sent:#?}\nown {own:#?}");
        }
    }
}
