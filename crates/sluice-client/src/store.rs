//! Where the core's memory lies between runs: a directory with the file, its lock and the key of this installation.
//!
//! Writers take turns by the lock, read what others wrote, and put a whole new file in place of the old one. The lock is the
//! operating system's: it goes when its holder does, so nobody waits for a process that was killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use sluice_core::{FileState, InstallKey, MAX_FILE, Memory};

use crate::private_file;

/// A save is put off when others hold the lock for longer than this.
const MAX_WAIT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// What is remembered, and a word to the user if something is wrong with it. Always gives a memory: without a file, or a
    /// directory to put one in, it lasts for this run only.
    pub fn open(directory: impl Into<PathBuf>) -> (Self, Memory, Option<String>) {
        let store = Self { directory: directory.into() };
        match store.read() {
            Ok((memory, state)) => (store, memory, state.note().map(str::to_owned)),
            Err(error) => {
                // A key that nobody else has: what is learned in this run stays comparable within it.
                let key = random_key().unwrap_or(InstallKey([0; 16]));
                let message = store.complaint(&error);
                (store, Memory::new(key), Some(message))
            }
        }
    }

    /// Brings the file and the memory together. After an error everything is still in memory; the next save has it.
    pub fn save(&self, memory: &mut Memory) -> Result<(), String> {
        self.replace(memory).map_err(|error| self.complaint(&error))
    }

    fn read(&self) -> io::Result<(Memory, FileState)> {
        // Hashes and costs say when somebody worked on what: they are kept in nobody else's directory.
        private_file::create_directory(&self.directory)?;
        let key = self.key()?;
        let (memory, state) = Memory::read(key, self.file()?.as_deref());
        if state == FileState::Damaged {
            let _turn = self.lock()?;
            // Somebody may have replaced it since.
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
        // One byte more than a file may have is enough to know that it is not ours.
        private_file::read(&self.directory.join("memory"), MAX_FILE as u64 + 1)
    }

    /// For whoever wants to know what happened; the next one takes its place.
    fn set_aside(&self) -> io::Result<()> {
        fs::rename(self.directory.join("memory"), self.directory.join("memory.corrupt"))
    }

    /// The key of this installation; made by whoever comes first. A file that has another length is replaced.
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

    /// A file that is there whole or not at all, whatever happens. Only under the lock: the name of the new file is fixed,
    /// so that one left behind by a crash is replaced.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        private_file::replace(&self.directory.join(name), &self.directory.join(format!("{name}.new")), bytes)?;
        // The rename itself must outlast a power failure; where directories cannot be synced it is as good as it gets.
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
                Err(TryLockError::WouldBlock) => return Err(io::Error::other("another process holds the lock")),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    fn complaint(&self, error: &io::Error) -> String {
        let directory = self.directory.display();
        format!("token counts and usage are not kept: {directory}: {error}. Set SLUICE_HOME to a directory of your own")
    }
}

fn random_key() -> Option<InstallKey> {
    let mut key = [0; 16];
    rustls::crypto::ring::default_provider().secure_random.fill(&mut key).ok()?;
    Some(InstallKey(key))
}
