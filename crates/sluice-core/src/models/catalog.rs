//! What is known about an endpoint's models, how old it is, and what stays when an answer is bad. Plain data: shells do
//! the asking and keep the snapshot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Facts, model_list};
use crate::boundary::{Failure, FailureKind, HttpRequest, ModelList, ModelSettings, Note, NoteKind};
use crate::failure::HttpAnswer;
use crate::fnv::fnv1a;
use crate::models::capabilities::other_kind;
use crate::models::limits::learned_limit;
use crate::receive::plain_line;
use crate::send::Endpoint;
use crate::wire::{Model, read_endpoints, read_models, write_endpoints, write_models};

/// The snapshot's format. A reader that takes more from a list needs another one: a list that was kept has only what was
/// read at the time, and its tag would confirm it for ever.
const VERSION: u32 = 2;
/// So long nobody needs to ask again.
const FRESH_SECONDS: u64 = 5 * 60;
/// After a bad answer the next question waits.
const PAUSE_SECONDS: u64 = 60;
const ENDPOINTS_FRESH_SECONDS: u64 = 60 * 60;
/// Providers enlarge their windows now and then.
const LEARNED_SECONDS: u64 = 30 * 24 * 60 * 60;
/// Bounds for what a snapshot can grow to.
const MOST_KEPT: usize = 200;
const MOST_KEPT_BYTES: usize = 2 << 20;
/// A longer one is not ours.
const LONGEST_SNAPSHOT: usize = 16 << 20;

/// The models of one endpoint. Times are seconds since 1970.
///
/// A shell restores it, shows [`models`](Self::models) at once, asks [`list_request`](Self::list_request) unless the
/// [`state`](Self::state) is fresh, hands the answer to [`list_answer`](Self::list_answer), and stores the
/// [`snapshot`](Self::snapshot) when something changed. A list that was known is never lost to a bad answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCatalog {
    version: u32,
    base_url: String,
    #[serde(default)]
    etag: Option<String>,
    #[serde(default)]
    fetched_at: u64,
    /// What was read of the server's list, as [`write_models`] writes it: bounded, however large the answer was.
    #[serde(default)]
    list: String,
    /// Over the list: a flipped bit that the server then confirms by its tag would stay for ever.
    #[serde(default)]
    checksum: u64,
    #[serde(default)]
    endpoints: BTreeMap<String, Kept>,
    #[serde(default)]
    learned: BTreeMap<String, Learned>,
    /// When an answer was last bad.
    #[serde(skip)]
    failed_at: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    fetched_at: u64,
    /// As [`write_endpoints`] writes it.
    body: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Learned {
    at: u64,
    tokens: u32,
}

/// What to do with the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ListState {
    /// Use it.
    Fresh,
    /// Use it, and ask again meanwhile.
    Stale,
    /// There is none: ask and wait.
    Missing,
}

/// What an answer changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refresh {
    Changed,
    /// The same as before, and fresh again.
    Unchanged,
    /// The answer was of no use; what was known stays.
    Kept(Note),
}

impl ModelCatalog {
    pub fn new(endpoint: &Endpoint) -> Self {
        Self {
            version: VERSION,
            base_url: endpoint.base_url.clone(),
            etag: None,
            fetched_at: 0,
            list: String::new(),
            checksum: 0,
            endpoints: BTreeMap::new(),
            learned: BTreeMap::new(),
            failed_at: None,
        }
    }

    /// From a snapshot; an empty catalog and a note if it is damaged, foreign or of another version.
    pub fn restore(snapshot: &str, endpoint: &Endpoint) -> (Self, Option<Note>) {
        let mut catalog = Self::new(endpoint);
        if snapshot.len() > LONGEST_SNAPSHOT {
            return (catalog, Some(note("The kept list of models is too large; it will be fetched again")));
        }
        let Ok(mut found) = serde_json::from_str::<Self>(snapshot) else {
            return (catalog, Some(note("The kept list of models is damaged; it will be fetched again")));
        };
        if found.version != VERSION {
            return (catalog, Some(note("The kept list of models is of another version; it will be fetched again")));
        }
        // Another endpoint has other models; no reason to speak of it.
        if found.base_url != catalog.base_url {
            return (catalog, None);
        }
        if !found.list.is_empty() && fnv1a(found.list.as_bytes()) != found.checksum {
            catalog.learned = found.learned;
            return (catalog, Some(note("The kept list of models is damaged; it will be fetched again")));
        }
        found.drop_old();
        (found, None)
    }

