//! How the ledger follows a request: what is known before it, what is learned from it, and which request it continues.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::json;
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, Counter, InstallKey, Ledger, LedgerEntry, LedgerModel, PieceRecord,
    RequestKind, RequestRecord, Role, Usage,
};

const TODAY: u32 = 20_000;

fn said(role: Role, value: &str) -> ChatMessage {
    ChatMessage { role, content: vec![ChatPart::Text { value: value.to_owned() }] }
}

/// A chat that alternates between questions and answers.
fn chat(texts: &[&str]) -> ChatRequest {
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let messages = texts.iter().zip(roles).map(|(text, role)| said(role, text)).collect();
    ChatRequest { model: "acme/model-1".to_owned(), messages, ..ChatRequest::default() }
}

fn model() -> LedgerModel {
    LedgerModel { origin: "acme".to_owned(), max_input_tokens: Some(1_000), ..LedgerModel::default() }
}

fn answered(input: u64, output: u64, answer: &str) -> LedgerEntry {
    let usage: Usage = serde_json::from_value(json!({"input_tokens": input, "output_tokens": output})).unwrap();
    LedgerEntry {
        is_answered: true,
        is_whole: true,
        usage: Some(usage),
        answer: vec![ChatPart::Text { value: answer.to_owned() }],
        ..LedgerEntry::default()
    }
}

fn ledger() -> Ledger {
    Ledger::new(Counter::estimating(), InstallKey([7; 16]))
}

/// Checks invariant L2.
#[test]
fn the_next_estimate_is_anchored_on_what_the_server_counted() {
    let mut ledger = ledger();
    let before = ledger.begin("1", "talk", chat(&["How are you?"]), model(), 0).estimate;
    assert_eq!(before.known, 0);
    let ended = ledger.end("1", &answered(40, 6, "Fine, thanks."), 1_300, TODAY).unwrap();
    assert_eq!(ended.used.input_tokens, Some(40));
    assert!(ledger.status("talk").is_some() && ledger.status("other").is_none());

    // The same request again is known exactly; one more message is estimated.
    assert_eq!(ledger.begin("2", "talk", chat(&["How are you?"]), model(), 2_000).estimate.known, 40);
    let longer = chat(&["How are you?", "Fine, thanks.", "Good."]);
    let after = ledger.begin("3", "talk", longer, model(), 3_000).estimate;
    assert!(after.known >= 40 && after.tokens > after.known, "{after:?}");
}

/// The time that the user took to allow the request doesn't count.
#[test]
fn times_are_those_of_the_exchange() {
    let check = |timeline: serde_json::Value, expected: Expect| {
        let mut ledger = ledger();
        ledger.begin("1", "talk", chat(&["How are you?"]), model(), 5_000);
        let timeline = serde_json::from_value(timeline).unwrap();
        let entry = LedgerEntry { timeline, ..answered(40, 600, "Fine, thanks.") };
        let used = ledger.end("1", &entry, 65_000, TODAY).unwrap().used;
        let speed = used.tokens_per_second;
        expected.assert_eq(&format!("{:?} of {} ms, {speed:?} tokens/s", used.first_part_ms, used.total_ms));
    };
    check(json!({ "endMs": 2_000, "firstTextMs": 500 }), expect!["Some(500) of 2000 ms, Some(400.0) tokens/s"]);
    check(
        json!({ "endMs": 2_000, "firstThinkingMs": 400, "firstTextMs": 500 }),
        expect!["Some(400) of 2000 ms, Some(375.0) tokens/s"],
    );
    check(
        json!({ "endMs": 2_000, "firstTextMs": 500, "calls": [{ "name": "look", "ms": 300 }] }),
        expect!["Some(300) of 2000 ms, Some(352.94117647058823) tokens/s"],
    );
    check(json!({ "endMs": 2_000 }), expect!["None of 2000 ms, None tokens/s"]);
    check(json!({}), expect!["None of 60000 ms, None tokens/s"]);
}

