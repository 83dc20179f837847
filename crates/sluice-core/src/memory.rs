//! What outlives a window: known counts, correction factors and the history of usage, in one file.
//!
//! A shell reads the file once ([`Memory::read`]), asks and tells while it runs, and now and then writes: under a lock it
//! reads the file again, hands it to [`Memory::save`], writes the bytes it gets to a new file, renames that over the old
//! one, and calls [`Memory::saved`]. Several windows do so by turns and nothing is lost: counts are united, usage is added.

mod file;

pub use file::MAX_FILE;

pub use crate::boundary::FileState;
use crate::boundary::{ChatMessage, ChatRequest, RequestUsage, Usage};
use crate::tokens::{Calibration, Counter, Estimate, InstallKey, Known, Piece};
use crate::usage::History;

#[derive(Clone, Debug)]
pub struct Memory {
    key: InstallKey,
    known: Known,
    calibration: Calibration,
    /// As the file has it.
    history: History,
    /// What is not in the file yet.
    unsaved: History,
}

impl Memory {
    pub fn new(key: InstallKey) -> Self {
        Self {
            key,
            known: Known::new(key),
            calibration: Calibration::default(),
            history: History::default(),
            unsaved: History::default(),
        }
    }

    /// From the file's bytes, or from no file. Never fails: what cannot be read is an empty memory.
    pub fn read(key: InstallKey, file: Option<&[u8]>) -> (Self, FileState) {
        let mut memory = Self::new(key);
        let state = memory.take_in(file);
        (memory, state)
    }

    /// How many input tokens the request has. `family` is what its correction factor is kept for; `raw` counts a piece
    /// without any correction.
    pub fn estimate(&self, chat: &ChatRequest, family: &str, raw: &dyn Fn(Piece<'_>) -> u32) -> Estimate {
        self.known.estimate(chat, self.calibration.factor(family), raw)
    }

    /// After an answer: what the server counted, and the message that the next request will repeat the answer as.
    pub fn learn(
        &mut self,
        chat: &ChatRequest,
        family: &str,
        answer: Option<&ChatMessage>,
        usage: &Usage,
        raw: &dyn Fn(Piece<'_>) -> u32,
        today: u32,
    ) {
        let factor = self.calibration.factor(family);
        if let Some(answer) = answer {
            self.known.learn_thoughts(answer, usage, today);
        }
        // The output tokens of an answer hold more than the answer. Where the vocabulary is public our own count is nearer.
        let answer = answer.filter(|_| !Counter::about(&chat.model).own_vocabulary);
        if let Some(measured) = self.known.learn(chat, answer, usage, factor, raw, today) {
            self.calibration.learn(family, measured, today);
        }
    }

    /// Into the history. Days are numbered from 1970-01-01 on.
    pub fn record(&mut self, usage: &RequestUsage, today: u32) {
        self.unsaved.add(today, usage);
    }

    pub fn known(&self) -> &Known {
        &self.known
    }

    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// All of it, saved or not.
    pub fn history(&self) -> History {
        let mut all = self.history.clone();
        all.merge(&self.unsaved);
        all
    }

    /// The bytes to write in place of the file's; `None` if the file is a newer version's and must be left alone.
    pub fn save(&mut self, file: Option<&[u8]>) -> (Option<Vec<u8>>, FileState) {
        let state = self.take_in(file);
        (state.may_write().then(|| file::write(&self.known, &self.calibration, &self.history())), state)
    }

    /// What [`save`](Self::save) gave is in the file now. Without this call the same usage is added again the next time.
    pub fn saved(&mut self) {
        self.history = self.history();
        self.unsaved = History::default();
    }

    fn take_in(&mut self, file: Option<&[u8]>) -> FileState {
        let (read, state) = file::read(self.key, file);
        if let Some((known, calibration, history)) = read {
            self.known.merge(known);
            self.calibration.merge(&calibration);
            self.history = history;
        } else if state == FileState::Missing {
            // Somebody deleted it, and meant it.
            self.history = History::default();
        }
        state
    }
}
