//! The files of the [`Vault`].
//!
//! Vaults can be merged in any order and any number of times, so no window waits for another. To save, a window takes all
//! files by renaming them, adds them to its own vault, writes that to a new file and deletes what it took. Whatever a window
//! leaves behind when it dies is read and merged like the other files.

use super::retention::is_left_behind;
use super::{Folder, Shared, ShellWork, hex};
use crate::boundary::{FileEntry, VaultTask, WorkTask};
use crate::vault::Vault;

const FOLDER: &str = "vault";

impl WorkTask<VaultTask> {
    /// Starts the task.
    pub fn start(self, vault: &Shared<Vault>) -> ShellWork {
        let Self { task, now_ms, random } = self;
        let vault = vault.clone();
        match task {
            VaultTask::Open => ShellWork::new(async move |folder| open(&folder, &vault, now_ms).await),
            VaultTask::Save => ShellWork::new(async move |folder| save(&folder, &vault, now_ms, &hex(random)).await),
        }
    }
}

async fn open(folder: &Folder, vault: &Shared<Vault>, now_ms: u64) {
    for FileEntry { name, .. } in files(folder, false).await {
        if let Some(content) = folder.read(&name).await {
            vault.with(|vault| vault.merge(Vault::read(&content), now_ms));
        }
    }
}

async fn save(folder: &Folder, vault: &Shared<Vault>, now_ms: u64, random: &str) {
    let mut taken = Vec::new();
    let deleted_ms = vault.with(|vault| vault.deleted_ms());
    for FileEntry { name, modified_ms, .. } in files(folder, true).await {
        // Another window may still be writing it. If it was written before everything was deleted, it must go all the same.
        let may_be_in_use = !is_left_behind(modified_ms, now_ms) && modified_ms > deleted_ms;
        if name.strip_suffix(".tmp").is_some() && may_be_in_use {
            continue;
        }
        let mine = format!("{FOLDER}/{random}-{}.taken", taken.len());
        if !folder.take(&name, &mine).await {
            continue;
        }
        if let Some(content) = folder.read(&mine).await {
            vault.with(|vault| vault.merge(Vault::read(&content), now_ms));
            taken.push(mine);
        }
    }
    let content = vault.with(|vault| vault.to_bytes());
    if folder.replace(&format!("{FOLDER}/{random}.json"), format!("{FOLDER}/{random}.tmp"), content).await {
        for name in taken {
            folder.delete(name).await;
        }
    }
}

/// Returns our files, with the name of the folder. A newer version that writes another format gives its files other names, so that
/// they stay.
async fn files(folder: &Folder, with_details: bool) -> Vec<FileEntry> {
    let is_ours = |file: &FileEntry| {
        file.name
            .split_once('.')
            .is_some_and(|(name, ending)| !name.is_empty() && ["json", "tmp", "taken"].contains(&ending))
    };
    let files = folder.list(FOLDER, with_details).await.into_iter().filter(is_ours);
    files.map(|file| FileEntry { name: format!("{FOLDER}/{}", file.name), ..file }).collect()
}
