//! Several programs share a limit: it holds for every interleaving of their steps, whichever of them crash.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;
use sluice_core::{CostRange, Dollars, SpendAction, SpendLimits};

use crate::support::spending::*;

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
    /// The requests that are reserved while the files of the other programs haven't been read again.
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
    // The program that holds the lock, and the history that it is about to write.
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
                history = save(program, history.as_deref());
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
fn save(program: &mut Program, file: Option<&[u8]>) -> Option<Vec<u8>> {
    let (bytes, _) = program.ledger.memory().save(file);
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
