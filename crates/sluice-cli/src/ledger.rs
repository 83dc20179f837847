//! The ledger of `sluice chat`: token counts for the next requests, usage for `sluice usage`, kept in one file.

use std::env;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sluice_client::{Store, StoreError};
use sluice_core::{
    Begun, ChatRequest, Counter, Estimate, Ledger, LedgerEntry, LedgerModel, LimitsFrom, ModelSettings, StatusLine,
};

use crate::connection::Connection;
use crate::model_cache::ModelCache;
use crate::output::tell;

/// There is one conversation at a time, and one request at a time.
const REQUEST: &str = "chat";
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
    /// Counts the running request, which doesn't wait for it.
    counting: Option<JoinHandle<(Ledger, Begun)>>,
    /// Whether the first part of the running request was thinking, and when it came.
    first_part: Option<(bool, u64)>,
    has_complained: bool,
}

impl ChatLedger {
    /// Opens the ledger for requests to a model. The model's limits and prices come from the cached list of models.
    pub fn open(connection: &Connection, model: &str) -> Self {
        let client = &connection.client;
        let endpoint = client.endpoint();
        // The embedded gateway has another address every time, but always counts in the same way.
        let origin = if connection.is_embedded() { String::new() } else { endpoint.origin.clone() };
        let (store, memory, error) = Store::open(directory());
        let (catalog, _) = ModelCache::of(endpoint).load(endpoint);
        client.leave_out(model, &catalog.refused(model, u64::from(today()) * SECONDS_PER_DAY));
        // The model counts as listed, because something may be known about it although it isn't.
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
        let ledger = Some(Ledger::with_memory(Counter::exact(), memory));
        let (clock, opened_ms) = (Instant::now(), since_1970().as_millis().try_into().unwrap_or(u64::MAX));
        let (counting, first_part) = (None, None);
        let mut ledger = Self { store, ledger, model, clock, opened_ms, counting, first_part, has_complained: false };
        if let Some(error) = error {
            ledger.complain(&error);
        }
        ledger
    }

    /// A request begins. Its tokens are counted while the server works on it.
    pub fn begin(&mut self, request: &ChatRequest) {
        let Some(mut ledger) = self.ledger.take() else { return };
        let (request, model, now) = (request.clone(), self.model.clone(), self.now());
        self.first_part = None;
        self.counting = Some(thread::spawn(move || {
            let begun = ledger.begin(REQUEST, REQUEST, request, model, now);
            (ledger, begun)
        }));
    }

    /// A part of the answer has been printed.
    pub fn part(&mut self, is_thinking: bool) {
        self.first_part.get_or_insert((is_thinking, self.now()));
    }

    /// The request is over. Its usage is saved immediately, because there may be no other request. Returns how many
    /// tokens it was estimated to have, and warns if that was close to the model's limit or above it.
    pub fn end(&mut self, entry: &LedgerEntry) -> Option<Estimate> {
        let now = self.now();
        let (mut ledger, begun) = self.counting.take()?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if let Some(warning) = begun.warning {
            tell!("sluice: {}", warning.message);
        }
        if let Some((is_thinking, at)) = self.first_part {
            ledger.part(REQUEST, is_thinking, at);
        }
        ledger.end(REQUEST, entry, now, today());
        if let Err(error) = self.store.save(ledger.memory()) {
            self.complain(&error);
        }
        self.ledger = Some(ledger);
        Some(begun.estimate)
    }

    /// Returns what the status bar of an editor would show.
    pub fn status(&self) -> Option<StatusLine> {
        self.ledger.as_ref()?.status(REQUEST)
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
fn today() -> u32 {
    u32::try_from(since_1970().as_secs() / SECONDS_PER_DAY).unwrap_or(u32::MAX)
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