    pub fn snapshot(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn state(&self, now: u64) -> ListState {
        if self.list.is_empty() {
            return ListState::Missing;
        }
        // A clock that was set back must not keep a list fresh for ever.
        let within = |since: u64, seconds: u64| (since..since.saturating_add(seconds)).contains(&now);
        let paused = self.failed_at.is_some_and(|at| within(at, PAUSE_SECONDS));
        if paused || within(self.fetched_at, FRESH_SECONDS) { ListState::Fresh } else { ListState::Stale }
    }

    /// Seconds since the list was last confirmed; `None` if there is none.
    pub fn age(&self, now: u64) -> Option<u64> {
        (!self.list.is_empty()).then(|| now.saturating_sub(self.fetched_at))
    }

    /// `GET /models`, with the tag of what is known. The key is the shell's to add; the gateway's list needs none.
    pub fn list_request(&self) -> HttpRequest {
        let mut request = get(format!("{}/models", self.base_url));
        if let Some(etag) = self.etag.as_ref().filter(|_| !self.list.is_empty()) {
            request.headers.push(("if-none-match".to_owned(), etag.clone()));
        }
        request
    }

    pub fn list_answer(&mut self, answer: &HttpAnswer, now: u64) -> Refresh {
        if answer.status == 304 && !self.list.is_empty() {
            self.fetched_at = now;
            self.failed_at = None;
            return Refresh::Unchanged;
        }
        // Whatever came, the next question is asked without the tag unless this answer brings a list.
        if answer.status == 304 {
            self.etag = None;
        }
        let failure = (!(200..=299).contains(&answer.status)).then(|| Failure::from_http(answer, now));
        if let Some(failure) = failure.as_ref().filter(|failure| failure.kind != FailureKind::NotAStream) {
            return self.kept(&failure.sentence(), now);
        }
        let models = read_models(&answer.body).filter(|_| failure.is_none());
        let Some(models) = models else {
            let status = answer.status;
            return self.kept(&format!("The answer (HTTP {status}) is not a list of models; check the base URL"), now);
        };
        let chats = |model: &Model| model.id.as_ref().is_some_and(|id| other_kind(model, id).is_none());
        if !models.models.iter().any(chats) {
            return self.kept("The server lists no model that chats", now);
        }
        let etag = answer.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("etag")).map(|(_, value)| value);
        let is_usable = |etag: &&String| etag.len() <= 512 && etag.chars().all(|c| c.is_ascii_graphic() || c == ' ');
        self.etag = etag.filter(is_usable).cloned();
        self.fetched_at = now;
        self.failed_at = None;
        let list = write_models(&models);
        if self.list == list {
            return Refresh::Unchanged;
        }
        self.list = list;
        self.checksum = fnv1a(self.list.as_bytes());
        Refresh::Changed
    }

    /// There was no answer at all.
    pub fn list_failed(&mut self, failure: &Failure, now: u64) -> Refresh {
        self.kept(&failure.sentence(), now)
    }

    fn kept(&mut self, why: &str, now: u64) -> Refresh {
        self.failed_at = Some(now);
        let stays = if self.list.is_empty() { "" } else { " The models known before stay." };
        let end = if why.ends_with('.') { "" } else { "." };
        Refresh::Kept(note(&format!("{why}{end}{stays}")))
    }

