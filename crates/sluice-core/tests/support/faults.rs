//! Faults for random streams: what a broken server, proxy or network does to an honest answer.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::events::*;
use super::model::{Answer, Dice, ERROR_MESSAGE, share_call_ids};
use super::wire::{Wire, name_of, numbered};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Drop,
    Repeat,
    Swap,
    MoveBack,
    ForgetIndex,
    ForgetAddress,
    NullField,
    MistypeField,
    DropAllAdded,
    EarlyError,
    EarlyCompleted,
    EarlyDoneMarker,
    Garbage,
    ReuseCallId,
    Cut,
    FlipByte,
}

pub fn faults() -> impl Strategy<Value = Vec<Fault>> {
    use Fault::{
        Cut, Drop, DropAllAdded, EarlyCompleted, EarlyDoneMarker, EarlyError, FlipByte, ForgetAddress, ForgetIndex,
        Garbage, MistypeField, MoveBack, NullField, Repeat, ReuseCallId, Swap,
    };
    let common = vec![Drop, Repeat, Swap, MoveBack, ForgetIndex, ForgetAddress, NullField, MistypeField];
    let rare = vec![DropAllAdded, EarlyError, EarlyCompleted, EarlyDoneMarker, Garbage, ReuseCallId, Cut, FlipByte];
    let one = prop_oneof![3 => prop::sample::select(common), 1 => prop::sample::select(rare)];
    prop::collection::vec(one, 1..5)
}

/// A stream with faults, and which parts of it can still be trusted.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The events, each with the name in its `event:` line. `null` means `[DONE]`.
    pub events: Vec<(String, Value)>,
    pub bytes: Vec<u8>,
    /// Whether no argument text was lost, repeated or replaced.
    pub arguments_intact: bool,
    /// Whether the answer's terminal event is unchanged and there is no other.
    pub end_intact: bool,
    pub bytes_intact: bool,
}

impl Broken {
    pub fn new(answer: &Answer, faults: &[Fault], wire: Wire, dice: &mut Dice) -> Self {
        let mut events = answer.events(dice);
        events.push(answer.terminal(&answer.output()));
        let events = numbered(&events).into_iter().map(|event| (name_of(&event).to_owned(), event)).collect();
        let bytes = Vec::new();
        let mut broken = Self { events, bytes, arguments_intact: true, end_intact: true, bytes_intact: true };
        for fault in faults {
            broken.apply(*fault, dice);
        }
        let frames = broken.events.iter().map(|(name, event)| match event {
            Value::Null => "data: [DONE]\n\n".to_owned(),
            event => wire.frame(event, name),
        });
        broken.bytes = wire.join(&frames.collect::<Vec<_>>());
        for fault in faults {
            let at = dice.below(broken.bytes.len().max(1));
            match (fault, broken.bytes.get_mut(at)) {
                (Fault::Cut, _) => broken.bytes.truncate(at),
                (Fault::FlipByte, Some(byte)) => {
                    *byte ^= 1 << dice.below(8);
                    broken.bytes_intact = false;
                }
                _ => {}
            }
        }
        broken
    }

    fn apply(&mut self, fault: Fault, dice: &mut Dice) {
        let at = dice.below(self.events.len());
        let touches = |name: &str| self.events[at].0.starts_with(name);
        let (is_arguments, is_end) = (touches("response.function_call_arguments"), touches("response.completed"));
        // These faults don't move any text.
        let harmless = [Fault::ForgetIndex, Fault::DropAllAdded, Fault::EarlyError, Fault::Garbage, Fault::ReuseCallId];
        if !harmless.contains(&fault) {
            self.arguments_intact &= !is_arguments || fault == Fault::ForgetAddress;
            self.end_intact &= !is_end || matches!(fault, Fault::Repeat | Fault::Swap | Fault::MoveBack);
        }
        match fault {
            Fault::Drop if self.events.len() > 1 => drop(self.events.remove(at)),
            Fault::Repeat => self.events.insert(at, self.events[at].clone()),
            Fault::Swap if at > 0 => self.events.swap(at, at - 1),
            Fault::MoveBack => {
                let event = self.events.remove(at);
                self.events.insert(dice.below(at + 1), event);
            }
            Fault::ForgetIndex => self.edit(at, |event| without(event, &["output_index"])),
            Fault::ForgetAddress => self.edit(at, |event| without(event, &["output_index", "item_id"])),
            Fault::NullField => self.replace_field(at, &Value::Null, dice),
            Fault::MistypeField => {
                let values = [json!(7), json!(-1), json!(true), json!([]), json!({"a": 1}), json!([{"a": 1}])];
                self.replace_field(at, &values[dice.below(values.len())], dice);
            }
            Fault::DropAllAdded => self.events.retain(|(name, _)| name != "response.output_item.added"),
            Fault::EarlyError => self.insert(at, error("overloaded", ERROR_MESSAGE)),
            Fault::EarlyCompleted => {
                self.end_intact = false;
                self.insert(at, completed(&[]));
            }
            Fault::EarlyDoneMarker => self.insert(at, Value::Null),
            Fault::Garbage => self.insert(at, json!("garbage")),
            Fault::ReuseCallId => self.events.iter_mut().for_each(|(_, event)| share_call_ids(event)),
            _ => {}
        }
        if self.events.is_empty() {
            self.insert(0, created());
        }
    }

    fn insert(&mut self, at: usize, event: Value) {
        self.events.insert(at, (name_of(&event).to_owned(), event));
    }

    fn edit(&mut self, at: usize, edit: impl FnOnce(Value) -> Value) {
        let event = &mut self.events[at].1;
        *event = edit(event.take());
    }

    fn replace_field(&mut self, at: usize, value: &Value, dice: &mut Dice) {
        let Some(fields) = self.events[at].1.as_object_mut().filter(|fields| !fields.is_empty()) else { return };
        let field = dice.below(fields.len());
        fields.values_mut().nth(field).into_iter().for_each(|known| known.clone_from(value));
    }

    /// Returns every string in the events. Nothing else may be shown.
    pub fn strings(&self) -> Vec<&str> {
        fn collect<'a>(value: &'a Value, strings: &mut Vec<&'a str>) {
            match value {
                Value::String(text) => strings.push(text),
                Value::Array(list) => list.iter().for_each(|value| collect(value, strings)),
                Value::Object(fields) => fields.values().for_each(|value| collect(value, strings)),
                _ => {}
            }
        }
        let mut strings = Vec::new();
        self.events.iter().for_each(|(_, event)| collect(event, &mut strings));
        strings
    }
}
