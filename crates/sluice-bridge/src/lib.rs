//! The boundary between the WebAssembly modules and JavaScript, the same for all of them.
//!
//! Only numbers cross. JavaScript writes bytes into a window of linear memory ([`input_window`]) and calls an export of
//! the module with their length. The module leaves its answer in linear memory, where [`header`] says: a table of rows,
//! and one arena with their contents. JavaScript decodes the arena once and slices it by the lengths in the table.
//!
//! Never let an export return an `externref`: Node 20 and 22 can abort the whole process on such a call.
//!
//! A module answers questions with [`answer`]: one row, [`ANSWER`] with the answer as JSON or [`PROBLEM`] with a sentence
//! that says what is wrong with the question. Work that takes several calls goes through [`work`].

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sluice_core::{ShellWork, WorkResult, WorkStep, mend_surrogates};

/// The kind of a row that continues the one before it.
pub const CONTINUED: u32 = 0;
/// The kind of a row with the answer to a question, as JSON.
pub const ANSWER: u32 = 1;
/// The kind of a row that says what is wrong with a question.
pub const PROBLEM: u32 = 2;
/// The kind of a row whose content is not text.
pub const BYTES: u32 = 3;
/// The first kind that a module can define itself.
pub const FIRST_OWN: u32 = 8;

/// What JavaScript reads after each call, at the address that [`header`] returns.
#[repr(C)]
#[derive(Debug, Default)]
struct Header {
    rows: u32,
    table: u32,
    arena: u32,
    arena_bytes: u32,
    /// Two numbers with a meaning that the module defines.
    extra: [u32; 2],
}

/// The window and the answer of this module.
#[derive(Debug, Default)]
pub struct Bridge {
    window: Vec<u8>,
    /// The answer to the last call.
    pub answer: Answer,
}

/// The answer to a call: rows of text or bytes.
#[derive(Debug, Default)]
pub struct Answer {
    header: Header,
    /// Three numbers for each row: kind, length in bytes, length in UTF-16 units.
    table: Vec<u32>,
    arena: Vec<u8>,
}

thread_local! {
    static BRIDGE: RefCell<Bridge> = RefCell::default();
    /// The work that has begun, by number.
    static WORK: RefCell<BTreeMap<u32, ShellWork>> = const { RefCell::new(BTreeMap::new()) };
}

/// Returns the fixed address of the header.
#[unsafe(no_mangle)]
pub extern "C" fn header() -> u32 {
    with(|bridge| address(&raw const bridge.answer.header))
}

/// Returns the address at which the next `length` bytes may be written.
#[unsafe(no_mangle)]
pub extern "C" fn input_window(length: u32) -> u32 {
    with(|bridge| {
        // One large chunk must not occupy memory forever.
        bridge.window.truncate(length as usize);
        bridge.window.shrink_to(1 << 20);
        bridge.window.resize(length as usize, 0);
        address(bridge.window.as_ptr())
    })
}

/// Provides access to the window and the answer.
pub fn with<R>(use_bridge: impl FnOnce(&mut Bridge) -> R) -> R {
    BRIDGE.with_borrow_mut(use_bridge)
}

/// Answers the question in the first `length` bytes of the window, which is JSON.
pub fn answer<Question: DeserializeOwned>(length: u32, reply: impl FnOnce(Question) -> Result<String, String>) {
    with(|bridge| {
        bridge.answer.clear();
        match bridge.read(length).and_then(reply) {
            Ok(json) => bridge.answer.row(ANSWER, &json),
            Err(problem) => bridge.answer.row(PROBLEM, &problem),
        }
        bridge.answer.publish([0; 2]);
    });
}

/// Starts work if `number` is 0; the window then has the task as JSON. Otherwise continues the work with this number; the
/// window then has the [`WorkResult`] of its last step, as JSON or, if `is_content` is 1, the content of a file. Answers with the
/// next [`WorkStep`], and with the content of the file that it writes. The first extra number is the number of the work.
pub fn work<Task: DeserializeOwned>(length: u32, number: u32, is_content: u32, start: impl FnOnce(Task) -> ShellWork) {
    with(|bridge| {
        let step = bridge.next_step(length, number, is_content != 0, start);
        bridge.answer.clear();
        let number = match step {
            Ok((number, step)) => {
                bridge.answer.json_row(ANSWER, &step);
                if let WorkStep::Write { content, .. } = &step {
                    bridge.answer.bytes_row(content);
                }
                number
            }
            Err(problem) => {
                bridge.answer.row(PROBLEM, &problem);
                0
            }
        };
        bridge.answer.publish([number, 0]);
    });
}

/// Gives up work of which a step failed.
#[unsafe(no_mangle)]
pub extern "C" fn drop_work(number: u32) {
    WORK.with_borrow_mut(|all| all.remove(&number));
}

