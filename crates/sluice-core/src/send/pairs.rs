//! Matches calls with results: every result has its call, every call has its result, and every pair has a unique id.
//!
//! Histories arrive with other providers' ids after a change of model, with calls whose turn was cancelled, and with
//! results whose call was removed by a summary. Servers refuse each of these, and the whole conversation would be
//! stuck.

use std::collections::{BTreeMap, BTreeSet};

use crate::boundary::{Note, NoteKind};
use crate::call_id;
use crate::wire::{Content, InputItem, ItemOutput};

const MISSING_RESULT: &str = "(The tool did not return a result.)";

pub(super) fn pair(items: Vec<InputItem>, notes: &mut Vec<Note>) -> Vec<InputItem> {
    let mut pairs = Pairs::default();
    for item in items {
        match item {
            InputItem::FunctionCall { call_id, name, arguments } => pairs.call(&call_id, name, arguments),
            InputItem::FunctionCallOutput { call_id, output } => pairs.result(&call_id, output, notes),
            other => pairs.paired.push(other),
        }
    }
    pairs.answer_open_calls(notes)
}

#[derive(Default)]
struct Pairs {
    paired: Vec<InputItem>,
    /// The ids that are sent for calls without a result so far, oldest first, by their id in the history.
    open: BTreeMap<String, Vec<String>>,
    sent: call_id::Taken,
}

impl Pairs {
    fn call(&mut self, history_id: &str, name: String, arguments: String) {
        let call_id = call_id::from_vscode(history_id, &mut self.sent);
        self.open.entry(history_id.to_owned()).or_default().push(call_id.clone());
        self.paired.push(InputItem::FunctionCall { call_id, name, arguments });
    }

    fn result(&mut self, history_id: &str, output: ItemOutput, notes: &mut Vec<Note>) {
        let waiting = self.open.get_mut(history_id).filter(|waiting| !waiting.is_empty());
        if let Some(waiting) = waiting {
            let call_id = waiting.remove(0);
            self.paired.push(InputItem::FunctionCallOutput { call_id, output });
            return;
        }
        notes.push(Note::new(NoteKind::Repaired, "result without its call"));
        let label = Content::InputText { text: "Result of an earlier tool call:".to_owned() };
        let content = match output {
            ItemOutput::Text(text) => vec![label, Content::InputText { text }],
            ItemOutput::Parts(parts) => std::iter::once(label).chain(parts).collect(),
        };
        self.paired.push(InputItem::Message { role: "user", content, phase: None });
    }

    /// Adds a placeholder result for each call without one, after the run of calls that it belongs to.
    fn answer_open_calls(self, notes: &mut Vec<Note>) -> Vec<InputItem> {
        let open: BTreeSet<String> = self.open.into_values().flatten().collect();
        if open.is_empty() {
            return self.paired;
        }
        let mut answered = Vec::with_capacity(self.paired.len() + open.len());
        let mut run: Vec<String> = Vec::new();
        for item in self.paired {
            match &item {
                InputItem::FunctionCall { call_id, .. } => run.extend(open.get(call_id).cloned()),
                _ => answered.extend(run.drain(..).map(placeholder)),
            }
            answered.push(item);
        }
        answered.extend(run.drain(..).map(placeholder));
        notes.extend(open.iter().map(|_| Note::new(NoteKind::Repaired, "call without its result")));
        answered
    }
}

fn placeholder(call_id: String) -> InputItem {
    InputItem::FunctionCallOutput { call_id, output: ItemOutput::Text(MISSING_RESULT.to_owned()) }
}
