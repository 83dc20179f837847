//! The spend guard: no request is sent that would exceed one of the user's limits.
//!
//! A request reserves the upper end of its forecast before it is sent, and releases it when its real cost is in the
//! history. What is reserved counts as spent. Several programs share the limits: each writes what it has reserved into a
//! file of its own ([`Spending::file`]) *before* it reads the files of the others and asks for a verdict. Of two programs
//! that reserve at the same time, at least one therefore sees the other.
//!
//! A program that dies leaves its file behind. What it had reserved then counts until the day and the month are over,
//! because its requests may have cost that much.
//!
//! A request belongs to the day on which it was reserved, also if it ends after midnight. So what is reserved for a day
//! is also what is charged to it, and no request falls between two days.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::boundary::{Dollars, LimitState, SpendAction, SpendChoice, SpendLimit, SpendLimits, SpendPeriod, Verdict};
use crate::message::{Message, MessageCode};
use crate::numbers::date;
use crate::usage::History;

/// The share of a limit from which the user is warned, in per cent.
const NEAR_PERCENT: u64 = 80;
/// The maximum number of conversations. Beyond it, the cheapest one is forgotten.
const MAX_CONVERSATIONS: usize = 2_000;

/// What this program has reserved, what others have, and what the user decided.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spending {
    own: BTreeMap<String, Reserved>,
    /// What has ended but isn't in the file of the history yet, so that other programs don't know about it. The number is
    /// that of the request in the [memory](crate::Memory).
    unsaved: Vec<(u64, Reserved)>,
    /// The probable costs of requests for which the server reported no cost, for example because they broke off.
    unknown: Amounts,
    /// What other programs have reserved.
    others: Amounts,
    /// The conversations that may continue whatever they cost.
    allowed: BTreeSet<String>,
    /// What each request of a conversation cost, by id, in this program and in earlier ones.
    conversations: BTreeMap<String, BTreeMap<String, Dollars>>,
    /// The limits at which the user decided to stop.
    stopped: BTreeSet<Key>,
    /// The limits that the user has been warned about.
    warned: BTreeSet<Key>,
}

/// Sums by day, model and conversation.
type Amounts = BTreeMap<(u32, String, String), Dollars>;

/// What one request may cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reserved {
    pub day: u32,
    pub model: String,
    pub conversation: String,
    pub amount: Dollars,
}

impl Spending {
    /// Reserves what a request may cost.
    pub(crate) fn reserve(&mut self, id: &str, reserved: Reserved) {
        self.own.insert(id.to_owned(), reserved);
    }

    /// A request isn't sent.
    pub(crate) fn release(&mut self, id: &str) {
        self.own.remove(id);
    }

    /// Returns the day that a request belongs to, if something is reserved for it.
    pub(crate) fn day(&self, id: &str) -> Option<u32> {
        self.own.get(id).map(|reserved| reserved.day)
    }

    /// A request is over. Its cost, if it is known, is in this program's history under this number. Otherwise `probably`
    /// stays reserved, if there is such an amount.
    pub(crate) fn end(&mut self, id: &str, number: u64, cost: Option<Dollars>, probably: Option<Dollars>) {
        let Some(reserved) = self.own.remove(id) else { return };
        match (cost, probably) {
            (Some(amount), _) => self.unsaved.push((number, Reserved { amount, ..reserved })),
            (None, Some(amount)) => add(&mut self.unknown, Reserved { amount, ..reserved }),
            (None, None) => {}
        }
    }

    /// Records what a request of a conversation cost. It counts once, however often this is called.
    pub(crate) fn spend(&mut self, conversation: &str, id: &str, cost: Dollars) {
        self.conversations.entry(conversation.to_owned()).or_default().insert(id.to_owned(), cost);
        if self.conversations.len() > MAX_CONVERSATIONS {
            let cheapest = self.conversations.iter().min_by_key(|(_, costs)| sum(costs)).map(|(name, _)| name.clone());
            cheapest.map(|name| self.conversations.remove(&name));
        }
    }

    /// The history has been saved up to the request with this number, so that other programs can read it.
    pub(crate) fn saved(&mut self, last: u64) {
        self.unsaved.retain(|(number, _)| *number > last);
    }

