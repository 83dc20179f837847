//! Keeps the core's memory between runs: a directory with the file, its lock and the key of this installation.
//!
//! A writer takes the lock, reads what others wrote, and replaces the whole file. The operating system releases the
//! lock when its holder ends, so no process waits for one that was killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use sluice_core::{FileState, InstallKey, MAX_FILE, Memory};

use crate::{StoreError, private_file};

/// If others hold the lock for longer than this, the save fails.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// A directory in which token counts and usage are kept between runs. Several processes may use it at the same time.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// Opens the store in a directory, which is created if it doesn't exist.
    ///
    /// There is always a memory, even if the third value reports a problem: without a file, or a directory for it, it
    /// lasts only as long as the program.
    pub fn open(directory: impl Into<PathBuf>) -> (Self, Memory, Option<StoreError>) {
        let store = Self { directory: directory.into() };
        match store.read() {
            Ok((memory, FileState::Good | FileState::Missing)) => (store, memory, None),
            Ok((memory, FileState::Damaged)) => (store, memory, Some(StoreError::StartedOver)),
            Ok((memory, FileState::Newer)) => (store, memory, Some(StoreError::Update)),
            Err(error) => {
                // With a temporary key, the counts of this run are at least comparable with each other.
                let key = random_key().unwrap_or(InstallKey([0; 16]));
                let error = store.error(error);
                (store, Memory::new(key), Some(error))
            }
        }
    }

    /// Merges the memory with what other processes have saved, and writes the result. After an error everything is
    /// still in memory, and the next save will include it.
    pub fn save(&self, memory: &mut Memory) -> Result<(), StoreError> {
        self.replace(memory).map_err(|error| self.error(error))
    }

    fn read(&self) -> io::Result<(Memory, FileState)> {
        // Hashes and costs reveal when the user worked on what, so they are never kept in another user's directory.
        private_file::create_directory(&self.directory)?;
        let key = self.key()?;
        let (memory, state) = Memory::read(key, self.file()?.as_deref());
        if state == FileState::Damaged {
            let _turn = self.lock()?;
            // It may have been replaced since then.
            if Memory::read(key, self.file()?.as_deref()).1 == FileState::Damaged {
                self.set_aside()?;
            }
        }
        Ok((memory, state))
    }

    fn replace(&self, memory: &mut Memory) -> io::Result<()> {
        let _turn = self.lock()?;
        let (bytes, state) = memory.save(self.file()?.as_deref());
        if state == FileState::Damaged {
            self.set_aside()?;
        }
        if let Some(bytes) = bytes {
            self.put("memory", &bytes)?;
            memory.saved();
        }
        Ok(())
    }

    fn file(&self) -> io::Result<Option<Vec<u8>>> {
        // One byte more than the maximum is enough to know that the file isn't ours.
        private_file::read(&self.directory.join("memory"), MAX_FILE as u64 + 1)
    }

    /// Keeps a damaged file for analysis. The next one replaces it.
    fn set_aside(&self) -> io::Result<()> {
        fs::rename(self.directory.join("memory"), self.directory.join("memory.corrupt"))
    }

    /// Returns the key of this installation, which the first process creates. A file of another length is replaced.
    fn key(&self) -> io::Result<InstallKey> {
        const LENGTH: u64 = 16;
        let read = || -> io::Result<Option<InstallKey>> {
            let key = private_file::read(&self.directory.join("key"), LENGTH + 1)?;
            Ok(key.and_then(|key| key.try_into().ok()).map(InstallKey))
        };
        if let Some(key) = read()? {
            return Ok(key);
        }
        let _turn = self.lock()?;
        if let Some(key) = read()? {
            return Ok(key);
        }
        let key = random_key().ok_or_else(|| io::Error::other("the system gives no random numbers"))?;
        self.put("key", &key.0)?;
        Ok(key)
    }

    /// Writes a file so that it exists either completely or not at all. The caller holds the lock, because the name of
    /// the new file is fixed, so that one left behind by a crash is replaced.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        private_file::replace(&self.directory.join(name), &self.directory.join(format!("{name}.new")), bytes)?;
        // The rename itself must survive a power failure. Where directories can't be synced, nothing more can be done.
        let _ = File::open(&self.directory).and_then(|directory| directory.sync_all());
        Ok(())
    }

    fn lock(&self) -> io::Result<File> {
        private_file::create_directory(&self.directory)?;
        let file = private_file::open_lock(&self.directory.join("lock"))?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if started.elapsed() < MAX_WAIT => {
                    sleep(Duration::from_micros(fastrand::u64(500..5000)));
                }
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    fn error(&self, source: io::Error) -> StoreError {
        let directory = self.directory.clone();
        match source.kind() {
            io::ErrorKind::WouldBlock => StoreError::SaveLater { directory },
            _ => StoreError::ChooseDirectory { directory, source },
        }
    }
}

fn random_key() -> Option<InstallKey> {
    let mut key = [0; 16];
    rustls::crypto::ring::default_provider().secure_random.fill(&mut key).ok()?;
    Some(InstallKey(key))
}
