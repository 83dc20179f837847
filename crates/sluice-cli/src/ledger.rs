//! The ledger of `sluice chat`: token counts for the next requests, usage for `sluice usage`, kept in one file.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sluice_client::{Store, StoreError};
use sluice_core::{
    Begun, ChatRequest, Counter, Ledger, LedgerEntry, LedgerModel, LimitState, LimitsFrom, ModelSettings,
    RequestRecord, SpendChoice, SpendLimits, StatusLine, Verdict,
};

use crate::connection::Connection;
use crate::model_cache::ModelCache;
use crate::output::tell;
use crate::records;
use crate::spending::SpendingFiles;

const SECONDS_PER_DAY: u64 = 86_400;

/// The ledger, the file it is kept in, and the clock.
pub struct ChatLedger {
    store: Store,
    /// Absent while a request is counted.
    ledger: Option<Ledger>,
    model: LedgerModel,
    clock: Instant,
    /// The time at which the clock started, in milliseconds since 1970.
    opened_ms: u64,
    conversation: String,
    /// The records of requests that are not in a file.
    records: Vec<RequestRecord>,
    /// The number of the running request.
    number: usize,
    /// Counts the running request, which doesn't wait for it unless there is a limit.
    counting: Option<JoinHandle<(Ledger, Begun)>>,
    /// The running request, once it is counted.
    begun: Option<Begun>,
    spending: SpendingFiles,
    has_complained: bool,
}

impl ChatLedger {
    /// Opens the ledger for requests to a model, in a conversation that is kept or in another one. The model's limits and
    /// prices come from the cached list of models.
    pub fn open(connection: &Connection, model: &str, kept: Option<&str>) -> Self {
        let client = &connection.client;
        let endpoint = client.endpoint();
        // The embedded gateway has another address every time, but always counts in the same way.
        let origin = if connection.is_embedded() { String::new() } else { endpoint.origin.clone() };
        let (store, memory, error) = Store::open(directory());
        let (catalog, _) = ModelCache::of(endpoint).load(endpoint);
        client.leave_out(model, &catalog.refused(model, u64::from(today()) * SECONDS_PER_DAY));
        // The model is treated as listed even if it isn't, because something may be known about it.
        let added = [(endpoint.base_url.clone(), vec![model.to_owned()])].into();
        let settings = ModelSettings { added, ..ModelSettings::default() };
        let listed = catalog.models(&settings, u64::from(today()) * SECONDS_PER_DAY).models;
        let model = match listed.into_iter().find(|listed| listed.id == model) {
            Some(listed) => LedgerModel {
                origin,
                max_input_tokens: (listed.limits_from != LimitsFrom::Assumed)
                    .then_some(u64::from(listed.max_input_tokens)),
                context_window: (listed.limits_from != LimitsFrom::Assumed).then_some(u64::from(listed.context_window)),
                prices: listed.prices,
                refused: listed.refused,
            },
            None => LedgerModel { origin, ..LedgerModel::default() },
        };
        let mut ledger = Ledger::with_memory(Counter::exact(), memory);
        let earlier = kept.map(records::of).unwrap_or_default();
        let last = earlier.last().and_then(|record| record.id.rsplit_once('-')?.1.parse().ok());
        for record in earlier {
            ledger.recall(record);
        }
        let (clock, opened_ms) = (Instant::now(), since_1970().as_millis().try_into().unwrap_or(u64::MAX));
        let mut ledger = Self {
            store,
            ledger: Some(ledger),
            model,
            clock,
            opened_ms,
            // Other programs must not count what this one has reserved as part of their conversation.
            conversation: kept.map_or_else(|| format!("{opened_ms}-{}", std::process::id()), str::to_owned),
            records: Vec::new(),
            number: last.unwrap_or(0),
            counting: None,
            begun: None,
            spending: SpendingFiles::new(opened_ms),
            has_complained: false,
        };
        if let Some(error) = error {
            ledger.complain(&error);
        }
        ledger
    }

    /// A request begins, unless it has already. Its tokens are counted while the server works on it.
    pub fn begin(&mut self, request: &ChatRequest) {
        if self.begun.is_some() {
            return;
        }
        let Some(mut ledger) = self.ledger.take() else { return };
        self.number += 1;
        let (id, conversation) = (self.id(), self.conversation.clone());
        let (request, model, now) = (request.clone(), self.model.clone(), self.now());
        self.counting = Some(thread::spawn(move || {
            let begun = ledger.begin(&id, &conversation, request, model, now);
            (ledger, begun)
        }));
    }

