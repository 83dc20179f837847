//! The files of the [`Memory`](crate::Memory): token counts that servers reported, and usage.
//!
//! No window ever writes a file that another one may be writing: to save, a window *takes* a file by renaming it, which only one
//! can do, adds its own counts and usage, and renames it back. A window that finds nothing to take begins another file. It
//! doesn't matter which file has what, because counts are merged and usage is added when they are read. A window that dies
//! while it saves leaves a file that is still read, under its temporary name, but no longer written.

use std::collections::BTreeSet;

use super::ledger::{KeptLedger, LedgerWork};
use crate::boundary::FileState;
use crate::message::MessageCode;
use crate::tokens::InstallKey;

/// All names that a file may have after its normal one, in the order in which they are tried. A window that writes the file has
/// taken it. To replace the content of a taken file, `.tmp` is renamed over it.
const ENDINGS: [&str; 3] = ["", ".taken", ".tmp"];
/// How often all of them are tried. In between, another window may rename the file again.
const MAX_ATTEMPTS: usize = 10;
const KEY: &str = "key";

/// The contents of all files.
pub(super) struct MemoryFiles {
    key: InstallKey,
    files: Vec<(String, Vec<u8>)>,
}

impl KeptLedger {
    /// Replaces the ledger's memory by the contents of the files. Usage that isn't saved yet stays. Returns the state of each
    /// file.
    pub(super) fn use_memory(&mut self, MemoryFiles { key, files }: &MemoryFiles) -> Vec<FileState> {
        let memory = self.ledger.memory();
        memory.reopen(*key);
        files.iter().map(|(_, content)| memory.add(content)).collect()
    }
}

impl LedgerWork {
    /// Reads all files.
    pub(super) async fn read_memory(&self) -> MemoryFiles {
        let key = self.install_key().await;
        let names = self.folder.list("", false).await;
        let names = names
            .iter()
            .map(|file| ENDINGS.iter().rev().find_map(|end| file.name.strip_suffix(end)).unwrap_or(&file.name));
        let names: BTreeSet<String> = names.filter(|name| is_free(name)).map(str::to_owned).collect();
        let mut files = Vec::new();
        for name in names {
            let tried = (0..MAX_ATTEMPTS).flat_map(|_| ENDINGS).map(|ending| format!("{name}{ending}"));
            if let Some(content) = self.folder.read_first(tried.collect()).await {
                files.push((name, content));
            }
        }
        MemoryFiles { key, files }
    }

    /// Sets damaged files aside. Returns what to say about the files in the log.
    pub(super) async fn after_reading(&self, files: &MemoryFiles, states: &[FileState]) -> Vec<MessageCode> {
        for ((name, _), state) in files.files.iter().zip(states) {
            if *state == FileState::Damaged {
                self.folder.take(name, &format!("{name}.corrupt")).await;
            }
        }
        states.iter().filter_map(|state| state.message()).collect()
    }

    /// Adds what the ledger has not saved yet to one of the files. Returns whether it could. If not, everything is still in memory,
    /// and it is tried again the next time.
    pub(super) async fn save_memory(&self) -> bool {
        for file in self.folder.list("", false).await {
            // Another window may have the file, or a newer version of Sluice may have written it.
            if is_free(&file.name)
                && self.folder.take(&file.name, &format!("{}.taken", file.name)).await
                && let Some(is_written) = self.write_memory(&file.name).await
            {
                return is_written;
            }
        }
        self.write_memory(&format!("memory-{}", self.random())).await.unwrap_or(false)
    }

    /// Replaces the content of a file that this window has taken, and gives the file back. Returns whether it could be written,
    /// or nothing if it must be left alone.
    async fn write_memory(&self, name: &str) -> Option<bool> {
        let taken = format!("{name}.taken");
        let file = self.folder.read(&taken).await;
        let content = self.kept.with(|kept| kept.ledger.memory().save(file.as_deref()).0);
        let mut is_written = None;
        if let Some(content) = content {
            is_written = Some(self.folder.replace(&taken, format!("{name}.tmp"), content).await);
        }
        if is_written == Some(true) {
            self.kept.with(|kept| kept.ledger.memory().saved());
        }
        self.folder.take(&taken, name).await;
        is_written
    }

    /// Returns the key of this installation. Hashes made with it mean nothing on another machine.
    async fn install_key(&self) -> InstallKey {
        let read = |content: Option<Vec<u8>>| content.and_then(|key| key.try_into().ok()).map(InstallKey);
        let known = self.folder.read(KEY).await;
        let is_damaged = known.is_some();
        if let Some(key) = read(known) {
            return key;
        }
        let temporary = format!("{KEY}.{}", self.random());
        if is_damaged {
            self.folder.replace(KEY, temporary, self.random.to_vec()).await;
        } else {
            self.folder.create(KEY, temporary, self.random.to_vec()).await;
        }
        // Another window may have been faster, or nothing can be written.
        read(self.folder.read(KEY).await).unwrap_or(InstallKey(self.random))
    }
}

/// Returns whether this is the name of a file that no window is writing.
fn is_free(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    name.strip_prefix("memory").is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_plain))
    })
}
