//! Conversations with models that follow the rules of real providers about reasoning.

#[path = "support/conversation.rs"]
mod conversation;

use conversation::{Host, Server, chat, describe};
use expect_test::expect;
use sluice_core::{ChatPart, Vault};

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
fn an_organization_that_may_not_have_summaries_gets_an_answer_without() {
    let mut server = Server::new(1);
    let answer = server.ask(&mut chat("sluice/openai-unverified"), "Call it 0 times");
    assert_eq!(answer.report.refused, [sluice_core::Parameter::ReasoningSummary]);
    assert_eq!(server.requests.iter().map(|(_, status)| *status).collect::<Vec<_>>(), [400, 200]);
}

const PROVIDERS: [&str; 5] = ["openai-like", "anthropic-like", "deepseek-like", "kimi-like", "vllm-like"];

/// Checks invariant R5.
#[test]
fn ten_rounds_of_tools_a_reload_and_a_change_of_models_keep_the_reasoning() {
    for name in PROVIDERS {
        let (mut server, mut host) = (Server::new(1), Host::VsCode(Vault::default()));
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

/// Checks invariants R5 and S6a.
#[test]
fn what_comes_back_is_exactly_what_the_same_model_at_the_same_server_gave() {
    let mut rng = fastrand::Rng::with_seed(12);
    for _ in 0..150 {
        let mut servers = [Server::new(1), Server::new(2)];
        let mut host = if rng.bool() { Host::Keeps } else { Host::VsCode(Vault::default()) };
        let mut chat = chat("");
        for _ in 0..rng.usize(2..6) {
            let name = PROVIDERS[rng.usize(..PROVIDERS.len())];
            chat.model = format!("sluice/{name}");
            let twice = if rng.bool() { ", and think twice" } else { "" };
            let parallel = if rng.bool() { " in parallel" } else { "" };
            let prompt = format!("Call open_gate {} times{parallel}{twice}", rng.usize(0..4));
            let server = &mut servers[rng.usize(..2)];
            let answer = server.ask_through(&mut host, &mut chat, &prompt);
            assert!(!answer.text().contains("stopped early"), "{name}: {}", answer.text());
            let (sent, status) = server.requests.last().unwrap();
            assert_eq!(*status, 200, "{name}: {sent}");
            // The answer to the last request isn't in that request.
            let own: Vec<String> = server
                .given
                .iter()
                .filter(|(model, _)| *model == chat.model)
                .filter_map(|(_, item)| describe(item))
                .collect();
            let foreign = |call: &String| call.starts_with("call ") && !own.contains(call);
            let sent: Vec<String> =
                sent["input"].as_array().unwrap().iter().filter_map(describe).filter(|item| !foreign(item)).collect();
            assert!(own.starts_with(&sent) && own.len() > sent.len(), "{name}\nsent {sent:#?}\nown {own:#?}");
            let last: Vec<&String> = own[sent.len()..].iter().collect();
            assert!(last.iter().all(|item| !item.starts_with("call")), "{name}: {last:?}");
            if rng.bool() {
                host.reload();
            }
        }
    }
}

/// Checks invariant R6.
#[test]
fn reasoning_that_a_server_refuses_is_left_out_once_and_for_all() {
    let (mut server, mut host) = (Server::new(1), Host::VsCode(Vault::default()));
    let mut chat = chat("sluice/anthropic-like");
    server.ask_through(&mut host, &mut chat, "Call open_gate 0 times");
    // The summary is changed on the way, so the signature is no longer valid.
    let Host::VsCode(vault) = &mut host else { unreachable!() };
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
