//! What an editor's windows do with the files that they share.
//!
//! An extension has no lock that is released when its holder dies, VS Code can't replace a file in one step, and a window may be
//! closed at any time. So the order in which files are read, written and renamed matters. It is written down here as if the core
//! could do that itself: as `async` functions that use a [`Folder`]. Each use of a file becomes a [`WorkStep`] for the shell
//! (`steps.rs`).
//!
//! | files | how windows share them |
//! |---|---|
//! | `memory*` | take turns: `memory.rs` |
//! | `records/*` | each window writes its own: `records.rs` |
//! | `recordings/*` | each is written once: `recordings.rs` |
//! | `spending/*` | each window writes its own, and all are read: `reserved.rs` |
//! | `vault/*` | merged in any order: `vault.rs` |
//! | `models-*` | the last one to write wins: `models/lists.rs` |

mod ledger;
mod memory;
mod recordings;
mod records;
mod reserved;
mod retention;
mod vault;

use std::cell::RefCell;
use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use crate::boundary::{FileEntry, Received, RequestsTask, WorkResult, WorkStep, WorkTask};
use crate::connections::ConnectionNotes;
use crate::editor::ModelRounds;
use crate::message::Language;
use crate::models::ModelLists;
use crate::steps::{Steps, Work};
use crate::vault::Vault;
pub use ledger::KeptLedger;

/// Work that has been started: it uses files and servers. A shell calls [`next`](Self::next) until the work is
/// [done](WorkStep::Done).
pub struct ShellWork(Work<WorkStep, WorkResult, Value>);

impl fmt::Debug for ShellWork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ShellWork").field("is_done", &self.0.is_done()).finish_non_exhaustive()
    }
}

impl ShellWork {
    pub(crate) fn new<F>(work: impl FnOnce(Folder) -> F) -> Self
    where
        F: Future<Output: Serialize> + 'static,
    {
        Self(Work::new(|steps| {
            let work = work(Folder(steps));
            async move { serde_json::to_value(work.await).unwrap_or_default() }
        }))
    }

    /// Returns what to do next. `result` is what the last step led to; there is none at the beginning.
    pub fn next(&mut self, result: Option<WorkResult>) -> WorkStep {
        match self.0.next(result) {
            Some(ControlFlow::Continue(step)) => step,
            Some(ControlFlow::Break(result)) => WorkStep::Done { result },
            None => WorkStep::Done { result: Value::Null },
        }
    }
}

/// What the work of an editor's window uses.
#[derive(Debug, Default)]
pub struct EditorState {
    /// What servers need back of their answers.
    pub vault: Shared<Vault>,
    /// What is remembered about its connections.
    pub connections: Shared<ConnectionNotes>,
    /// The rounds in which it asks for models.
    pub rounds: Shared<ModelRounds>,
    /// The models of its connections.
    pub lists: Shared<ModelLists>,
    /// The language of the user.
    pub language: Shared<Language>,
    /// When the token of the sign-in could not be renewed, in seconds since 1970, or 0.
    pub renewal_failed_at: Shared<f64>,
}

impl WorkTask<RequestsTask> {
    /// Starts the task.
    pub fn start(self, state: &EditorState) -> ShellWork {
        let Self { task, now_ms, random } = self;
        match task {
            RequestsTask::Vault(task) => WorkTask { task, now_ms, random }.start(&state.vault),
            RequestsTask::Recordings(task) => WorkTask { task, now_ms, random }.start(),
            RequestsTask::SignIn(task) => WorkTask { task: *task, now_ms, random }.start(&state.renewal_failed_at),
            RequestsTask::Connections(task) => {
                WorkTask { task, now_ms, random }.start(&state.connections, &state.language)
            }
            RequestsTask::Models(task) => WorkTask { task: *task, now_ms, random }.start(&state.lists, &state.language),
        }
    }
}

/// A value that work uses while others use it too, between the steps.
#[derive(Debug, Default)]
pub struct Shared<T>(Rc<RefCell<T>>);

impl<T> Shared<T> {
    /// Makes a value usable by work.
    pub fn new(value: T) -> Self {
        Self(Rc::new(RefCell::new(value)))
    }

    /// Provides access to the value. Nothing in `use_value` may call this again.
    pub fn with<R>(&self, use_value: impl FnOnce(&mut T) -> R) -> R {
        use_value(&mut self.0.borrow_mut())
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

/// The shell's folder.
pub(crate) struct Folder(Steps<WorkStep, WorkResult>);

impl Folder {
    /// Returns the files of a subfolder, sorted by their names.
    async fn list(&self, folder: &str, with_details: bool) -> Vec<FileEntry> {
        match self.ask(WorkStep::List { folder: folder.to_owned(), with_details }).await {
            WorkResult::Listed(mut files) => {
                files.sort_by(|one, other| one.name.cmp(&other.name));
                files
            }
            _ => Vec::new(),
        }
    }

    pub(crate) async fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.read_first(vec![name.to_owned()]).await
    }

    /// Reads the first of these files that exists.
    async fn read_first(&self, names: Vec<String>) -> Option<Vec<u8>> {
        match self.ask(WorkStep::Read { names }).await {
            WorkResult::Content(content) => Some(content),
            _ => None,
        }
    }

    /// Creates or replaces a file. No reader sees half of it, because it is written under another name. Returns whether that
    /// was possible.
    pub(crate) async fn replace(&self, name: &str, temporary: String, content: Vec<u8>) -> bool {
        self.write(&temporary, content).await && self.rename(temporary, name, true).await
    }

    /// Creates a file, unless there is one.
    async fn create(&self, name: &str, temporary: String, content: Vec<u8>) {
        if self.write(&temporary, content).await && !self.rename(temporary.clone(), name, false).await {
            self.delete(temporary).await;
        }
    }

    /// Only one window can rename a file to a name that doesn't exist.
    async fn take(&self, from: &str, to: &str) -> bool {
        self.rename(from.to_owned(), to, false).await
    }

    pub(crate) async fn delete(&self, name: String) {
        self.ask(WorkStep::Delete { name }).await;
    }

    /// Has requests sent.
    pub(crate) async fn received(&self, step: WorkStep) -> Vec<Received> {
        match self.ask(step).await {
            WorkResult::Received(received) => received,
            _ => Vec::new(),
        }
    }

    /// Has any step carried out.
    pub(crate) async fn ask(&self, step: WorkStep) -> WorkResult {
        self.0.ask(step).await
    }

    async fn write(&self, name: &str, content: Vec<u8>) -> bool {
        self.ask(WorkStep::Write { name: name.to_owned(), content }).await == WorkResult::Done(true)
    }

    async fn rename(&self, from: String, to: &str, may_replace: bool) -> bool {
        self.ask(WorkStep::Rename { from, to: to.to_owned(), may_replace }).await == WorkResult::Done(true)
    }
}

/// Returns random numbers as part of a name.
pub(crate) fn hex(random: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(random))
}
