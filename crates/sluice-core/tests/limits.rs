//! The spend guard: a limit is never passed by more than one request's forecast, however many requests run at once, in
//! however many programs, and whichever of them crash.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, CostRange, Counter, Dollars, InstallKey, Ledger, LedgerEntry, LedgerModel,
    Role, SpendAction, SpendChoice, SpendLimits, join_messages,
};

const TODAY: u32 = 20_000;
const KEY: InstallKey = InstallKey([7; 16]);

fn model() -> LedgerModel {
    let prices = json!({"input": 10.0, "output": 100.0, "tiers": []});
    serde_json::from_value(json!({"origin": "https://a.example", "prices": prices})).unwrap()
}

fn chat(model: &str) -> ChatRequest {
    let content = vec![ChatPart::Text { value: "word ".repeat(1_000) }];
    ChatRequest {
        model: model.to_owned(),
        messages: vec![ChatMessage { role: Role::User, content }],
        ..ChatRequest::default()
    }
}

fn limits(value: Value) -> SpendLimits {
    serde_json::from_value(value).unwrap()
}

fn cost(dollars: f64) -> LedgerEntry {
    let usage = json!({"input_tokens": 1_000, "output_tokens": 100});
    LedgerEntry {
        is_answered: true,
        usage: serde_json::from_value(usage).unwrap(),
        cost: Some(dollars.to_string()),
        ..LedgerEntry::default()
    }
}

/// An answer that began and wasn't read to its end.
fn broken_off() -> LedgerEntry {
    let timeline = json!({"sentMs": 1, "firstByteMs": 2, "firstTextMs": 3, "endMs": 4});
    LedgerEntry { timeline: serde_json::from_value(timeline).unwrap(), ..LedgerEntry::default() }
}

/// One program with a ledger, its file of reservations, and files that all programs share.
struct Program {
    ledger: Ledger,
    file: String,
}

impl Program {
    fn new() -> Self {
        Self { ledger: Ledger::new(Counter::estimating(), KEY), file: String::new() }
    }

    fn begin(&mut self, id: &str, conversation: &str, name: &str) -> CostRange {
        self.ledger.begin(id, conversation, chat(name), model(), 0).forecast.cost.unwrap()
    }

    /// Asks whether a request may be sent, in a program that is alone.
    fn ask(&mut self, id: &str, limits: &SpendLimits) -> String {
        self.file = self.ledger.reserve(id, TODAY);
        let verdict = self.ledger.check_spending(id, limits, &[], TODAY).verdict;
        let said = format!("{:?} {}", verdict.action, join_messages(&verdict.text, " "));
        if verdict.action == SpendAction::Stop {
            self.ledger.release(id);
        }
        said.trim_end().to_owned()
    }
}

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

/// What may happen next in a program.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// It writes its reservation for a new request.
    Reserve,
    /// It reads the reservations of the others.
    Read,
    /// It reads the history and decides about its oldest request that waits.
    Decide,
    /// The oldest request that was sent ends, and cost this many hundredths of what was reserved.
    End(u64),
    /// The oldest request that was sent is cancelled after its answer began. Nobody says what it cost.
    BreakOff,
    /// It takes the lock, and reads and changes the history.
    BeginSave,
    /// It writes the history and returns the lock. Requests may have ended in the meantime.
    EndSave,
    /// It dies, and another one starts.
    Crash,
    /// The next day begins, for all programs. Every third one begins a month.
    Midnight,
}

fn steps(length: usize) -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        6 => Just(Step::Reserve),
        6 => Just(Step::Read),
        8 => Just(Step::Decide),
        3 => (0..=100_u64).prop_map(Step::End),
        1 => Just(Step::BreakOff),
        2 => Just(Step::BeginSave),
        3 => Just(Step::EndSave),
        1 => Just(Step::Crash),
        1 => Just(Step::Midnight),
    ];
    prop::collection::vec((0..3_usize, step), length)
}

/// A request with its forecast and the day on which it was reserved.
type Request = (String, CostRange, u32);

/// The requests of a program.
#[derive(Default)]
struct Requests {
    /// Reserved, but not read the others' files since then.
    reserved: Vec<Request>,
    waiting: Vec<Request>,
    sent: Vec<Request>,
    others: Vec<String>,
}

