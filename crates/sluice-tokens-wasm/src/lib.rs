//! Token counts for JavaScript. A module of its own, because the vocabularies are megabytes and streaming must start at once:
//! JavaScript loads it when there is time, and counts with the core's estimate until then.
//!
//! The same boundary as `sluice-wasm`: UTF-8 is written into the input window, one call counts it, only integers cross. What
//! is more than a number lies as JSON at [`answer`].

mod books;

use std::cell::RefCell;

use sluice_core::{ChatMessage, ChatRequest, Counter, Endpoint, FileState, InstallKey, TokenBreakdown, build_request};

use books::Books;

/// What a count is that could not be made: the input was not what it should be.
const BAD_INPUT: u32 = u32::MAX;

#[derive(Debug, Default)]
struct Face {
    input: Vec<u8>,
    answer: String,
    books: Books,
    /// The file of the books, to be written.
    file: Vec<u8>,
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

/// The family of the model whose id stands in the window. Models of one family count alike.
#[unsafe(no_mangle)]
pub extern "C" fn family(length: u32) -> u32 {
    with_text(length, |_, model| u32::try_from(Counter::family_index(model)).unwrap_or(0))
}

/// The tokens of the text in the window. The first count of a family builds its vocabulary.
#[unsafe(no_mangle)]
pub extern "C" fn count_text(family: u32, length: u32) -> u32 {
    with_text(length, |_, text| Counter::exact().text_in_family(family as usize, text))
}

/// The tokens of a message: the window holds `model_length` bytes of the model's id, then the message as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn count_message(model_length: u32, length: u32) -> u32 {
    with_text(length, |_, text| {
        let Some((model, json)) = text.split_at_checked(model_length as usize) else { return BAD_INPUT };
        match ChatMessage::from_json(json) {
            Ok(message) => Counter::exact().message(model, &message),
            Err(_) => BAD_INPUT,
        }
    })
}

/// The breakdown of the chat (JSON) in the window; gives its length.
#[unsafe(no_mangle)]
pub extern "C" fn count_chat(length: u32) -> u32 {
    with_text(length, |answer, text| match ChatRequest::from_json(text) {
        Ok(chat) => {
            let endpoint = Endpoint { origin: String::new(), base_url: String::new() };
            let body = build_request(&chat, &endpoint).request.body;
            write(answer, &Counter::exact().request_body(body.as_bytes()).unwrap_or_default())
        }
        Err(_) => BAD_INPUT,
    })
}

/// The breakdown of the request body in the window; gives its length.
#[unsafe(no_mangle)]
pub extern "C" fn count_request(length: u32) -> u32 {
    with_text(length, |answer, text| match Counter::exact().request_body(text.as_bytes()) {
        Ok(breakdown) => write(answer, &breakdown),
        Err(_) => BAD_INPUT,
    })
}

/// The address of the last breakdown.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> u32 {
    FACE.with_borrow(|face| address(face.answer.as_ptr()))
}

/// Answers a question to the books (`books.rs`) and gives the length of the answer, which is JSON; or of what is wrong with
/// the question, with the highest bit set.
#[unsafe(no_mangle)]
pub extern "C" fn ask(question: u32, length: u32) -> u32 {
    const PROBLEM: u32 = 1 << 31;
    FACE.with_borrow_mut(|face| {
        let Face { input, answer, books, .. } = face;
        let json = String::from_utf8_lossy(input.get(..length as usize).unwrap_or_default());
        let (flag, text) = match books.answer(question, &json) {
            Ok(text) => (0, text),
            Err(problem) => (PROBLEM, problem),
        };
        *answer = text;
        u32::try_from(answer.len()).unwrap_or(0) | flag
    })
}

/// Opens the books of an installation: the window holds its key of 16 bytes and, if there is one, the file. Gives what the
/// file turned out to be: 0 good, 1 missing, 2 damaged, 3 of a newer version.
#[unsafe(no_mangle)]
pub extern "C" fn books_read(length: u32, has_file: u32) -> u32 {
    FACE.with_borrow_mut(|face| {
        let bytes = face.input.get(..length as usize).unwrap_or_default();
        let Some((key, file)) = bytes.split_first_chunk::<16>() else { return BAD_INPUT };
        match face.books.read(InstallKey(*key), (has_file != 0).then_some(file)) {
            FileState::Good => 0,
            FileState::Missing => 1,
            FileState::Damaged => 2,
            FileState::Newer => 3,
        }
    })
}

/// What to put in the place of the file whose bytes are in the window; gives its length, or 0 if it must be left alone.
#[unsafe(no_mangle)]
pub extern "C" fn books_save(length: u32, has_file: u32) -> u32 {
    FACE.with_borrow_mut(|face| {
        let file = face.input.get(..length as usize).unwrap_or_default();
        face.file = face.books.save((has_file != 0).then_some(file)).unwrap_or_default();
        u32::try_from(face.file.len()).unwrap_or(0)
    })
}

/// Where those bytes are.
#[unsafe(no_mangle)]
pub extern "C" fn books_file() -> u32 {
    FACE.with_borrow(|face| address(face.file.as_ptr()))
}

/// They are in the file now.
#[unsafe(no_mangle)]
pub extern "C" fn books_saved() {
    FACE.with_borrow_mut(|face| {
        face.file = Vec::new();
        face.books.saved();
    });
}

fn with_text(length: u32, count: impl FnOnce(&mut String, &str) -> u32) -> u32 {
    FACE.with_borrow_mut(|face| {
        let Face { input, answer, .. } = face;
        let bytes = input.get(..length as usize).unwrap_or_default();
        // JavaScript's encoder writes nothing else, so the copy is never made.
        count(answer, &String::from_utf8_lossy(bytes))
    })
}

fn write(answer: &mut String, breakdown: &TokenBreakdown) -> u32 {
    *answer = serde_json::to_string(breakdown).unwrap_or_default();
    u32::try_from(answer.len()).unwrap_or(BAD_INPUT)
}

#[expect(clippy::cast_possible_truncation, reason = "linear memory has 32-bit addresses")]
fn address<T>(pointer: *const T) -> u32 {
    pointer as usize as u32
}
