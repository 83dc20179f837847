//! What servers need back of their answers and VS Code drops: [`Vault`].

use std::collections::{BTreeMap, BTreeSet, btree_map};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::boundary::{ChatMessage, ChatPart, ChatRequest, ReplayItem, Role, ThinkingReplay};
use crate::fnv::{fnv1a, short_hash};
use crate::ledger::LedgerEntry;

/// The current version of the file. Another version needs other file names, because a window of an older one takes and
/// deletes the files whose names it knows (`files/vault.rs`).
const VERSION: u32 = 1;
/// The most that is kept, and the most for one answer. The entries that were unused for longest go first.
const MAX_ENTRIES: usize = 2_000;
const MAX_BYTES: usize = 4 << 20;
const MAX_ENTRY_BYTES: usize = 512 << 10;
const MAX_REJECTED: usize = 1_000;
/// How long an unused entry is kept. What a server encrypted is opaque; plain reasoning is text of a conversation.
const DAY_MS: u64 = 86_400_000;
const ENCRYPTED_MS: u64 = 60 * DAY_MS;
const PLAIN_MS: u64 = 7 * DAY_MS;

/// Keeps the reasoning, the `phase` and the order of recent answers.
///
/// VS Code returns what a thinking part carries only within a turn, and only if the model stays the same. A model that
/// gets its own answer back without it answers worse, or its server refuses the request. The vault recognizes an answer
/// by its calls, its text and its question, and adds what is missing. Reasoning goes back to the model and the origin
/// that produced it, and to no other.
///
/// A shell keeps the vault's bytes in a file of its own, which contains text of conversations. All times are in
/// milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vault {
    /// The entry that was used last comes last.
    entries: Vec<Entry>,
    /// Hashes of reasoning that its own server refused.
    rejected: Vec<u64>,
    /// When everything was deleted. Another window may still have entries from before.
    deleted_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// What the answer is recognized by, see [`keys`] and [`opening_keys`].
    keys: Vec<u64>,
    /// The question that it answered, see [`QuestionId`].
    question: u32,
    #[serde(default)]
    thread: u32,
    replay: ThinkingReplay,
    made_ms: u64,
    used_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    entries: Vec<Entry>,
    rejected: Vec<u64>,
    deleted_ms: u64,
}

/// Whether an entry may belong to an answer to this question.
type EntryFilter<'a> = &'a dyn Fn(&Entry, QuestionId) -> bool;

impl Vault {
    /// Reads a file. One that is damaged, or that a newer version wrote, counts as empty.
    pub fn read(file: &[u8]) -> Self {
        match serde_json::from_slice::<File>(file) {
            Ok(File { version: VERSION, entries, rejected, deleted_ms }) => Self { entries, rejected, deleted_ms },
            _ => Self::default(),
        }
    }

