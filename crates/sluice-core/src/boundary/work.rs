//! Work that the core leads and a shell carries out, as it crosses between them. [`ShellWork`](crate::ShellWork) describes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chat::HttpRequest;
use super::connections::ConnectionTask;
use super::dialogs::VercelAnswer;
use super::model::ModelSettings;
use super::questions::LogLevel;
use super::spending::SpendLimits;
use crate::failure::{HttpResponse, Transport};
use crate::message::Message;
use crate::recording::Recording;
use crate::send::Parameter;
use crate::sources::SourceKey;
use crate::vercel::{NewSession, VercelTask};

/// What a shell does next, mostly with the files of its folder. Names may start with the name of a subfolder: `vault/a.json`. A file whose
/// name ends with `.gz` is compressed when it is written and decompressed when it is read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum WorkStep {
    /// List the files of a subfolder, or of the folder itself if the name is empty. The result is [`WorkResult::Listed`].
    List {
        /// The subfolder.
        folder: String,
        /// Whether sizes and times are needed. They may be 0 otherwise.
        with_details: bool,
    },
    /// Read the first of these files that exists. The result is [`WorkResult::Content`] or [`WorkResult::Missing`].
    Read {
        /// The names in the order in which they are tried.
        names: Vec<String>,
    },
    /// Create a file, in a subfolder that only its owner can access. No other window uses this name. The result is
    /// [`WorkResult::Done`].
    Write {
        /// The name.
        name: String,
        /// The content, which crosses separately.
        #[serde(skip)]
        content: Vec<u8>,
    },
    /// Rename a file. The result is [`WorkResult::Done`].
    Rename {
        /// The name that it has.
        from: String,
        /// The name that it gets.
        to: String,
        /// Whether a file with the new name is replaced. If not, nothing happens if there is one.
        may_replace: bool,
    },
    /// Delete a file, if it exists. The result is [`WorkResult::Done`].
    Delete {
        /// The name.
        name: String,
    },
    /// Read the stored sign-in. The result is [`WorkResult::Texts`] with one text, or with `null` if there is none.
    ReadSession,
    /// Store a sign-in, or delete the stored one. The result is [`WorkResult::Done`].
    WriteSession {
        /// What to store. A log must never contain the token in it.
        session: Option<NewSession>,
    },
    /// Read these files, which may be anywhere. The result is [`WorkResult::Texts`].
    ReadTexts {
        /// The paths.
        paths: Vec<String>,
    },
    /// Send a request to Vercel. The result is [`WorkResult::Received`].
    Send {
        /// The request, without the token.
        request: HttpRequest,
        /// The token of the Vercel CLI.
        bearer: String,
    },
    /// Compute the fingerprint of a key or another text: part of a salted hash. The result is [`WorkResult::Fingerprint`].
    Fingerprint {
        /// Where it is.
        key: SourceKey,
    },
    /// Read the origins that keys belong to. The result is [`WorkResult::Origins`].
    ReadOrigins,
    /// Store the origins that keys belong to. The result is [`WorkResult::Done`].
    WriteOrigins {
        /// The fingerprint of each key, with its origins.
        #[cfg_attr(test, ts(type = "[string, unknown][]"))]
        origins: Vec<(String, Value)>,
    },
    /// Send these requests at the same time, with the key of the connection. The result is [`WorkResult::Received`].
    Get {
        /// The requests, without the key.
        requests: Vec<HttpRequest>,
    },
    /// The work is over.
    Done {
        /// What it returns.
        #[cfg_attr(test, ts(type = "unknown"))]
        result: Value,
    },
}

/// What a [`WorkStep`] led to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum WorkResult {
    /// The files of a folder, in any order.
    Listed(Vec<FileEntry>),
    /// The content of a file, which crosses separately.
    #[serde(skip)]
    Content(Vec<u8>),
    /// None of the files can be read.
    Missing,
    /// Whether it was done.
    Done(bool),
    /// What came of the requests, in their order.
    Received(Vec<Received>),
    /// Texts in the order in which they were requested, as far as they exist.
    Texts(Vec<Option<String>>),
    /// A text without its content.
    Fingerprint {
        /// The fingerprint.
        fingerprint: String,
        /// Whether the text can be sent as a key: it has no spaces, line breaks or other characters that aren't allowed in a header.
        is_sendable: bool,
    },
    /// The fingerprint of each key, with its origins, in the order in which they were stored.
    Origins(#[cfg_attr(test, ts(type = "[string, unknown][]"))] Vec<(String, Value)>),
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Received {
    /// There was a response.
    Response(HttpResponse),
    /// There was none.
    Failed {
        /// Why.
        transport: Transport,
        /// The cause, such as `ENOTFOUND`, for a log.
        #[cfg_attr(test, ts(optional, type = "string | undefined"))]
        code: Option<String>,
    },
}

/// A file in a folder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileEntry {
    /// Its name, without the name of the folder.
    pub name: String,
    /// Its size in bytes.
    #[cfg_attr(test, ts(type = "number"))]
    pub size: u64,
    /// When it was last written, in milliseconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub modified_ms: u64,
}

/// A task, and what the core can't know.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WorkTask<Task> {
    /// What to do.
    pub task: Task,
    /// Milliseconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub now_ms: u64,
    /// Random numbers, other ones for each task.
    #[cfg_attr(test, ts(type = "number[]"))]
    pub random: [u8; 16],
}