    /// Returns the file that other programs read. It is empty if nothing is reserved.
    pub(crate) fn file(&self) -> String {
        let unknown = self.unknown.iter().map(|((day, model, conversation), amount)| Reserved {
            day: *day,
            model: model.clone(),
            conversation: conversation.clone(),
            amount: *amount,
        });
        let unsaved = self.unsaved.iter().map(|(_, reserved)| reserved);
        let rows = self.own.values().chain(unsaved).cloned().chain(unknown);
        rows.filter_map(|row| serde_json::to_string(&row).ok()).map(|line| line + "\n").collect()
    }

    /// Reads the files of other programs. A line that can't be read is skipped. Returns, for each file, whether it may be
    /// deleted: everything in it is damaged, or belongs to a month that is over. What only a newer version can read stays.
    pub(crate) fn read_others(&mut self, files: &[String], today: u32) -> Vec<bool> {
        self.others.clear();
        let mut old = Vec::new();
        for file in files {
            let mut is_old = true;
            for line in file.lines() {
                if let Ok(row) = serde_json::from_str::<Reserved>(line) {
                    is_old &= row.day < today && month(row.day) != month(today);
                    add(&mut self.others, row);
                } else {
                    is_old &= serde_json::from_str::<IgnoredAny>(line).is_err();
                }
            }
            old.push(is_old);
        }
        old
    }

    /// Decides about a request that has been [reserved](Self::reserve).
    pub(crate) fn verdict(&mut self, id: &str, limits: &SpendLimits, history: &History) -> Verdict {
        let go = Verdict { action: SpendAction::Go, limit: None, text: Vec::new() };
        let Some(request) = self.own.get(id).cloned() else { return go };
        let today = request.day;
        if self.allowed.contains(&request.conversation) && !limits.is_hard {
            return go;
        }
        let states = self.states(Some(id), limits, history, Some(&request), today);
        let after = |state: &LimitState| Dollars(state.used.0.saturating_add(request.amount.0));
        let is_reached = |state: &&LimitState| after(state) > state.limit || state.used >= state.limit;
        let is_stopped = |state: &&LimitState| limits.is_hard || self.stopped.contains(&key(state, &request, today));
        let reached: Vec<&LimitState> = states.iter().filter(is_reached).collect();
        let stopped = reached.iter().copied().find(is_stopped);
        if let Some(state) = stopped.or(reached.first().copied()) {
            let (action, next) = match stopped {
                Some(_) => (SpendAction::Stop, MessageCode::LimitRaise),
                None => (SpendAction::Ask, MessageCode::LimitNext),
            };
            let mut text = describe(state, request.amount);
            text.push(next.into());
            return Verdict { action, limit: Some(state.clone()), text };
        }
        let is_near =
            |state: &&LimitState| after(state).0.saturating_mul(100) >= state.limit.0.saturating_mul(NEAR_PERCENT);
        let Some(state) = states.iter().find(is_near) else { return go };
        if !self.warned.insert(key(state, &request, today)) {
            return go;
        }
        let mut text = vec![Message::new(MessageCode::LimitNear, [&after(state), &state.limit])];
        text.extend(scope(state));
        Verdict { action: SpendAction::Warn, limit: Some(state.clone()), text }
    }

    /// Remembers what the user decided about a verdict.
    pub(crate) fn choose(&mut self, id: &str, choice: SpendChoice, limit: Option<LimitState>) {
        match choice {
            SpendChoice::Continue => {
                let conversation = self.own.get(id).map(|reserved| reserved.conversation.clone());
                self.allowed.extend(conversation);
            }
            SpendChoice::Stop => {
                self.stopped.extend(limit.zip(self.own.get(id)).map(|(limit, own)| key(&limit, own, own.day)));
            }
        }
    }

