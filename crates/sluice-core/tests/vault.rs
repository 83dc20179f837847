//! What the vault keeps, for how long, and what it never does.

use serde_json::json;
use sluice_core::{ChatMessage, ChatPart, ChatRequest, ReasoningItem, ReplayItem, Role, ThinkingReplay, Vault};

const ORIGIN: &str = "https://gateway.example";
const TODAY: u32 = 20_000;

fn answer(text: &str, call_id: Option<&str>, reasoning: ReasoningItem) -> Vec<ChatPart> {
    let replay = ThinkingReplay {
        model: Some("acme/m-1".to_owned()),
        origin: Some(ORIGIN.to_owned()),
        items: vec![ReplayItem::Reasoning(reasoning)],
    };
    let call = call_id.map(|id| ChatPart::ToolCall {
        call_id: id.to_owned(),
        name: "look".to_owned(),
        input_json: r#"{"b": 1e2, "a": [1.0]}"#.to_owned(),
    });
    let text = ChatPart::Text { value: text.to_owned() };
    std::iter::once(text).chain(call).chain([ChatPart::Thinking { replay: Some(replay) }]).collect()
}

fn sealed(content: &str) -> ReasoningItem {
    ReasoningItem { encrypted_content: Some(content.to_owned()), ..ReasoningItem::default() }
}

fn plain(content: &str) -> ReasoningItem {
    ReasoningItem { content: vec![content.to_owned()], ..ReasoningItem::default() }
}

/// Returns the reasoning that comes back with an answer after VS Code has dropped it.
fn restored(vault: &mut Vault, model: &str, origin: &str, content: serde_json::Value, today: u32) -> Vec<ReplayItem> {
    let message = ChatMessage { role: Role::Assistant, content: serde_json::from_value(content).unwrap() };
    let mut chat = ChatRequest { model: model.to_owned(), messages: vec![message], ..ChatRequest::default() };
    vault.restore(&mut chat, origin, today);
    let replays = chat.messages[0].content.iter().filter_map(|part| match part {
        ChatPart::Thinking { replay } => replay.clone(),
        _ => None,
    });
    replays.flat_map(|replay| replay.items).collect()
}

#[test]
fn an_answer_is_recognized_by_its_calls_or_its_text() {
    let mut vault = Vault::default();
    vault.remember(&answer("One. ", Some("gw-1"), sealed("AAA")), TODAY);
    vault.remember(&answer("Two.\n\nThree.", None, sealed("BBB")), TODAY);
    let call = json!({"type": "toolCall", "callId": "gw-1", "name": "look", "inputJson": "{\"a\":[1],\"b\":100}"});
    let text = |value: &str| json!({"type": "text", "value": value});
    let mut find = |content| restored(&mut vault, "acme/m-1", ORIGIN, content, TODAY);
    let (one, two) = ([ReplayItem::Reasoning(sealed("AAA"))], [ReplayItem::Reasoning(sealed("BBB"))]);
    assert_eq!(find(json!([text("One."), call])), one);
    assert_eq!(find(json!([text("Something else."), call])), one);
    assert_eq!(find(json!([text("Two. Three.")])), two);
    assert_eq!(find(json!([text("Two.")])), []);
    assert_eq!(find(json!([text("One.")])), []);
}

#[test]
fn no_other_model_and_no_other_origin_gets_it() {
    let mut vault = Vault::default();
    vault.remember(&answer("One.", None, plain("Hm.")), TODAY);
    let text = json!([{"type": "text", "value": "One."}]);
    let mut find = |model, origin| restored(&mut vault, model, origin, text.clone(), TODAY).len();
    assert_eq!(find("acme/m-1", ORIGIN), 1);
    assert_eq!(find("acme/m-2", ORIGIN), 0);
    assert_eq!(find("acme/m-1", "https://other.example"), 0);
    // What VS Code carries is checked as well.
    let carried = serde_json::to_value(answer("One.", None, plain("Hm."))).unwrap();
    assert_eq!(restored(&mut Vault::default(), "acme/m-1", "https://other.example", carried, TODAY), []);
}

#[test]
fn everything_is_bounded_and_expires() {
    let mut vault = Vault::default();
    vault.remember(&answer("plain", None, plain("Hm.")), TODAY);
    vault.remember(&answer("sealed", None, sealed("AAA")), TODAY);
    vault.remember(&answer("large", None, sealed(&"A".repeat(1 << 20))), TODAY);
    let find = |vault: &mut Vault, text: &str, today| {
        restored(vault, "acme/m-1", ORIGIN, json!([{"type": "text", "value": text}]), today).len()
    };
    assert_eq!((find(&mut vault, "plain", TODAY), find(&mut vault, "large", TODAY)), (1, 0));
    let mut later = vault.clone();
    later.remember(&answer("new", None, sealed("BBB")), TODAY + 8);
    assert_eq!((find(&mut later, "plain", TODAY + 8), find(&mut later, "sealed", TODAY + 8)), (0, 1));
    for number in 0..3_000 {
        vault.remember(&answer(&format!("answer {number}"), None, sealed(&"A".repeat(3_000))), TODAY);
    }
    assert!(vault.to_bytes().len() < 5 << 20, "{}", vault.to_bytes().len());
    assert_eq!((find(&mut vault, "sealed", TODAY), find(&mut vault, "answer 2999", TODAY)), (0, 1));
    vault.clear();
    assert!(vault.is_empty());
}

#[test]
fn a_damaged_file_is_empty_and_windows_share_what_they_kept() {
    let mut vault = Vault::default();
    vault.remember(&answer("One.", None, sealed("AAA")), TODAY);
    let file = vault.to_bytes();
    assert_eq!(Vault::read(&file), vault);
    for end in 0..file.len() {
        assert!(Vault::read(&file[..end]).is_empty());
    }
    assert!(Vault::read(br#"{"version":2,"entries":[],"rejected":[]}"#).is_empty());
    let mut other = Vault::default();
    other.remember(&answer("Two.", None, sealed("BBB")), TODAY);
    other.merge(vault.clone());
    other.merge(vault);
    for (text, kept) in [("One.", 1), ("Two.", 1), ("Three.", 0)] {
        let found = restored(&mut other, "acme/m-1", ORIGIN, json!([{"type": "text", "value": text}]), TODAY);
        assert_eq!(found.len(), kept, "{text}");
    }
}