/// Work on the files of the ledger.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum LedgerTask {
    /// Reads what all windows have saved, and the newest records. Returns a list of [`MessageCode`](crate::MessageCode) for the log.
    Load,
    /// Saves everything that isn't saved yet. Returns nothing.
    Save,
    /// Saves everything, and reads what other windows have saved in the meantime. Returns the same as [`Load`](Self::Load).
    Reload,
    /// Reserves what a request may cost, and decides whether it may be sent. If not, forgets it. Returns a
    /// [`Verdict`](crate::Verdict).
    CheckSpending {
        /// The id that the request began with.
        id: String,
        /// The user's limits.
        limits: SpendLimits,
    },
    /// Returns how much of each limit for days and months all windows have used, as a list of
    /// [`LimitState`](crate::LimitState).
    LimitStates(SpendLimits),
    /// Adds the records of all windows to those that the inspector shows. Returns nothing.
    ReadRecords,
}

/// Work of the module that builds requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum RequestsTask {
    /// Work on the files of the vault.
    Vault(VaultTask),
    /// Work on recordings.
    Recordings(RecordingTask),
    /// Work on the sign-in with the Vercel CLI. Returns a [`SignInResult`].
    SignIn(Box<SignInTask>),
    /// Work on connections. Returns a [`ConnectionResult`](crate::ConnectionResult).
    Connections(ConnectionTask),
    /// Work on a list of models. Returns a [`CatalogView`](crate::CatalogView).
    Models(Box<ListTask>),
}

/// Work on the models of a connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListTask {
    /// Identifies the server and the key.
    pub connection: String,
    /// The name that the user sees.
    pub label: String,
    /// The address of the server.
    pub base_url: String,
    /// Whether it is the demo, whose models aren't kept.
    pub is_demo: bool,
    /// Whether the key isn't kept yet, because it is being checked.
    pub is_trial: bool,
    /// The user's settings for models.
    pub settings: ModelSettings,
    /// The user's extra headers for this server, by name.
    pub extra_headers: BTreeMap<String, String>,
    /// What to do.
    pub work: ListWork,
}

/// What to do with the models of a connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ListWork {
    /// Show what is known.
    Show,
    /// Show what is known, or ask the server if that is nothing.
    List,
    /// Ask the server.
    Refresh,
    /// Ask the server, and whether it accepts the key.
    Check,
    /// Ask the server how much credit is left.
    Credit,
    /// Ask the server about a model that is used, once.
    Enrich {
        /// The model's id.
        model: String,
    },
    /// Remember what an answer of a model, or a test of it, has shown.
    Learn {
        /// The model's id.
        model: String,
        /// See [`Report::refused`](crate::Report::refused).
        refused: Vec<Parameter>,
        /// See [`Report::overflow`](crate::Report::overflow).
        overflow: Option<String>,
    },
    /// A chat has failed because the server refused the key.
    KeyRefused {
        /// The message that explains the refusal to the user.
        reason: Vec<Message>,
    },
    /// Delete everything that is kept.
    Forget,
}

/// Work on the sign-in with the Vercel CLI.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SignInTask {
    /// What to do.
    pub work: SignInWork,
    /// The platform, named as in Node. `None` in a browser, which has no files.
    pub platform: Option<String>,
    /// The environment variables that say where the CLI's files are.
    pub environment: BTreeMap<String, String>,
    /// Seconds since 1970.
    pub now: f64,
}

/// What to do with the sign-in.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SignInWork {
    /// Return the token, and renew it first if necessary.
    Bearer {
        /// The origin that it will be sent to.
        origin: String,
    },
    /// Ask Vercel, and keep the session if there is one.
    Ask(VercelTask),
    /// Forget the session.
    SignOut,
}

/// What came of work on the sign-in.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SignInResult {
    /// The token, if it is for the origin.
    pub bearer: Option<String>,
    /// Why there is none, although there should be.
    pub problem: Option<Vec<Message>>,
    /// What Vercel said.
    pub answer: VercelAnswer,
    /// Whether there was a session before.
    pub was_signed_in: bool,
    /// Whether the user signed in or out.
    pub changed: bool,
    /// Lines for the log.
    pub log: Vec<(LogLevel, String)>,
}

/// Work on recordings, which are in the folder `recordings`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum RecordingTask {
    /// Keeps a recording, and deletes those that are too old or too many. Returns nothing.
    Keep(Box<Recording>),
    /// Deletes recordings that are too old or too many. Returns nothing.
    Prune,
    /// Deletes all recordings. Returns nothing.
    DeleteAll,
    /// Returns whether there is a recording of the request with this id.
    Has(String),
    /// Returns a recording as a file for `sluice replay`, or `null` if it can't be read.
    Export {
        /// The id of the request.
        id: String,
        /// The secrets that are known.
        secrets: Vec<String>,
        /// Whether the texts of the request stay.
        with_texts: bool,
    },
}

/// Work on the files of the vault.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum VaultTask {
    /// Adds the contents of all files to the vault. Returns nothing.
    Open,
    /// Saves the vault, together with what other windows have saved. Returns nothing.
    Save,
}
