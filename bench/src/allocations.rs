//! Counts how often a text delta makes the core allocate once the stream is under way, in the second half of the
//! deltas. The rows differ in how many deltas share a chunk.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

use sluice_core::{ResponseStream, StreamOptions};

use crate::corpus::Corpus;
use crate::report::{Aim, Table};

/// The system's allocator. It counts only on request, so that timed sections pay for one load at most.
pub struct Counting;

static COUNTING: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The bytes in use in addition to those at the start, and their maximum.
static IN_USE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

fn count(more: usize, less: usize) {
    if COUNTING.load(Relaxed) {
        COUNT.fetch_add(usize::from(more > 0), Relaxed);
        let change = more.cast_signed() - less.cast_signed();
        PEAK.fetch_max(IN_USE.fetch_add(change, Relaxed) + change, Relaxed);
    }
}

/// Returns how often `work` allocates, and the most bytes that it holds at once.
pub fn counted(work: impl FnOnce()) -> (usize, usize) {
    COUNT.store(0, Relaxed);
    IN_USE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    work();
    COUNTING.store(false, Relaxed);
    (COUNT.load(Relaxed), PEAK.load(Relaxed).unsigned_abs())
}

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }
}

pub fn per_text_delta(corpus: &Corpus) {
    // Four events come before the deltas and four after them.
    let deltas = corpus.ends.len() - 8;
    let (before, half, after) = (4, 4 + deltas / 2, 4 + deltas);
    let events = corpus.chunk_per_event();
    let bytes =
        |from: usize, to: usize| corpus.body[corpus.ends[from - 1]..corpus.ends[to - 1]].chunks(16 << 10).collect();

    let mut table = Table::default();
    for (what, warm_up, counted) in [
        ("one delta a push", events[before..half].to_vec(), events[half..after].to_vec()),
        ("16 KiB a push", bytes(before, half), bytes(half, after)),
    ] {
        let mut stream = ResponseStream::new(StreamOptions::default());
        for chunk in events[..before].iter().chain(&warm_up) {
            drop(stream.push(chunk));
        }
        let (total, _) = self::counted(|| counted.iter().for_each(|chunk| drop(stream.push(chunk))));
        let each = total as f64 / (after - half) as f64;
        table.aim(what, format!("{total} in {} pushes", counted.len()), each, Aim::AtMost(1.0));
    }
    table.print("allocations per text delta");
}
