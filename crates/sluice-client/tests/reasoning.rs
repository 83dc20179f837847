//! Conversations with models that follow the rules of real providers about reasoning.

#[path = "support/conversation.rs"]
mod conversation;

use conversation::{Server, chat};
use expect_test::expect;

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
        demo: "**Reading the request**\n\nThe user says: “Hello”. I have no tools to help me.**Deciding what to do**\n\nThis is a greeting. I will return it."
        openai-like: "**Reading the request**\n\nThere are 0 results.**Going on**\n\nThat is all."
        anthropic-like: "**Reading the request**\n\nThere are 0 results.**Going on**\n\nThat is all."
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
