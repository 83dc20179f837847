//! The cache lens: for every way to break a prefix, the piece that broke it and the tokens before it.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::json;
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, Counter, InstallKey, Ledger, LedgerEntry, LedgerModel, Lens, PieceRecord,
    RequestRecord, Role, ToolMode, join_messages,
};

const TODAY: u32 = 20_000;
const MODEL: &str = "acme/model-1";

fn words(name: &str, number: usize) -> String {
    (0..number).map(|index| format!("{name}{index} ")).collect()
}

fn said(role: Role, value: &str) -> ChatMessage {
    ChatMessage { role, content: vec![ChatPart::Text { value: value.to_owned() }] }
}

fn part(value: serde_json::Value) -> ChatPart {
    serde_json::from_value(value).unwrap()
}

fn thinking() -> ChatPart {
    let reasoning = json!({"id": "rs_1", "encrypted_content": "c2VhbGVk".repeat(50)});
    let replay = json!({"items": [{"reasoning": reasoning}, {"call": "gw-1"}], "model": MODEL});
    part(json!({"type": "thinking", "replay": replay}))
}

/// An agent's conversation: instructions of 20 lines, three tools, a question with an image, a call and its result.
fn chat() -> ChatRequest {
    let lines: Vec<String> = (0..20).map(|line| words(&format!("rule{line}x"), 10)).collect();
    let tool = |name: &str| {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        serde_json::from_value(json!({"name": name, "description": words(name, 30), "inputSchema": schema})).unwrap()
    };
    let image = json!({"type": "data", "mimeType": "image/png", "base64": PNG});
    let question =
        ChatMessage { role: Role::User, content: vec![ChatPart::Text { value: words("q", 50) }, part(image)] };
    let call = part(json!({"type": "toolCall", "callId": "gw-1", "name": "read", "inputJson": "{\"path\":\"a\"}"}));
    let answer = ChatMessage { role: Role::Assistant, content: vec![call] };
    let result =
        part(json!({"type": "toolResult", "callId": "gw-1", "content": [{"type": "text", "value": words("r", 90)}]}));
    let result = ChatMessage { role: Role::User, content: vec![result] };
    ChatRequest {
        model: MODEL.to_owned(),
        tools: vec![tool("list"), tool("read"), tool("write")],
        messages: vec![said(Role::System, &lines.join("\n")), question, answer, result],
        ..ChatRequest::default()
    }
}

/// A picture of one pixel, and the same in another colour.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const OTHER: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