/// Returns a value as the JSON of an answer.
pub fn to_json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

impl Bridge {
    /// Returns the first `length` bytes of the window, and the answer to fill.
    pub fn parts(&mut self, length: u32) -> (&[u8], &mut Answer) {
        (self.window.get(..length as usize).unwrap_or_default(), &mut self.answer)
    }

    fn next_step<Task: DeserializeOwned>(
        &self,
        length: u32,
        number: u32,
        is_content: bool,
        start: impl FnOnce(Task) -> ShellWork,
    ) -> Result<(u32, WorkStep), String> {
        let (number, mut work, result) = if number == 0 {
            let last = WORK.with_borrow(|all| all.last_key_value().map_or(0, |(last, _)| *last));
            (last + 1, start(self.read(length)?), None)
        } else {
            let work = WORK.with_borrow_mut(|all| all.remove(&number)).ok_or("there is no such work")?;
            let content = || self.window.get(..length as usize).unwrap_or_default().to_vec();
            let result = if is_content { WorkResult::Content(content()) } else { self.read(length)? };
            (number, work, Some(result))
        };
        let step = work.next(result);
        if !matches!(step, WorkStep::Done { .. }) {
            WORK.with_borrow_mut(|all| all.insert(number, work));
        }
        Ok((number, step))
    }

    /// Reads JSON from the window. Unpaired surrogates, which JavaScript writes and JSON doesn't allow, are replaced.
    pub fn read<T: DeserializeOwned>(&self, length: u32) -> Result<T, String> {
        let text = String::from_utf8_lossy(self.window.get(..length as usize).unwrap_or_default());
        let read = serde_json::from_str(&text)
            .or_else(|error| serde_json::from_str(&mend_surrogates(&text)).map_err(|_| error));
        read.map_err(|error| format!("the question cannot be read: {error}"))
    }
}

impl Answer {
    /// Removes all rows.
    pub fn clear(&mut self) {
        self.table.clear();
        self.table.shrink_to(1 << 16);
        self.arena.clear();
        // One large answer must not occupy memory forever.
        self.arena.shrink_to(1 << 20);
        self.publish([0; 2]);
    }

    /// Adds a row of text.
    pub fn row(&mut self, kind: u32, text: &str) {
        self.append(text.as_bytes());
        self.table.extend([kind, length(text.len()), utf16_length(text)]);
    }

    /// Adds a row of JSON.
    #[inline(never)]
    pub fn json_row(&mut self, kind: u32, value: &impl Serialize) {
        self.row(kind, &serde_json::to_string(value).unwrap_or_default());
    }

    /// Adds a row of bytes. Rows of text must not follow: JavaScript finds text by its length in UTF-16 units.
    pub fn bytes_row(&mut self, bytes: &[u8]) {
        self.append(bytes);
        self.table.extend([BYTES, length(bytes.len()), 0]);
    }

    /// Appends to the last row if it is of this kind, and returns whether it was.
    pub fn extend_row(&mut self, kind: u32, text: &str) -> bool {
        let [.., last, bytes, units] = self.table.as_mut_slice() else { return false };
        if *last != kind {
            return false;
        }
        *bytes += length(text.len());
        *units += utf16_length(text);
        self.append(text.as_bytes());
        true
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.arena.capacity() - self.arena.len() < bytes.len() {
            self.make_room(bytes.len());
        }
        self.arena.extend_from_slice(bytes);
    }

    /// An image has many megabytes, and the rows after it are small. Doubling the arena for them, as a vector does, would take
    /// twice the image's size again.
    #[inline(never)]
    fn make_room(&mut self, bytes: usize) {
        let needed = self.arena.len() + bytes;
        let spare = if needed < 1 << 20 { needed } else { needed / 8 };
        self.arena.reserve_exact(bytes + spare);
    }

    /// Writes the header, through which JavaScript finds the answer.
    pub fn publish(&mut self, extra: [u32; 2]) {
        self.header = Header {
            rows: length(self.table.len() / 3),
            table: address(self.table.as_ptr()),
            arena: address(self.arena.as_ptr()),
            arena_bytes: length(self.arena.len()),
            extra,
        };
    }
}

fn utf16_length(text: &str) -> u32 {
    length(if text.is_ascii() { text.len() } else { text.encode_utf16().count() })
}

#[expect(clippy::cast_possible_truncation, reason = "linear memory has 32-bit addresses")]
fn length(length: usize) -> u32 {
    length as u32
}

#[expect(clippy::cast_possible_truncation, reason = "linear memory has 32-bit addresses")]
fn address<T>(pointer: *const T) -> u32 {
    pointer as usize as u32
}