    /// Returns the contents of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { entries, rejected, deleted_ms } = self.clone();
        serde_json::to_vec(&File { version: VERSION, entries, rejected, deleted_ms }).unwrap_or_default()
    }

    /// Deletes everything, here and in every vault that this one is merged with later.
    pub fn clear(&mut self, now_ms: u64) {
        *self = Self { deleted_ms: now_ms, ..Self::default() };
    }

    /// Returns when everything was last deleted, in milliseconds since 1970, or zero.
    pub(crate) fn deleted_ms(&self) -> u64 {
        self.deleted_ms
    }

    /// Returns whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds what another window has kept. The order in which vaults are merged doesn't matter.
    pub fn merge(&mut self, other: Self, now_ms: u64) {
        self.deleted_ms = self.deleted_ms.max(other.deleted_ms);
        let mut entries: BTreeMap<(u64, Vec<u64>), Entry> = BTreeMap::new();
        for entry in std::mem::take(&mut self.entries).into_iter().chain(other.entries) {
            match entries.entry((entry.made_ms, entry.keys.clone())) {
                btree_map::Entry::Vacant(place) => drop(place.insert(entry)),
                btree_map::Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.used_ms = known.used_ms.max(entry.used_ms);
                }
            }
        }
        self.entries = entries.into_values().filter(|entry| entry.made_ms > self.deleted_ms).collect();
        self.entries.sort_by_key(|entry| entry.used_ms);
        let rejected: BTreeSet<u64> = self.rejected.iter().copied().collect();
        self.rejected.extend(other.rejected.into_iter().filter(|hash| !rejected.contains(hash)));
        self.shrink(now_ms);
    }

    /// Keeps what the server needs back of an answer. Returns whether there is anything to save.
    pub fn remember(&mut self, entry: &LedgerEntry, question: QuestionId, now_ms: u64) -> bool {
        let LedgerEntry { answer, is_whole, .. } = entry;
        let QuestionId { text: question, thread } = question;
        let Some(replay) = replay_in(answer) else { return false };
        let mut keys = keys(answer);
        if !is_whole {
            keys.extend(opening_keys(answer, question));
        }
        if keys.is_empty() || bytes_of(replay) > MAX_ENTRY_BYTES {
            return false;
        }
        self.entries.push(Entry { keys, question, thread, replay: replay.clone(), made_ms: now_ms, used_ms: now_ms });
        self.shrink(now_ms);
        true
    }

    /// Adds what the host dropped of earlier answers of this model at this origin, and removes what another model or
    /// origin produced, or what was refused before. Returns whether the chat has changed.
    pub fn restore(&mut self, chat: &mut ChatRequest, origin: &str, now_ms: u64) -> bool {
        let is_own = |replay: &ThinkingReplay| replay.is_for(&chat.model, Some(origin));
        let mut own: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, entry) in self.entries.iter().enumerate().filter(|(_, entry)| is_own(&entry.replay)) {
            for key in &entry.keys {
                own.entry(*key).or_default().push(at);
            }
        }
        for same in own.values_mut() {
            same.sort_by_key(|at| self.entries.get(*at).map(|entry| entry.made_ms));
        }
        let questions = questions(&chat.messages);
        let (mut has_changed, mut used, mut missing) = (false, BTreeSet::new(), Vec::new());
        let messages = chat.messages.iter_mut().enumerate().filter(|(_, message)| message.role == Role::Assistant);
        for (number, message) in messages {
            let before = message.content.len();
            message.content.retain(|part| match part {
                ChatPart::Thinking { replay: Some(replay) } => is_own(replay),
                _ => true,
            });
            has_changed |= message.content.len() < before;
            let keys = keys(&message.content);
            if let Some(carried) = replay_in(&message.content) {
                let is_it = |at: &usize| self.entries.get(*at).is_some_and(|entry| entry.replay == *carried);
                used.extend(keys.iter().filter_map(|key| own.get(key)).flatten().copied().find(is_it));
            } else {
                let asked = questions.get(number).copied().unwrap_or_default();
                let opening = opening_keys(&message.content, asked.text).pop();
                missing.push((number, asked, [keys, opening.into_iter().collect()]));
            }
        }
        // A model may have given the same answer several times, in this conversation and in others. The newest one belongs to the
        // last message, unless the questions say otherwise. The host may have only the beginning of an answer that was cancelled.
        let is_in_thread =
            |entry: &Entry, asked: QuestionId| entry.question == asked.text && entry.thread == asked.thread;
        let is_to_question = |entry: &Entry, asked: QuestionId| entry.question == asked.text;
        let passes: [(usize, EntryFilter<'_>); 5] =
            [(0, &is_in_thread), (0, &is_to_question), (0, &|_, _| true), (1, &is_in_thread), (1, &is_to_question)];
        for (kind, fits) in passes {
            for (number, asked, keys) in missing.iter().rev() {
                let Some(message) = chat.messages.get_mut(*number) else { continue };
                if replay_in(&message.content).is_some() {
                    continue;
                }
                let is_free = |at: &&usize| {
                    !used.contains(*at) && self.entries.get(**at).is_some_and(|entry| fits(entry, *asked))
                };
                // The first key is the most exact one.
                let mut keys = keys.get(kind).into_iter().flatten();
                let found = keys.find_map(|key| own.get(key)?.iter().rev().find(is_free).copied());
                if let Some((at, entry)) = found.and_then(|at| Some((at, self.entries.get(at)?))) {
                    used.insert(at);
                    message.content.push(ChatPart::Thinking { replay: Some(entry.replay.clone()) });
                    has_changed = true;
                }
            }
        }
        let rejected: BTreeSet<u64> = self.rejected.iter().copied().collect();
        for message in &mut chat.messages {
            has_changed |= leave_out_rejected(message, &rejected);
        }
        for at in used.into_iter().rev() {
            let mut entry = self.entries.remove(at);
            entry.used_ms = now_ms;
            self.entries.push(entry);
        }
        has_changed
    }

    /// The server refused the reasoning in this chat: it isn't sent again.
    pub fn reject(&mut self, chat: &ChatRequest, now_ms: u64) {
        let parts = chat.messages.iter().flat_map(|message| &message.content);
        for part in parts {
            let ChatPart::Thinking { replay: Some(replay) } = part else { continue };
            self.rejected.extend(replay.items.iter().filter_map(hash_of));
        }
        self.shrink(now_ms);
    }

    /// Removes entries that are too old, and the oldest ones beyond the limits.
    fn shrink(&mut self, now_ms: u64) {
        self.entries.retain(|entry| {
            let is_plain = entry.replay.items.iter().any(is_plain);
            now_ms <= entry.used_ms.saturating_add(if is_plain { PLAIN_MS } else { ENCRYPTED_MS })
        });
        let (mut bytes, mut count) = (0_usize, 0_usize);
        let mut fits = |entry: &&Entry| {
            bytes = bytes.saturating_add(bytes_of(&entry.replay) + 16 * entry.keys.len());
            count += 1;
            bytes <= MAX_BYTES && count <= MAX_ENTRIES
        };
        let kept = self.entries.iter().rev().take_while(|entry| fits(entry)).count();
        self.entries.drain(..self.entries.len() - kept);
        let excess = self.rejected.len().saturating_sub(MAX_REJECTED);
        self.rejected.drain(..excess);
    }
}

