//! What an inspector shows: the tree of conversations, one request in detail, and two requests compared.

#![allow(clippy::needless_pass_by_value, reason = "an `expect!` is passed by value in each case")]

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use sluice_core::{Change, Comparison, Records, RequestRecord, join_messages};

/// Pieces in a few letters: `t:read=5` is a tool with five tokens, `n` before it makes it new.
fn pieces(pieces: &str) -> Value {
    let piece = |text: &str| {
        let (head, tokens) = text.split_once('=').unwrap_or((text, "10"));
        let (kind, name) = head.split_once(':').unwrap_or((head, ""));
        let (is_new, kind) = kind.strip_prefix('n').map_or((false, kind), |kind| (true, kind));
        let (kind, group, name) = match kind {
            "f" => ("frame", "system", Value::Null),
            "s" => ("system", "system", Value::Null),
            "t" => ("tool", "tools", json!(name)),
            "u" => ("message", "history", json!("user")),
            "a" => ("message", "history", json!("assistant")),
            "c" => ("call", "history", json!(name)),
            "r" => ("result", "history", json!(name)),
            "x" => ("reasoning", "history", Value::Null),
            other => panic!("{other}"),
        };
        let group = if is_new { "new" } else { group };
        json!({ "kind": kind, "group": group, "name": name, "fingerprint": head.trim_start_matches('n'), "images": null,
            "tokens": tokens.parse::<u32>().unwrap() })
    };
    pieces.split_whitespace().map(piece).collect()
}

fn record(id: &str, conversation: &str, kind: &str, sent: &str, at: u64) -> RequestRecord {
    let record = json!({
        "version": RequestRecord::VERSION, "id": id, "conversation": conversation, "parent": null, "kind": kind,
        "purpose": "chat title", "model": "acme/one", "origin": "https://acme.example", "effort": null, "mustCall": false,
        "startedMs": at, "timeline": { "sentMs": 5, "firstByteMs": 300, "firstThinkingMs": 400, "firstTextMs": 900,
            "calls": [{ "name": "read", "ms": 1200 }], "endMs": 2000 },
        "pieces": pieces(sent), "usage": { "input": 1000, "cached": 25, "cacheWrite": null, "output": 200, "reasoning": 50 },
        "cost": { "usd": 0.0125, "basis": "reported" }, "forecast": null, "lens": null, "retries": [],
        "routing": { "model": "acme/one", "provider": "acme", "tried": ["acme"], "generationId": null }, "notes": [],
        "finish": { "status": "completed", "reason": null, "failure": null },
    });
    serde_json::from_value(record).unwrap()
}

fn changed(record: RequestRecord, changes: Value) -> RequestRecord {
    let mut value = serde_json::to_value(record).unwrap();
    for (name, change) in changes.as_object().unwrap() {
        value[name] = change.clone();
    }
    serde_json::from_value(value).unwrap()
}

fn check_tree(records: Vec<RequestRecord>, expected: Expect) {
    let mut known = Records::default();
    for record in records {
        known.add(record);
    }
    let line = |row: &sluice_core::TreeRow| {
        let indent = "  ".repeat(row.depth as usize);
        let leaf = if row.request.is_some() { "" } else { " (sum)" };
        format!("{indent}{}{leaf}: {}\n", row.title, join_messages(&row.details, " · "))
    };
    expected.assert_eq(&known.tree().iter().map(line).collect::<String>());
}

