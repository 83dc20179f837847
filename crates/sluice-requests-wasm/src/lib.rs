//! What an editor asks the core before and around an answer: where requests go, what is sent, which models there are. A
//! module of its own, because whoever only reads answers (the adapter package) needs none of it, and the first answer
//! must not wait for it.
//!
//! Plain exports, as in `sluice-wasm`: JavaScript writes a question as JSON into the input window, [`ask`] answers it
//! with JSON that lies where [`output`] says.

mod questions;

use std::cell::RefCell;

#[derive(Debug, Default)]
struct Face {
    input: Vec<u8>,
    output: String,
}

thread_local! {
    static FACE: RefCell<Face> = RefCell::default();
}

/// The address where the next `length` bytes may be written.
#[unsafe(no_mangle)]
pub extern "C" fn input_window(length: u32) -> u32 {
    FACE.with_borrow_mut(|face| {
        face.input.resize(length as usize, 0);
        address(face.input.as_ptr())
    })
}

/// Where the last answer is; how long it is, [`output_length`] says.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> u32 {
    FACE.with_borrow(|face| address(face.output.as_ptr()))
}

#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> u32 {
    FACE.with_borrow(|face| u32::try_from(face.output.len()).unwrap_or_default())
}

/// Answers the question in the first `length` bytes of the input window: 1 with the answer as JSON, or 0 with what is
/// wrong with the question.
#[unsafe(no_mangle)]
pub extern "C" fn ask(question: u32, length: u32) -> u32 {
    FACE.with_borrow_mut(|face| {
        // Long conversations leave long questions behind.
        face.output = String::new();
        let json = String::from_utf8_lossy(face.input.get(..length as usize).unwrap_or_default());
        let (is_answer, output) = match questions::answer(question, &json) {
            Ok(answer) => (1, answer),
            Err(problem) => (0, problem),
        };
        face.output = output;
        is_answer
    })
}

#[expect(clippy::cast_possible_truncation, reason = "linear memory has 32-bit addresses")]
fn address<T>(pointer: *const T) -> u32 {
    pointer as usize as u32
}
