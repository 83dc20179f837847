//! Everything that outlives a window, in one file: known counts, correction factors and the history of usage.
//!
//! A shell reads the file once with [`Memory::read`]. To save, it takes a lock, reads the file again, passes it to
//! [`Memory::save`], writes the returned bytes to a new file, renames that over the old one, and calls
//! [`Memory::saved`]. Several windows can take turns at this and nothing is lost: counts are merged and usage is added.

mod file;

pub use file::MAX_FILE;

pub use crate::boundary::FileState;
use crate::boundary::{ChatMessage, Dollars, RequestUsage, Totals, Usage};
use crate::send::Prompt;
use crate::tokens::{Calibration, Counter, Estimate, InstallKey, KnownCounts, Piece};
use crate::usage::History;

/// What an installation remembers between sessions. See the module's description.
#[derive(Clone, Debug)]
pub struct Memory {
    key: InstallKey,
    known: KnownCounts,
    calibration: Calibration,
    /// The history in the file.
    history: History,
    /// The usage that isn't in the file yet.
    unsaved: History,
    /// The usage that is being written, between [`save`](Self::save) and [`saved`](Self::saved). Requests may end in the
    /// meantime.
    saving: History,
    /// How many requests were recorded; how many of them the last [`save`](Self::save) contains; and how many are in the
    /// file.
    recorded: u64,
    in_save: u64,
    in_file: u64,
}

impl Memory {
    /// Returns an empty memory.
    pub fn new(key: InstallKey) -> Self {
        Self {
            key,
            known: KnownCounts::new(key),
            calibration: Calibration::default(),
            history: History::default(),
            unsaved: History::default(),
            saving: History::default(),
            recorded: 0,
            in_save: 0,
            in_file: 0,
        }
    }

    /// Forgets everything that was read from files, so that they can be [added](Self::add) again. Usage that isn't in a file
    /// yet stays.
    pub fn reopen(&mut self, key: InstallKey) {
        let Self { unsaved, saving, recorded, in_save, in_file, .. } = std::mem::replace(self, Self::new(key));
        *self = Self { unsaved, saving, recorded, in_save, in_file, ..Self::new(key) };
    }

    /// Reads the file's bytes; `None` means that there is no file. This never fails: a file that can't be read gives an
    /// empty memory.
    pub fn read(key: InstallKey, file: Option<&[u8]>) -> (Self, FileState) {
        let mut memory = Self::new(key);
        let state = memory.merge_file(file);
        (memory, state)
    }

    /// Adds another file of the same installation. For shells that can't lock a file and therefore keep several, of which
    /// each window writes one at a time: counts are merged and usage is added, so it doesn't matter which file has what.
    pub fn add(&mut self, file: &[u8]) -> FileState {
        let (read, state) = file::read(self.key, Some(file));
        if let Some((known, calibration, history)) = read {
            self.known.merge(known);
            self.calibration.merge(&calibration);
            self.history.merge(&history);
        }
        state
    }

    /// Estimates the input tokens of a request. `raw` counts a piece without any correction.
    pub fn estimate(&self, prompt: &Prompt, raw: &dyn Fn(Piece<'_>) -> u32) -> Estimate {
        let scope = Calibration::scope(&prompt.origin, &prompt.model);
        self.known.estimate(prompt, self.calibration.factor(&scope), raw)
    }

    /// Learns from an answer: from the server's count, and from the message by which the next request will repeat the
    /// answer.
    pub fn learn(
        &mut self,
        prompt: &Prompt,
        answer: Option<&ChatMessage>,
        usage: &Usage,
        raw: &dyn Fn(Piece<'_>) -> u32,
        today: u32,
    ) {
        let scope = Calibration::scope(&prompt.origin, &prompt.model);
        let factor = self.calibration.factor(&scope);
        if let Some(answer) = answer {
            let answer = Prompt::of_message(&prompt.model, answer).at(&prompt.origin);
            self.known.learn_reasoning(&answer, usage, today);
            // An answer's output tokens include more than the answer itself. If the model's vocabulary is public, our
            // own count is closer.
            if !Counter::about(&prompt.model).own_vocabulary {
                self.known.learn_answer(&answer, usage, factor, raw, today);
            }
        }
        if let Some(measured) = self.known.learn(prompt, usage, factor, raw, today) {
            self.calibration.learn(&scope, measured, today);
        }
    }

    /// Adds a request to the history. Days are numbered from 1970-01-01.
    pub fn record(&mut self, usage: &RequestUsage, today: u32) {
        self.recorded += 1;
        self.unsaved.add(today, usage);
    }

    /// Returns the number of the last request that was recorded. Numbers begin with 1.
    pub(crate) fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Returns the number of the last request that is in the file, with all before it.
    pub(crate) fn in_file(&self) -> u64 {
        self.in_file
    }

    /// Returns the counts that servers have reported.
    pub fn known(&self) -> &KnownCounts {
        &self.known
    }

    /// Returns the correction factors.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Returns the whole history, saved or not.
    pub fn history(&self) -> History {
        let mut all = self.history.clone();
        all.merge(&self.saving);
        all.merge(&self.unsaved);
        all
    }

    /// Returns how many tokens the answers of a model have on average, and what its requests cost on average.
    pub(crate) fn averages(&self, model: &str) -> (Option<u64>, Option<Dollars>) {
        let mut sum = Totals::default();
        let history = self.history();
        history.rows().filter(|(_, name, _)| *name == model).for_each(|(_, _, totals)| sum.merge(totals));
        let priced = sum.requests.saturating_sub(sum.uncounted).saturating_sub(sum.unpriced);
        let cost = sum.cost.0.checked_div(priced).filter(|cost| *cost > 0);
        (sum.output_tokens.checked_div(sum.requests.saturating_sub(sum.uncounted)), cost.map(Dollars))
    }

    /// Returns the bytes to replace the file with, or `None` if the file was written by a newer version and must be
    /// left alone.
    pub fn save(&mut self, file: Option<&[u8]>) -> (Option<Vec<u8>>, FileState) {
        let state = self.merge_file(file);
        // If the last attempt to write failed, this one contains its usage too.
        self.saving.merge(&std::mem::take(&mut self.unsaved));
        self.in_save = self.recorded;
        (state.may_write().then(|| file::write(&self.known, &self.calibration, &self.history())), state)
    }

    /// Records that the bytes from [`save`](Self::save) are in the file. Without this call the same usage would be
    /// added again the next time. Requests that ended since then are not in the file.
    pub fn saved(&mut self) {
        self.history.merge(&std::mem::take(&mut self.saving));
        self.in_file = self.in_save;
    }

    fn merge_file(&mut self, file: Option<&[u8]>) -> FileState {
        let (read, state) = file::read(self.key, file);
        if let Some((known, calibration, history)) = read {
            self.known.merge(known);
            self.calibration.merge(&calibration);
            self.history = history;
        } else if state == FileState::Missing {
            // The user deleted the file, so the history starts again.
            self.history = History::default();
        }
        state
    }
}
