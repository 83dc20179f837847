//! The receive path as WebAssembly, for streams of the Open Responses protocol. `exports.rs` has the exports.

#[cfg(target_arch = "wasm32")]
mod allocator;
#[cfg(any(test, all(target_arch = "wasm32", not(without_memcmp))))]
mod compare;
mod exports;

pub use exports::*;
use sluice_core::ResponseStream as Answers;