/// Checks invariant L1.
#[test]
fn a_failed_request_ends_once() {
    let mut ledger = ledger();
    ledger.begin("1", "talk", chat(&["Hello"]), model(), 0);
    let used = ledger.end("1", &LedgerEntry::default(), 500, TODAY).unwrap().used;
    assert_eq!((used.is_answered, used.input_tokens), (false, None));
    assert!(ledger.end("1", &LedgerEntry::default(), 600, TODAY).is_none(), "it ends once");
}

/// Checks invariant L4.
#[test]
fn texts_and_messages_are_corrected_by_the_same_factor() {
    let mut ledger = ledger();
    let question = "word ".repeat(400);
    let raw = ledger.text_tokens("acme/model-1", "acme", &question);
    // The server counts half as much again. Such a difference is believed when others confirm it.
    let mut texts = vec![question.clone()];
    for id in ["1", "2", "3", "4", "5", "6"] {
        let chat = chat(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let uncorrected = self::ledger().begin(id, "talk", chat.clone(), model(), 0).estimate.tokens;
        ledger.begin(id, "talk", chat, model(), 0);
        ledger.end(id, &answered(uncorrected * 3 / 2, 1, "Yes."), 1_000, TODAY);
        texts.extend(["Yes.".to_owned(), question.repeat(id.parse().unwrap())]);
    }
    let (text, other) = (format!("{question}."), said(Role::User, &format!("{question}!")));
    let (text, message) =
        (ledger.text_tokens("acme/model-1", "acme", &text), ledger.message_tokens("acme/model-1", "acme", &other));
    assert!(text.abs_diff(raw * 3 / 2) < raw / 10, "{text} is half as much again as {raw}");
    assert!(message.abs_diff(text) < 20, "{message} and {text} differ by what stands around a message");
}

fn check_tree(requests: &[(&str, &[&str])], expected: Expect) {
    let mut ledger = ledger();
    for (now, (id, texts)) in (0..).zip(requests) {
        ledger.begin(id, "talk", chat(texts), model(), now);
    }
    let line = |node: &sluice_core::TreeNode| {
        let continues = node.continues.as_deref().unwrap_or("nothing");
        format!("{} continues {continues}: {} of {} pieces\n", node.id, node.shared_pieces, node.pieces)
    };
    expected.assert_eq(&ledger.tree("talk").iter().map(line).collect::<String>());
}

#[test]
fn a_request_with_nothing_in_common_but_tools_and_instructions_continues_nothing() {
    let tool = |name: &str| serde_json::from_value(json!({"name": name, "description": "A tool"})).unwrap();
    let mut ledger = ledger();
    let mut parent = |id: &str, texts: &[&str]| {
        let mut chat = chat(texts);
        chat.messages.insert(0, said(Role::System, "Be brief."));
        chat.tools = vec![tool("list"), tool("read"), tool("write")];
        ledger.begin(id, "talk", chat, model(), 0);
        ledger.end(id, &answered(100, 1, "Yes."), 1, TODAY).unwrap().record.parent
    };
    assert_eq!(parent("1", &["a"]), None);
    assert_eq!(parent("2", &["z"]), None);
    assert_eq!(parent("3", &["a", "b", "c"]), Some("1".to_owned()));
}

#[test]
fn the_requests_of_a_conversation_are_a_tree() {
    check_tree(
        &[
            ("ask", &["a"]),
            ("go on", &["a", "b", "c"]),
            ("edit", &["a", "b", "other"]),
            ("go on with the edit", &["a", "b", "other", "d", "e"]),
            ("begin anew", &["z"]),
        ],
        expect![[r#"
            ask continues nothing: 0 of 2 pieces
            go on continues ask: 2 of 4 pieces
            edit continues go on: 3 of 4 pieces
            go on with the edit continues edit: 4 of 6 pieces
            begin anew continues go on with the edit: 1 of 2 pieces
        "#]],
    );
}

#[test]
fn the_tree_has_what_requests_used_and_the_newest_conversations() {
    let mut ledger = ledger();
    let begin = |ledger: &mut Ledger, id: &str, conversation: &str| {
        ledger.begin(id, conversation, chat(&[id]), model(), 0);
    };
    begin(&mut ledger, "1", "the oldest");
    begin(&mut ledger, "2", "the oldest");
    ledger.end("1", &answered(10, 1, "Yes."), 1, TODAY);
    let used = |node: &sluice_core::TreeNode| node.used.as_ref().map(|used| used.id.clone());
    assert_eq!(ledger.tree("the oldest").iter().map(used).collect::<Vec<_>>(), [Some("1".to_owned()), None]);
    for at in 1..100 {
        begin(&mut ledger, &format!("other {at}"), &format!("other {at}"));
    }
    assert_eq!(ledger.tree("the oldest").len(), 2);
    begin(&mut ledger, "one too many", "one too many");
    assert_eq!((ledger.tree("the oldest").len(), ledger.tree("other 1").len()), (0, 1));
    // A request to another model continues nothing.
    let elsewhere = ChatRequest { model: "other/model".to_owned(), ..chat(&["other 1"]) };
    ledger.begin("elsewhere", "other 1", elsewhere, model(), 0);
    assert_eq!(ledger.tree("other 1")[1].continues, None);
}

#[test]
fn the_status_line_stays_with_the_chat_in_which_the_user_asked_last() {
    let mut ledger = ledger();
    let window = LedgerModel { context_window: Some(1_000), ..model() };
    let mut request = |id: &str, conversation: &str, chat: ChatRequest, tokens: u64, expected: Expect| {
        ledger.begin(id, conversation, chat, window.clone(), 0);
        let ended = ledger.end(id, &answered(tokens, 10, "Fine."), 1, TODAY).unwrap();
        expected.assert_eq(&sluice_core::join_messages(&ended.status.unwrap().text, " · "));
    };
    let round = || {
        let mut round = chat(&["Look.", ""]);
        round.messages[1].content =
            vec![ChatPart::ToolCall { call_id: "c".to_owned(), name: "look".to_owned(), input_json: "{}".to_owned() }];
        let result = ChatPart::ToolResult { call_id: "c".to_owned(), content: Vec::new(), is_error: false };
        round.messages.push(ChatMessage { role: Role::User, content: vec![result] });
        // VS Code may add a reminder.
        round.messages.push(said(Role::User, "Go on."));
        round
    };
    request("1", "agent", chat(&["Look."]), 100, expect!["110/1k · 11 %"]);
    request("2", "agent", round(), 200, expect!["210/1k · 21 %"]);
    request("3", "other", chat(&["And you?"]), 300, expect!["310/1k · 31 %"]);
    // The agent continues in the background.
    request("4", "agent", round(), 400, expect!["310/1k · 31 %"]);
    request("5", "agent", chat(&["Look.", "Done.", "Thanks."]), 500, expect!["510/1k · 51 %"]);
    // Requests outside of the conversation don't replace it.
    let mut title = chat(&["Please write a brief title for the following request:"]);
    title
        .messages
        .insert(0, said(Role::System, "You are an expert in crafting pithy titles for chatbot conversations."));
    request("6", "title", title, 600, expect!["510/1k · 51 %"]);
}

/// Renders a record without what is random: one line for each group of fields.
fn rendered(record: &RequestRecord) -> String {
    let piece = |piece: &PieceRecord| {
        let name = piece.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("  {:?}/{:?}{name}: {}\n", piece.group, piece.kind, piece.tokens)
    };
    format!(
        "{} in {}, continues {:?}, {} with {} at {}\n{}{:?}\n{:?}\n{:?} {:?} {:?}\n{:?}\n{:?}",
        record.id,
        record.conversation,
        record.parent,
        record.purpose,
        record.model,
        record.started_ms,
        record.pieces.iter().map(piece).collect::<String>(),
        record.timeline,
        record.usage,
        record.cost,
        record.retries,
        record.notes,
        record.routing,
        record.finish,
    )
}

/// Checks invariant C3.
#[test]
fn a_record_has_names_and_sizes_and_no_text() {
    let mut ledger = ledger();
    let mut first = chat(&["What does CANARY-1 mean?"]);
    first.messages.insert(0, said(Role::System, "CANARY-2\nBe brief."));
    first.tools.push(serde_json::from_value(json!({"name": "search", "description": "CANARY-3"})).unwrap());
    let begun_ms = 1_700_000_000_000;
    ledger.begin("1", "talk", first.clone(), model(), begun_ms);
    let call = ChatPart::ToolCall {
        call_id: "gw-1".to_owned(),
        name: "search".to_owned(),
        input_json: r#"{"for":"CANARY-4"}"#.to_owned(),
    };
    let entry = LedgerEntry {
        answer: vec![call.clone()],
        timeline: serde_json::from_value(json!({"sentMs": 1, "calls": [{"name": "search", "ms": 7}], "endMs": 9}))
            .unwrap(),
        notes: serde_json::from_value(json!([{"kind": "malformed", "count": 2}])).unwrap(),
        retries: serde_json::from_value(json!([{"ms": 0, "why": "rateLimited"}])).unwrap(),
        cost: Some("0.25".to_owned()),
        ..answered(100, 6, "")
    };
    let mut text = rendered(&ledger.end("1", &entry, begun_ms + 9, TODAY).unwrap().record);
    first.messages.push(ChatMessage { role: Role::Assistant, content: vec![call] });
    let result = json!({"type": "toolResult", "callId": "gw-1", "content": [{"type": "text", "value": "CANARY-5"}]});
    first.messages.push(ChatMessage { role: Role::User, content: vec![serde_json::from_value(result).unwrap()] });
    ledger.begin("2", "talk", first, model(), begun_ms + 20);
    let record = ledger.end("2", &answered(140, 6, "CANARY-6"), begun_ms + 30, TODAY).unwrap().record;
    let json = serde_json::to_string(&record).unwrap();
    assert!(!json.contains("CANARY"), "{json}");
    assert_eq!(RequestRecord::read(&json), Some(record.clone()));
    assert_eq!(RequestRecord::read(&json.replace("\"version\":1", "\"version\":2")), None);
    assert_eq!(record.pieces.iter().map(|piece| piece.tokens).sum::<u32>(), 140, "the pieces add up to the count");
    text.push_str("\n\n");
    text.push_str(&rendered(&record));
    expect![[r#"
        1 in talk, continues None, conversation with acme/model-1 at 1700000000000
          System/Frame: 60
          Tools/Tool search: 25
          System/System: 7
          New/Message user: 8
        Timeline { sent_ms: Some(1), first_byte_ms: None, first_thinking_ms: None, first_text_ms: None, calls: [CallTime { name: "search", ms: 7 }], end_ms: 9 }
        TokenUse { input: Some(100), cached: None, cache_write: None, output: Some(6), reasoning: None }
        Some(Cost { usd: Dollars(250000000), basis: Reported }) [Retry { ms: 0, why: RateLimited }] [NoteCount { kind: Malformed, count: 2 }]
        Route { model: None, provider: None, tried: [], generation_id: None }
        Finish { status: Cancelled, reason: None, failure: None }

        2 in talk, continues Some("1"), conversation with acme/model-1 at 1700000000020
          System/Frame: 58
          Tools/Tool search: 24
          System/System: 7
          History/Message user: 8
          History/Call search: 25
          New/Result search: 18
        Timeline { sent_ms: None, first_byte_ms: None, first_thinking_ms: None, first_text_ms: None, calls: [], end_ms: 10 }
        TokenUse { input: Some(140), cached: None, cache_write: None, output: Some(6), reasoning: None }
        None [] []
        Route { model: None, provider: None, tried: [], generation_id: None }
        Finish { status: Cancelled, reason: None, failure: None }"#]].assert_eq(&text);
}

#[test]
fn absurd_counts_do_no_harm() {
    let mut ledger = ledger();
    let prices = json!({"input": 1e9, "output": 1e9, "cachedInput": 1.0, "tiers": []});
    let model = LedgerModel { prices: serde_json::from_value(prices).unwrap(), ..model() };
    let usage = json!({
        "input_tokens": u64::MAX, "output_tokens": u64::MAX, "input_tokens_details": {"cached_tokens": u64::MAX},
    });
    let timeline = json!({"endMs": u64::MAX, "sentMs": u64::MAX});
    for (id, now_ms) in [("1", u64::MAX), ("2", 0), ("3", u64::MAX), ("4", 1)] {
        ledger.begin(id, "talk", chat(&["How are you?"]), model.clone(), now_ms);
        ledger.reserve(id, u32::MAX);
        ledger.check_spending(id, &serde_json::from_value(json!({"day": 1e8, "month": 1e8})).unwrap(), &[], u32::MAX);
        let entry = LedgerEntry {
            usage: serde_json::from_value(usage.clone()).unwrap(),
            timeline: serde_json::from_value(timeline.clone()).unwrap(),
            cost: Some("999999999".to_owned()),
            ..LedgerEntry::default()
        };
        let record = ledger.end(id, &entry, now_ms, u32::MAX).unwrap().record;
        assert!(RequestRecord::read(&serde_json::to_string(&record).unwrap()).is_some());
    }
    assert!(ledger.history().expected_this_month(u32::MAX).is_none_or(|cost| cost.0 > 0));
}

#[test]
fn a_title_is_compared_only_with_a_request_that_it_continues() {
    let mut ledger = ledger();
    let mut title = |id: &str, question: &str| {
        let system = "You are an expert in crafting pithy titles for chatbot conversations. Be pithy.";
        let messages = vec![said(Role::System, system), said(Role::User, question)];
        let chat = ChatRequest { model: "acme/model-1".to_owned(), messages, ..ChatRequest::default() };
        let begun = ledger.begin(id, "talk", chat, LedgerModel::default(), 0);
        let usage = serde_json::from_value(json!({"input_tokens": begun.estimate.tokens, "output_tokens": 5})).unwrap();
        let entry = LedgerEntry { is_answered: true, usage: Some(usage), ..LedgerEntry::default() };
        let record = ledger.end(id, &entry, 0, TODAY).unwrap().record;
        assert_eq!(record.kind, RequestKind::Utility);
        record.lens.map(|lens| lens.compared_with)
    };
    assert_eq!(title("1", "Fix it."), None);
    // Only the instructions are the same.
    assert_eq!(title("2", "Explain it."), None);
    assert_eq!(title("3", "Fix it."), Some("1".to_owned()));
}

#[test]
fn the_oldest_requests_are_forgotten_first() {
    let compared_with = |others: &[(String, String)]| {
        let mut ledger = ledger();
        let mut run = |id: &str, conversation: &str, question: &str, now_ms: u64| {
            let messages = vec![said(Role::User, question)];
            let chat = ChatRequest { model: "acme/model-1".to_owned(), messages, ..ChatRequest::default() };
            let begun = ledger.begin(id, conversation, chat, LedgerModel::default(), now_ms);
            let usage = json!({"input_tokens": begun.estimate.tokens, "output_tokens": 5});
            let usage = serde_json::from_value(usage).unwrap();
            let entry = LedgerEntry { is_answered: true, usage: Some(usage), ..LedgerEntry::default() };
            ledger.end(id, &entry, now_ms, TODAY).unwrap().record.lens.map(|lens| lens.compared_with)
        };
        run("first", "talk", "The first question.", 0);
        for (now_ms, (conversation, question)) in (1..).zip(others) {
            run(question, conversation, question, now_ms);
        }
        run("last", "talk", "The first question.", 1_000)
    };
    let others = |number: usize, conversation: &dyn Fn(usize) -> String| -> Vec<(String, String)> {
        (0..number).map(|at| (conversation(at), format!("Question {at}"))).collect()
    };
    // Ten requests of a conversation are kept.
    let first = Some("first".to_owned());
    assert_eq!(compared_with(&others(9, &|_| "talk".to_owned())), first);
    assert_ne!(compared_with(&others(10, &|_| "talk".to_owned())), first);
    // A hundred requests of all conversations are kept.
    assert_eq!(compared_with(&others(99, &|at| format!("talk {at}"))), first);
    assert_eq!(compared_with(&others(100, &|at| format!("talk {at}"))), None);
}
