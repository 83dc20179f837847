//! What the vault keeps, for how long, and what it never does.

use serde_json::json;
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, LedgerEntry, QuestionId, ReasoningItem, ReplayItem, Role, ThinkingReplay,
    Vault, question_id,
};

const ORIGIN: &str = "https://gateway.example";
const NOW: u64 = 1_790_000_000_000;
const DAY: u64 = 86_400_000;
const QUESTION: QuestionId = QuestionId { text: 7, thread: 7 };

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

fn whole(answer: Vec<ChatPart>) -> LedgerEntry {
    LedgerEntry { is_whole: true, answer, ..LedgerEntry::default() }
}

fn sealed(content: &str) -> ReasoningItem {
    ReasoningItem { encrypted_content: Some(content.to_owned()), ..ReasoningItem::default() }
}

fn plain(content: &str) -> ReasoningItem {
    ReasoningItem { content: vec![content.to_owned()], ..ReasoningItem::default() }
}

/// Returns the reasoning that comes back with an answer after VS Code has dropped it.
fn restored(vault: &mut Vault, model: &str, origin: &str, content: serde_json::Value, now: u64) -> Vec<ReplayItem> {
    let message = ChatMessage { role: Role::Assistant, content: serde_json::from_value(content).unwrap() };
    let mut chat = ChatRequest { model: model.to_owned(), messages: vec![message], ..ChatRequest::default() };
    vault.restore(&mut chat, origin, now);
    let replays = chat.messages[0].content.iter().filter_map(|part| match part {
        ChatPart::Thinking { replay } => replay.clone(),
        _ => None,
    });
    replays.flat_map(|replay| replay.items).collect()
}

#[test]
fn an_answer_is_recognized_by_its_calls_or_its_text() {
    let mut vault = Vault::default();
    vault.remember(&whole(answer("One. ", Some("gw-1"), sealed("AAA"))), QUESTION, NOW);
    vault.remember(&whole(answer("Two.\n\nThree.", None, sealed("BBB"))), QUESTION, NOW);
    let call = json!({"type": "toolCall", "callId": "gw-1", "name": "look", "inputJson": "{\"a\":[1],\"b\":100}"});
    let text = |value: &str| json!({"type": "text", "value": value});
    let mut find = |content| restored(&mut vault, "acme/m-1", ORIGIN, content, NOW);
    let (one, two) = ([ReplayItem::Reasoning(sealed("AAA"))], [ReplayItem::Reasoning(sealed("BBB"))]);
    assert_eq!(find(json!([text("One."), call])), one);
    assert_eq!(find(json!([text("Something else."), call])), one);
    assert_eq!(find(json!([text("Two. Three.")])), two);
    assert_eq!(find(json!([text("Two.")])), []);
    assert_eq!(find(json!([text("One.")])), []);
}

/// People greet models in many conversations, and models greet them with the same words each time.
#[test]
fn equal_answers_to_equal_questions_are_told_apart_by_their_conversations() {
    let say = |text: &str| vec![ChatPart::Text { value: text.to_owned() }];
    let said = |text: &str| ChatMessage { role: Role::Assistant, content: say(text) };
    let ask = |first: &str| vec![ChatMessage::user(first), said("Yes."), ChatMessage::user("Go on")];
    let chat = |messages| ChatRequest { model: "acme/m-1".to_owned(), messages, ..ChatRequest::default() };
    let mut vault = Vault::default();
    for (now, first, reasoning) in [(1, "Is it open?", "AAA"), (2, "Is it closed?", "BBB"), (3, "Is it?", "CCC")] {
        let asked = question_id(&chat(ask(first)));
        vault.remember(&whole(answer("Done.", None, sealed(reasoning))), asked, NOW + now);
    }
    for (first, expected) in [("Is it closed?", "BBB"), ("Is it open?", "AAA"), ("Anything else?", "CCC")] {
        let mut chat = chat([ask(first), vec![said("Done."), ChatMessage::user("And now?")]].concat());
        vault.restore(&mut chat, ORIGIN, NOW + 9);
        let found = serde_json::to_string(&chat.messages[3]).unwrap();
        assert!(found.contains(expected), "{first}: {found}");
    }
}

