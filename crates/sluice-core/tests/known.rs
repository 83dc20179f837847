//! Counts that a server reports are used, for exactly the pieces that it counted.

use proptest::prelude::*;
use serde_json::Value;
use sluice_core::{
    Calibration, ChatMessage, ChatPart, ChatRequest, Counter, InstallKey, KnownCounts, Measured, Piece, Prompt,
    ReasoningItem, ReplayItem, Role, ThinkingReplay, ToolDefinition, Usage,
};

const KEY: InstallKey = InstallKey(*b"of this machine.");
const TODAY: u32 = 20_000;

/// A raw count that is easy to follow: one token for each byte of text, one for each item, three for the frame.
fn sealed(content: String) -> ReplayItem {
    ReplayItem::Reasoning(ReasoningItem { encrypted_content: Some(content), ..ReasoningItem::default() })
}

fn raw(piece: Piece<'_>) -> u32 {
    fn bytes(json: &Value) -> usize {
        match json {
            Value::String(text) => text.len(),
            Value::Array(parts) => parts.iter().map(bytes).sum(),
            Value::Object(fields) => {
                let seen = ["text", "name", "arguments", "output", "description", "content", "instructions"];
                seen.iter().filter_map(|name| fields.get(*name)).map(bytes).sum()
            }
            _ => 0,
        }
    }
    let count = match piece.to_json() {
        None => 3,
        Some(tool) if tool["type"] == "function" => bytes(&tool),
        Some(item) => bytes(&item) + 1,
    };
    u32::try_from(count).unwrap()
}

fn message(role: Role, text: &str) -> ChatMessage {
    ChatMessage { role, content: vec![ChatPart::Text { value: text.to_owned() }] }
}

/// Makes a chat of alternating messages: user, assistant, user, …
fn chat(texts: &[&str]) -> ChatRequest {
    let role = |index: usize| if index.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let messages = texts.iter().enumerate().map(|(index, text)| message(role(index), text)).collect();
    ChatRequest { model: "acme/one".to_owned(), messages, ..ChatRequest::default() }
}

fn used(input: u64, output: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
}

fn learned(conversations: &[(&ChatRequest, u64)]) -> KnownCounts {
    let mut known = KnownCounts::new(KEY);
    for (chat, input) in conversations {
        known.learn(&Prompt::of(chat), &used(*input, 0), 1.0, &raw, TODAY);
    }
    known
}

fn learn_turn(known: &mut KnownCounts, asked: &ChatRequest, answer: &ChatMessage, usage: &Usage) {
    let answer = Prompt::of_message(&asked.model, answer);
    known.learn_reasoning(&answer, usage, TODAY);
    known.learn_answer(&answer, usage, 1.0, &raw, TODAY);
    known.learn(&Prompt::of(asked), usage, 1.0, &raw, TODAY);
}

fn tokens(known: &KnownCounts, chat: &ChatRequest) -> u64 {
    known.estimate(&Prompt::of(chat), 1.0, &raw).tokens
}

/// Returns whether a server has counted the whole request.
fn is_exact(known: &KnownCounts, chat: &ChatRequest) -> bool {
    let estimate = known.estimate(&Prompt::of(chat), 1.0, &raw);
    estimate.tokens == estimate.known
}

fn message_cost(known: &KnownCounts, message: &ChatMessage) -> Option<u64> {
    let estimate = known.estimate_message(&Prompt::of_message("acme/one", message), 1.0, &raw);
    (estimate.tokens == estimate.known).then_some(estimate.tokens)
}

#[test]
fn an_answered_request_is_known_exactly() {
    let chat = chat(&["Hello there"]);
    let nothing = KnownCounts::new(KEY);
    assert_eq!(nothing.estimate(&Prompt::of(&chat), 1.0, &raw).known, 0);
    assert_eq!(tokens(&nothing, &chat), 3 + 12);
    let known = learned(&[(&chat, 1234)]);
    assert_eq!((tokens(&known, &chat), is_exact(&known, &chat)), (1234, true));
}

