//! The spend guard: a limit is never passed by more than one request's forecast, however many requests run at once, in
//! however many programs, and whichever of them crash.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{
    ChatMessage, ChatPart, Counter, Dollars, Ledger, LedgerEntry, LedgerModel, Role, SpendAction, SpendChoice,
    SpendLimits,
};

use crate::support::spending::*;

fn check(limits: &SpendLimits, costs: &[f64], expected: Expect) {
    let mut program = Program::new();
    let mut lines = Vec::new();
    for (number, dollars) in costs.iter().enumerate() {
        let id = number.to_string();
        program.begin(&id, "talk", "acme/one");
        lines.push(program.ask(&id, limits));
        program.ledger.end(&id, &cost(*dollars), 1, TODAY);
    }
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn the_user_is_warned_near_a_limit_and_asked_at_it() {
    check(
        &SpendLimits::default(),
        &[5.0, 5.0],
        expect![[r#"
        Go
        Go"#]],
    );
    check(
        &limits(json!({"day": 2.0})),
        &[0.5, 0.95, 0.01, 0.6, 0.1],
        expect![[r#"
            Go
            Go
            Warn $1.95 of a limit of $2.00 is spent or reserved. The limit is for one day.
            Go
            Ask $2.06 is spent or reserved, and the limit is $2.00. The limit is for one day. Continue this conversation anyway, raise the limit, or stop."#]],
    );
    check(
        &limits(json!({"month": 2.0, "isHard": true})),
        &[1.9, 0.3],
        expect![[r#"
            Go
            Stop This request may cost up to $0.50. $1.90 is spent or reserved already, and the limit is $2.00. The limit is for one month. Raise the limit to go on."#]],
    );
    check(
        &limits(json!({"conversation": 1.0, "day": 50.0})),
        &[1.2, 0.1],
        expect![[r#"
        Go
        Ask $1.20 is spent or reserved, and the limit is $1.00. The limit is for this conversation. Continue this conversation anyway, raise the limit, or stop."#]],
    );
    check(
        &limits(json!({"request": 0.1})),
        &[0.1],
        expect![
            "Ask This request may cost up to $0.21, and the limit for one request is $0.10. Continue this conversation anyway, raise the limit, or stop."
        ],
    );
    check(
        &limits(json!({"models": {"acme/one": {"day": 1.0}, "acme/two": {"day": 0.01}}})),
        &[1.1, 0.1],
        expect![[r#"
            Go
            Ask $1.10 is spent or reserved, and the limit is $1.00. The limit is for one day. It applies to acme/one only. Continue this conversation anyway, raise the limit, or stop."#]],
    );
}

#[test]
fn the_user_is_asked_once() {
    let limit = limits(json!({"day": 1.0}));
    let mut program = Program::new();
    program.begin("1", "talk", "acme/one");
    program.ask("1", &limit);
    program.ledger.end("1", &cost(1.5), 1, TODAY);
    // The user continues one conversation; another one asks again, and stops.
    program.begin("2", "talk", "acme/one");
    assert!(program.ask("2", &limit).starts_with("Ask"));
    program.ledger.choose_spending("2", SpendChoice::Continue, None);
    assert_eq!(program.ask("2", &limit), "Go");
    program.begin("3", "other", "acme/one");
    program.ledger.reserve("3", TODAY);
    let verdict = program.ledger.check_spending("3", &limit, &[], TODAY).verdict;
    assert_eq!(verdict.action, SpendAction::Ask);
    program.ledger.choose_spending("3", SpendChoice::Stop, verdict.limit);
    assert!(program.ask("3", &limit).starts_with("Stop"));
    program.begin("4", "third", "acme/one");
    assert!(program.ask("4", &limit).starts_with("Stop"), "the user said so");
    program.begin("5", "third", "acme/one");
    assert_eq!(program.ask("5", &limits(json!({"day": 10.0}))), "Go", "the limit was raised");
    // A hard limit also stops the conversation that was to continue.
    program.begin("6", "talk", "acme/one");
    assert_eq!(program.ask("6", &limit), "Go");
    assert!(program.ask("6", &limits(json!({"day": 1.0, "isHard": true}))).starts_with("Stop"));
}

/// Checks invariant C1. Requests that run over midnight are paid from the limit of the day on which they were sent, so that the next day can't
/// get more than its own.
#[test]
fn requests_that_run_over_midnight_count_for_the_day_before() {
    let limit = limits(json!({"day": 2.0}));
    let mut program = Program::new();
    program.begin("1", "talk", "acme/one");
    program.ask("1", &limit);
    program.begin("2", "talk", "acme/one");
    program.file = program.ledger.reserve("2", TODAY);
    program.ledger.end("1", &cost(1.9), 1, TODAY + 1);
    let used = |program: &mut Program, today: u32| program.ledger.limit_states(&limit, &[], today)[0].used;
    let (before, after) = (used(&mut program, TODAY), used(&mut program, TODAY + 1));
    assert!(before > Dollars(1_900_000_000) && after == Dollars(0), "{before} and {after}");
    // The second one was reserved before midnight and is decided about after it.
    let verdict = program.ledger.check_spending("2", &limit, &[], TODAY + 1).verdict;
    assert_eq!(verdict.action, SpendAction::Ask);
    assert_eq!(verdict.limit.unwrap().used, Dollars(1_900_000_000));
}

#[test]
fn a_conversation_counts_as_long_as_the_program_runs_and_after_it() {
    let limit = limits(json!({"conversation": 1.0}));
    let mut program = Program::new();
    program.begin("1", "talk", "acme/one");
    program.ask("1", &limit);
    let record = program.ledger.end("1", &cost(1.5), 1, TODAY).unwrap().record;
    // Each title is a conversation of its own.
    for number in 0..300 {
        let id = format!("title {number}");
        program.begin(&id, &id, "acme/one");
        assert_eq!(program.ask(&id, &limit), "Go");
        program.ledger.end(&id, &cost(0.01), 1, TODAY);
    }
    program.begin("2", "talk", "acme/one");
    assert!(program.ask("2", &limit).starts_with("Ask $1.50 is spent"));
    program.ledger.recall(record.clone());
    assert!(program.ask("2", &limit).starts_with("Ask $1.50 is spent"), "the record is known");
    let mut next = Program::new();
    next.ledger.recall(record.clone());
    next.ledger.recall(record);
    next.begin("2", "talk", "acme/one");
    assert!(next.ask("2", &limit).starts_with("Ask $1.50 is spent"));
}

#[test]
fn every_row_of_other_programs_counts() {
    let row = format!("{{\"day\":{TODAY},\"model\":\"acme/one\",\"conversation\":\"talk\",\"amount\":0.0001}}\n");
    let mut program = Program::new();
    let day = limits(json!({"day": 10.0}));
    let files = [row.repeat(30_000), "{\"day\":1,".to_owned() + &row];
    let states = program.ledger.limit_states(&day, &files, TODAY);
    assert_eq!(states[0].used, Dollars(3_000_000_000), "and a damaged line counts nothing");
}

/// Checks invariant C2.
#[test]
fn play_money_is_never_counted() {
    let limit = limits(json!({"day": 0.01, "request": 0.0001}));
    let mut program = Program::new();
    program.begin("1", "talk", "sluice/demo");
    assert_eq!(program.ask("1", &limit), "Go");
    let ended = program.ledger.end("1", &cost(5.0), 1, TODAY).unwrap();
    assert_eq!(json!(ended.record.cost), json!({"usd": 5.0, "basis": "play"}));
    let marked = LedgerEntry { is_play: true, ..cost(5.0) };
    program.begin("2", "talk", "acme/one");
    program.ledger.end("2", &marked, 1, TODAY);
    let totals: Vec<Dollars> = program.ledger.history().rows().map(|(_, _, totals)| totals.cost).collect();
    assert_eq!(totals, [Dollars(0), Dollars(0)]);
    assert_eq!(program.ledger.limit_states(&limit, &[], TODAY)[1].used, Dollars(0));
    // Nor is it if the embedded gateway turns out to be behind the name of a real model.
    program.begin("3", "talk", "acme/one");
    program.ledger.reserve("3", TODAY);
    program.ledger.end("3", &marked, 1, TODAY);
    assert_eq!(program.ledger.limit_states(&limit, &[], TODAY)[1].used, Dollars(0));
    let file = program.ledger.saved();
    assert_eq!(Program::new().ledger.limit_states(&limit, &[file], TODAY)[1].used, Dollars(0));
}

#[test]
fn a_file_is_deleted_when_its_month_is_over() {
    let mut program = Program::new();
    program.begin("1", "talk", "acme/one");
    let files = [program.ledger.reserve("1", TODAY), String::new(), "nonsense".to_owned()];
    let mut other = Program::new();
    let mut old = |today: u32| other.ledger.check_spending("", &SpendLimits::default(), &files, today).old;
    assert_eq!(old(TODAY), [false, true, true]);
    assert_eq!(old(TODAY + 40), [true, true, true]);
}

#[test]
fn what_every_older_version_reserved_counts_and_what_a_newer_one_did_stays() {
    let first = r#"{"day":20000,"model":"acme/one","conversation":"talk","amount":1.0}"#;
    let mut program = Program::new();
    program.begin("1", "talk", "acme/one");
    let written: Value = serde_json::from_str(program.ledger.reserve("1", TODAY).trim_end()).unwrap();
    let names = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&written), names(&serde_json::from_str(first).unwrap()), "add a line of the new version");
    let newer = r#"{"version":9,"amounts":[1]}"#;
    let files = [first.to_owned(), newer.to_owned(), r#"{"day":2000"#.to_owned()];
    let limit = limits(json!({"day": 1.0}));
    let check = program.ledger.check_spending("1", &limit, &files, TODAY);
    assert_eq!((check.verdict.action, check.old), (SpendAction::Ask, vec![false, false, true]));
    let later = program.ledger.check_spending("1", &limit, &files, TODAY + 40);
    assert_eq!(later.old, [true, false, true]);
}

/// A window that saves doesn't stop its requests. What ends in the meantime isn't in the file.
#[test]
fn what_ends_while_the_history_is_saved_is_neither_lost_nor_hidden_from_others() {
    let mut program = Program::new();
    let begin = |program: &mut Program, id: &str| {
        program.begin(id, "talk", "acme/one");
        program.ledger.reserve(id, TODAY)
    };
    begin(&mut program, "1");
    begin(&mut program, "2");
    program.ledger.end("1", &cost(1.0), 1, TODAY);
    let (written, _) = program.ledger.memory().save(None);
    program.ledger.end("2", &cost(2.0), 1, TODAY);
    program.ledger.memory().saved();
    let file = program.ledger.saved();
    // Another program sees the first in the history and the second in the file.
    let day = limits(json!({"day": 10.0}));
    let (mut other, _) = Ledger::read(Counter::estimating(), KEY, written.as_deref());
    assert_eq!(other.limit_states(&day, &[file], TODAY)[0].used, Dollars(3_000_000_000));
    // If this program reads the files again, it still knows the second.
    program.ledger.memory().reopen(KEY);
    program.ledger.memory().add(&written.unwrap());
    assert_eq!(program.ledger.limit_states(&day, &[], TODAY)[0].used, Dollars(3_000_000_000));
    let (written, _) = program.ledger.memory().save(None);
    program.ledger.memory().saved();
    assert_eq!(program.ledger.saved(), "", "the second is in a file now, too");
    assert!(written.is_some());
}

#[test]
fn a_request_that_broke_off_counts_with_what_it_probably_cost() {
    let day = limits(json!({"day": 10.0}));
    let mut program = Program::new();
    let mut used = |entry: LedgerEntry| {
        let before = program.ledger.limit_states(&day, &[], TODAY)[0].used;
        let expected = program.begin("1", "talk", "acme/one").expected;
        program.ledger.reserve("1", TODAY);
        program.ledger.end("1", &entry, 1, TODAY);
        let used = program.ledger.limit_states(&day, &[], TODAY)[0].used.0 - before.0;
        (used, expected.0)
    };
    let (counted, expected) = used(broken_off());
    assert_eq!(counted, expected);
    let long = vec![ChatPart::Text { value: "word ".repeat(5_000) }];
    let (counted, expected) = used(LedgerEntry { answer: long, ..broken_off() });
    assert!(counted > 5 * expected, "what arrived counts: {counted}");
    let silent = json!({"status": "completed", "reason": null, "failure": null});
    let silent = LedgerEntry { finish: serde_json::from_value(silent).unwrap(), ..broken_off() };
    let (counted, expected) = used(silent);
    assert_eq!(counted, expected, "the server counted nothing");
    assert_eq!(used(LedgerEntry::default()).0, 0, "it was never sent");
    let refused = json!({"status": "failed", "reason": null, "failure": "noCredit"});
    let refused = LedgerEntry { finish: serde_json::from_value(refused).unwrap(), ..LedgerEntry::default() };
    assert_eq!(used(refused).0, 0, "the server refused it");
    for timeline in [
        json!({"sentMs": 1, "firstThinkingMs": 3, "endMs": 4}),
        json!({"sentMs": 1, "firstTextMs": 3, "endMs": 4}),
        json!({"sentMs": 1, "calls": [{"name": "read", "ms": 3}], "endMs": 4}),
    ] {
        let finish = serde_json::from_value(json!({"status": "failed", "reason": null, "failure": "server"})).unwrap();
        let timeline = serde_json::from_value(timeline).unwrap();
        let (counted, expected) = used(LedgerEntry { finish, timeline, ..LedgerEntry::default() });
        assert_eq!(counted, expected, "it failed after some output");
    }
}

#[test]
fn an_answer_of_the_expected_length_counts_with_the_expected_cost() {
    let mut ledger = Ledger::new(Counter::estimating(), KEY);
    let answer = vec![ChatPart::Text { value: "word ".repeat(80) }];
    let message = ChatMessage { role: Role::Assistant, content: answer.clone() };
    let tokens = ledger.message_tokens("acme/one", "https://a.example", &message);
    let first = ledger.begin("1", "talk", chat("acme/one"), model(), 0);
    let usage = json!({"input_tokens": first.estimate.tokens, "output_tokens": tokens});
    // The server grants a discount, so the prices would say more.
    let discount = LedgerEntry { usage: serde_json::from_value(usage).unwrap(), ..cost(0.005) };
    ledger.end("1", &discount, 1, TODAY);
    let second = ledger.begin("2", "talk", chat("acme/one"), model(), 2).forecast;
    assert_eq!(second.output, u64::from(tokens));
    ledger.reserve("2", TODAY);
    ledger.end("2", &LedgerEntry { answer, ..broken_off() }, 3, TODAY);
    let day = limits(json!({"day": 10.0}));
    let used = ledger.limit_states(&day, &[], TODAY)[0].used;
    assert_eq!(used.0, Dollars::from_f64(0.005).unwrap().0 + second.cost.unwrap().expected.0);
}

#[test]
fn a_server_that_charges_more_than_its_prices_say_is_believed() {
    // An answer with 100 tokens costs 2 cents according to the prices.
    let after = |costs: &[Option<f64>]| {
        let mut program = Program::new();
        for (number, dollars) in costs.iter().enumerate() {
            program.begin(&number.to_string(), "talk", "acme/one");
            let reported = dollars.map(|dollars| dollars.to_string());
            program.ledger.end(&number.to_string(), &LedgerEntry { cost: reported, ..cost(0.0) }, 1, TODAY);
        }
        program.begin("next", "talk", "acme/one")
    };
    let by_prices = after(&[None]);
    let ratio = |one: Dollars, other: Dollars| (one.0 * 100 + other.0 / 2) / other.0;
    let more = after(&[Some(0.06)]);
    assert_eq!((ratio(more.expected, by_prices.expected), ratio(more.high, by_prices.high)), (300, 300));
    let discount = after(&[Some(0.01)]);
    assert_eq!(ratio(discount.expected, by_prices.expected), 50);
    assert_eq!(ratio(discount.high, by_prices.high), 100, "the discount may end");
    assert_eq!(ratio(after(&[Some(1e6)]).expected, by_prices.expected), 1000, "there are limits");
}

/// Some servers report costs and list no prices.
#[test]
fn without_prices_a_request_reserves_a_multiple_of_the_average_cost() {
    let mut ledger = Ledger::new(Counter::estimating(), KEY);
    let mut forecast = |id: &str| {
        let begun = ledger.begin(id, "talk", chat("acme/one"), LedgerModel::default(), 0);
        ledger.end(id, &cost(0.5), 1, TODAY);
        begun.forecast.cost.map(|cost| format!("{} ({} to {})", cost.expected, cost.low, cost.high))
    };
    assert_eq!(forecast("1"), None);
    assert_eq!(forecast("2").as_deref(), Some("$0.50 ($0.12 to $2.00)"));
}
