//! Which connections an editor may use. A key belongs to the origin that it was entered for, or first used with, and to those
//! that the user confirmed. Without a key, or without encryption, an address is used only after the user has agreed to that,
//! unless it is on this machine.
//!
//! A shell stores the origins of each key under its fingerprint: part of a salted hash, which is enough to recognize a key, but
//! not enough to recover it. Keys in the environment and in Manage Models stay in the shell.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::boundary::{
    AddressQuestion, ConnectionResult, ConnectionTask, DialogConnection, DialogLevel, FoundConnection, LogLevel,
    WorkResult, WorkStep, WorkTask,
};
use crate::editor::DEMO_BASE_URL;
use crate::files::{Folder, Shared, ShellWork};
use crate::keys::KeptKey;
use crate::message::{Language, Message, MessageCode};
use crate::send::{BadAddress, Endpoint, KeyUse, Permission};
use crate::sources::{ConnectionSource, SourceKey, Sources};

/// The fingerprint of no key.
const NO_KEY: &str = "none";

/// When there are more keys, those that were bound first are forgotten.
const MAX_BOUND_KEYS: usize = 100;

/// What is remembered about connections while an editor is open.
#[derive(Debug, Default)]
pub struct ConnectionNotes {
    /// The questions that the user was asked in a notification, by the connection's id: about which fingerprint and which origin.
    asked: BTreeMap<String, (String, String)>,
    /// The last warning in the log. An editor asks for models often.
    warning: Option<Message>,
}

impl WorkTask<ConnectionTask> {
    /// Starts the task.
    pub fn start(self, notes: &Shared<ConnectionNotes>, language: &Shared<Language>) -> ShellWork {
        let (task, notes, language) = (self.task, notes.clone(), language.clone());
        ShellWork::new(async move |shell| {
            let mut work = Work { shell, notes, language, result: ConnectionResult::default() };
            match task {
                ConnectionTask::Find(sources) => work.find(&sources).await,
                ConnectionTask::Demo => work.demo(),
                ConnectionTask::Enter(kept) => work.enter(kept).await,
                ConnectionTask::Confirm(id) => {
                    if let Some((fingerprint, origin)) = work.notes.with(|notes| notes.asked.get(&id).cloned()) {
                        work.bind(&fingerprint, &origin).await;
                    }
                }
                ConnectionTask::Origins(key) => {
                    let key = key.map_or(SourceKey::None, SourceKey::Text);
                    let (fingerprint, _) = work.fingerprint(&key).await;
                    work.result.origins = work.bindings().await.origins(&fingerprint);
                }
            }
            work.result
        })
    }
}

struct Work {
    shell: Folder,
    notes: Shared<ConnectionNotes>,
    language: Shared<Language>,
    result: ConnectionResult,
}

impl Work {
    async fn find(&mut self, sources: &Sources) {
        let has_key = sources.group.as_ref().is_some_and(|group| group.has_key == Some(true));
        let group_key = if has_key { SourceKey::Group } else { SourceKey::None };
        let (fingerprint, _) = self.fingerprint(&group_key).await;
        for source in sources.connections(&fingerprint) {
            let label = self.text(source.label.clone());
            let found = match self.permitted(&label, source).await {
                Ok(found) => found,
                Err(problem) => self.refused(label, problem),
            };
            self.result.found.push(found);
        }
    }

    fn demo(&mut self) {
        // The address is valid.
        if let Ok(endpoint) = Endpoint::parse_confirmed(DEMO_BASE_URL) {
            let found = usable(self.text(MessageCode::DemoLabel), endpoint, "demo", SourceKey::None, None);
            self.result.found.push(FoundConnection { is_demo: true, ..found });
        }
    }

    async fn enter(&mut self, kept: KeptKey) {
        let endpoint = match Endpoint::parse_confirmed(&kept.base_url) {
            Ok(endpoint) => endpoint,
            Err(BadAddress(problem)) => {
                let refused = self.refused(kept.name, problem);
                return self.result.found.push(refused);
            }
        };
        let key = kept.key.clone().map_or(SourceKey::None, SourceKey::Text);
        let (fingerprint, _) = self.fingerprint(&key).await;
        self.bind(&fingerprint, &endpoint.origin).await;
        let found = usable(kept.name.clone(), endpoint, &fingerprint, key, Some(kept));
        self.result.found.push(FoundConnection { is_trial: true, ..found });
    }

