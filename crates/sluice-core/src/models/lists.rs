//! The lists of models of an editor's connections: shown from memory, refreshed in the background, and kept in files between
//! starts. This module decides when to ask a server, what to store and log, and when to tell the user that a key was refused.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{ListState, ModelCatalog, Refresh};
use super::credits::{KeyState, check_key};
use crate::boundary::{
    CatalogView, ChatModel, Failure, HttpRequest, ListTask, ListWork, LogLevel, ModelList, Note, NoteKind, Received,
    ServerCheck, WorkStep, WorkTask,
};
use crate::files::{Folder, Shared, ShellWork, hex};
use crate::message::{Language, Message, MessageCode};
use crate::send::Endpoint;

/// What is known about the models of all connections. A server may have other models for another key, or none.
#[derive(Debug, Default)]
pub struct ModelLists(BTreeMap<String, KnownList>);

#[derive(Debug)]
struct KnownList {
    catalog: ModelCatalog,
    /// The models whose providers were requested. Some servers never report them, so each is requested once.
    asked_about: BTreeSet<String>,
    /// The notes that were logged last. The list is read often, and they stay the same.
    logged: Vec<(LogLevel, String)>,
    /// Whether the user knows that the key was refused.
    is_refusal_told: bool,
}

impl WorkTask<ListTask> {
    /// Starts the task.
    pub fn start(self, lists: &Shared<ModelLists>, language: &Shared<Language>) -> ShellWork {
        let Self { task, now_ms, random } = self;
        let (lists, language) = (lists.clone(), language.clone());
        ShellWork::new(async move |folder| {
            // The shell asked the user whether the address may be used, if necessary.
            let endpoint = Endpoint::parse_confirmed(&task.base_url).ok()?;
            let (models, view) = (Vec::new(), CatalogView::default());
            let is_list = matches!(task.work, ListWork::List);
            let work = Work { folder, lists, endpoint, now: now_ms / 1000, random: hex(random), models, view, task };
            let Work { models, mut view, endpoint, .. } = work.run().await;
            // No other work uses the models, and there may be hundreds of them.
            if is_list {
                let listed = |language: &Language, model: ChatModel| model.listed(&endpoint.base_url, language);
                view.models =
                    language.with(|language| models.into_iter().map(|model| listed(language, model)).collect());
            }
            Some(view)
        })
    }
}

/// Work on the list of one connection.
struct Work {
    folder: Folder,
    lists: Shared<ModelLists>,
    endpoint: Endpoint,
    task: ListTask,
    /// Seconds since 1970.
    now: u64,
    random: String,
    models: Vec<ChatModel>,
    view: CatalogView,
}

impl Work {
    async fn run(mut self) -> Self {
        self.restore().await;
        match self.task.work.clone() {
            ListWork::Show => self.look(None),
            ListWork::List => {
                self.list().await;
                if self.models.is_empty() {
                    let unknown = || vec![Message::new(MessageCode::ListsNoModels, [&self.task.label])];
                    self.view.problem = Some(self.view.check.note.clone().unwrap_or_else(unknown));
                }
            }
            ListWork::Refresh => self.refresh(false).await,
            ListWork::Check => self.refresh(true).await,
            ListWork::Credit => {
                let request = self.known(|known| known.catalog.credits_request());
                if let Some(Received::Response(response)) = self.get(vec![request]).await.pop() {
                    self.view.credit = check_key(&response, self.now).credit.map(|credit| credit.text);
                }
            }
            ListWork::Enrich { model } => self.enrich(&model).await,
            ListWork::Learn { refused, overflow: None, .. } if refused.is_empty() => {}
            ListWork::Learn { model, refused, overflow } => {
                let now = self.now;
                self.learn(|catalog| {
                    let is_news = catalog.learn_from(&model, &refused, overflow.as_deref(), now);
                    if is_news { Refresh::Changed } else { Refresh::Unchanged }
                })
                .await;
            }
            ListWork::KeyRefused { reason } => self.tell(reason),
            ListWork::Forget => {
                self.lists.with(|lists| lists.0.remove(&self.task.connection));
                self.folder.delete(self.file()).await;
            }
        }
        self
    }

    /// Uses a known list, even if it is a little old.
    async fn list(&mut self) {
        self.look(None);
        match self.view.state {
            ListState::Fresh => {
                let seconds = self.known(|known| known.catalog.fresh_for(self.now));
                self.view.fresh_for_ms = seconds * 1000;
            }
            ListState::Stale => self.view.must_refresh = true,
            ListState::Missing => {
                self.refresh(true).await;
                if let Some(refusal) = self.view.check.refusal.clone() {
                    self.tell(refusal);
                }
            }
        }
    }

    /// Asks the server. A bad response doesn't replace a known list. Some servers list their models for everybody, so the list
    /// doesn't show whether the key is valid.
    async fn refresh(&mut self, with_key: bool) {
        let (list, credits) = self.known(|known| (known.catalog.list_request(), known.catalog.credits_request()));
        let requests = if with_key && !self.task.is_demo { vec![list, credits] } else { vec![list] };
        let mut received = self.get(requests).await.into_iter();
        let (now, list, credits) = (self.now, received.next(), received.next());
        let refusal_in = |response: &_| Some(check_key(response, now)).filter(|key| key.state == KeyState::Refused);
        let mut refusal = None;
        match list {
            None => {}
            Some(Received::Failed { transport, .. }) => {
                let failure = Failure::from_transport(transport, &self.endpoint.origin);
                self.learn(|catalog| catalog.handle_list_failure(&failure, now)).await;
            }
            Some(Received::Response(response)) => {
                let other = self.known(|known| known.catalog.other_list_request(&response));
                refusal = refusal_in(&response).map(|key| key.text);
                self.learn(|catalog| catalog.handle_list(&response, now)).await;
                if let Some(refusal) = refusal.clone() {
                    self.tell(refusal);
                }
                if let Some(other) = other
                    && let Some(Received::Response(response)) = self.get(vec![other]).await.pop()
                {
                    self.learn(|catalog| catalog.handle_other_list(&response, now)).await;
                }
            }
        }
        if let Some(Received::Response(response)) = credits {
            refusal = refusal_in(&response).map(|key| key.text).or(refusal);
        }
        self.view.check.refusal = refusal;
    }

