//! The ledger's side of the spend guard. `limits.rs` describes how programs share limits.

use super::{Ledger, Running};
use crate::boundary::{CostBasis, Dollars, LimitState, RequestRecord, SpendChoice, SpendLimits, Verdict};
use crate::limits::Reserved;

/// What the limits say about a request.
#[derive(Clone, Debug, PartialEq)]
pub struct SpendCheck {
    /// What to do with the request.
    pub verdict: Verdict,
    /// For each file of another program, whether it is so old that it can be deleted.
    pub old: Vec<bool>,
}

impl Ledger {
    /// Reserves what a request that has [begun](Self::begin) may cost. Returns this program's file, which the shell writes
    /// before it reads the files of the other programs. `today` counts days from 1970-01-01.
    pub fn reserve(&mut self, id: &str, today: u32) -> String {
        if let Some(Running { record, .. }) = self.running.get(id)
            && !is_play(&record.model)
        {
            let cost = record.forecast.and_then(|forecast| forecast.cost);
            self.spending.reserve(
                id,
                Reserved {
                    day: today,
                    model: record.model.clone(),
                    conversation: record.conversation.clone(),
                    amount: cost.map_or(Dollars(0), |cost| cost.high),
                },
            );
        }
        self.spending.file()
    }

    /// Returns whether something is reserved for a request.
    pub(crate) fn is_reserved(&self, id: &str) -> bool {
        self.spending.day(id).is_some()
    }

    /// Returns the conversation of a request that has begun.
    pub(crate) fn conversation_of(&self, id: &str) -> Option<String> {
        self.running.get(id).map(|running| running.record.conversation.clone())
    }

    /// Decides whether a request for which money is reserved may be sent. `others` are the files of the other programs.
    pub fn check_spending(&mut self, id: &str, limits: &SpendLimits, others: &[String], today: u32) -> SpendCheck {
        let old = self.spending.read_others(others, today);
        let verdict = self.spending.verdict(id, limits, &self.memory.history());
        SpendCheck { verdict, old }
    }

    /// Remembers what the user decided when a limit was reached.
    pub fn choose_spending(&mut self, id: &str, choice: SpendChoice, limit: Option<LimitState>) {
        self.spending.choose(id, choice, limit);
    }

    /// Forgets a request that has begun and isn't sent, with what it has reserved. Returns this program's file.
    pub fn release(&mut self, id: &str) -> String {
        self.running.remove(id);
        self.tracker.forget(id);
        self.spending.release(id);
        self.spending.file()
    }

    /// Removes from this program's file what other programs can read in the memory, which has been saved. Returns the file; it
    /// can be deleted if it is empty.
    pub fn saved(&mut self) -> String {
        self.spending.saved(self.memory.in_file());
        self.spending.file()
    }

    /// Returns how much of each limit for days and months is used. `others` are the files of the other programs.
    pub fn limit_states(&mut self, limits: &SpendLimits, others: &[String], today: u32) -> Vec<LimitState> {
        self.spending.read_others(others, today);
        self.spending.states(None, limits, &self.memory.history(), None, today)
    }

    /// Adds the record of an earlier request, which a shell has kept: the next request of its conversation is compared with
    /// it, and its cost counts for the conversation. A record that is known already changes nothing.
    pub fn recall(&mut self, record: RequestRecord) {
        if let Some(cost) = record.cost.filter(|cost| cost.basis != CostBasis::Play) {
            self.spending.spend(&record.conversation, &record.id, cost.usd);
        }
        self.recent.keep(record);
    }
}

/// Returns whether a model belongs to the embedded gateway, whose money isn't real.
pub(super) fn is_play(model: &str) -> bool {
    model.starts_with("sluice/")
}
