//! The TypeScript types of the boundary, generated from the Rust ones; the committed file must match.
//! `UPDATE_EXPECT=1 cargo test -p sluice-core typescript` rewrites it.

use expect_test::expect_file;
use ts_rs::{Config, TS};

use super::*;

#[test]
fn typescript_types_are_fresh() {
    let config = Config::default();
    let declarations = [
        Part::decl(&config),
        ThinkingReplay::decl(&config),
        ReasoningItem::decl(&config),
        Citation::decl(&config),
        Note::decl(&config),
        NoteKind::decl(&config),
        Outcome::decl(&config),
        Status::decl(&config),
        Empty::decl(&config),
        Failure::decl(&config),
        FailureKind::decl(&config),
        Turn::decl(&config),
        Overflow::decl(&config),
        Usage::decl(&config),
        TokenDetails::decl(&config),
        Gateway::decl(&config),
        ChatRequest::decl(&config),
        ChatMessage::decl(&config),
        Role::decl(&config),
        ChatPart::decl(&config),
        ToolDefinition::decl(&config),
        ToolMode::decl(&config),
        ChatOptions::decl(&config),
        Routing::decl(&config),
        HttpRequest::decl(&config),
        TokenBreakdown::decl(&config),
        RequestStart::decl(&config),
        RequestKind::decl(&config),
        RequestEnd::decl(&config),
        RequestUsage::decl(&config),
        Totals::decl(&config),
        StatusLine::decl(&config),
        Level::decl(&config),
        Activity::decl(&config),
        TooltipLine::decl(&config),
        Preflight::decl(&config),
        CopilotUsage::decl(&config),
        PromptTokens::decl(&config),
        CompletionTokens::decl(&config),
    ];
    let mut file = String::from(
        "// Generated from crates/sluice-core/src/boundary by `UPDATE_EXPECT=1 cargo test -p sluice-core typescript`.\n",
    );
    for declaration in declarations {
        file.push_str("\nexport ");
        file.push_str(&declaration);
        file.push('\n');
    }
    expect_file!["../../../sluice-wasm/js/src/boundary.ts"].assert_eq(&file);
}
