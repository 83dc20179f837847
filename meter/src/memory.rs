//! Measures the memory of the native core: how much one stream holds at most, according to the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sluice_core::{BodyEnd, ChunkStream, Limits, ResponseStream, StreamOptions};

use crate::hostile::Input;

/// The system's allocator, which also counts the bytes in use.
pub struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(in_use, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The limits for an answer and for one event.
pub const LIMIT: usize = 1 << 20;
/// The outputs of a push belong to the caller, so chunks are small compared to the limit.
const CHUNK: usize = 16 << 10;

/// Returns the most bytes that a stream holds while it reads `body`. No other thread may allocate at the same time.
pub fn peak(input: Input, body: &[u8]) -> usize {
    let limits = Limits { max_event_bytes: LIMIT, max_answer_bytes: LIMIT, ..Limits::default() };
    let options = StreamOptions { limits, ..StreamOptions::default() };
    let before = IN_USE.load(Relaxed);
    PEAK.store(before, Relaxed);
    if input == Input::AiSdk {
        let mut stream = ChunkStream::new(options);
        body.chunks(CHUNK).for_each(|piece| drop(stream.push(piece)));
        drop(stream.finish(BodyEnd::Eof));
    } else {
        let mut stream = ResponseStream::new(options);
        body.chunks(CHUNK).for_each(|piece| drop(stream.push(piece)));
        drop(stream.finish(BodyEnd::Eof));
    }
    PEAK.load(Relaxed) - before
}
