//! The records of requests: one file for each conversation that is kept, with one JSON object per line. A record has no
//! text of the conversation.

use std::fs;
use std::io;
use std::path::PathBuf;

use sluice_client::private_file;
use sluice_core::RequestRecord;

use crate::ledger;

/// How many requests of a conversation are kept. The oldest are removed first.
const MAX_RECORDS: usize = 200;
/// A longer file isn't ours.
const MAX_FILE: u64 = 64 << 20;

/// Adds a record to the file of its conversation. Lines that a newer version wrote stay as they are.
pub fn keep(record: &RequestRecord) -> io::Result<()> {
    let file = file(&record.conversation);
    let mut text = read(&record.conversation);
    text.push_str(&serde_json::to_string(record)?);
    text.push('\n');
    let first = text.lines().count().saturating_sub(MAX_RECORDS);
    let start: usize = text.split_inclusive('\n').take(first).map(str::len).sum();
    private_file::create_directory(&directory())?;
    let temporary = file.with_extension(format!("{}.new", std::process::id()));
    private_file::replace(&file, &temporary, &text.as_bytes()[start..])
}

/// Returns the records of a conversation, the oldest first. What can't be read is skipped.
pub fn of(conversation: &str) -> Vec<RequestRecord> {
    read(conversation).lines().filter_map(RequestRecord::read).collect()
}

fn read(conversation: &str) -> String {
    let bytes = private_file::read(&file(conversation), MAX_FILE).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Deletes the records of a conversation.
pub fn delete(conversation: &str) {
    // There may be none.
    let _ = fs::remove_file(file(conversation));
}

/// Returns the record with this id. It starts with the id of its conversation: `k3x9-2`.
pub fn find(id: &str) -> Option<RequestRecord> {
    let (conversation, _) = id.rsplit_once('-')?;
    of(conversation).into_iter().find(|record| record.id == id)
}

fn file(conversation: &str) -> PathBuf {
    // Ids come from the command line, too.
    let plain: String = conversation.chars().filter(char::is_ascii_alphanumeric).collect();
    directory().join(format!("{plain}.jsonl"))
}

fn directory() -> PathBuf {
    ledger::directory().join("requests")
}