struct Case {
    before: ChatRequest,
    after: ChatRequest,
    /// The tokens that the server read from its cache for the second request; `None` if it doesn't say.
    cached: Option<u64>,
    /// The time between both.
    gap_ms: u64,
    /// The providers that answered.
    providers: [&'static str; 2],
    /// The servers that were asked.
    origins: [&'static str; 2],
}

impl Default for Case {
    fn default() -> Self {
        let mut after = chat();
        after.messages.push(said(Role::Assistant, "Done."));
        after.messages.push(said(Role::User, "Thanks."));
        Self {
            before: chat(),
            after,
            cached: None,
            gap_ms: 1_000,
            providers: ["acme"; 2],
            origins: ["https://a.example"; 2],
        }
    }
}

fn lens(case: Case) -> (RequestRecord, RequestRecord) {
    let mut ledger = Ledger::new(Counter::estimating(), InstallKey([7; 16]));
    let prices = json!({"origin": "https://a.example", "prices": {"input": 3.0, "output": 15.0, "cachedInput": 0.3, "tiers": []}});
    let model: LedgerModel = serde_json::from_value(prices).unwrap();
    let mut now_ms = 1_700_000_000_000;
    let mut run = |id: &str, chat: ChatRequest, cached: Option<u64>, provider: &str, origin: &str| {
        let model = LedgerModel { origin: origin.to_owned(), ..model.clone() };
        let begun = ledger.begin(id, "talk", chat, model, now_ms);
        let details = cached.map(|cached| json!({"cached_tokens": cached}));
        let usage = json!({"input_tokens": begun.estimate.tokens, "output_tokens": 5, "input_tokens_details": details});
        let entry = LedgerEntry {
            is_answered: true,
            usage: serde_json::from_value(usage).unwrap(),
            route: serde_json::from_value(json!({"provider": provider})).unwrap(),
            ..LedgerEntry::default()
        };
        let ended = ledger.end(id, &entry, now_ms, TODAY).unwrap();
        now_ms += case.gap_ms;
        ended.record
    };
    let before = run("1", case.before, Some(0), case.providers[0], case.origins[0]);
    (before, run("2", case.after, case.cached, case.providers[1], case.origins[1]))
}

fn check(case: Case, expected: Expect) {
    let (before, after) = lens(case);
    let lens: Lens = after.lens.clone().unwrap();
    assert_eq!(lens.compared_with, "1");
    let tokens = |pieces: &[PieceRecord]| pieces.iter().map(|piece| u64::from(piece.tokens)).sum::<u64>();
    assert_eq!(lens.before, tokens(&before.pieces));
    // An independent count: everything before the first piece that differs.
    let mut pairs = before.pieces.iter().zip(&after.pieces).skip(1);
    let at = pairs.position(|(one, two)| one.fingerprint != two.fingerprint).map_or(before.pieces.len(), |at| at + 1);
    if let (Some(piece), None) = (lens.piece, lens.line) {
        assert_eq!(piece as usize, at);
        assert_eq!(lens.same, tokens(&after.pieces[..at]));
    }
    let piece = lens.piece.and_then(|piece| after.pieces.get(piece as usize)).map(|piece| format!("{:?}", piece.kind));
    let cause = lens.cause.map(|cause| format!("{cause:?}"));
    let line = [cause, piece, lens.name, lens.line.map(|line| format!("line {line}"))];
    let line: Vec<String> = line.into_iter().flatten().collect();
    expected.assert_eq(&format!(
        "{}: {} of {} the same, {} lost\n{}",
        line.join(", "),
        lens.same,
        lens.before,
        lens.lost,
        join_messages(&lens.text, " ")
    ));
}

/// Makes the second request from a longer conversation.
fn changed(change: impl Fn(&mut ChatRequest)) -> Case {
    let mut case = Case::default();
    change(&mut case.after);
    case
}

#[test]
fn a_conversation_that_only_grows_keeps_its_prefix() {
    check(
        Case { cached: Some(1_792), ..Case::default() },
        expect![[r#"
        : 1825 of 1825 the same, 0 lost
        The first 1,825 tokens are the same as in the earlier request, which had 1,825. The server read 1,792 tokens from its cache."#]],
    );
    check(
        Case::default(),
        expect![[r#"
        NotReported: 1825 of 1825 the same, 0 lost
        The first 1,825 tokens are the same as in the earlier request, which had 1,825. The server does not say what it read from its cache."#]],
    );
    // To ask the last question again costs nothing.
    check(
        Case { before: Case::default().after, after: chat(), cached: Some(1_792), ..Case::default() },
        expect![[r#"
        : 1825 of 1839 the same, 0 lost
        The first 1,825 tokens are the same as in the earlier request, which had 1,839. The server read 1,792 tokens from its cache."#]],
    );
}

#[test]
fn tools_that_change_are_named() {
    let added = |index: usize| {
        changed(|chat| {
            let tool = serde_json::from_value(json!({"name": "search", "description": words("search", 30)})).unwrap();
            chat.tools.insert(index, tool);
        })
    };
    check(
        added(3),
        expect![[r#"
        ToolAdded, Tool, search: 460 of 1825 the same, 1365 lost
        The first 460 tokens are the same as in the earlier request, which had 1,825. The tool "search" was added before the conversation, so everything after it had to be read again. 1,365 tokens were read again, for about $0.0037 more."#]],
    );
    check(
        added(0),
        expect![[r#"
        ToolAdded, Tool, search: 103 of 1825 the same, 1722 lost
        The first 103 tokens are the same as in the earlier request, which had 1,825. The tool "search" was added before the conversation, so everything after it had to be read again. 1,722 tokens were read again, for about $0.0046 more."#]],
    );
    check(
        changed(|chat| drop(chat.tools.remove(1))),
        expect![[r#"
        ToolRemoved, Tool, read: 222 of 1825 the same, 1603 lost
        The first 222 tokens are the same as in the earlier request, which had 1,825. The tool "read" was removed, so everything after it had to be read again. 1,603 tokens were read again, for about $0.0043 more."#]],
    );
    check(
        changed(|chat| drop(chat.tools.pop())),
        expect![[r#"
        ToolRemoved, System, write: 341 of 1825 the same, 1484 lost
        The first 341 tokens are the same as in the earlier request, which had 1,825. The tool "write" was removed, so everything after it had to be read again. 1,484 tokens were read again, for about $0.0040 more."#]],
    );
    check(
        changed(|chat| chat.tools.swap(0, 2)),
        expect![[r#"
        ToolsReordered, Tool, write: 103 of 1825 the same, 1722 lost
        The first 103 tokens are the same as in the earlier request, which had 1,825. The tools are in another order from "write" on. 1,722 tokens were read again, for about $0.0046 more."#]],
    );
    check(
        changed(|chat| chat.tools[1].description.push('!')),
        expect![[r#"
        ToolChanged, Tool, read: 222 of 1825 the same, 1603 lost
        The first 222 tokens are the same as in the earlier request, which had 1,825. The definition of the tool "read" changed. 1,603 tokens were read again, for about $0.0043 more."#]],
    );
}

#[test]
fn lines_of_the_instructions_are_found() {
    let edited = |line: usize| {
        changed(|chat| {
            let ChatPart::Text { value } = &mut chat.messages[0].content[0] else { panic!("instructions are text") };
            let mut lines: Vec<&str> = value.lines().collect();
            lines[line] = "It is 12:07.";
            *value = lines.join("\n");
        })
    };
    check(
        edited(0),
        expect![[r#"
        SystemLine, System, line 1: 460 of 1825 the same, 1365 lost
        The first 460 tokens are the same as in the earlier request, which had 1,825. Line 1 of the instructions changed. 1,365 tokens were read again, for about $0.0037 more."#]],
    );
    check(
        edited(14),
        expect![[r#"
        SystemLine, System, line 15: 1142 of 1825 the same, 683 lost
        The first 1,142 tokens are the same as in the earlier request, which had 1,825. Line 15 of the instructions changed. 683 tokens were read again, for about $0.0018 more."#]],
    );
    check(
        edited(19),
        expect![[r#"
        SystemLine, System, line 20: 1394 of 1825 the same, 431 lost
        The first 1,394 tokens are the same as in the earlier request, which had 1,825. Line 20 of the instructions changed. 431 tokens were read again, for about $0.0012 more."#]],
    );
    check(
        changed(|chat| drop(chat.messages.remove(0))),
        expect![[r#"
        SystemRemoved, Message: 460 of 1825 the same, 1365 lost
        The first 460 tokens are the same as in the earlier request, which had 1,825. The instructions were removed. 1,365 tokens were read again, for about $0.0037 more."#]],
    );
    let mut without = chat();
    without.messages.remove(0);
    check(
        Case { before: without, ..Case::default() },
        expect![[r#"
        SystemAdded, System: 460 of 840 the same, 380 lost
        The first 460 tokens are the same as in the earlier request, which had 840. There were no instructions before. 380 tokens were read again, for about $0.0010 more."#]],
    );
}

#[test]
fn a_history_that_changes_is_explained() {
    // Some models see their thinking only until the next question.
    let mut with = chat();
    with.messages[2].content.insert(0, thinking());
    let mut longer = chat();
    longer.messages.push(said(Role::Assistant, "Done."));
    check(
        Case { before: with.clone(), after: longer, ..Case::default() },
        expect![[r#"
        ThinkingMissing, Call: 1573 of 1888 the same, 315 lost
        The first 1,573 tokens are the same as in the earlier request, which had 1,888. The model's thinking, which was sent before, is missing. 315 tokens were read again, for about $0.00085 more."#]],
    );
    with.messages.push(said(Role::Assistant, "Done."));
    check(
        Case { after: with, ..Case::default() },
        expect![[r#"
        ThinkingAdded, Reasoning: 1573 of 1825 the same, 252 lost
        The first 1,573 tokens are the same as in the earlier request, which had 1,825. The model's thinking is sent, which was missing before. 252 tokens were read again, for about $0.00068 more."#]],
    );
    check(
        changed(|chat| chat.messages[1].content[0] = ChatPart::Text { value: "Edited.".to_owned() }),
        expect![[r#"
        MessageChanged, Message, user: 1445 of 1825 the same, 380 lost
        The first 1,445 tokens are the same as in the earlier request, which had 1,825. A message in the history changed (user). 380 tokens were read again, for about $0.0010 more."#]],
    );
    let image = json!({"type": "data", "mimeType": "image/png", "base64": OTHER});
    check(
        changed(|chat| chat.messages[1].content[1] = part(image.clone())),
        expect![[r#"
        ImageChanged, Message, user: 1445 of 1825 the same, 380 lost
        The first 1,445 tokens are the same as in the earlier request, which had 1,825. An image or a file changed. 380 tokens were read again, for about $0.0010 more."#]],
    );
    check(
        changed(|chat| {
            let call = json!({"type": "toolCall", "callId": "gw-1", "name": "read", "inputJson": "{\"path\":\"b\"}"});
            chat.messages[2].content[0] = part(call);
        }),
        expect![[r#"
            CallChanged, Call, read: 1573 of 1825 the same, 252 lost
            The first 1,573 tokens are the same as in the earlier request, which had 1,825. A call of the tool "read" in the history changed. 252 tokens were read again, for about $0.00068 more."#]],
    );
    check(
        changed(|chat| {
            let result =
                json!({"type": "toolResult", "callId": "gw-1", "content": [{"type": "text", "value": "[cleared]"}]});
            chat.messages[3].content[0] = part(result);
        }),
        expect![[r#"
            ResultChanged, Result, read: 1597 of 1825 the same, 228 lost
            The first 1,597 tokens are the same as in the earlier request, which had 1,825. A result of the tool "read" in the history changed. 228 tokens were read again, for about $0.00062 more."#]],
    );
    check(
        changed(|chat| chat.messages.insert(1, said(Role::User, "A reminder."))),
        expect![[r#"
        HistoryInserted, Message, user: 1445 of 1825 the same, 380 lost
        The first 1,445 tokens are the same as in the earlier request, which had 1,825. Something was inserted into the history (user). 380 tokens were read again, for about $0.0010 more."#]],
    );
    check(
        changed(|chat| drop(chat.messages.drain(2..4))),
        expect![[r#"
        HistoryRemoved, Message, read: 1573 of 1825 the same, 252 lost
        The first 1,573 tokens are the same as in the earlier request, which had 1,825. Something was removed from the history (read). 252 tokens were read again, for about $0.00068 more."#]],
    );
}

/// Two calls of one answer, whose results arrive in some order.
fn parallel(order: [usize; 2]) -> ChatRequest {
    let mut chat = chat();
    let call = |id: &str, path: &str| {
        let input = json!({"path": path}).to_string();
        part(json!({"type": "toolCall", "callId": id, "name": "read", "inputJson": input}))
    };
    let result = |id: &str| {
        let text = json!({"type": "text", "value": words(id, 40)});
        part(json!({"type": "toolResult", "callId": id, "content": [text]}))
    };
    chat.messages[2].content = vec![call("gw-1", "a"), call("gw-2", "b")];
    chat.messages[3].content = order.map(|index| result(["gw-1", "gw-2"][index])).to_vec();
    chat.messages.push(said(Role::Assistant, "Done."));
    chat
}

#[test]
fn less_usual_changes_of_the_history_are_explained() {
    check(
        Case { before: parallel([0, 1]), after: parallel([1, 0]), ..Case::default() },
        expect![[r#"
        HistoryReordered, Result, read: 1621 of 1932 the same, 311 lost
        The first 1,621 tokens are the same as in the earlier request, which had 1,932. The history is in another order from here on (read). 311 tokens were read again, for about $0.00084 more."#]],
    );
    let thought = |text: &str| {
        let reasoning = json!({"id": "rs_1", "encrypted_content": text.repeat(50)});
        let replay = json!({"items": [{"reasoning": reasoning}, {"call": "gw-1"}], "model": MODEL});
        let mut chat = chat();
        chat.messages[2].content.insert(0, part(json!({"type": "thinking", "replay": replay})));
        chat.messages.push(said(Role::Assistant, "Done."));
        chat
    };
    check(
        Case { before: thought("c2VhbGVk"), after: thought("b3RoZXIh"), ..Case::default() },
        expect![[r#"
            ThinkingChanged, Reasoning: 1573 of 1895 the same, 322 lost
            The first 1,573 tokens are the same as in the earlier request, which had 1,895. The model's thinking that is sent has changed. 322 tokens were read again, for about $0.00087 more."#]],
    );
    check(
        changed(|chat| drop(chat.messages[1].content.pop())),
        expect![[r#"
        ImageChanged, Message, user: 1445 of 1825 the same, 380 lost
        The first 1,445 tokens are the same as in the earlier request, which had 1,825. An image or a file changed. 380 tokens were read again, for about $0.0010 more."#]],
    );
    check(
        changed(|chat| {
            let text = json!({"type": "text", "value": words("r", 40)});
            let result = json!({"type": "toolResult", "callId": "gw-1", "content": [text], "isError": false});
            chat.messages[3].content[0] = part(result);
        }),
        expect![[r#"
            ResultChanged, Result, read: 1597 of 1825 the same, 228 lost
            The first 1,597 tokens are the same as in the earlier request, which had 1,825. A result of the tool "read" in the history changed. 228 tokens were read again, for about $0.00062 more."#]],
    );
}

/// Fingerprints are of whole pieces. How much of a piece is still the same is known from the server.
#[test]
fn what_the_server_read_of_a_changed_piece_is_the_same() {
    let (before, after) = lens(Case {
        cached: Some(1_664),
        ..changed(|chat| {
            let text = json!({"type": "text", "value": words("r", 80)});
            chat.messages[3].content[0] = part(json!({"type": "toolResult", "callId": "gw-1", "content": [text]}));
        })
    });
    let lens = after.lens.unwrap();
    let tokens = |pieces: &[PieceRecord]| pieces.iter().map(|piece| u64::from(piece.tokens)).sum::<u64>();
    assert_eq!((lens.same, lens.lost), (1_664, tokens(&before.pieces) - 1_664));
    assert!(lens.same > tokens(&after.pieces[..lens.piece.unwrap() as usize]));
}

#[test]
fn another_model_or_server_has_another_cache() {
    check(
        changed(|chat| chat.model = "acme/model-2".to_owned()),
        expect![[r#"
        Model, acme/model-1: 0 of 1825 the same, 1825 lost
        The first 0 tokens are the same as in the earlier request, which had 1,825. The earlier request went to acme/model-1, and every model has a cache of its own. 1,825 tokens were read again, for about $0.0049 more."#]],
    );
    check(
        Case { origins: ["https://a.example", "https://b.example"], ..Case::default() },
        expect![[r#"
        Server: 0 of 1825 the same, 1825 lost
        The first 0 tokens are the same as in the earlier request, which had 1,825. The earlier request went to another server. 1,825 tokens were read again, for about $0.0049 more."#]],
    );
}

#[test]
fn a_cache_that_is_not_used_is_explained_by_what_else_changed() {
    let lost = |case: Case| Case { cached: Some(0), ..case };
    check(
        lost(changed(|chat| chat.options.reasoning_effort = Some("high".to_owned()))),
        expect![[r#"
        Effort: 1825 of 1825 the same, 1825 lost
        The first 1,825 tokens are the same as in the earlier request, which had 1,825. The server read 0 tokens from its cache. The thinking effort changed. 1,825 tokens were read again, for about $0.0049 more."#]],
    );
    check(
        lost(changed(|chat| chat.tool_mode = ToolMode::Required)),
        expect![[r#"
        ToolChoice: 1825 of 1825 the same, 1825 lost
        The first 1,825 tokens are the same as in the earlier request, which had 1,825. The server read 0 tokens from its cache. The model has to call a tool now, or no longer has to. 1,825 tokens were read again, for about $0.0049 more."#]],
    );
    check(
        lost(changed(|chat| drop(chat.options.extra_body.insert("verbosity".to_owned(), json!("low"))))),
        expect![[r#"
            Options: 1825 of 1825 the same, 1825 lost
            The first 1,825 tokens are the same as in the earlier request, which had 1,825. The server read 0 tokens from its cache. Extra fields of the request's body changed. 1,825 tokens were read again, for about $0.0049 more."#]],
    );
    check(
        lost(Case { providers: ["acme", "other"], ..Case::default() }),
        expect![[r#"
        Provider: 1825 of 1825 the same, 1825 lost
        The first 1,825 tokens are the same as in the earlier request, which had 1,825. The server read 0 tokens from its cache. Another provider answered, and every provider has a cache of its own. 1,825 tokens were read again, for about $0.0049 more."#]],
    );
    check(
        lost(Case { gap_ms: 600_000, ..Case::default() }),
        expect![[r#"
        Expired: 1825 of 1825 the same, 1825 lost
        The first 1,825 tokens are the same as in the earlier request, which had 1,825. The server read 0 tokens from its cache. So much time passed that the cache had expired. 1,825 tokens were read again, for about $0.0049 more."#]],
    );
    check(
        lost(Case::default()),
        expect![[r#"
        Unknown: 1825 of 1825 the same, 1825 lost
        The first 1,825 tokens are the same as in the earlier request, which had 1,825. The server read 0 tokens from its cache. Nothing in the request explains why the server read less from its cache. 1,825 tokens were read again, for about $0.0049 more."#]],
    );
    let mut short = ChatRequest { model: MODEL.to_owned(), ..ChatRequest::default() };
    short.messages.push(said(Role::User, &words("q", 300)));
    let mut longer = short.clone();
    longer.messages.push(said(Role::Assistant, "Yes."));
    longer.messages.push(said(Role::User, "Why?"));
    check(
        lost(Case { before: short, after: longer, ..Case::default() }),
        expect![[r#"
        TooShort: 724 of 724 the same, 724 lost
        The first 724 tokens are the same as in the earlier request, which had 724. The server read 0 tokens from its cache. The request is too short to be cached. 724 tokens were read again, for about $0.0020 more."#]],
    );
}

#[test]
fn a_request_is_compared_with_the_one_that_it_has_most_in_common_with() {
    let mut ledger = Ledger::new(Counter::estimating(), InstallKey([7; 16]));
    let mut run = |id: &str, chat: ChatRequest| {
        let begun = ledger.begin(id, "talk", chat, LedgerModel::default(), 0);
        let usage = serde_json::from_value(json!({"input_tokens": begun.estimate.tokens, "output_tokens": 5})).unwrap();
        let entry = LedgerEntry { is_answered: true, usage: Some(usage), ..LedgerEntry::default() };
        ledger.end(id, &entry, 0, TODAY).unwrap().record.lens.map(|lens| lens.compared_with)
    };
    let mut edited = chat();
    edited.messages[1] = said(Role::User, "Something else.");
    assert_eq!(run("1", chat()), None);
    assert_eq!(run("2", edited), Some("1".to_owned()));
    assert_eq!(run("3", Case::default().after), Some("1".to_owned()));
    let mut other = Case::default().after;
    other.model = "acme/model-2".to_owned();
    assert_eq!(run("4", other), Some("3".to_owned()));
    // Going back to the first model continues its last request.
    assert_eq!(run("5", Case::default().after), Some("3".to_owned()));
}
