//! Random answers, sent in random styles. Differences between honest servers change nothing, and faults never break an
//! invariant. There are 100,000 cases of each kind without debug assertions and 1,000 with them, always the same ones.

mod support;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};
use sluice_core::{Part, Status};
use support::faults::{Broken, Fault, faults};
use support::model::{Answer, Dice, ERROR_MESSAGE, End, Item, answers, is_greek, share_call_ids};
use support::streams::{rotate_ids, set_ids};
use support::wire::{Wire, body, name_of, verb_of};
use support::*;

const CASES: u32 = if cfg!(debug_assertions) { 1_000 } else { 100_000 };

/// The style of a server: what honest servers do differently.
#[derive(Clone, Copy, Debug)]
struct Disguise {
    wire: Wire,
    address: Address,
    pieces: Pieces,
    habits: Habits,
    chunk: usize,
    seed: u64,
}

#[expect(clippy::struct_excessive_bools, reason = "any of them may come with any other")]
#[derive(Clone, Copy, Debug)]
struct Habits {
    no_added: bool,
    empty_output: bool,
    output_backwards: bool,
    shared_call_ids: bool,
    repeat_done: bool,
    noise: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    Full,
    IdsRotate,
    NoIds,
    NoIndex,
    CallsAtOneIndex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pieces {
    DeltasAndDone,
    DeltasOnly,
    DoneOnly,
    FinalOnly,
}

fn disguises() -> impl Strategy<Value = Disguise> {
    let addresses = vec![Address::Full, Address::IdsRotate, Address::NoIds, Address::NoIndex, Address::CallsAtOneIndex];
    let address = prop::sample::select(addresses);
    let pieces = prop_oneof![
        3 => Just(Pieces::DeltasAndDone),
        2 => Just(Pieces::DeltasOnly),
        2 => Just(Pieces::DoneOnly),
        1 => Just(Pieces::FinalOnly),
    ];
    let flags = [(); 6].map(|()| any::<bool>());
    (wires(), address, pieces, flags, 1_usize..300, any::<u64>()).prop_map(
        |(wire, address, pieces, flags, chunk, seed)| {
            let [no_added, empty_output, output_backwards, shared_call_ids, repeat_done, noise] = flags;
            // The names of the calls, the start of a new item and everything that isn't streamed must appear somewhere.
            let has_index = !matches!(address, Address::NoIndex | Address::CallsAtOneIndex);
            let has_ids = !matches!(address, Address::NoIds | Address::IdsRotate);
            let no_added = no_added && has_index && !(pieces == Pieces::DeltasOnly && empty_output);
            let empty_output = empty_output && pieces != Pieces::FinalOnly;
            let output_backwards = output_backwards && has_ids && pieces != Pieces::FinalOnly;
            // Without an index, nothing else tells two calls apart.
            let shared_call_ids = shared_call_ids && has_index;
            let habits = Habits { no_added, empty_output, output_backwards, shared_call_ids, repeat_done, noise };
            Disguise { wire, address, pieces, habits, chunk, seed }
        },
    )
}

fn wires() -> impl Strategy<Value = Wire> {
    let line_ends = prop::sample::select(vec!["\n", "\r\n", "\r"]);
    ([(); 4].map(|()| any::<bool>()), line_ends).prop_map(|(flags, line_end)| {
        let [event_lines, types_in_json, done_marker, numbered] = flags;
        Wire { event_lines, types_in_json: types_in_json || !event_lines, done_marker, numbered, line_end }
    })
}

impl Disguise {
    fn events(self, answer: &Answer) -> Vec<Value> {
        let mut dice = Dice(self.seed);
        let mut events = answer.events(&mut dice);
        events.retain(|event| self.keeps(event));
        if self.habits.repeat_done {
            events = events.into_iter().flat_map(|event| repeated(event, &mut dice)).collect();
        }
        let mut output = if self.habits.empty_output { Vec::new() } else { answer.output() };
        if self.habits.output_backwards {
            output.reverse();
        }
        events.push(answer.terminal(&output));
        if self.habits.shared_call_ids {
            events.iter_mut().for_each(share_call_ids);
        }
        if self.habits.noise {
            let beat = json!({"type": "acme.beat", "delta": "no", "item": {"type": "message", "text": "no"}});
            for _ in 0..3 {
                events.insert(dice.below(events.len()), beat.clone());
            }
            for event in &mut events {
                merge(event, &json!({"acme": {"delta": "no"}, "obfuscation": null}));
            }
        }
        match self.address {
            Address::Full => events,
            Address::IdsRotate => rotate_ids(&events),
            Address::NoIds => events.into_iter().map(without_ids).collect(),
            Address::NoIndex => events.into_iter().map(|event| without(event, &["output_index"])).collect(),
            Address::CallsAtOneIndex => events.into_iter().map(call_at_index_0).collect(),
        }
    }

