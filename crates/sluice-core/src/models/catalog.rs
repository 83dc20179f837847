//! What is known about an endpoint's models, how old it is, and what is kept after a bad response. This is plain data:
//! shells send the requests and store the snapshot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Facts, model_list};
use crate::boundary::{Failure, FailureKind, HttpRequest, ModelList, ModelSettings, Note, NoteKind};
use crate::failure::{HttpResponse, overflow_numbers};
use crate::fnv::fnv1a;
use crate::message::{Message, MessageCode};
use crate::models::capabilities::other_kind;
use crate::models::limits::plausible_window;
use crate::receive::plain_line;
use crate::send::{Endpoint, Parameter};
use crate::wire::{Model, is_model_list, read_endpoints, read_models, write_endpoints, write_models};

/// The version of the snapshot's format. Raise it when more fields of a list are read: a stored list has only the fields
/// that were read at the time, and as long as its tag matches, the server never sends the others.
const VERSION: u32 = 3;
/// How long a list is fresh.
const FRESH_SECONDS: u64 = 5 * 60;
/// How long to wait after a bad response.
const PAUSE_SECONDS: u64 = 60;
const ENDPOINTS_FRESH_SECONDS: u64 = 60 * 60;
/// How long a learned limit or a refusal is used. Now and then, a provider enlarges a window or begins to support a
/// parameter.
const LEARNED_SECONDS: u64 = 30 * 24 * 60 * 60;
/// Limits on the size of a snapshot.
const MOST_KEPT: usize = 200;
const MOST_KEPT_BYTES: usize = 2 << 20;
/// The maximum size of a snapshot. A longer one isn't ours.
const LONGEST_SNAPSHOT: usize = 16 << 20;

/// The models of one endpoint. Times are seconds since 1970.
///
/// A shell restores it and shows [`models`](Self::models) at once. Unless the [`state`](Self::state) is fresh, it sends
/// [`list_request`](Self::list_request), passes the response to [`handle_list`](Self::handle_list), and stores the
/// [`snapshot`](Self::snapshot) if something changed. A bad response never removes a known list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCatalog {
    version: u32,
    base_url: String,
    /// Where the list is, if there is none at the base URL.
    #[serde(default)]
    elsewhere: Option<String>,
    #[serde(default)]
    etag: Option<String>,
    #[serde(default)]
    fetched_at: u64,
    /// The fields of the server's list that we read, written by [`write_models`]. Their size is bounded, however large
    /// the response was.
    #[serde(default)]
    list: String,
    /// The checksum of the list. Without it, a flipped bit would stay as long as the tag matches.
    #[serde(default)]
    checksum: u64,
    #[serde(default)]
    endpoints: BTreeMap<String, Kept>,
    #[serde(default)]
    learned: BTreeMap<String, Learned>,
    /// For each model, the parameters that its server refused.
    #[serde(default)]
    refused: BTreeMap<String, Refused>,
    /// When a response was last bad.
    #[serde(skip)]
    failed_at: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    fetched_at: u64,
    /// Written by [`write_endpoints`].
    body: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Learned {
    at: u64,
    tokens: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refused {
    at: u64,
    parameters: Vec<Parameter>,
}

/// What to do with the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ListState {
    /// It can be used.
    Fresh,
    /// It can be used, but should be requested again.
    Stale,
    /// There is none. It must be requested first.
    #[default]
    Missing,
}

/// What a response changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// The list or what is known about a model is different now.
    Changed,
    /// Nothing, but the list is fresh again.
    Unchanged,
    /// The response couldn't be used. What was known stays.
    Kept(Note),
}

impl ModelCatalog {
    /// Makes a catalog that knows nothing yet.
    pub fn new(endpoint: &Endpoint) -> Self {
        Self {
            version: VERSION,
            base_url: endpoint.base_url.clone(),
            elsewhere: None,
            etag: None,
            fetched_at: 0,
            list: String::new(),
            checksum: 0,
            endpoints: BTreeMap::new(),
            learned: BTreeMap::new(),
            refused: BTreeMap::new(),
            failed_at: None,
        }
    }