/// Identifies the question that an answer is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QuestionId {
    /// A hash of what the user wrote last.
    pub text: u32,
    /// A hash of everything that the user wrote, because the same question may be asked in several conversations.
    pub thread: u32,
}

/// Returns the question that the next answer is for.
pub fn question_id(chat: &ChatRequest) -> QuestionId {
    questions(&chat.messages).last().copied().unwrap_or_default()
}

/// Returns for each message the question that it belongs to.
fn questions(messages: &[ChatMessage]) -> Vec<QuestionId> {
    let question = |message: &ChatMessage| {
        let said = message.content.iter().filter_map(|part| match part {
            ChatPart::Text { value } if message.role == Role::User => Some(value.split_whitespace()),
            _ => None,
        });
        let said: String = said.flatten().collect();
        (!said.is_empty()).then(|| short_hash(&said))
    };
    let latest = |current: &mut QuestionId, message: &ChatMessage| {
        if let Some(text) = question(message) {
            *current = QuestionId { text, thread: short_hash(&format!("{} {text}", current.thread)) };
        }
        Some(*current)
    };
    messages.iter().scan(QuestionId::default(), latest).collect()
}

/// Returns what a message carries for its server.
fn replay_in(content: &[ChatPart]) -> Option<&ThinkingReplay> {
    content.iter().find_map(|part| match part {
        ChatPart::Thinking { replay } => replay.as_ref().filter(|replay| replay.is_useful()),
        _ => None,
    })
}

