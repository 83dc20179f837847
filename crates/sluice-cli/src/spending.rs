//! What this process has reserved, and what others have. Each has a file of its own in one directory, which it writes
//! before it reads those of the others.

use std::fs;
use std::io;
use std::path::PathBuf;

use sluice_client::private_file;

use crate::ledger;

/// A longer file isn't ours.
const MAX_FILE: u64 = 4 << 20;

#[derive(Debug)]
pub struct SpendingFiles {
    own: PathBuf,
}

impl SpendingFiles {
    /// `started_ms` tells processes with the same id apart.
    pub fn new(started_ms: u64) -> Self {
        Self { own: directory().join(format!("{}-{started_ms}.jsonl", std::process::id())) }
    }

    /// Writes what this process has reserved. An empty file is deleted.
    pub fn write(&self, content: &str) -> io::Result<()> {
        if content.is_empty() {
            return match fs::remove_file(&self.own) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        private_file::create_directory(&directory())?;
        private_file::replace(&self.own, &self.own.with_extension("new"), content.as_bytes())
    }

    /// Reads the files of the other processes.
    pub fn others(&self) -> Vec<(PathBuf, String)> {
        let entries = fs::read_dir(directory()).into_iter().flatten().flatten().map(|entry| entry.path());
        let others = entries.filter(|path| *path != self.own && path.extension().is_some_and(|name| name == "jsonl"));
        let read = |path: PathBuf| {
            let bytes = private_file::read(&path, MAX_FILE).ok()??;
            Some((path, String::from_utf8_lossy(&bytes).into_owned()))
        };
        others.filter_map(read).collect()
    }
}

fn directory() -> PathBuf {
    ledger::directory().join("spending")
}
