//! Programs that share spend limits, and requests for them.

#![allow(dead_code, reason = "every test program uses some of these")]

use serde_json::{Value, json};
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, CostRange, Counter, InstallKey, Ledger, LedgerEntry, LedgerModel, Role,
    SpendAction, SpendLimits, join_messages,
};

pub const TODAY: u32 = 20_000;
pub const KEY: InstallKey = InstallKey([7; 16]);

pub fn model() -> LedgerModel {
    let prices = json!({"input": 10.0, "output": 100.0, "tiers": []});
    serde_json::from_value(json!({"origin": "https://a.example", "prices": prices})).unwrap()
}

pub fn chat(model: &str) -> ChatRequest {
    let content = vec![ChatPart::Text { value: "word ".repeat(1_000) }];
    ChatRequest {
        model: model.to_owned(),
        messages: vec![ChatMessage { role: Role::User, content }],
        ..ChatRequest::default()
    }
}

pub fn limits(value: Value) -> SpendLimits {
    serde_json::from_value(value).unwrap()
}

pub fn cost(dollars: f64) -> LedgerEntry {
    let usage = json!({"input_tokens": 1_000, "output_tokens": 100});
    LedgerEntry {
        is_answered: true,
        usage: serde_json::from_value(usage).unwrap(),
        cost: Some(dollars.to_string()),
        ..LedgerEntry::default()
    }
}

/// An answer that began and wasn't read to its end.
pub fn broken_off() -> LedgerEntry {
    let timeline = json!({"sentMs": 1, "firstByteMs": 2, "firstTextMs": 3, "endMs": 4});
    LedgerEntry { timeline: serde_json::from_value(timeline).unwrap(), ..LedgerEntry::default() }
}

/// One program with a ledger, its file of reservations, and files that all programs share.
pub struct Program {
    pub ledger: Ledger,
    pub file: String,
}

impl Program {
    pub fn new() -> Self {
        Self { ledger: Ledger::new(Counter::estimating(), KEY), file: String::new() }
    }

    pub fn begin(&mut self, id: &str, conversation: &str, name: &str) -> CostRange {
        self.ledger.begin(id, conversation, chat(name), model(), 0).forecast.cost.unwrap()
    }

    /// Asks whether a request may be sent, in a program that is alone.
    pub fn ask(&mut self, id: &str, limits: &SpendLimits) -> String {
        self.file = self.ledger.reserve(id, TODAY);
        let verdict = self.ledger.check_spending(id, limits, &[], TODAY).verdict;
        let said = format!("{:?} {}", verdict.action, join_messages(&verdict.text, " "));
        if verdict.action == SpendAction::Stop {
            self.ledger.release(id);
        }
        said.trim_end().to_owned()
    }
}