#[test]
fn an_answer_that_ended_early_is_recognized_by_how_it_begins() {
    let long = "The gate opens at noon, and it closes again at night.";
    let question = ChatMessage::user("When does the gate open?");
    let beginning = ChatPart::Text { value: "The gate opens at noon".to_owned() };
    let message = ChatMessage { role: Role::Assistant, content: vec![beginning] };
    let found = |is_whole: bool, asked: &ChatMessage| {
        let mut vault = Vault::default();
        let asked = ChatRequest { messages: vec![asked.clone()], ..ChatRequest::default() };
        let entry = LedgerEntry { is_whole, ..whole(answer(long, None, sealed("AAA"))) };
        vault.remember(&entry, question_id(&asked), NOW);
        let messages = vec![question.clone(), message.clone()];
        let mut chat = ChatRequest { model: "acme/m-1".to_owned(), messages, ..ChatRequest::default() };
        vault.restore(&mut chat, ORIGIN, NOW)
    };
    assert!(found(false, &question));
    assert!(!found(true, &question), "the host has all of an answer that is whole");
    assert!(!found(false, &ChatMessage::user("Is it open?")), "that was another question");
}

/// Both models begin with the same words.
#[test]
fn an_answer_of_another_model_that_ended_early_is_not_taken_for_it() {
    let said =
        |text: &str| ChatMessage { role: Role::Assistant, content: vec![ChatPart::Text { value: text.to_owned() }] };
    let question = ChatMessage::user("When does the gate open?");
    let asked = question_id(&ChatRequest { messages: vec![question.clone()], ..ChatRequest::default() });
    let mut vault = Vault::default();
    let long = "Here is what I found: it opens at noon.".repeat(20);
    let entry = LedgerEntry { is_whole: false, ..whole(answer(&long, None, sealed("AAA"))) };
    vault.remember(&entry, asked, NOW);
    let mut found = |text: &str| {
        let messages = vec![question.clone(), said(text)];
        let mut chat = ChatRequest { model: "acme/m-1".to_owned(), messages, ..ChatRequest::default() };
        vault.restore(&mut chat, ORIGIN, NOW)
    };
    for length in [20, 24, 38, 80, 200, 400, 700] {
        assert!(found(&long[..length]), "{length}");
    }
    for other in
        ["Here is what I found (1)", "Here is what I found: the gate", "Here is what I found: it opens at one."]
    {
        assert!(!found(other), "{other}");
    }
}

#[test]
fn no_other_model_and_no_other_origin_gets_it() {
    let mut vault = Vault::default();
    vault.remember(&whole(answer("One.", None, plain("Hm."))), QUESTION, NOW);
    let text = json!([{"type": "text", "value": "One."}]);
    let mut find = |model, origin| restored(&mut vault, model, origin, text.clone(), NOW).len();
    assert_eq!(find("acme/m-1", ORIGIN), 1);
    for other in ["acme/m-2", "acme/m-1-mini", "acme/m", "acme/m-1-2026-01-01", "else/m-1"] {
        assert_eq!(find(other, ORIGIN), 0, "{other}");
    }
    assert_eq!(find("acme/m-1", "https://other.example"), 0);
    // What VS Code carries is checked as well.
    let carried = serde_json::to_value(answer("One.", None, plain("Hm."))).unwrap();
    assert_eq!(restored(&mut Vault::default(), "acme/m-1", "https://other.example", carried, NOW), []);
}

#[test]
fn everything_is_bounded_and_expires() {
    let mut vault = Vault::default();
    vault.remember(&whole(answer("plain", None, plain("Hm."))), QUESTION, NOW);
    vault.remember(&whole(answer("sealed", None, sealed("AAA"))), QUESTION, NOW);
    vault.remember(&whole(answer("large", None, sealed(&"A".repeat(1 << 20)))), QUESTION, NOW);
    let find = |vault: &mut Vault, text: &str, now| {
        restored(vault, "acme/m-1", ORIGIN, json!([{"type": "text", "value": text}]), now).len()
    };
    assert_eq!((find(&mut vault, "plain", NOW), find(&mut vault, "large", NOW)), (1, 0));
    let mut later = vault.clone();
    later.remember(&whole(answer("new", None, sealed("BBB"))), QUESTION, NOW + 8 * DAY);
    assert_eq!((find(&mut later, "plain", NOW + 8 * DAY), find(&mut later, "sealed", NOW + 8 * DAY)), (0, 1));
    for number in 0..3_000 {
        vault.remember(&whole(answer(&format!("answer {number}"), None, sealed(&"A".repeat(3_000)))), QUESTION, NOW);
    }
    assert!(vault.to_bytes().len() < 5 << 20, "{}", vault.to_bytes().len());
    assert_eq!((find(&mut vault, "sealed", NOW), find(&mut vault, "answer 2999", NOW)), (0, 1));
    vault.clear(NOW);
    assert!(vault.is_empty());
}