/// Runs three programs that share a limit. Returns how many requests were sent.
fn run(limit: &SpendLimits, steps: &[(usize, Step)]) -> usize {
    let most = limit.all.day.unwrap().0;
    let mut today = TODAY;
    let mut programs: Vec<(Program, Requests)> = (0..3).map(|_| (Program::new(), Requests::default())).collect();
    let (mut history, mut left): (Option<Vec<u8>>, Vec<String>) = (None, Vec::new());
    // Who has the lock, and what it is about to write.
    let mut saving: Option<(usize, Option<Vec<u8>>)> = None;
    // What was really paid, in the worst case: a request of a program that dies costs all that was reserved.
    let mut paid: BTreeMap<u32, u64> = BTreeMap::new();
    let (mut number, mut sent) = (0, 0);
    for (at, step) in steps {
        match step {
            Step::Reserve => {
                number += 1;
                let (program, requests) = &mut programs[*at];
                let cost = program.begin(&number.to_string(), &format!("talk {at}"), "acme/one");
                program.file = program.ledger.reserve(&number.to_string(), today);
                requests.reserved.push((number.to_string(), cost, today));
            }
            Step::Read => {
                let others = programs.iter().enumerate().filter(|(other, _)| other != at);
                let others = others.map(|(_, (program, _))| program.file.clone()).chain(left.iter().cloned()).collect();
                let (_, requests) = &mut programs[*at];
                requests.others = others;
                requests.waiting.append(&mut requests.reserved);
            }
            Step::Decide => {
                let (program, requests) = &mut programs[*at];
                // Reading the history takes the lock.
                if requests.waiting.is_empty() || saving.is_some() {
                    continue;
                }
                let (id, cost, day) = requests.waiting.remove(0);
                history = save(program, history);
                let check = program.ledger.check_spending(&id, limit, &requests.others, today);
                if check.verdict.action >= SpendAction::Ask {
                    program.file = program.ledger.release(&id);
                } else {
                    sent += 1;
                    requests.sent.push((id, cost, day));
                }
            }
            Step::End(hundredths) => {
                let (program, requests) = &mut programs[*at];
                if requests.sent.is_empty() {
                    continue;
                }
                let (id, forecast, day) = requests.sent.remove(0);
                let dollars = Dollars(forecast.high.0 * hundredths / 100);
                *paid.entry(day).or_default() += dollars.0;
                program.ledger.end(&id, &cost(dollars.as_f64()), 1, today).unwrap();
            }
            Step::BreakOff => {
                let (program, requests) = &mut programs[*at];
                if requests.sent.is_empty() {
                    continue;
                }
                let (id, forecast, day) = requests.sent.remove(0);
                *paid.entry(day).or_default() += forecast.expected.0;
                program.ledger.end(&id, &broken_off(), 1, today).unwrap();
            }
            Step::BeginSave => {
                if saving.is_none() {
                    let (bytes, _) = programs[*at].0.ledger.memory().save(history.as_deref());
                    saving = Some((*at, bytes));
                }
            }
            Step::EndSave => {
                if let Some((_, bytes)) = saving.take_if(|(owner, _)| owner == at) {
                    history = bytes;
                    let (program, _) = &mut programs[*at];
                    program.ledger.memory().saved();
                    program.file = program.ledger.saved();
                }
            }
            Step::Crash => {
                saving.take_if(|(owner, _)| owner == at);
                let (program, requests) = std::mem::replace(&mut programs[*at], (Program::new(), Requests::default()));
                for (_, cost, day) in requests.sent {
                    *paid.entry(day).or_default() += cost.high.0;
                }
                left.push(program.file);
            }
            Step::Midnight => today += if today.is_multiple_of(3) { 31 } else { 1 },
        }
        // A request belongs to the day on which it was reserved.
        let mut sums = paid.clone();
        for (_, cost, day) in programs.iter().flat_map(|(_, requests)| &requests.sent) {
            *sums.entry(*day).or_default() += cost.high.0;
        }
        for (day, sum) in sums {
            assert!(sum <= most, "{sum} are or may be paid on day {day}; the limit is {most}");
        }
    }
    // Nothing is booked on another day.
    let booked: BTreeSet<u32> = programs
        .iter()
        .flat_map(|(program, _)| program.ledger.history().rows().map(|row| row.0).collect::<Vec<_>>())
        .collect();
    assert!(booked.iter().all(|day| paid.contains_key(day)), "{booked:?} are not among {:?}", paid.keys());
    sent
}

/// Saves the history of a program under a lock, and then writes its reservations again.
fn save(program: &mut Program, file: Option<Vec<u8>>) -> Option<Vec<u8>> {
    let (bytes, _) = program.ledger.memory().save(file.as_deref());
    program.ledger.memory().saved();
    program.file = program.ledger.saved();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Checks invariant C1.
    #[test]
    fn no_interleaving_of_programs_and_crashes_passes_a_limit(steps in steps(120), dollars in 0.1..3.0) {
        run(&limits(json!({"day": dollars})), &steps);
    }
}

/// Checks invariant C1: twenty requests at once, of which each alone would be allowed.
#[test]
fn twenty_requests_at_once_stay_below_a_limit() {
    let each = Program::new().begin("1", "talk", "acme/one").high.as_f64();
    let limit = limits(json!({"day": each * 5.5}));
    let all = |step: Step| (0..20).map(move |number| (number % 3, step));
    let in_turn: Vec<_> = (0..20)
        .flat_map(|number| [Step::Reserve, Step::Read, Step::Decide].map(|step| (number % 3, step)))
        .chain(all(Step::End(100)))
        .collect();
    assert_eq!(run(&limit, &in_turn), 5, "as many as fit are sent");
    // If all reserve before any of them reads, every one sees the others and asks.
    let at_once: Vec<_> = all(Step::Reserve).chain(all(Step::Read)).chain(all(Step::Decide)).collect();
    let sent = run(&limit, &at_once);
    assert!(sent <= 5, "{sent}");
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
