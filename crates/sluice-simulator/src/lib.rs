//! The embedded gateway: an Open Responses server that needs no account. It serves demos, plays every fault on purpose, and
//! is what end-to-end tests talk to. It shares no type with the rest of the project, because a field name that is wrong on
//! both sides would pass every test.
//!
//! Two layers. [`Responder`] decides everything, as a function of its input: a request becomes bytes with their timing. It
//! also builds for WebAssembly. [`server`] puts that on sockets.
//!
//! The journey of a request, file by file: `respond` lets it in (`validate`, `memory`), `personalities` answers the `ask`
//! with a `script`, `perform` makes events of it, and `faults` are at work at every stage.

mod ask;
mod base64;
mod faults;
mod http;
mod memory;
mod models;
mod perform;
mod personalities;
mod problem;
mod resource;
mod respond;
mod script;
mod seal;
mod seed;
mod tokens;
mod validate;

#[cfg(not(target_arch = "wasm32"))]
pub mod server;

pub use faults::{Fault, Faults, HEADER as FAULT_HEADER, Outcome, faults};
pub use http::{Chunks, End, Opening, Reply, Request, TimedChunk};
pub use respond::{Options, Responder, Socket, SocketReply};

/// The ids of all models, embedding and image models included.
pub fn model_ids() -> impl Iterator<Item = &'static str> {
    models::MODELS.iter().map(|model| model.id)
}
