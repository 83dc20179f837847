//! The embedded gateway inside the extension: its responder behind plain exports. It is a separate module because users
//! with a key never load it. How data crosses is documented in `sluice-bridge`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use sluice_bridge::ANSWER;
use sluice_simulator::{Chunks, Options, Request, Responder};

/// The delay that [`next`] returns at the end of a body.
const END: u32 = u32::MAX;

struct State {
    responder: Responder,
    /// The bodies that are being read, by handle.
    bodies: BTreeMap<u32, Chunks>,
    next_handle: u32,
}

thread_local! {
    static STATE: RefCell<State> =
        RefCell::new(State { responder: Responder::new(Options::default()), bodies: BTreeMap::new(), next_handle: 0 });
}

/// A request as JavaScript writes it.
#[derive(Default, Deserialize)]
struct Question {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// Answers the request in the first `length` bytes of the window, which is JSON. The answer is the head of the response
/// as JSON; the first extra number is a handle for its body.
#[unsafe(no_mangle)]
pub extern "C" fn respond(length: u32, now_ms: f64) {
    sluice_bridge::with(|bridge| {
        let Question { method, path, headers, body } = bridge.read(length).unwrap_or_default();
        let request = Request { method, path, headers, body: body.into_bytes() };
        STATE.with_borrow_mut(|State { responder, bodies, next_handle }| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time since 1970")]
            let reply = responder.respond(&request, now_ms as u64);
            bridge.answer.clear();
            bridge.answer.json_row(ANSWER, &json!({"status": reply.status, "headers": reply.headers}));
            *next_handle = next_handle.wrapping_add(1);
            bodies.insert(*next_handle, reply.chunks);
            bridge.answer.publish([*next_handle, 0]);
        });
    });
}

/// Answers with the next chunk of a body; the first extra number says how many milliseconds to wait before it. At the
/// end, the answer is empty and the number is `u32::MAX`, which also frees the handle.
#[unsafe(no_mangle)]
pub extern "C" fn next(body: u32) {
    sluice_bridge::with(|bridge| {
        bridge.answer.clear();
        STATE.with_borrow_mut(|State { bodies, .. }| {
            if let Some(chunk) = bodies.get_mut(&body).and_then(Iterator::next) {
                bridge.answer.bytes_row(&chunk.bytes);
                bridge.answer.publish([u32::try_from(chunk.delay_ms).unwrap_or(END - 1), 0]);
            } else {
                bodies.remove(&body);
                bridge.answer.publish([END, 0]);
            }
        });
    });
}

/// Frees the handle of a body that isn't read to its end.
#[unsafe(no_mangle)]
pub extern "C" fn close(body: u32) {
    STATE.with_borrow_mut(|State { bodies, .. }| bodies.remove(&body));
}
