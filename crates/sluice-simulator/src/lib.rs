//! The embedded gateway: an Open Responses server that needs no account. It serves demos, simulates faults on request,
//! and is the server for end-to-end tests. It shares no types with the rest of the project, because a field name that
//! was wrong on both sides would pass every test.
//!
//! There are two layers. [`Responder`] makes all decisions as a function of its input: it turns a request into bytes
//! with their timing. It also builds for WebAssembly. [`server`] connects it to sockets.
//!
//! The path of a request, file by file: `respond` accepts it (`validate`, `memory`), `personalities` turns the `ask`
//! into a `script`, and `perform` turns that into events. `faults` are applied at every stage. `providers` are models with
//! the rules of real providers about reasoning, which is sealed by `seal`. `cache` is the prompt cache. `imitate` makes the gateway behave like other
//! servers.

mod ask;
mod base64;
mod cache;
mod faults;
mod http;
mod imitate;
mod memory;
mod models;
mod perform;
mod personalities;
mod problem;
mod providers;
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
pub use imitate::Imitated;
pub use respond::{Options, Responder, Socket, SocketReply};

/// Returns the ids of all models, including embedding and image models.
pub fn model_ids() -> impl Iterator<Item = &'static str> {
    models::MODELS.iter().map(|model| model.id)
}