#[test]
fn a_damaged_file_is_empty_and_windows_share_what_they_kept() {
    let mut vault = Vault::default();
    vault.remember(&whole(answer("One.", None, sealed("AAA"))), QUESTION, NOW);
    let file = vault.to_bytes();
    assert_eq!(Vault::read(&file), vault);
    for end in 0..file.len() {
        assert!(Vault::read(&file[..end]).is_empty());
    }
    assert!(Vault::read(br#"{"version":2,"entries":[],"rejected":[],"deleted_ms":0}"#).is_empty());
    let mut other = Vault::default();
    other.remember(&whole(answer("Two.", None, sealed("BBB"))), QUESTION, NOW);
    other.merge(vault.clone(), NOW);
    other.merge(vault, NOW);
    for (text, kept) in [("One.", 1), ("Two.", 1), ("Three.", 0)] {
        let found = restored(&mut other, "acme/m-1", ORIGIN, json!([{"type": "text", "value": text}]), NOW);
        assert_eq!(found.len(), kept, "{text}");
    }
}

#[test]
fn what_was_deleted_does_not_come_back_from_another_window() {
    let (mut one, mut other) = (Vault::default(), Vault::default());
    one.remember(&whole(answer("One.", None, plain("Hm."))), QUESTION, NOW);
    other.merge(one.clone(), NOW);
    other.remember(&whole(answer("Two.", None, plain("Hm."))), QUESTION, NOW + 1);
    one.clear(NOW + 2);
    other.remember(&whole(answer("Three.", None, plain("Hm."))), QUESTION, NOW + 3);
    for vault in [&mut other, &mut one] {
        let file = Vault::read(&vault.to_bytes());
        vault.merge(file, NOW + 3);
    }
    one.merge(other.clone(), NOW + 4);
    other.merge(one.clone(), NOW + 4);
    for vault in [&mut one, &mut other] {
        let mut find =
            |text: &str| restored(vault, "acme/m-1", ORIGIN, json!([{"type": "text", "value": text}]), NOW + 5).len();
        assert_eq!([find("One."), find("Two."), find("Three.")], [0, 0, 1]);
    }
}

#[test]
fn a_server_that_names_its_model_without_the_creator_or_with_a_date_is_recognized() {
    for (made_by, asked, is_same) in [
        ("gpt-5", "openai/gpt-5", true),
        ("gpt-5-2025-08-07", "openai/gpt-5", true),
        ("claude-sonnet-4-20250514", "anthropic/claude-sonnet-4", true),
        ("claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4", false),
        ("gpt-5-mini", "openai/gpt-5", false),
        ("gpt-5-mini-2025-08-07", "openai/gpt-5", false),
        ("azure/gpt-5", "openai/gpt-5", false),
    ] {
        let mut content = answer("One.", None, sealed("AAA"));
        let Some(ChatPart::Thinking { replay: Some(replay) }) = content.last_mut() else { unreachable!() };
        (replay.model, replay.origin) = (Some(made_by.to_owned()), None);
        let carried = serde_json::to_value(content).unwrap();
        let found = restored(&mut Vault::default(), asked, ORIGIN, carried, NOW);
        assert_eq!(!found.is_empty(), is_same, "{made_by} {asked}");
    }
}

/// One file of each version of the format.
const OLDER: [&str; 1] = [include_str!("data/upgrade/vault-1.json")];

#[test]
fn files_of_every_version_are_read() {
    for (number, file) in (1..).zip(OLDER) {
        assert_eq!(serde_json::from_str::<serde_json::Value>(file).unwrap()["version"], number);
        let mut vault = Vault::read(file.as_bytes());
        let content = json!([{"type": "text", "value": "Two.\n\nThree."}]);
        let items = restored(&mut vault, "acme/m-1", ORIGIN, content, NOW);
        assert_eq!(items, [ReplayItem::Reasoning(sealed("BBB"))], "version {number}");
    }
    let now: serde_json::Value = serde_json::from_slice(&Vault::default().to_bytes()).unwrap();
    assert_eq!(now["version"], OLDER.len(), "add a file of the new version");
}

#[test]
fn a_file_of_a_newer_version_counts_as_empty() {
    let newer = OLDER[0].replace("\"version\": 1", "\"version\": 2");
    assert!(Vault::read(newer.as_bytes()).is_empty());
}