#[test]
fn conversations_are_trees_of_turns_and_rounds() {
    check_tree(
        vec![
            record("1", "a", "main", "f s t:read nu", 1_000),
            record("2", "b", "main", "f nu:other", 2_000),
            record("3", "a", "main", "f s t:read u c:read nr:read", 3_000),
            record("4", "a", "main", "f s t:read u c:read r:read c:read nr:read nu:reminder", 4_000),
            record("5", "a", "main", "f s t:read u a nu:next", 5_000),
        ],
        expect![[r#"
            acme/one (sum): 4 requests · $0.050 · 4k in (100 cached) · 800 out
              Turn 1 (sum): 3 requests · $0.037 · 3k in (75 cached) · 600 out
                Question: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                Tool round 1: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                Tool round 2: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
              Turn 2: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
            acme/one (sum): 1 request · $0.013 · 1k in (25 cached) · 200 out
              Turn 1: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
        "#]],
    );
}

#[test]
fn sub_agents_summaries_and_utility_requests_have_their_places() {
    let continued = |record, parent: &str| changed(record, json!({ "parent": parent }));
    check_tree(
        vec![
            record("title", "a", "utility", "nu", 900),
            record("1", "a", "main", "nu", 1_000),
            record("s1", "a", "subAgent", "nu", 1_100),
            record("t1", "a", "subAgent", "nu", 1_150),
            continued(record("s2", "a", "subAgent", "u nr:read", 1_200), "s1"),
            continued(record("s3", "a", "subAgent", "u r:read nr:read", 1_300), "s2"),
            record("2", "a", "main", "u nr:agent", 1_400),
            record("sum", "a", "summary", "u nu", 1_500),
            record("commit", "x", "utility", "nu", 1_600),
            record("inline", "y", "inline", "nu", 90_000_000),
        ],
        expect![[r#"
            Outside of conversations (sum): 1 request · $0.013 · 1k in (25 cached) · 200 out
              chat title: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
            Outside of conversations (sum): 1 request · $0.013 · 1k in (25 cached) · 200 out
              chat title: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
            acme/one (sum): 8 requests · $0.10 · 8k in (200 cached) · 1.6k out
              Turn 1 (sum): 8 requests · $0.10 · 8k in (200 cached) · 1.6k out
                chat title: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                Question: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                Sub-agent: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                  Sub-agent: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                  Sub-agent: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                Sub-agent: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                Tool round 1: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
                Summary: $0.013 · 1k in (25 cached) · 200 out (50 reasoning)
        "#]],
    );
}

#[test]
fn money_is_marked_and_never_mixed() {
    let costs = |id: &str, cost: Value| changed(record(id, "a", "main", "nu", 1_000), json!({ "cost": cost }));
    check_tree(
        vec![
            costs("1", json!({ "usd": 1, "basis": "reported" })),
            costs("2", json!({ "usd": 2, "basis": "computed" })),
            costs("3", json!({ "usd": 4, "basis": "play" })),
            changed(
                costs("4", Value::Null),
                json!({ "finish": { "status": "failed", "reason": null, "failure": "network" },
                "usage": { "input": null, "cached": null, "cacheWrite": null, "output": null, "reasoning": null } }),
            ),
        ],
        expect![[r#"
            acme/one (sum): 4 requests · $3.00 · 3k in (75 cached) · 600 out
              Turn 1: $1.00 · 1k in (25 cached) · 200 out (50 reasoning)
              Turn 2: $2.00 (computed from prices) · 1k in (25 cached) · 200 out (50 reasoning)
              Turn 3: $4.00 (play money) · 1k in (25 cached) · 200 out (50 reasoning)
              Turn 4: failed
        "#]],
    );
    check_tree(
        vec![costs("3", json!({ "usd": 4, "basis": "play" }))],
        expect![[r#"
            acme/one (sum): 1 request · $4.00 (play money) · 1k in (25 cached) · 200 out
              Turn 1: $4.00 (play money) · 1k in (25 cached) · 200 out (50 reasoning)
        "#]],
    );
}

fn check_detail(record: RequestRecord, expected: Expect) {
    let id = record.id.clone();
    let mut records = Records::default();
    records.add(record);
    let detail = records.request(&id).unwrap();
    let mut text = format!("{} ({:?})\n", detail.title, detail.status);
    for fact in &detail.facts {
        text += &format!("{}: {}\n", fact.label, join_messages(&fact.value, ", "));
    }
    for phase in detail.phases.iter().chain(&detail.calls) {
        text += &format!("{}..{} {} ({})\n", phase.from_ms, phase.to_ms, phase.label, phase.time);
    }
    for group in &detail.groups {
        text += &format!("{}: {}\n", group.label, join_messages(&group.text, ", "));
    }
    for piece in &detail.pieces {
        text += &format!("- {}: {}{}\n", piece.title, piece.tokens, if piece.is_cached { ", cached" } else { "" });
    }
    for row in &detail.forecast {
        let actual = row.actual.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
        text += &format!("{}: {} expected, {actual} came\n", row.label, row.expected);
    }
    expected.assert_eq(&text);
}

#[test]
fn a_request_is_shown_with_times_tokens_and_costs() {
    check_detail(
        record("1", "a", "main", "f=5 t:read=10 s=20 x=5 u=30 nr:read=40 nu=7", 1_000),
        expect![[r#"
            Tool round 1 (Completed)
            Result: completed
            Model: acme/one
            Thinking: as much as the model decides
            Tokens: 1,000 in (25 cached), 200 out (50 reasoning)
            Cost: $0.013
            Server: https://acme.example
            Provider: acme
            0..5 Before it was sent (0.01 s)
            5..300 Waiting for the server (0.29 s)
            300..400 Before the first output (0.10 s)
            400..900 Thinking (0.50 s)
            900..2000 Answer (1.1 s)
            1200..1200 read (1.2 s)
            System: 25 tokens, 15 cached
            Tools: 10 tokens, 10 cached
            History: 35 tokens
            New: 47 tokens
            - Added by the server: 5 tokens, cached
            - Tool read: 10 tokens, cached
            - Instructions: 20 tokens
            - Reasoning: 5 tokens
            - Message of the user: 30 tokens
            - Result of read: 40 tokens
            - Message of the user: 7 tokens
        "#]],
    );
}

#[test]
fn everything_unusual_is_named() {
    let unusual = json!({
        "effort": "high", "origin": "",
        "timeline": { "sentMs": 4000, "firstByteMs": null, "firstThinkingMs": null, "firstTextMs": null, "calls": [], "endMs": 9500 },
        "usage": { "input": 1234, "cached": null, "cacheWrite": 1000, "output": null, "reasoning": null },
        "cost": { "usd": 0.5, "basis": "computed" },
        "forecast": { "input": 1200, "cached": 100, "output": 300, "cost": { "low": 0.25, "expected": 0.5, "high": 2 } },
        "retries": [{ "ms": 1500, "why": "rateLimited" }, { "ms": 3900, "why": "network" }],
        "routing": { "model": "acme/two", "provider": "beta", "tried": ["alpha", "beta"], "generationId": "g" },
        "notes": [{ "kind": "leftOut", "count": 2 }, { "kind": "repaired", "count": 1 }],
        "finish": { "status": "failed", "reason": null, "failure": "serverDown" },
    });
    check_detail(
        changed(record("1", "a", "main", "nu", 1_000), unusual),
        expect![[r#"
            Question (Failed)
            Result: failed, the server is overloaded or broken
            Model: acme/one
            Answered by: acme/two
            Thinking: high
            Tokens: 1,234 in, ? out, 1,000 written to the cache
            Cost: $0.50 (computed from prices)
            Provider: beta
            Providers tried: alpha, beta
            Failed attempt 1: too many requests, after 1.5 s
            Failed attempt 2: no connection, after 3.9 s
            Note: a part that wasn't sent, 2 times
            Note: a call or a result without its counterpart
            0..4000 Before it was sent (4.0 s)
            4000..9500 Waiting for the server (5.5 s)
            New: 10 tokens
            - Message of the user: 10 tokens
            Input: 1,200 expected, 1,234 came
            From the cache: 100 expected, ? came
            Output: 300 expected, ? came
            Cost: $0.50 ($0.25 to $2.00) expected, $0.50 (computed from prices) came
        "#]],
    );
}

#[test]
fn phases_have_no_gaps_whatever_happened() {
    let check = |timeline: Value, expected: &[(u64, u64)]| {
        let mut records = Records::default();
        records.add(changed(record("1", "a", "main", "nu", 1), json!({ "timeline": timeline })));
        let phases = records.request("1").unwrap().phases;
        assert_eq!(phases.iter().map(|phase| (phase.from_ms, phase.to_ms)).collect::<Vec<_>>(), expected, "{timeline}");
    };
    let timeline = |sent: Value, byte: Value, thinking: Value, text: Value| {
        json!({ "sentMs": sent, "firstByteMs": byte,
        "firstThinkingMs": thinking, "firstTextMs": text, "calls": [], "endMs": 100 })
    };
    check(timeline(json!(1), json!(2), json!(3), json!(4)), &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 100)]);
    check(timeline(json!(0), json!(2), Value::Null, json!(4)), &[(0, 2), (2, 4), (4, 100)]);
    check(timeline(json!(0), json!(2), Value::Null, Value::Null), &[(0, 100)]);
    check(timeline(Value::Null, Value::Null, Value::Null, Value::Null), &[]);
    // Thinking after the first text belongs to the answer.
    check(timeline(json!(0), json!(2), json!(50), json!(4)), &[(0, 2), (2, 4), (4, 100)]);
}

fn compared(before: &str, after: &str) -> Comparison {
    let mut records = Records::default();
    records.add(record("1", "a", "main", before, 1));
    records.add(record("2", "a", "main", after, 2));
    records.compare("1", "2").unwrap()
}

fn check_compared(before: &str, after: &str, expected: Expect) {
    let Comparison { summary, rows } = compared(before, after);
    let mut text = join_messages(&summary, " ") + "\n";
    for row in rows {
        let tokens =
            |message: Option<sluice_core::Message>| message.map_or_else(|| "-".to_owned(), |text| text.to_string());
        text += &format!("{:?} {}: {} -> {}\n", row.change, row.title, tokens(row.before), tokens(row.after));
    }
    expected.assert_eq(&text);
}

#[test]
fn two_requests_are_compared_piece_by_piece() {
    check_compared(
        "f s t:a t:b nu",
        "f s t:a t:b u a nu:more=3",
        expect![[r#"
        50 tokens are the same. 13 were added. 0 were removed.
        Same 5 unchanged pieces: 50 tokens -> 50 tokens
        Added Answer of the model: - -> 10 tokens
        Added Message of the user: - -> 3 tokens
    "#]],
    );
    check_compared(
        "f s t:a t:b nu",
        "f s t:b t:a nu",
        expect![[r#"
        40 tokens are the same. 10 were added. 10 were removed.
        Same 2 unchanged pieces: 20 tokens -> 20 tokens
        Removed Tool a: 10 tokens -> -
        Same Tool b: 10 tokens -> 10 tokens
        Added Tool a: - -> 10 tokens
        Same Message of the user: 10 tokens -> 10 tokens
    "#]],
    );
    check_compared(
        "f s t:a nu:old=5",
        "f s t:a nu:new=6",
        expect![[r#"
        30 tokens are the same. 6 were added. 5 were removed.
        Same 3 unchanged pieces: 30 tokens -> 30 tokens
        Changed Message of the user: 5 tokens -> 6 tokens
    "#]],
    );
    check_compared(
        "f t:a u:1 a:1 u:2 a:2 nu",
        "f t:a a:9=50 nu",
        expect![[r#"
        30 tokens are the same. 50 were added. 40 were removed.
        Same 2 unchanged pieces: 20 tokens -> 20 tokens
        Removed Message of the user: 10 tokens -> -
        Changed Answer of the model: 10 tokens -> 50 tokens
        Removed Message of the user: 10 tokens -> -
        Removed Answer of the model: 10 tokens -> -
        Same Message of the user: 10 tokens -> 10 tokens
    "#]],
    );
    check_compared(
        "",
        "",
        expect![[r#"
        0 tokens are the same. 0 were added. 0 were removed.
    "#]],
    );
}

proptest! {
    #[test]
    fn a_comparison_accounts_for_every_token(
        before in proptest::collection::vec(0_u32..6, 0..20),
        after in proptest::collection::vec(0_u32..6, 0..20),
    ) {
        let text = |list: &[u32]| list.iter().map(|name| format!("t:{name}={}", name + 1)).collect::<Vec<_>>().join(" ");
        let Comparison { summary, rows } = compared(&text(&before), &text(&after));
        let sum = |list: &[u32]| list.iter().map(|name| name + 1).sum::<u32>();
        let [same, added, removed] = [0, 1, 2].map(|at: usize| summary[at].args[0].replace(',', "").parse::<u32>().unwrap());
        prop_assert_eq!((same + removed, same + added), (sum(&before), sum(&after)));
        prop_assert_eq!(rows.iter().all(|row| row.change == Change::Same), before == after);
    }
}

#[test]
fn lines_that_cannot_be_read_are_skipped() {
    let good = serde_json::to_string(&record("1", "a", "main", "nu", 1)).unwrap();
    let newer = good.replace("\"version\":1", "\"version\":2").replace("\"id\":\"1\"", "\"id\":\"2\"");
    let mut records = Records::default();
    records.add_lines(&format!("{good}\n{newer}\n{{\n\nnothing\n{good}\n{}", &good[..good.len() / 2]));
    assert_eq!(records.tree().iter().filter(|row| row.request.is_some()).count(), 1);
    assert_eq!(records.request("2"), None);
    assert_eq!(records.compare("1", "2"), None);
}