    /// Decides whether the request that has begun may be sent. What it may cost is reserved.
    pub fn check(&mut self, limits: &SpendLimits) -> Option<Verdict> {
        let id = self.id();
        self.counted();
        let file = self.ledger.as_mut()?.reserve(&id, today());
        let written = self.spending.write(&file);
        // The files are read before the history, because an amount is removed from a file only when the history has it.
        let others = self.spending.others();
        self.save();
        let (paths, others): (Vec<_>, Vec<_>) = others.into_iter().unzip();
        let check = self.ledger.as_mut()?.check_spending(&id, limits, &others, today());
        for (path, _) in paths.into_iter().zip(&check.old).filter(|(_, is_old)| **is_old) {
            // Another process may have deleted it.
            let _ = fs::remove_file(path);
        }
        if let Err(error) = written {
            tell!("sluice: other processes can't see what this one spends: {error}");
        }
        Some(check.verdict)
    }

    /// Remembers what the user decided about a limit.
    pub fn choose(&mut self, choice: SpendChoice, limit: Option<LimitState>) {
        let id = self.id();
        if let Some(ledger) = &mut self.ledger {
            ledger.choose_spending(&id, choice, limit);
        }
    }

    /// The request that has begun isn't sent.
    pub fn give_up(&mut self) {
        let id = self.id();
        self.begun = None;
        if let Some(ledger) = &mut self.ledger {
            // If it can't be deleted, it counts until the day is over.
            let _ = self.spending.write(&ledger.release(&id));
        }
    }

    fn id(&self) -> String {
        format!("{}-{}", self.conversation, self.number)
    }

    /// Waits until the running request is counted.
    fn counted(&mut self) {
        if let Some(counting) = self.counting.take() {
            let (ledger, begun) = counting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (self.ledger, self.begun) = (Some(ledger), Some(begun));
        }
    }

    /// Saves what was used, and reads what other processes have used.
    fn save(&mut self) {
        let Some(ledger) = &mut self.ledger else { return };
        match self.store.save(ledger.memory()) {
            Ok(()) => {
                let _ = self.spending.write(&ledger.saved());
            }
            Err(error) => self.complain(&error),
        }
    }

    /// The request is over. Its usage is saved immediately, because there may be no other request. Returns what was
    /// expected of it and its record, and warns if it was close to the model's limit or above it.
    pub fn end(&mut self, entry: &LedgerEntry) -> Option<(Begun, RequestRecord)> {
        let (now, id) = (self.now(), self.id());
        self.counted();
        let (begun, ledger) = (self.begun.take()?, self.ledger.as_mut()?);
        if let Some(warning) = &begun.warning {
            tell!("sluice: {}", warning.message);
        }
        let record = ledger.end(&id, entry, now, today())?.record;
        self.save();
        self.records.push(record.clone());
        Some((begun, record))
    }

    /// Keeps the records of all requests so far, because their conversation is kept.
    pub fn keep_records(&mut self) {
        for record in self.records.drain(..) {
            if let Err(error) = records::keep(&record) {
                tell!("sluice: cannot keep the record of a request: {error}");
            }
        }
    }

    /// Returns what the status bar of an editor would show.
    pub fn status(&self) -> Option<StatusLine> {
        self.ledger.as_ref()?.status(&self.conversation)
    }

    fn now(&self) -> u64 {
        let elapsed = u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.opened_ms.saturating_add(elapsed)
    }

    /// Tells the user once that something is wrong with the file. The conversation continues without it.
    fn complain(&mut self, error: &StoreError) {
        if !std::mem::replace(&mut self.has_complained, true) {
            tell_store_error(error);
        }
    }
}

pub fn tell_store_error(error: &StoreError) {
    let next = match error {
        StoreError::ChooseDirectory { .. } => " Set SLUICE_HOME to a directory of your own.",
        _ => "",
    };
    tell!("sluice: {error}.{next}");
}

/// Returns `SLUICE_HOME`, or the directory in which programs of this system keep their state.
pub fn directory() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = set("SLUICE_HOME") {
        return home;
    }
    // According to the XDG specification, relative paths must be ignored.
    if let Some(state) = set("XDG_STATE_HOME").filter(|path| path.is_absolute()) {
        return state.join("sluice");
    }
    if cfg!(windows)
        && let Some(local) = set("LOCALAPPDATA")
    {
        return local.join("sluice");
    }
    let home = env::home_dir().unwrap_or_else(env::temp_dir);
    let state = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" };
    home.join(state).join("sluice")
}

/// Returns the number of days since 1970 in UTC, which is how gateways bill.
pub fn today() -> u32 {
    u32::try_from(since_1970().as_secs() / SECONDS_PER_DAY).unwrap_or(u32::MAX)
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
