//! The receive path as WebAssembly, for chunks of the Vercel AI SDK. It has the exports of `sluice-wasm`, from the same files,
//! and [`exchange_chunk`].

#[cfg(target_arch = "wasm32")]
#[path = "../../sluice-wasm/src/allocator.rs"]
mod allocator;
#[cfg(all(target_arch = "wasm32", not(without_memcmp)))]
#[path = "../../sluice-wasm/src/compare.rs"]
mod compare;
#[path = "../../sluice-wasm/src/exports.rs"]
mod exports;

pub use exports::*;
use sluice_core::ChunkStream as Answers;

/// Passes a chunk to the exchange. It is JSON in the first `length` bytes of the window.
#[unsafe(no_mangle)]
pub extern "C" fn exchange_chunk(length: u32, now_ms: f64) {
    tell(length, now_ms, |exchange, json| exchange.handle_chunk(str::from_utf8(json).unwrap_or_default()));
}
