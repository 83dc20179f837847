//! What each window has reserved. `limits.rs` describes how several programs share limits: each writes what it has reserved
//! before it reads what the others have.
//!
//! VS Code can't replace a file in one step, and what is reserved must never be out of sight. So the files of a window have
//! numbers, and a new one is complete before the old one is deleted.

use std::collections::BTreeMap;

use super::ledger::LedgerWork;
use crate::ledger::Ledger;

pub(super) const FOLDER: &str = "spending";
/// How often the files are listed again because one of them has been replaced.
const MAX_ATTEMPTS: usize = 20;

/// The file of this window.
#[derive(Debug, Default)]
pub(super) struct OwnReservations {
    /// This window's part of the names.
    window: String,
    /// The number of the file, or 0 if there is none.
    number: u64,
}

impl OwnReservations {
    fn name(&self, number: u64) -> String {
        format!("{FOLDER}/{}.{number}.reserved", self.window)
    }
}

impl LedgerWork {
    /// Changes what this window has reserved, and writes it.
    pub(super) async fn reserve(&self, change: impl FnOnce(&mut Ledger) -> String) {
        let (content, number, old, new) = self.kept.with(|kept| {
            let own = &mut kept.reserved;
            if own.window.is_empty() {
                own.window = self.random();
            }
            (change(&mut kept.ledger), own.number, own.name(own.number), own.name(own.number + 1))
        });
        if !content.is_empty() {
            if !self.folder.replace(&new, format!("{new}.tmp"), content.into_bytes()).await {
                return;
            }
            self.kept.with(|kept| kept.reserved.number = number + 1);
        }
        if number > 0 {
            self.folder.delete(old).await;
        }
    }

    /// Returns the newest file of each other window, also of those that have crashed: the name and the content.
    pub(super) async fn read_reserved(&self) -> (Vec<String>, Vec<String>) {
        let own = self.kept.with(|kept| kept.reserved.window.clone());
        let mut found = (Vec::new(), Vec::new());
        for _ in 0..MAX_ATTEMPTS {
            let mut newest: BTreeMap<String, u64> = BTreeMap::new();
            for file in self.folder.list(FOLDER, false).await {
                if let Some((window, number)) = parse(&file.name).filter(|(window, _)| *window != own) {
                    let newest = newest.entry(window.to_owned()).or_default();
                    *newest = number.max(*newest);
                }
            }
            let windows = newest.len();
            found = (Vec::new(), Vec::new());
            for (window, number) in newest {
                let name = format!("{FOLDER}/{window}.{number}.reserved");
                if let Some(content) = self.folder.read(&name).await {
                    found.0.push(name);
                    found.1.push(String::from_utf8_lossy(&content).into_owned());
                }
            }
            // A file that is gone has been replaced by a newer one, or its window has nothing reserved any more.
            if found.0.len() == windows {
                break;
            }
        }
        found
    }
}

/// Returns the window that wrote a file, and its number.
fn parse(name: &str) -> Option<(&str, u64)> {
    let (window, number) = name.strip_suffix(".reserved")?.split_once('.')?;
    let is_window = !window.is_empty() && window.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-');
    Some((window, number.parse().ok().filter(|_| is_window)?))
}
