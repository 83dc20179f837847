//! Work on files, as it crosses to a shell. [`FileWork`](crate::FileWork) describes it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spending::SpendLimits;

/// What a shell does next with the files of its folder. Names may start with the name of a subfolder: `vault/a.json`. A file whose
/// name ends with `.gz` is compressed when it is written and decompressed when it is read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FileStep {
    /// List the files of a subfolder, or of the folder itself if the name is empty. The result is [`FileResult::Listed`].
    List {
        /// The subfolder.
        folder: String,
        /// Whether sizes and times are needed. They may be 0 otherwise.
        with_details: bool,
    },
    /// Read the first of these files that exists. The result is [`FileResult::Content`] or [`FileResult::Missing`].
    Read {
        /// The names in the order in which they are tried.
        names: Vec<String>,
    },
    /// Create a file, in a subfolder that only its owner can access. No other window uses this name. The result is
    /// [`FileResult::Done`].
    Write {
        /// The name.
        name: String,
        /// The content, which crosses separately.
        #[serde(skip)]
        content: Vec<u8>,
    },
    /// Rename a file. The result is [`FileResult::Done`].
    Rename {
        /// The name that it has.
        from: String,
        /// The name that it gets.
        to: String,
        /// Whether a file with the new name is replaced. If not, nothing happens if there is one.
        may_replace: bool,
    },
    /// Delete a file, if it exists. The result is [`FileResult::Done`].
    Delete {
        /// The name.
        name: String,
    },
    /// The work is over.
    Done {
        /// What it returns.
        #[cfg_attr(test, ts(type = "unknown"))]
        result: Value,
    },
}

/// What a [`FileStep`] led to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FileResult {
    /// The files of a folder, in any order.
    Listed(Vec<FileEntry>),
    /// The content of a file, which crosses separately.
    #[serde(skip)]
    Content(Vec<u8>),
    /// None of the files can be read.
    Missing,
    /// Whether it was done.
    Done(bool),
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
pub struct FileTask<Task> {
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
    /// Reserves what a request may cost, and decides whether it may be sent. Returns a [`Verdict`](crate::Verdict).
    CheckSpending {
        /// The id that the request began with.
        id: String,
        /// The user's limits.
        limits: SpendLimits,
    },
    /// Forgets a request that has begun and isn't sent, with what it has reserved. Returns nothing.
    Release {
        /// The id that the request began with.
        id: String,
    },
    /// Returns how much of each limit for days and months all windows have used, as a list of
    /// [`LimitState`](crate::LimitState).
    LimitStates(SpendLimits),
    /// Adds the records of all windows to those that the inspector shows. Returns nothing.
    ReadRecords,
}

/// Work on the files of the vault and on recordings.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum VaultTask {
    /// Adds the contents of all files to the vault. Returns nothing.
    Open,
    /// Saves the vault, together with what other windows have saved. Returns nothing.
    Save,
    /// Deletes recordings that are too old or too many, in the folder `recordings`. Returns nothing.
    PruneRecordings,
}