/// Returns the hashes by which an answer is recognized, the most exact first: by its text and its calls, then by its
/// calls alone, then, if it has no calls, by its text alone. Whitespace doesn't count, because hosts trim texts.
fn keys(content: &[ChatPart]) -> Vec<u64> {
    let (mut text, mut calls) = (String::new(), String::new());
    for part in content {
        match part {
            ChatPart::Text { value } => text.extend(value.split_whitespace()),
            ChatPart::ToolCall { call_id, name, input_json } => {
                // JavaScript writes numbers and fields in its own way.
                let input = serde_json::from_str(input_json).map_or(input_json.clone(), |input| canonical(&input));
                calls.push_str(&format!("{call_id}\0{name}\0{input}\0"));
            }
            _ => {}
        }
    }
    let key = |kind: &str, parts: [&str; 2]| fnv1a(format!("{kind}\0{}\0{}", parts[0], parts[1]).as_bytes());
    match (text.is_empty(), calls.is_empty()) {
        (true, true) => Vec::new(),
        (_, true) => vec![key("text", [&text, ""])],
        (_, false) => vec![key("both", [&text, &calls]), key("calls", ["", &calls])],
    }
}

/// Returns hashes that identify an answer that ended early. Each hash covers the question and a beginning of the answer, and the
/// beginnings have different lengths. The host may have kept less of the answer than the server sent, but the longest beginning of
/// what it kept is also one of the beginnings of what was sent.
fn opening_keys(content: &[ChatPart], question: u32) -> Vec<u64> {
    const FEWEST: usize = 16;
    const MOST: usize = 256;
    // Answers of several models often begin with the same words.
    let is_place = |length: &usize| *length >= FEWEST && (*length <= 4 * FEWEST || length.is_multiple_of(FEWEST));
    let mut text = String::new();
    for part in content {
        match part {
            ChatPart::Text { value } => text.extend(value.split_whitespace()),
            ChatPart::ToolCall { .. } => return Vec::new(),
            _ => {}
        }
    }
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8()).take(MOST);
    let places = (1..).zip(ends).filter(|(length, _)| is_place(length));
    let key = |(_, end): (usize, usize)| Some(fnv1a(format!("opening\0{question}\0{}", text.get(..end)?).as_bytes()));
    places.filter_map(key).collect()
}

/// Returns a text that is the same for all spellings of the same JSON. Numbers are those of JavaScript.
fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        Value::Array(list) => list.iter().map(canonical).collect::<Vec<_>>().join(","),
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            sorted.iter().map(|(name, field)| format!("{name}:{}", canonical(field))).collect::<Vec<_>>().join(";")
        }
        other => other.to_string(),
    }
}

/// Removes reasoning that its server refused before. Returns whether there was any.
fn leave_out_rejected(message: &mut ChatMessage, rejected: &BTreeSet<u64>) -> bool {
    let mut has_changed = false;
    for part in &mut message.content {
        let ChatPart::Thinking { replay: Some(replay) } = part else { continue };
        let before = replay.items.len();
        replay.items.retain(|item| hash_of(item).is_none_or(|hash| !rejected.contains(&hash)));
        has_changed |= replay.items.len() < before;
    }
    has_changed
}

fn hash_of(item: &ReplayItem) -> Option<u64> {
    let ReplayItem::Reasoning(item) = item else { return None };
    Some(fnv1a(serde_json::to_string(item).ok()?.as_bytes()))
}

fn is_plain(item: &ReplayItem) -> bool {
    matches!(item, ReplayItem::Reasoning(item) if !item.content.is_empty() || !item.summary.is_empty())
}

fn bytes_of(replay: &ThinkingReplay) -> usize {
    const OVERHEAD: usize = 64;
    let item = |item: &ReplayItem| match item {
        ReplayItem::Reasoning(item) => OVERHEAD + item.bytes(),
        ReplayItem::Message(_) => OVERHEAD,
        ReplayItem::Call(id) => OVERHEAD + id.len(),
    };
    replay.items.iter().map(item).sum()
}
