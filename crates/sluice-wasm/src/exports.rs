//! [`Exchange`] behind plain exports: one call for each network chunk, no decisions. The root of the crate says in which
//! format answers come: `crate::Answers`.
//!
//! How data crosses is documented in `sluice-bridge`. After each call the answer has the outputs since the last one and
//! says what the shell has to do next: either the header's extra numbers are [`READ`] and a time limit in milliseconds, or
//! the last row has the action. Each output takes as many rows as it has strings. The first row names its kind, the
//! others say [`CONTINUED`]:
//!
//! | kind | strings |
//! |---|---|
//! | [`TEXT`] | value |
//! | [`THINKING`] | id, value |
//! | [`THINKING_REPLAY`] | id, value, replay as JSON |
//! | [`TOOL_CALL`] | call id, name, input as JSON |
//! | [`DATA`] | mime type, base64 |
//! | [`CITATIONS`] | the part as JSON |
//! | [`NOTE`] | the note as JSON |
//! | [`ACTION`] | the action as JSON |

use std::cell::RefCell;

use serde::Deserialize;
#[cfg(not(answers_only))]
use sluice_bridge::ANSWER;
use sluice_bridge::{Answer, CONTINUED, FIRST_OWN};
use sluice_core::{Action, ConnectionError, ExchangeOptions, Output, Part};

type Exchange = sluice_core::Exchange<crate::Answers>;

// The kinds of rows. A test writes these numbers, and those below, to the loader's `numbers.ts`.
pub const TEXT: u32 = FIRST_OWN;
pub const THINKING: u32 = FIRST_OWN + 1;
pub const THINKING_REPLAY: u32 = FIRST_OWN + 2;
pub const TOOL_CALL: u32 = FIRST_OWN + 3;
pub const DATA: u32 = FIRST_OWN + 4;
pub const CITATIONS: u32 = FIRST_OWN + 5;
pub const NOTE: u32 = FIRST_OWN + 6;
pub const ACTION: u32 = FIRST_OWN + 7;

/// The first extra number if the shell has to read more of the body.
pub const READ: u32 = 1;

// Events without data that a shell can report to an exchange.
pub const BODY_ENDED: u32 = 0;
pub const CANNOT_CONNECT: u32 = 1;
pub const CONNECTION_BROKE: u32 = 2;
pub const TIME_IS_UP: u32 = 3;
pub const CANCEL: u32 = 4;
pub const CANCEL_UNSEEN: u32 = 5;
pub const CRASHED: u32 = 6;
pub const RAN_OUT_OF_MEMORY: u32 = 7;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static MEMORY: crate::allocator::Memory = crate::allocator::Memory::new();

thread_local! {
    /// The loader gives every exchange an instance of this module to itself, so there is never more than one.
    static EXCHANGE: RefCell<Option<Exchange>> = const { RefCell::new(None) };
}

/// Returns whether the last call trapped because there was no memory left. It is the only export that may be called after
/// a trap.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
pub extern "C" fn ran_out_of_memory() -> u32 {
    u32::from(MEMORY.ran_out())
}

/// Starts an exchange. The first `length` bytes of the window are [`ExchangeOptions`] as JSON, or nothing. With
/// `is_reading`, it starts in the body of a response, otherwise by sending the request. Here and below, `now_ms` is the
/// time in milliseconds of any monotonic clock.
#[unsafe(no_mangle)]
pub extern "C" fn exchange_open(length: u32, is_reading: u32, now_ms: f64) {
    let options = if length == 0 { ExchangeOptions::default() } else { options(length) };
    let exchange = if is_reading == 0 { Exchange::of(options) } else { Exchange::of_body(options) };
    EXCHANGE.set(Some(exchange));
    tell(0, now_ms, |_, _| {});
}

/// Passes the head of a response to the exchange. It is JSON in the first `length` bytes of the window.
#[unsafe(no_mangle)]
pub extern "C" fn exchange_head(length: u32, now_ms: f64) {
    #[derive(Deserialize)]
    struct Head {
        status: u16,
        headers: Vec<(String, String)>,
        /// Seconds since 1970.
        now: u64,
    }
    tell(length, now_ms, |exchange, json| {
        // All JSON in this module is read from text, so that it needs only one instance of the parser.
        let head = serde_json::from_str(str::from_utf8(json).unwrap_or_default());
        let head = head.unwrap_or(Head { status: 500, headers: Vec::new(), now: 0 });
        exchange.handle_head(head.status, head.headers, head.now);
    });
}

/// Feeds the first `length` bytes of the window to the exchange: the next bytes of the body.
#[unsafe(no_mangle)]
pub extern "C" fn exchange_bytes(length: u32, now_ms: f64) {
    tell(length, now_ms, Exchange::handle_bytes);
}