#[test]
fn the_next_request_costs_the_total_the_answer_and_an_estimate() {
    let asked = chat(&["a question of some length"]);
    let mut known = KnownCounts::new(KEY);
    learn_turn(&mut known, &asked, &message(Role::Assistant, "an answer"), &used(40, 9));
    let next = chat(&["a question of some length", "an answer", "more"]);
    assert_eq!(tokens(&known, &next), 40 + 9 + 5);
    // Only the pieces without a known count are corrected.
    assert_eq!(known.estimate(&Prompt::of(&next), 2.0, &raw).tokens, 40 + 9 + 10);
}

/// Encrypted content can't be counted, but the server reports how many reasoning tokens there were.
#[test]
fn reasoning_costs_what_the_server_counted() {
    let thinking = |lengths: &[usize]| {
        let item = |length: &usize| sealed("x".repeat(*length));
        let replay = ThinkingReplay { items: lengths.iter().map(item).collect(), ..ThinkingReplay::default() };
        let text = ChatPart::Text { value: "Because.".to_owned() };
        let content = vec![ChatPart::Thinking { replay: Some(replay) }, text];
        ChatMessage { role: Role::Assistant, content }
    };
    let counted = |known: &KnownCounts, messages: Vec<ChatMessage>| {
        let chat = ChatRequest { model: "gpt-5.4".to_owned(), messages, ..ChatRequest::default() };
        let count = |chat: &ChatRequest| {
            known.estimate(&Prompt::of(chat), 1.0, &|piece| Counter::estimating().piece(piece)).tokens
        };
        let mut without = chat.clone();
        without.messages[1].content.remove(0);
        count(&chat) - count(&without)
    };
    let question = || message(Role::User, "why?");
    let check = |lengths: &[usize], reasoning: u64, known: u64| {
        let usage = format!(r#"{{"output_tokens_details":{{"reasoning_tokens":{reasoning}}}}}"#);
        let mut memory = KnownCounts::new(KEY);
        let answer = Prompt::of_message("gpt-5.4", &thinking(lengths));
        memory.learn_reasoning(&answer, &serde_json::from_str(&usage).unwrap(), TODAY);
        assert_eq!(counted(&memory, vec![question(), thinking(lengths)]), known, "{lengths:?}");
        assert_eq!(
            counted(&memory, vec![question(), thinking(lengths), question()]),
            0,
            "older reasoning is discarded"
        );
    };
    // Without a reported number, the length decides.
    check(&[1080], 0, 28);
    check(&[1080], 100, 100 + 2);
    // Two reasoning items have twice the overhead.
    check(&[1000, 3000], 101, 101 + 2 * 2);
    // Most of the reasoning isn't sent back.
    check(&[1080], 5000, 28);
}

#[test]
fn reasoning_is_counted_only_while_the_model_sees_it() {
    let usage: Usage = serde_json::from_str(
        r#"{"input_tokens":30,"output_tokens":510,"output_tokens_details":{"reasoning_tokens":500}}"#,
    )
    .unwrap();
    let asked = chat(&["why?"]);
    let mut known = KnownCounts::new(KEY);
    learn_turn(&mut known, &asked, &message(Role::Assistant, "because!"), &usage);
    assert_eq!(tokens(&known, &chat(&["why?", "because!", "I see"])), 30 + 10 + 6);

    // The server wants the reasoning back together with the results of the calls that followed from it.
    let replay = |model: &str| ChatPart::Thinking {
        replay: Some(ThinkingReplay {
            model: Some(model.to_owned()),
            origin: None,
            items: vec![sealed("sealed".repeat(500))],
        }),
    };
    let call = ChatPart::ToolCall { call_id: "1".to_owned(), name: "because".to_owned(), input_json: String::new() };
    let content = vec![ChatPart::Text { value: "I see".to_owned() }];
    let result = ChatPart::ToolResult { call_id: "1".to_owned(), content, is_error: false };
    let mut next = asked.clone();
    next.messages.push(ChatMessage { role: Role::Assistant, content: vec![replay("acme/one"), call] });
    next.messages.push(ChatMessage { role: Role::User, content: vec![result] });
    learn_turn(&mut known, &asked, &next.messages[1], &usage);
    assert_eq!(tokens(&known, &next), 30 + 510 + 6);
    // After the next question, the server discards the reasoning.
    let mut later = next.clone();
    later.messages.push(message(Role::User, "and?"));
    assert_eq!(tokens(&known, &later), 30 + 10 + 6 + 5);
    // Another model's reasoning is left out of the request, so it costs nothing.
    next.messages[1].content[0] = replay("acme/two");
    assert_eq!(tokens(&known, &next), 30 + 10 + 6);
}

#[test]
fn an_edit_costs_only_that_message() {
    let (one, three) = (chat(&["the first one"]), chat(&["the first one", "the second", "and the third"]));
    let five = chat(&["the first one", "the second", "and the third", "fourth", "fifth!"]);
    // This server counts 20 % more than we do, and 100 tokens for a prompt of its own.
    let known = learned(&[(&one, 120), (&three, 150), (&five, 167)]);
    assert_eq!(tokens(&known, &five), 167);
    for edited in 0..5 {
        let mut other = five.clone();
        other.messages[edited] = message(other.messages[edited].role, "something else altogether");
        let old = message_cost(&known, &five.messages[edited]).unwrap();
        assert_eq!(tokens(&known, &other), 167 - old + 26, "message {edited}");
        // Without the first question, the answer to it would become part of the instructions.
        if edited > 0 {
            let mut shorter = five.clone();
            shorter.messages.remove(edited);
            assert_eq!(tokens(&known, &shorter), 167 - old, "message {edited} deleted");
        }
    }
}

#[test]
fn an_added_tool_costs_only_that_tool() {
    let tool = |name: &str| ToolDefinition {
        name: name.to_owned(),
        description: "does things".to_owned(),
        input_schema: Some(serde_json::json!({"type": "object"})),
    };
    let mut asked = chat(&["do it"]);
    asked.tools = vec![tool("read"), tool("write")];
    let known = learned(&[(&asked, 90)]);
    let mut more = asked.clone();
    more.tools.push(tool("search"));
    assert_eq!(tokens(&known, &more), 90 + 17);
    // The order of tools doesn't matter to the model.
    asked.tools.reverse();
    assert_eq!(tokens(&known, &asked), 90);
}

#[test]
fn a_hidden_prompt_belongs_to_the_frame() {
    let known = learned(&[(&chat(&["hi, this is a short question"]), 5000)]);
    let other = tokens(&known, &chat(&["hi, this is another short question"]));
    assert!((4900..=5050).contains(&other), "{other}");
}

#[test]
fn content_that_the_model_never_sees_changes_nothing() {
    let asked = chat(&["look", "I did", "and?"]);
    let known = learned(&[(&asked, 77)]);
    let mut same = asked.clone();
    let marker = |mime_type: &str| ChatPart::Data { mime_type: mime_type.to_owned(), base64: "AAAA".to_owned() };
    same.messages[0].content.push(marker("cache_control"));
    same.messages[1].content.insert(0, ChatPart::Thinking { replay: None });
    same.messages[1].content.push(marker("stateful_marker"));
    same.messages[2].content = ["an", "d?"].map(|text| ChatPart::Text { value: text.to_owned() }).to_vec();
    assert_eq!(tokens(&known, &same), 77);
}

#[test]
fn everything_the_model_sees_distinguishes_messages() {
    let call = |name: &str, input: &str| ChatPart::ToolCall {
        call_id: "1".to_owned(),
        name: name.to_owned(),
        input_json: input.to_owned(),
    };
    let result = |text: &str, is_error| ChatPart::ToolResult {
        call_id: "1".to_owned(),
        content: vec![ChatPart::Text { value: text.to_owned() }],
        is_error,
    };
    let image = |base64: &str| ChatPart::Data { mime_type: "image/png".to_owned(), base64: base64.to_owned() };
    let text = |value: &str| ChatPart::Text { value: value.to_owned() };
    let messages: Vec<ChatMessage> = [
        (Role::User, vec![text("ab")]),
        (Role::Assistant, vec![text("ab")]),
        (Role::System, vec![text("ab")]),
        (Role::User, vec![text("a")]),
        (Role::User, vec![image("iVBORw0K")]),
        (Role::User, vec![image("iVBORw0L")]),
        (Role::User, vec![text("ab"), image("iVBORw0K")]),
        (Role::User, vec![text("a"), image("iVBORw0K"), text("b")]),
        (Role::Assistant, vec![call("f", "{}")]),
        (Role::Assistant, vec![call("g", "{}")]),
        (Role::Assistant, vec![call("f", r#"{"a":1}"#)]),
        (Role::User, vec![result("ab", false)]),
        (Role::User, vec![result("ab", true)]),
        (Role::User, vec![result("a", false)]),
        (Role::User, vec![result("a", false), text("b")]),
        (Role::User, vec![]),
    ]
    .into_iter()
    .map(|(role, content)| ChatMessage { role, content })
    .collect();
    // A total so far below our own count is kept for the whole prompt, but not shared out among its pieces.
    let heavy = |_: Piece<'_>| 1000;
    let prompt = |message: &ChatMessage| Prompt::of(&ChatRequest { messages: vec![message.clone()], ..chat(&[]) });
    for (index, one) in messages.iter().enumerate() {
        let mut known = KnownCounts::new(KEY);
        // The second time, it is believed.
        for _ in 0..2 {
            known.learn(&prompt(one), &used(1, 0), 1.0, &heavy, TODAY);
        }
        for (other_index, other) in messages.iter().enumerate() {
            let is_known = known.estimate(&prompt(other), 1.0, &heavy).tokens == 1;
            assert_eq!(is_known, index == other_index, "{one:?} and {other:?}");
        }
    }
    // The same call may be spelled differently by the model and by JavaScript.
    let spelled = ChatMessage { role: Role::Assistant, content: vec![call("f", "{ \"a\" : 1 }")] };
    let known = learned(&[(&ChatRequest { messages: vec![messages[10].clone()], ..chat(&[]) }, 10)]);
    assert!(is_exact(&known, &ChatRequest { messages: vec![spelled], ..chat(&[]) }));
}

#[test]
fn models_and_installations_are_kept_apart() {
    let asked = chat(&["the same question"]);
    let known = learned(&[(&asked, 1000)]);
    let other = ChatRequest { model: "acme/two".to_owned(), ..asked.clone() };
    assert_eq!(tokens(&known, &other), 3 + 18);
    let mut elsewhere = KnownCounts::new(InstallKey(*b"another machine."));
    elsewhere.merge(known);
    assert_eq!(tokens(&elsewhere, &asked), 3 + 18);
}

#[test]
fn implausible_counts_are_not_learned() {
    let (one, three) = (chat(&["first question"]), chat(&["first question", "answer", "second question"]));
    for nonsense in [None, Some(0), Some(u64::MAX)] {
        let mut known = KnownCounts::new(KEY);
        let usage = Usage { input_tokens: nonsense, output_tokens: nonsense, ..Usage::default() };
        learn_turn(&mut known, &one, &three.messages[1], &usage);
        assert!(known.is_empty());
    }
    // The server dropped part of the history or added to it: the total is right, but the difference isn't the cost of
    // any piece.
    for total in [12, 30, 9000] {
        // A total that is far too low is believed the second time.
        let known = learned(&[(&one, 30), (&three, total), (&three, total)]);
        assert_eq!(tokens(&known, &three), total);
        assert_eq!(message_cost(&known, &three.messages[2]), None);
    }
}

/// Checks invariant L9.
#[test]
fn entries_are_bounded_and_the_oldest_are_removed_first() {
    let mut known = KnownCounts::new(KEY);
    for index in 0..60_000_u32 {
        let text = format!("question number {index}");
        known.learn(&Prompt::of(&chat(&[&text])), &used(30, 0), 1.0, &raw, index / 100);
        assert!(known.len() <= 50_000);
    }
    assert!(is_exact(&known, &chat(&["question number 59999"])));
    assert!(!is_exact(&known, &chat(&["question number 0"])));
}

#[test]
fn the_factor_follows_measurements_that_agree() {
    let mut calibration = Calibration::default();
    assert!((calibration.factor("claude") - 1.0).abs() < 1e-9);
    let learn = |calibration: &mut Calibration, raw, actual| {
        calibration.learn("claude", Measured { raw, actual, requests: 1 }, TODAY);
        calibration.factor("claude")
    };
    // Close measurements move it by three tenths.
    assert!((learn(&mut calibration, 1000, 1100) - 1.03).abs() < 1e-9);
    // A distant one is followed when another one agrees with it.
    assert!((learn(&mut calibration, 1000, 1300) - 1.03).abs() < 1e-9);
    assert!((learn(&mut calibration, 1000, 1320) - 1.31).abs() < 1e-9);
    // Downwards, four must agree, one after the other.
    for actual in [650, 640, 660, 1310, 650, 640, 660] {
        assert!((learn(&mut calibration, 1000, actual) - 1.31).abs() < 1e-9, "{actual}");
    }
    assert!((learn(&mut calibration, 1000, 650) - 0.65).abs() < 1e-9);
    assert!((calibration.factor("gemini") - 1.0).abs() < 1e-9);
    for _ in 0..2 {
        learn(&mut calibration, 1, u32::MAX);
    }
    assert!((calibration.factor("claude") - 2.0).abs() < 1e-6);
    for _ in 0..4 {
        learn(&mut calibration, u32::MAX, 1);
    }
    assert!((calibration.factor("claude") - 0.5).abs() < 1e-6);
    let before = calibration.clone();
    learn(&mut calibration, 0, 5);
    learn(&mut calibration, 5, 0);
    assert_eq!(calibration, before);
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-z]{1,40}", 1..12)
}

proptest! {
    /// Checks invariant L2.
    #[test]
    fn after_learning_the_same_conversation_is_exact(
        histories in prop::collection::vec((texts(), 1_u64..100_000), 1..8),
    ) {
        let mut known = KnownCounts::new(KEY);
        for (texts, total) in &histories {
            let chat = chat(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let prompt = Prompt::of(&chat);
            // A total that is far too low is believed the second time.
            for _ in 0..2 {
                known.learn(&prompt, &used(*total, 0), 1.0, &raw, TODAY);
            }
            let estimate = known.estimate(&prompt, 1.3, &raw);
            prop_assert_eq!((estimate.tokens, estimate.known), (*total, *total));
        }
    }

    /// The server counts `scale` times our count. After any number of turns, an edit changes the estimate only by the
    /// edited message, apart from rounding.
    /// Checks invariant L3.
    #[test]
    fn edits_cost_only_the_edited_message(
        turns in 1_usize..8, scale in 0.6_f64..1.9, edited in any::<prop::sample::Index>(), new in "[A-Z]{1,40}",
    ) {
        let texts: Vec<String> = (0..=turns * 2).map(|turn| format!("message {turn} {}", "x".repeat(turn * 7))).collect();
        let mut known = KnownCounts::new(KEY);
        let mut total = 0;
        for turn in 0..=turns {
            let chat = chat(&texts[..=turn * 2].iter().map(String::as_str).collect::<Vec<_>>());
            let prompt = Prompt::of(&chat);
            let sum = prompt.pieces().into_iter().map(raw).sum::<u32>();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let actual = (f64::from(sum) * scale).round() as u64;
            total = actual;
            known.learn(&prompt, &used(total, 0), 1.0, &raw, TODAY);
        }
        let mut other = chat(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let edited = edited.index(other.messages.len());
        let old = message_cost(&known, &other.messages[edited]).unwrap();
        other.messages[edited] = message(other.messages[edited].role, &new);
        prop_assert_eq!(tokens(&known, &other), total - old + new.len() as u64 + 1);
    }

    /// Checks invariant L4.
    #[test]
    fn the_factor_stays_in_bounds(measured in prop::collection::vec((any::<u32>(), any::<u32>()), 0..50)) {
        let mut calibration = Calibration::default();
        for (raw, actual) in measured {
            calibration.learn("family", Measured { raw, actual, requests: 1 }, TODAY);
            prop_assert!((0.5..=2.0).contains(&calibration.factor("family")));
        }
    }
}