    /// Returns a connection, or the problem with it.
    async fn permitted(&mut self, label: &str, source: ConnectionSource) -> Result<FoundConnection, Message> {
        let ConnectionSource { endpoint, key, kept, is_confirmed, is_from_environment, warning, .. } = source;
        if let Some(warning) = warning
            && self.notes.with(|notes| notes.warning.replace(warning.clone())).as_ref() != Some(&warning)
        {
            let warning = self.text(warning);
            self.result.log.push((LogLevel::Warn, warning));
        }
        let endpoint = endpoint?;
        if key == SourceKey::SignIn {
            // Its token is renewed, but its name stays the same.
            let (fingerprint, _) = self.fingerprint(&SourceKey::Text(label.to_owned())).await;
            return Ok(usable(label.to_owned(), endpoint, &fingerprint, key, None));
        }
        let (fingerprint, is_sendable) = self.fingerprint(&key).await;
        if !is_sendable {
            return Err(MessageCode::KeyUnusable.into());
        }
        if !is_confirmed {
            let origins = self.bindings().await.origins(&fingerprint);
            match endpoint.permission(&KeyUse { has_key: key != SourceKey::None, origins, is_from_environment }) {
                Permission::Granted => {}
                Permission::FirstUse => self.bind(&fingerprint, &endpoint.origin).await,
                Permission::Refused(problem) => return Err(problem),
                Permission::MustAsk { question, button, problem } => {
                    let found = self.refused(label.to_owned(), problem);
                    return Ok(self.asking(found, (fingerprint, endpoint.origin), question, button));
                }
            }
        }
        Ok(usable(label.to_owned(), endpoint, &fingerprint, key, kept))
    }

    fn refused(&self, label: String, problem: Message) -> FoundConnection {
        let shown = DialogConnection { label, problem: Some(self.text(problem)), ..DialogConnection::default() };
        FoundConnection { shown, ..FoundConnection::default() }
    }

    /// Adds the question about an address. A notification asks it once.
    fn asking(
        &mut self,
        mut found: FoundConnection,
        (fingerprint, origin): (String, String),
        question: Vec<Message>,
        button: Message,
    ) -> FoundConnection {
        found.id = format!("{origin} {fingerprint}");
        found.shown.must_confirm = true;
        let line = format!("Nothing is sent to {origin}, because nobody confirmed that address.");
        let asked = (fingerprint, origin);
        if self.notes.with(|notes| notes.asked.insert(found.id.clone(), asked)).is_none() {
            self.result.log.push((LogLevel::Warn, line));
            let text = [Message::new(MessageCode::Plain, [&"Sluice:"])].into_iter().chain(question.clone()).collect();
            found.notice = Some(AddressQuestion { level: DialogLevel::Warning, text, buttons: vec![button.clone()] });
        }
        found.question = Some(AddressQuestion { level: DialogLevel::Question, text: question, buttons: vec![button] });
        found
    }

    /// Returns the fingerprint of a key, and whether the key can be sent.
    async fn fingerprint(&self, key: &SourceKey) -> (String, bool) {
        if *key == SourceKey::None {
            return (NO_KEY.to_owned(), true);
        }
        match self.shell.ask(WorkStep::Fingerprint { key: key.clone() }).await {
            WorkResult::Fingerprint { fingerprint, is_sendable } => (fingerprint, is_sendable),
            _ => (String::new(), false),
        }
    }

    async fn bindings(&self) -> Bindings {
        match self.shell.ask(WorkStep::ReadOrigins).await {
            WorkResult::Origins(origins) => Bindings(origins),
            _ => Bindings(Vec::new()),
        }
    }

    async fn bind(&self, fingerprint: &str, origin: &str) {
        let mut bindings = self.bindings().await;
        bindings.add(fingerprint, origin);
        self.shell.ask(WorkStep::WriteOrigins { origins: bindings.0 }).await;
    }

    fn text(&self, message: impl Into<Message>) -> String {
        self.language.with(|language| language.text(message))
    }
}

fn usable(
    label: String,
    endpoint: Endpoint,
    fingerprint: &str,
    key: SourceKey,
    kept: Option<KeptKey>,
) -> FoundConnection {
    let base_url = endpoint.base_url.clone();
    let id = format!("{base_url} {fingerprint}");
    let is_sign_in = key == SourceKey::SignIn;
    let shown = DialogConnection { label, base_url: Some(base_url), kept, is_sign_in, ..DialogConnection::default() };
    FoundConnection { shown, id, endpoint: Some(endpoint), key, ..FoundConnection::default() }
}

/// The origins that each key may be sent to, by its fingerprint, and those that are used without a key.
struct Bindings(Vec<(String, Value)>);

impl Bindings {
    /// Earlier versions stored one origin for each key.
    fn origins(&self, fingerprint: &str) -> Vec<String> {
        let stored = self.0.iter().find(|(bound, _)| bound == fingerprint).map(|(_, origins)| origins);
        let origins = stored.map_or(&[][..], |stored| match stored {
            Value::Array(origins) => origins,
            one => std::slice::from_ref(one),
        });
        origins.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn add(&mut self, fingerprint: &str, origin: &str) {
        let mut origins = self.origins(fingerprint);
        if !origins.iter().any(|bound| bound == origin) {
            origins.push(origin.to_owned());
        }
        match self.0.iter_mut().find(|(bound, _)| bound == fingerprint) {
            Some((_, bound)) => *bound = origins.into(),
            None => self.0.push((fingerprint.to_owned(), origins.into())),
        }
        self.0.drain(..self.0.len().saturating_sub(MAX_BOUND_KEYS));
    }
}
