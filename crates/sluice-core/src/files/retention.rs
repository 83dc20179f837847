//! How long files are kept, and how many.

use super::Folder;
use crate::boundary::FileEntry;

const DAY_MS: u64 = 86_400_000;
/// A temporary file that is older than this was left behind by a window that crashed.
const LEFT_BEHIND_MS: u64 = 3_600_000;

/// What is kept of a kind of files.
pub(super) struct Retention {
    max_age_ms: u64,
    /// The maximum size of all files together.
    max_bytes: u64,
}

/// Records have no text. They are compressed: a thousand requests of an agent need about a megabyte.
pub(super) const RECORDS: Retention = Retention { max_age_ms: 30 * DAY_MS, max_bytes: 8 << 20 };
/// Recordings are conversations, word for word.
pub(super) const RECORDINGS: Retention = Retention { max_age_ms: 7 * DAY_MS, max_bytes: 64 << 20 };

impl Retention {
    /// Deletes files that are too old, and the oldest ones beyond the maximum size. Each file comes with its time and its size.
    pub(super) async fn apply(&self, folder: &Folder, mut files: Vec<(String, u64, u64)>, now_ms: u64) {
        files.sort_by_key(|(_, time, _)| std::cmp::Reverse(*time));
        let mut sum = 0_u64;
        for (name, time, size) in files {
            sum = sum.saturating_add(size);
            if sum > self.max_bytes || time < now_ms.saturating_sub(self.max_age_ms) {
                folder.delete(name).await;
            }
        }
    }
}

/// Returns whether a temporary file with this time was left behind by a window that crashed.
pub(super) fn is_left_behind(modified_ms: u64, now_ms: u64) -> bool {
    modified_ms < now_ms.saturating_sub(LEFT_BEHIND_MS)
}

/// Deletes the temporary files in a subfolder, or in the folder itself if the name is empty, that were left behind. Those of
/// the memory stay, because they are still read.
pub(super) async fn delete_left_behind(folder: &Folder, subfolder: &str, now_ms: u64) {
    for FileEntry { name, modified_ms, .. } in folder.list(subfolder, true).await {
        let has_ending = [".tmp", ".tmp.gz"].iter().any(|ending| name.ends_with(ending));
        let is_temporary = name.starts_with("key.") || (has_ending && !name.starts_with("memory"));
        if is_temporary && is_left_behind(modified_ms, now_ms) {
            folder.delete(if subfolder.is_empty() { name } else { format!("{subfolder}/{name}") }).await;
        }
    }
}