    /// Asks who serves a model and with which limits. This is requested when a model is used, because the list says little
    /// about it.
    async fn enrich(&mut self, model: &str) {
        let now = self.now;
        let request = self.known(|known| {
            known.asked_about.insert(model.to_owned()).then(|| known.catalog.endpoints_request(model, now)).flatten()
        });
        if let Some(request) = request
            && let Some(Received::Response(response)) = self.get(vec![request]).await.pop()
        {
            self.learn(|catalog| catalog.handle_endpoints(model, &response, now)).await;
        }
    }

    /// Tells the user, once for each key, that the server refused it.
    fn tell(&mut self, refusal: Vec<Message>) {
        if !self.task.is_trial && !self.known(|known| std::mem::replace(&mut known.is_refusal_told, true)) {
            self.view.tell = Some(refusal);
        }
    }

    /// Reads the file, unless the list is in memory.
    async fn restore(&mut self) {
        let is_known = |lists: &mut ModelLists| lists.0.contains_key(&self.task.connection);
        if self.lists.with(is_known) {
            return;
        }
        let file = self.folder.read(&self.file()).await;
        // Other work may have been faster.
        if !self.lists.with(is_known)
            && let Some(file) = file
        {
            let (catalog, note) = ModelCatalog::restore(&String::from_utf8_lossy(&file), &self.endpoint);
            self.known(|known| known.catalog = catalog);
            self.look(note);
        }
    }

    fn known<R>(&self, use_known: impl FnOnce(&mut KnownList) -> R) -> R {
        self.lists.with(|lists| {
            use_known(lists.0.entry(self.task.connection.clone()).or_insert_with(|| KnownList {
                catalog: ModelCatalog::new(&self.endpoint),
                asked_about: BTreeSet::new(),
                logged: Vec::new(),
                is_refusal_told: false,
            }))
        })
    }

    /// Something happened. What is known afterwards is kept and shown.
    async fn learn(&mut self, event: impl FnOnce(&mut ModelCatalog) -> Refresh) {
        let (before, refresh, after) = self.known(|KnownList { catalog, .. }| {
            let before = catalog.snapshot();
            (before, event(catalog), catalog.snapshot())
        });
        self.view.changed |= refresh == Refresh::Changed;
        self.look(if let Refresh::Kept(note) = refresh { Some(note) } else { None });
        if before != after && !self.task.is_demo {
            let file = self.file();
            self.folder.replace(&file, format!("{file}.{}.tmp", self.random), after.into_bytes()).await;
        }
    }

    /// Looks at what is known now. The note is about what just happened.
    fn look(&mut self, note: Option<Note>) {
        let (ModelList { models, notes, elsewhere, .. }, state) =
            self.known(|known| (known.catalog.models(&self.task.settings, self.now), known.catalog.state(self.now)));
        let notes: Vec<_> = note.into_iter().chain(notes).collect();
        let default_model = models.iter().find(|model| model.is_default);
        self.view.check = ServerCheck {
            models: models.len(),
            default_model: default_model.map(|model| (model.id.clone(), model.name.clone())),
            note: notes.last().map(Note::for_user),
            problems: notes.iter().filter(|note| note.kind == NoteKind::ModelList).flat_map(Note::for_user).collect(),
            elsewhere,
            refusal: None,
        };
        (self.models, self.view.state) = (models, state);
        let origin = &self.endpoint.origin;
        let mut lines = Vec::new();
        lines.extend(notes.iter().map(|note| {
            let level = if note.kind == NoteKind::Setting { LogLevel::Info } else { LogLevel::Trace };
            (level, format!("Models of {origin}: {}", note.detail))
        }));
        let from_server = lines.iter().filter(|(level, _)| *level == LogLevel::Trace).count();
        if from_server > 0 {
            let models = self.models.len();
            let line = format!(
                "Models of {origin}: {models} models can chat; notes about the list, shown at trace: {from_server}."
            );
            lines.push((LogLevel::Info, line));
        }
        if self.known(|known| std::mem::replace(&mut known.logged, lines.clone())) != lines {
            self.view.log.append(&mut lines);
        }
    }

    async fn get(&self, requests: Vec<HttpRequest>) -> Vec<Received> {
        let with_headers = |request: HttpRequest| request.with_headers(&self.task.extra_headers);
        let requests = requests.into_iter().map(with_headers).collect();
        self.folder.received(WorkStep::Get { requests }).await
    }

    /// The file in which the list is kept.
    fn file(&self) -> String {
        let mut name = String::from("models-");
        for letter in self.task.connection.chars() {
            if letter.is_ascii_alphanumeric() || ".-".contains(letter) {
                name.push(letter);
            } else if !name.ends_with('_') {
                name.push('_');
            }
        }
        name + ".json"
    }
}