    fn keeps(self, event: &Value) -> bool {
        let name = name_of(event);
        let is_item_event = name.starts_with("response.output_item.");
        let is_image = event["item"]["type"] == "image_generation_call";
        let kept = match self.pieces {
            Pieces::DeltasAndDone => true,
            // An image has only a `done` event.
            Pieces::DeltasOnly => verb_of(event) != "done" || is_image,
            Pieces::DoneOnly => verb_of(event) != "delta",
            Pieces::FinalOnly => name == "response.created",
        };
        kept && !(self.habits.no_added && is_item_event && verb_of(event) == "added")
    }

    /// The part of the answer that can still be known.
    fn expected(self, answer: &Answer) -> Summary {
        let mut expected = answer.summary();
        let nothing_final = self.habits.empty_output || answer.end == End::Failed;
        if answer.end == End::Failed && self.pieces == Pieces::FinalOnly {
            return Summary::default();
        }
        // No event said that these calls were complete before the answer broke off.
        let cut_off = answer.end != End::Completed && self.pieces == Pieces::DeltasOnly && nothing_final;
        if cut_off {
            expected.calls.clear();
        }
        // An answer that failed is remembered if some of it was shown.
        let has_text =
            |item: &Item| matches!(item, Item::Message(content) if content.iter().any(|part| !part.text().is_empty()));
        let is_shown = !expected.calls.is_empty() || !expected.data.is_empty() || answer.items.iter().any(has_text);
        if (self.pieces == Pieces::DeltasOnly && nothing_final) || (answer.end == End::Failed && !is_shown) {
            expected.replay.clear();
        }
        if self.pieces == Pieces::DeltasOnly && answer.end == End::Failed {
            expected.sources.clear();
        }
        expected
    }
}

/// A `done` event, sometimes twice; a call may be repeated with another id and at another index (S1).
fn repeated(event: Value, dice: &mut Dice) -> Vec<Value> {
    if verb_of(&event) != "done" || dice.one_in(2) {
        return vec![event];
    }
    let mut again = event.clone();
    if event["item"]["type"] == "function_call" && dice.one_in(2) {
        merge(&mut again, &json!({"output_index": 50 + dice.below(9)}));
        set_ids(&mut again, "again");
    }
    vec![event, again]
}

fn call_at_index_0(event: Value) -> Value {
    let is_call = event["item"]["type"] == "function_call" || name_of(&event).contains("function_call");
    if is_call { with(event, &json!({"output_index": 0})) } else { event }
}

fn without_ids(event: Value) -> Value {
    let mut event = without(event, &["item_id"]);
    let remove = |item: &mut Value| drop(item.as_object_mut().map(|fields| fields.remove("id")));
    event.get_mut("item").into_iter().for_each(remove);
    let output = event.pointer_mut("/response/output").and_then(Value::as_array_mut);
    output.into_iter().flatten().for_each(remove);
    event
}

/// Deltas alone can't distinguish a call without arguments from a truncated one.
fn with_arguments(mut answer: Answer, disguise: &Disguise) -> Answer {
    if disguise.pieces == Pieces::DeltasOnly && disguise.habits.empty_output {
        for item in &mut answer.items {
            if let Item::Call { arguments, .. } = item
                && arguments.trim().is_empty()
            {
                "{}".clone_into(arguments);
            }
        }
    }
    answer
}

/// Checks invariant S5.
#[test]
fn differences_between_honest_servers_change_nothing() {
    check(&(answers(), disguises()), |(answer, disguise)| {
        let answer = with_arguments(answer, &disguise);
        let bytes = disguise.wire.bytes(&disguise.events(&answer));
        let (outputs, outcome) = run_whole(&bytes);
        assert_sound(&outputs, &outcome);
        prop_assert_eq!(run(&bytes, disguise.chunk), (outputs.clone(), outcome.clone()));

        let (given, expected) = (Summary::of(&outputs), disguise.expected(&answer));
        prop_assert_eq!(&given.text, &expected.text);
        if disguise.habits.shared_call_ids {
            // Two calls with the same id, name and input count as one.
            let distinct = |summary: &Summary| inputs(summary).into_iter().map(owned).collect::<BTreeSet<_>>();
            prop_assert_eq!(distinct(&given), distinct(&expected));
        } else {
            prop_assert_eq!(given.calls_sorted(), expected.calls_sorted());
        }
        prop_assert_eq!(given.thoughts(), expected.thoughts());
        prop_assert_eq!(sorted(given.replay), sorted(expected.replay));
        prop_assert_eq!(sorted(given.sources), sorted(expected.sources));
        prop_assert_eq!(sorted(given.data), sorted(expected.data));
        let status = match answer.end {
            End::Completed => Status::Completed,
            End::Incomplete => Status::Incomplete,
            End::Failed => Status::Failed,
        };
        prop_assert_eq!(outcome.status, status);
        let said = outcome.usage.map(|usage| (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0)));
        prop_assert_eq!(said, answer.usage.filter(|_| answer.end != End::Failed));
        Ok(())
    });
}