/// Reports that there is no connection. The code of the cause is in the first `length` bytes of the window.
#[unsafe(no_mangle)]
pub extern "C" fn exchange_no_connection(length: u32, now_ms: f64) {
    tell(length, now_ms, |exchange, code| exchange.handle_no_connection(str::from_utf8(code).unwrap_or_default()));
}

/// Reports an event to the exchange: one of the constants from [`BODY_ENDED`] to [`RAN_OUT_OF_MEMORY`].
#[unsafe(no_mangle)]
pub extern "C" fn exchange_event(event: u32, now_ms: f64) {
    tell(0, now_ms, |exchange, _| match event {
        BODY_ENDED => exchange.handle_end(),
        CANNOT_CONNECT => exchange.handle_connection_error(ConnectionError::Connect),
        CONNECTION_BROKE => exchange.handle_connection_error(ConnectionError::Broken),
        TIME_IS_UP => exchange.handle_timeout(),
        CANCEL => exchange.cancel(),
        CANCEL_UNSEEN => exchange.cancel_unseen(),
        _ => exchange.handle_crash(event == RAN_OUT_OF_MEMORY),
    });
}

/// Answers with what the ledger learns from the exchange, as JSON, once the exchange is over; before that with nothing. It
/// is not part of the report because it repeats the whole answer and only some shells keep a ledger.
#[cfg(not(answers_only))]
#[unsafe(no_mangle)]
pub extern "C" fn exchange_entry() {
    with_exchange(0, |exchange, _, answer| {
        if let Action::End(report) = exchange.poll(0) {
            answer.json_row(ANSWER, &report.entry);
        }
        answer.publish([0; 2]);
    });
}

/// Drops the exchange.
#[unsafe(no_mangle)]
pub extern "C" fn exchange_close() {
    EXCHANGE.set(None);
}

#[inline(never)]
fn options(length: u32) -> ExchangeOptions {
    sluice_bridge::with(|bridge| bridge.read(length)).unwrap_or_default()
}

/// Passes something to the exchange and publishes the result.
pub(crate) fn tell(length: u32, now_ms: f64, what: impl FnOnce(&mut Exchange, &[u8])) {
    with_exchange(length, |exchange, bytes, answer| {
        what(exchange, bytes);
        publish(exchange, now_ms, answer);
    });
}

/// Publishes what has to be done next. This isn't part of [`tell`], because each export would have a copy of it.
#[inline(never)]
fn publish(exchange: &mut Exchange, now_ms: f64, answer: &mut Answer) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the time on a clock that starts at 0")]
    let now_ms = now_ms as u64;
    loop {
        match exchange.poll(now_ms) {
            Action::Output(output) => write(&output, answer),
            Action::Read { timeout_ms } => {
                return answer.publish([READ, u32::try_from(timeout_ms).unwrap_or(u32::MAX)]);
            }
            action => {
                answer.json_row(ACTION, &action);
                return answer.publish([0; 2]);
            }
        }
    }
}

fn with_exchange(length: u32, use_exchange: impl FnOnce(&mut Exchange, &[u8], &mut Answer)) {
    EXCHANGE.with_borrow_mut(|exchange| {
        sluice_bridge::with(|bridge| {
            let (bytes, answer) = bridge.parts(length);
            answer.clear();
            if let Some(exchange) = exchange {
                use_exchange(exchange, bytes, answer);
            }
        });
    });
}

fn write(output: &Output, answer: &mut Answer) {
    match output {
        // The text of one chunk crosses as one row, because a shell would join it anyway.
        Output::Part(Part::Text { value }) => {
            if !answer.extend_row(TEXT, value) {
                answer.row(TEXT, value);
            }
        }
        Output::Part(Part::Thinking { value, id, replay: None }) => {
            answer.row(THINKING, id);
            answer.row(CONTINUED, value);
        }
        Output::Part(Part::Thinking { value, id, replay: Some(replay) }) => {
            answer.row(THINKING_REPLAY, id);
            answer.row(CONTINUED, value);
            answer.json_row(CONTINUED, replay);
        }
        Output::Part(Part::ToolCall { call_id, name, input_json }) => {
            answer.row(TOOL_CALL, call_id);
            answer.row(CONTINUED, name);
            answer.row(CONTINUED, input_json);
        }
        Output::Part(Part::Data { mime_type, base64 }) => {
            answer.row(DATA, mime_type);
            answer.row(CONTINUED, base64);
        }
        Output::Part(part @ Part::Citations { .. }) => answer.json_row(CITATIONS, part),
        Output::Note(note) => answer.json_row(NOTE, note),
    }
}