    /// Restores a catalog from a snapshot. If the snapshot is damaged, not ours or of another version, the catalog is
    /// empty and a note says so.
    pub fn restore(snapshot: &str, endpoint: &Endpoint) -> (Self, Option<Note>) {
        let mut catalog = Self::new(endpoint);
        if snapshot.len() > LONGEST_SNAPSHOT {
            return (catalog, Some(note(vec![MessageCode::KeptListTooLarge.into()])));
        }
        let Ok(mut found) = serde_json::from_str::<Self>(snapshot) else {
            return (catalog, Some(note(vec![MessageCode::KeptListDamaged.into()])));
        };
        if found.version != VERSION {
            return (catalog, Some(note(vec![MessageCode::KeptListOfAnotherVersion.into()])));
        }
        // The snapshot belongs to another endpoint, which has other models. That needs no note.
        if found.base_url != catalog.base_url {
            return (catalog, None);
        }
        if !found.list.is_empty() && fnv1a(found.list.as_bytes()) != found.checksum {
            catalog.learned = found.learned;
            catalog.refused = found.refused;
            return (catalog, Some(note(vec![MessageCode::KeptListDamaged.into()])));
        }
        found.drop_old();
        (found, None)
    }

    /// Returns everything that is known as text, for [`restore`](Self::restore).
    pub fn snapshot(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns whether the list can be used and whether it should be requested again.
    pub fn state(&self, now: u64) -> ListState {
        match self.fresh_for(now) {
            _ if self.list.is_empty() => ListState::Missing,
            0 => ListState::Stale,
            _ => ListState::Fresh,
        }
    }

    /// Returns for how many seconds a list need not be requested again.
    pub fn fresh_for(&self, now: u64) -> u64 {
        // A clock that was set back must not keep a list fresh for too long.
        let left = |since: u64, seconds: u64| now.checked_sub(since).map_or(0, |age| seconds.saturating_sub(age));
        let paused = self.failed_at.map_or(0, |at| left(at, PAUSE_SECONDS));
        paused.max(left(self.fetched_at, FRESH_SECONDS))
    }

    /// Returns the seconds since the list was last confirmed, or `None` without a list.
    pub fn age(&self, now: u64) -> Option<u64> {
        (!self.list.is_empty()).then(|| now.saturating_sub(self.fetched_at))
    }

    /// Returns the request for the list, with the tag of the known one. The shell adds the key; the gateway's list needs
    /// none.
    pub fn list_request(&self) -> HttpRequest {
        let mut request = get(format!("{}/models", self.found_base_url()));
        if let Some(etag) = self.etag.as_ref().filter(|_| !self.list.is_empty()) {
            request.headers.push(("if-none-match".to_owned(), etag.clone()));
        }
        request
    }

    /// Returns the request for the list at the base URL with or without `/v1`, if a response to
    /// [`list_request`](Self::list_request) shows that there is none at the user's. It has the same origin.
    pub fn other_list_request(&self, response: &HttpResponse) -> Option<HttpRequest> {
        let is_missing = match response.status {
            200..=299 => !is_model_list(&response.body),
            status => status == 404 || status == 405,
        };
        (is_missing && self.elsewhere.is_none())
            .then(|| get(format!("{}/models", Endpoint::other_base_url(&self.base_url))))
    }

    /// Handles the response to [`other_list_request`](Self::other_list_request).
    pub fn handle_other_list(&mut self, response: &HttpResponse, now: u64) -> Refresh {
        let other = Endpoint::other_base_url(&self.base_url);
        if !(200..=299).contains(&response.status) || !is_model_list(&response.body) {
            return self.kept(vec![Message::new(MessageCode::NoListHere, [&self.base_url, &other])], now);
        }
        self.elsewhere = Some(other);
        self.handle_list(response, now)
    }

    /// Returns the address at which the list was found.
    fn found_base_url(&self) -> &str {
        self.elsewhere.as_ref().unwrap_or(&self.base_url)
    }

    /// Returns the request whose response shows whether a key is valid: [`check_key`](crate::check_key). The shell adds
    /// the key.
    pub fn credits_request(&self) -> HttpRequest {
        get(format!("{}/credits", self.found_base_url()))
    }

    /// Handles the response to [`list_request`](Self::list_request).
    pub fn handle_list(&mut self, response: &HttpResponse, now: u64) -> Refresh {
        if response.status == 304 && !self.list.is_empty() {
            self.fetched_at = now;
            self.failed_at = None;
            return Refresh::Unchanged;
        }
        if response.status == 404 || response.status == 405 {
            self.elsewhere = None;
        }
        // Unless this response has a list, the next request is sent without the tag.
        if response.status == 304 {
            self.etag = None;
        }
        let failure = (!(200..=299).contains(&response.status)).then(|| Failure::from_http(response, now));
        if let Some(failure) = failure.as_ref().filter(|failure| failure.kind != FailureKind::NotAStream) {
            return self.kept(failure.text.clone(), now);
        }
        let models = read_models(&response.body).filter(|_| failure.is_none());
        let Some(models) = models else {
            let status = response.status;
            return self.kept(vec![Message::new(MessageCode::NotAList, [&status])], now);
        };
        let chats = |model: &Model| model.id.as_ref().is_some_and(|id| other_kind(model, id).is_none());
        if !models.models.iter().any(chats) {
            return self.kept(vec![MessageCode::NoModelChats.into()], now);
        }
        let etag = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("etag")).map(|(_, value)| value);
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

    /// Records that there was no response at all.
    pub fn handle_list_failure(&mut self, failure: &Failure, now: u64) -> Refresh {
        self.kept(failure.text.clone(), now)
    }

    fn kept(&mut self, mut text: Vec<Message>, now: u64) -> Refresh {
        self.failed_at = Some(now);
        text.extend((!self.list.is_empty()).then(|| MessageCode::ModelsStay.into()));
        Refresh::Kept(note(text))
    }

    /// Returns the request for a model's providers, or `None` if they are known well enough or the id can't be part of
    /// a URL.
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
        (!kept.is_some_and(fresh)).then(|| get(format!("{}/models/{id}/endpoints", self.found_base_url())))
    }