    /// Returns every limit that applies, and how much of it is used without the request `except`.
    pub(crate) fn states(
        &self,
        except: Option<&str>,
        limits: &SpendLimits,
        history: &History,
        request: Option<&Reserved>,
        today: u32,
    ) -> Vec<LimitState> {
        let this_month = month(today);
        let own = self.own.iter().filter(|(id, _)| except != Some(id.as_str())).map(|(_, reserved)| reserved);
        let own = own.map(|row| (row.day, &row.model, &row.conversation, row.amount));
        let sums = self.unknown.iter().chain(&self.others);
        let sums = sums.map(|((day, model, conversation), amount)| (*day, model, conversation, *amount));
        let reserved: Vec<_> = own.chain(sums).collect();
        let talk = request.and_then(|request| self.conversations.get(&request.conversation)).map(sum);
        let used = |period: SpendPeriod, model: Option<&str>| {
            let is_in = |day: u32, conversation: Option<&str>| match period {
                SpendPeriod::Request => false,
                SpendPeriod::Conversation => request.is_some_and(|request| conversation == Some(&request.conversation)),
                SpendPeriod::Day => day == today,
                SpendPeriod::Month => month(day) == this_month,
            };
            let is_model = |name: &str| model.is_none_or(|model| model == name);
            let past = history.rows().filter(|(day, name, _)| is_in(*day, None) && is_model(name));
            let past = past.map(|(_, _, totals)| totals.cost.0);
            let open = reserved.iter().filter(|(day, model, talk, _)| is_in(*day, Some(talk)) && is_model(model));
            let open = open.map(|(_, _, _, amount)| amount.0);
            let talk = talk.filter(|_| period == SpendPeriod::Conversation);
            Dollars(past.chain(open).chain(talk).fold(0, u64::saturating_add))
        };
        let mut states = Vec::new();
        let mut list = |limit: &SpendLimit, model: Option<&str>| {
            let periods = [
                (SpendPeriod::Request, limit.request),
                (SpendPeriod::Conversation, limit.conversation),
                (SpendPeriod::Day, limit.day),
                (SpendPeriod::Month, limit.month),
            ];
            for (period, limit) in periods {
                let Some(limit) = limit else { continue };
                let model = model.map(str::to_owned);
                states.push(LimitState { period, limit, used: used(period, model.as_deref()), model });
            }
        };
        list(&limits.all, None);
        for (model, limit) in &limits.models {
            if request.is_none_or(|request| request.model == *model) {
                list(limit, Some(model));
            }
        }
        states
    }
}

fn sum(costs: &BTreeMap<String, Dollars>) -> u64 {
    costs.values().map(|cost| cost.0).fold(0, u64::saturating_add)
}

fn add(amounts: &mut Amounts, Reserved { day, model, conversation, amount }: Reserved) {
    let sum = amounts.entry((day, model, conversation)).or_default();
    sum.0 = sum.0.saturating_add(amount.0);
}

fn describe(state: &LimitState, amount: Dollars) -> Vec<Message> {
    let said = match state.period {
        SpendPeriod::Request => Message::new(MessageCode::LimitOfRequest, [&amount, &state.limit]),
        _ if state.used >= state.limit => Message::new(MessageCode::LimitReachedAlready, [&state.used, &state.limit]),
        _ => Message::new(MessageCode::LimitReached, [&amount, &state.used, &state.limit]),
    };
    [said].into_iter().chain(scope(state)).collect()
}

/// Says what a limit is for.
fn scope(state: &LimitState) -> impl Iterator<Item = Message> {
    let period = match state.period {
        SpendPeriod::Request => None,
        SpendPeriod::Conversation => Some(MessageCode::LimitForConversation),
        SpendPeriod::Day => Some(MessageCode::LimitForDay),
        SpendPeriod::Month => Some(MessageCode::LimitForMonth),
    };
    let model = state.model.as_ref().map(|model| Message::new(MessageCode::LimitForModel, [model]));
    period.map(Message::from).into_iter().chain(model)
}

/// A limit at a certain time: the user is asked and warned once for each conversation, day and month.
type Key = (SpendPeriod, String, Option<String>, Dollars);

fn key(state: &LimitState, request: &Reserved, today: u32) -> Key {
    let when = match state.period {
        SpendPeriod::Request | SpendPeriod::Conversation => request.conversation.clone(),
        SpendPeriod::Day => date(today),
        SpendPeriod::Month => month(today),
    };
    (state.period, when, state.model.clone(), state.limit)
}

/// Returns the name of a day's month: `2026-03`.
fn month(day: u32) -> String {
    let mut name = date(day);
    name.truncate(name.len() - "-01".len());
    name
}