    /// `GET /models/{creator}/{model}/endpoints`; `None` if it is known well enough, or the id cannot stand in an address.
    pub fn endpoints_request(&self, id: &str, now: u64) -> Option<HttpRequest> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:@~".contains(c);
        let segments: Vec<&str> = id.split('/').collect();
        let is_safe = |part: &&str| part.chars().all(is_plain) && !part.is_empty() && !part.chars().all(|c| c == '.');
        if segments.len() != 2 || !segments.iter().all(is_safe) {
            return None;
        }
        let kept = self.endpoints.get(id);
        let fresh =
            |kept: &Kept| (kept.fetched_at..kept.fetched_at.saturating_add(ENDPOINTS_FRESH_SECONDS)).contains(&now);
        (!kept.is_some_and(fresh)).then(|| get(format!("{}/models/{id}/endpoints", self.base_url)))
    }

    pub fn endpoints_answer(&mut self, id: &str, answer: &HttpAnswer, now: u64) -> Refresh {
        if !(200..=299).contains(&answer.status) {
            return Refresh::Kept(note(&Failure::from_http(answer, now).sentence()));
        }
        let Some((model, endpoints)) = read_endpoints(&answer.body).filter(|(_, endpoints)| !endpoints.is_empty())
        else {
            return Refresh::Kept(note(&format!("The server does not tell who serves {}", plain_line(id, 200))));
        };
        let body = write_endpoints(&model, &endpoints);
        let before = self.endpoints.insert(id.to_owned(), Kept { fetched_at: now, body: body.clone() });
        self.drop_old();
        match before {
            Some(before) if before.body == body => Refresh::Unchanged,
            _ => Refresh::Changed,
        }
    }

    /// Takes the limit from an error that a request to this model ended with. Tells the new limit if it is one.
    pub fn learn(&mut self, id: &str, message: &str, now: u64) -> Option<u32> {
        let tokens = learned_limit(message)?;
        let before = self.learned.insert(id.to_owned(), Learned { at: now, tokens });
        self.drop_old();
        before.is_none_or(|before| before.tokens != tokens).then_some(tokens)
    }

    /// Keeps the snapshot small: the oldest go first.
    fn drop_old(&mut self) {
        drop_oldest(&mut self.endpoints, |id, kept| (kept.fetched_at, id.len() + kept.body.len()));
        drop_oldest(&mut self.learned, |id, learned| (learned.at, id.len()));
    }

    /// What to show. Parses the whole list: keep the result until something changes.
    pub fn models(&self, settings: &ModelSettings, now: u64) -> ModelList {
        let mut facts: BTreeMap<String, Facts> = BTreeMap::new();
        for (id, kept) in &self.endpoints {
            facts.entry(id.clone()).or_default().endpoints = read_endpoints(&kept.body);
        }
        let recent = |learned: &&Learned| now < learned.at.saturating_add(LEARNED_SECONDS);
        for (id, learned) in &self.learned {
            facts.entry(id.clone()).or_default().learned = Some(learned).filter(recent).map(|learned| learned.tokens);
        }
        model_list(read_models(&self.list).unwrap_or_default(), &facts, settings)
    }
}

fn get(url: String) -> HttpRequest {
    let headers = vec![("accept".to_owned(), "application/json".to_owned())];
    HttpRequest { method: "GET".to_owned(), url, headers, body: String::new() }
}

fn note(detail: &str) -> Note {
    Note::new(NoteKind::ModelList, detail)
}

/// Keeps the youngest, as many as the bounds allow. `measure` tells when one was learned, and how many bytes it takes.
fn drop_oldest<T>(map: &mut BTreeMap<String, T>, measure: impl Fn(&str, &T) -> (u64, usize)) {
    let mut by_age: Vec<(u64, usize, String)> = Vec::with_capacity(map.len());
    by_age.extend(
        map.iter().map(|(id, kept)| measure(id, kept)).zip(map.keys()).map(|((at, bytes), id)| (at, bytes, id.clone())),
    );
    by_age.sort_unstable_by(|a, b| b.cmp(a));
    let mut total = 0_usize;
    for (index, (_, bytes, id)) in by_age.into_iter().enumerate() {
        total = total.saturating_add(bytes);
        if index >= MOST_KEPT || total > MOST_KEPT_BYTES {
            map.remove(&id);
        }
    }
}
