//! The demo gateway inside the extension: the embedded gateway's responder behind plain exports. A module of its own,
//! because nobody who has a key ever loads it.
//!
//! JavaScript writes a request as JSON (`method`, `path`, `headers`, `body`) into the input window and calls
//! [`respond`]; the head of the reply comes as JSON, and [`next`] gives one piece of the body after the other. What a
//! call gives lies where [`output`] says, as long as it says.

use std::cell::RefCell;

use serde_json::{Value, json};
use sluice_simulator::{Chunks, Options, Request, Responder};

#[derive(Default)]
struct Face {
    responder: Responder,
    input: Vec<u8>,
    output: Vec<u8>,
    /// By handle; the place of a body that was sent is given to the next.
    bodies: Vec<Option<Chunks>>,
}

thread_local! {
    static FACE: RefCell<Face> = RefCell::new(Face { responder: Responder::new(Options::default()), ..Face::default() });
}

/// The address where the next `length` bytes may be written.
#[unsafe(no_mangle)]
pub extern "C" fn input_window(length: u32) -> u32 {
    FACE.with_borrow_mut(|face| {
        face.input.resize(length as usize, 0);
        address(face.input.as_ptr())
    })
}

/// Where the last call's bytes are; how many, [`output_length`] says.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> u32 {
    FACE.with_borrow(|face| address(face.output.as_ptr()))
}

#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> u32 {
    FACE.with_borrow(|face| u32::try_from(face.output.len()).unwrap_or_default())
}

/// Answers the request in the first `length` bytes of the input window and returns the handle of the body.
#[unsafe(no_mangle)]
pub extern "C" fn respond(length: u32, now_ms: f64) -> u32 {
    FACE.with_borrow_mut(|face| {
        let request = read(face.input.get(..length as usize).unwrap_or_default());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time since 1970")]
        let reply = face.responder.respond(&request, now_ms as u64);
        face.output = json!({"status": reply.status, "headers": reply.headers}).to_string().into_bytes();
        let free = face.bodies.iter().position(Option::is_none).unwrap_or_else(|| {
            face.bodies.push(None);
            face.bodies.len() - 1
        });
        if let Some(place) = face.bodies.get_mut(free) {
            *place = Some(reply.chunks);
        }
        u32::try_from(free).unwrap_or(u32::MAX)
    })
}

/// Puts the next piece of a body into the output and returns how many milliseconds it waits; -1 at the end, which also
/// frees the handle.
#[unsafe(no_mangle)]
pub extern "C" fn next(body: u32) -> i32 {
    FACE.with_borrow_mut(|face| {
        face.output.clear();
        let Some(place) = face.bodies.get_mut(body as usize) else { return -1 };
        let Some(chunk) = place.as_mut().and_then(Iterator::next) else {
            *place = None;
            return -1;
        };
        face.output = chunk.bytes;
        i32::try_from(chunk.delay_ms).unwrap_or(i32::MAX)
    })
}

/// Frees the handle of a body that nobody reads to its end.
#[unsafe(no_mangle)]
pub extern "C" fn close(body: u32) {
    FACE.with_borrow_mut(|face| {
        if let Some(place) = face.bodies.get_mut(body as usize) {
            *place = None;
        }
    });
}

fn read(json: &[u8]) -> Request {
    let value: Value = serde_json::from_slice(json).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let header = |pair: &Value| (text(&pair[0]), text(&pair[1]));
    Request {
        method: text(&value["method"]),
        path: text(&value["path"]),
        headers: value["headers"].as_array().map(|headers| headers.iter().map(header).collect()).unwrap_or_default(),
        body: text(&value["body"]).into_bytes(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "linear memory has 32-bit addresses")]
fn address<T>(pointer: *const T) -> u32 {
    pointer as usize as u32
}