    /// Handles the response to [`endpoints_request`](Self::endpoints_request).
    pub fn handle_endpoints(&mut self, id: &str, response: &HttpResponse, now: u64) -> Refresh {
        if !(200..=299).contains(&response.status) {
            return Refresh::Kept(note(Failure::from_http(response, now).text));
        }
        let Some((model, endpoints)) = read_endpoints(&response.body).filter(|(_, endpoints)| !endpoints.is_empty())
        else {
            return Refresh::Kept(note(vec![Message::new(MessageCode::ProvidersUnknown, [&plain_line(id, 200)])]));
        };
        let body = write_endpoints(&model, &endpoints);
        let before = self.endpoints.insert(id.to_owned(), Kept { fetched_at: now, body: body.clone() });
        self.drop_old();
        match before {
            Some(before) if before.body == body => Refresh::Unchanged,
            _ => Refresh::Changed,
        }
    }

    /// Remembers what an answer or a test has shown about a model: the parameters that its server refuses, and an error
    /// message that reveals its limit. Returns whether that is news.
    pub fn learn_from(&mut self, id: &str, refused: &[Parameter], overflow: Option<&str>, now: u64) -> bool {
        let is_refusal_new = self.learn_refused(id, refused, now);
        overflow.is_some_and(|message| self.learn(id, message, now).is_some()) || is_refusal_new
    }

