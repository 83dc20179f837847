//! What is known about every request: names, sizes, hashes and times, never text. Each file has one record on each line.
//!
//! A window only ever writes files of its own, so no window can lose what another one has written. It begins a new file when one
//! is full, and then deletes the oldest files of all windows, and temporary files that crashed windows have left behind.

use std::collections::BTreeSet;

use super::ledger::LedgerWork;
use super::retention::{RECORDS, delete_left_behind};
use crate::boundary::{FileEntry, RequestRecord};

const FOLDER: &str = "records";
/// The maximum number of records in a file, which is written as a whole.
const MAX_RECORDS: usize = 100;
/// How many files are read when VS Code starts.
const NEWEST: usize = 3;

/// The records of this window.
#[derive(Debug, Default)]
pub(super) struct OwnRecords {
    /// Those of the current file, and those that don't fit into it. Each is JSON.
    lines: Vec<String>,
    /// How many of them are in the current file.
    saved: usize,
    /// The name of the current file, or nothing if it isn't begun.
    name: String,
    /// How many files this window has begun.
    begun: usize,
    /// The conversations whose earlier requests have been read.
    recalled: BTreeSet<String>,
}

impl OwnRecords {
    pub(super) fn add(&mut self, record: &RequestRecord) {
        self.lines.extend(serde_json::to_string(record));
    }

    /// Returns how many records the current file will have, or nothing if there are no new ones.
    fn unsaved(&mut self) -> Option<usize> {
        if self.saved == MAX_RECORDS {
            self.lines.drain(..MAX_RECORDS);
            (self.saved, self.name) = (0, String::new());
        }
        (self.lines.len() > self.saved).then(|| self.lines.len().min(MAX_RECORDS))
    }
}

impl LedgerWork {
    /// Saves the records that aren't saved yet. Returns whether it could.
    pub(super) async fn save_records(&self) -> bool {
        while let Some(count) = self.kept.with(|kept| kept.records.unsaved()) {
            if self.kept.with(|kept| kept.records.name.is_empty()) {
                let files = self.record_files().await.into_iter().map(|(begun, file)| (file.name, begun, file.size));
                RECORDS.apply(&self.folder, files.collect(), self.now_ms).await;
                for subfolder in ["", FOLDER, super::reserved::FOLDER] {
                    delete_left_behind(&self.folder, subfolder, self.now_ms).await;
                }
                self.kept.with(|kept| {
                    kept.records.name = format!("{FOLDER}/{}-{}-{}.gz", self.now_ms, self.random(), kept.records.begun);
                    kept.records.begun += 1;
                });
            }
            let (name, lines) = self.kept.with(|kept| {
                let lines: Vec<_> = kept.records.lines.iter().take(count).map(String::as_str).collect();
                (kept.records.name.clone(), lines.join("\n"))
            });
            // To other windows, this must not look like the name of a finished file. It ends in `.gz`, so that the content is
            // compressed.
            let temporary = format!("{FOLDER}/{}.tmp.gz", self.random());
            if !self.folder.replace(&name, temporary, lines.into_bytes()).await {
                return false;
            }
            self.kept.with(|kept| kept.records.saved = count);
        }
        true
    }

    /// Reads the newest records: the next request of a conversation is compared with the last one, whose cost counts too.
    pub(super) async fn recall_newest(&self) {
        let files = self.record_files().await;
        for (_, file) in files.iter().skip(files.len().saturating_sub(NEWEST)) {
            let lines = self.read_lines(file).await;
            self.recall(lines.lines());
        }
    }

    /// Reads what a conversation has cost so far, once. It may be a conversation of last week, with hundreds of requests.
    pub(super) async fn recall_conversation(&self, conversation: &str) {
        if self.kept.with(|kept| kept.records.recalled.contains(conversation)) {
            return;
        }
        for (_, file) in self.record_files().await {
            let lines = self.read_lines(&file).await;
            // Most records belong to other conversations and needn't be read.
            self.recall(lines.lines().filter(|line| line.contains(conversation)));
        }
        self.kept.with(|kept| kept.records.recalled.insert(conversation.to_owned()));
    }

    /// Adds all records to those that the inspector shows.
    pub(super) async fn show_records(&self) {
        for (_, file) in self.record_files().await {
            let lines = self.read_lines(&file).await;
            self.kept.with(|kept| kept.shown.add_lines(&lines));
        }
    }

    fn recall<'a>(&self, lines: impl Iterator<Item = &'a str>) {
        for record in lines.filter_map(RequestRecord::read) {
            self.kept.with(|kept| kept.ledger.recall(record));
        }
    }

    /// Returns an empty text if another window has deleted the file.
    async fn read_lines(&self, file: &FileEntry) -> String {
        String::from_utf8_lossy(&self.folder.read(&file.name).await.unwrap_or_default()).into_owned()
    }

    /// Returns all files with the time when they were begun, the oldest first.
    async fn record_files(&self) -> Vec<(u64, FileEntry)> {
        let files = self.folder.list(FOLDER, true).await.into_iter().filter_map(|file| {
            let (begun, rest) = file.name.strip_suffix(".gz")?.split_once('-')?;
            let is_ours = !rest.is_empty() && !rest.contains('.');
            let begun = begun.parse().ok().filter(|_| is_ours)?;
            Some((begun, FileEntry { name: format!("{FOLDER}/{}", file.name), ..file }))
        });
        let mut files: Vec<_> = files.collect();
        files.sort_by_key(|(begun, _)| *begun);
        files
    }
}