/// Found by the property above: an empty reasoning item must not take the place of a streamed one in the final output.
#[test]
fn an_empty_reasoning_item_does_not_hide_a_streamed_one() {
    let output = [reasoning_item(0, &[], &[]), reasoning_item(1, &[], &["α"])];
    let (outputs, _) = run_whole(&body(&[thinking_delta("reasoning", 1, 0, "α"), completed(&output)]));
    assert_eq!(Summary::of(&outputs).thoughts(), "α");
}

/// Found by the property above: if two calls share a call id, their positions tell them apart.
#[test]
fn calls_that_share_a_call_id_are_paired_by_position() {
    let output = [call(0, "call_1", "count", ""), call(1, "call_1", "count", "{\"n\":1}")];
    let events = [
        call_added(1, "call_1", "count"),
        args_delta(1, "{\"n\":1}"),
        call_added(0, "call_1", "count"),
        completed(&output),
    ];
    let (outputs, _) = run_whole(&body(&rotate_ids(&events)));
    let inputs: BTreeSet<String> = Summary::of(&outputs).calls.into_iter().map(|call| call.input).collect();
    assert_eq!(inputs, BTreeSet::from(["{}".to_owned(), "{\"n\":1}".to_owned()]));
}

/// Checks invariants S7 and S10.
#[test]
fn faulty_servers_break_no_invariant() {
    check(&(answers(), faults(), wires(), any::<u64>()), |(answer, faults, wire, seed)| {
        let mut dice = Dice(seed);
        let broken = Broken::new(&answer, &faults, wire, &mut dice);
        let (outputs, outcome) = run_whole(&broken.bytes);
        assert_sound(&outputs, &outcome);
        prop_assert_eq!(run(&broken.bytes, 1 + dice.below(200)), (outputs.clone(), outcome.clone()));
        if !broken.bytes_intact {
            return Ok(());
        }

        let given = Summary::of(&outputs);
        prop_assert!(!given.text.contains(ERROR_MESSAGE), "S10: an error in the text {:?}", given.text);
        prop_assert!(!given.text.contains(is_greek), "S7: thinking in the text {:?}", given.text);
        prop_assert!(given.thoughts().chars().all(is_greek), "S7: text in thinking {:?}", given.thinking);
        let strings = broken.strings();
        for part in parts(&outputs) {
            if let Part::Text { value } | Part::Thinking { value, .. } = part {
                // A blank line separates messages, and blocks of thinking.
                let said = value.strip_prefix("\n\n").unwrap_or(value);
                prop_assert!(strings.iter().any(|string| string.contains(said)), "made up: {value:?}");
            }
        }
        let is_completed = |(name, event): &(String, Value)| {
            name_of(event) == "response.completed" || (wire.event_lines && name == "response.completed")
        };
        let may_complete = broken.events.iter().any(is_completed);
        prop_assert!(may_complete || outcome.status != Status::Completed, "S9: no event said completed");

        if broken.arguments_intact {
            // A fault may turn an answer that failed into one that is complete, which has more calls.
            let meant = Answer { end: End::Completed, ..answer.clone() }.summary();
            let (calls, meant) = (inputs(&given), inputs(&meant));
            prop_assert!(calls.iter().all(|call| meant.contains(call)), "S4, S5: {calls:?} of {meant:?}");
            if broken.end_intact && outcome.status == Status::Completed {
                prop_assert!(meant.iter().all(|call| calls.contains(call)), "S3: {calls:?} of {meant:?}");
            }
            if !faults.contains(&Fault::ReuseCallId) {
                prop_assert!(calls.len() <= meant.len(), "S1: {calls:?} of {meant:?}");
            }
        }
        Ok(())
    });
}

fn owned((name, input): (&str, &str)) -> (String, String) {
    (name.to_owned(), input.to_owned())
}

/// Returns the name and input of each call.
fn inputs(summary: &Summary) -> Vec<(&str, &str)> {
    summary.calls.iter().map(|call| (call.name.as_str(), call.input.as_str())).collect()
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

/// Runs the same cases every time and writes no files. The panic message contains the smallest counterexample.
fn check<S: Strategy>(cases: &S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    if let Err(error) = runner.run(cases, property) {
        panic!("{error}");
    }
}