    /// Learns a model's limit from an error message. Returns the limit if it is new.
    pub fn learn(&mut self, id: &str, message: &str, now: u64) -> Option<u32> {
        let tokens = overflow_numbers(message)?.limit_tokens.and_then(plausible_window)?;
        let before = self.learned.insert(id.to_owned(), Learned { at: now, tokens });
        self.drop_old();
        before.is_none_or(|before| before.tokens != tokens).then_some(tokens)
    }

    /// Remembers the parameters that a server refused in a request to this model (see [`Report`](crate::Report)), so that
    /// the next request leaves them out at once. Returns whether that is news.
    pub fn learn_refused(&mut self, id: &str, parameters: &[Parameter], now: u64) -> bool {
        let mut all = self.refused(id, now);
        let before = all.len();
        all.extend(parameters);
        all.sort_unstable();
        all.dedup();
        let is_news = all.len() > before;
        if is_news {
            self.refused.insert(id.to_owned(), Refused { at: now, parameters: all });
            self.drop_old();
        }
        is_news
    }

    /// The parameters to leave out of a request to this model.
    pub fn refused(&self, id: &str, now: u64) -> Vec<Parameter> {
        let recent = |refused: &&Refused| now < refused.at.saturating_add(LEARNED_SECONDS);
        self.refused.get(id).filter(recent).map(|refused| refused.parameters.clone()).unwrap_or_default()
    }

    /// Keeps the snapshot small: the oldest go first.
    fn drop_old(&mut self) {
        drop_oldest(&mut self.endpoints, |id, kept| (kept.fetched_at, id.len() + kept.body.len()));
        drop_oldest(&mut self.learned, |id, learned| (learned.at, id.len()));
        drop_oldest(&mut self.refused, |id, refused| (refused.at, id.len()));
    }

    /// Returns the models to show. This parses the whole list, so keep the result until something changes.
    pub fn models(&self, settings: &ModelSettings, now: u64) -> ModelList {
        let mut facts: BTreeMap<String, Facts> = BTreeMap::new();
        for (id, kept) in &self.endpoints {
            facts.entry(id.clone()).or_default().endpoints = read_endpoints(&kept.body);
        }
        let recent = |learned: &&Learned| now < learned.at.saturating_add(LEARNED_SECONDS);
        for (id, learned) in &self.learned {
            facts.entry(id.clone()).or_default().learned = Some(learned).filter(recent).map(|learned| learned.tokens);
        }
        for id in self.refused.keys() {
            facts.entry(id.clone()).or_default().refused = self.refused(id, now);
        }
        let mut listed = read_models(&self.list).unwrap_or_default();
        let origin = |address: &str| Endpoint::parse_confirmed(address).map(|endpoint| endpoint.origin).ok();
        let ours = origin(&self.base_url);
        let added = settings.added.iter().filter(|(address, _)| ours.is_some() && origin(address) == ours);
        for id in added.flat_map(|(_, ids)| ids) {
            if !listed.models.iter().any(|model| model.id.as_ref() == Some(id)) {
                // The user wants to chat with it, whatever its name suggests.
                let kind = Some("chat".to_owned());
                listed.models.push(Model { id: Some(id.clone()), kind, ..Model::default() });
            }
        }
        let mut list = model_list(listed, &facts, settings, now);
        list.notes.extend(self.elsewhere.as_ref().map(|elsewhere| {
            let message = Message::new(MessageCode::OtherBaseUrl, [&self.base_url, elsewhere]);
            Note::for_people(NoteKind::Setting, vec![message])
        }));
        list.elsewhere.clone_from(&self.elsewhere);
        list
    }
}

fn get(url: String) -> HttpRequest {
    let headers = vec![("accept".to_owned(), "application/json".to_owned())];
    HttpRequest { method: "GET".to_owned(), url, headers, body: String::new() }
}

fn note(text: Vec<Message>) -> Note {
    Note::for_people(NoteKind::ModelList, text)
}

/// Keeps as many of the newest entries as the limits allow. `measure` returns an entry's time and its size in bytes.
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
