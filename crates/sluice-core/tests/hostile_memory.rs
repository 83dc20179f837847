//! S16, for memory: whatever a server sends, a stream uses at most four times its limit, and the sum of its allocations
//! is linear in the number of bytes. Every allocation of this process is counted, so this file has only one test.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use sluice_core::{BodyEnd, ChunkStream, Limits, ResponseStream, StreamOptions};
use support::hostile::{Input, generators};

const LIMIT: usize = 512 << 10;
const LIMITS: Limits =
    Limits { max_event_bytes: LIMIT, max_answer_bytes: LIMIT, max_items: 1_000, max_content_parts: 100 };
const CHUNK: usize = 64 << 10;

#[global_allocator]
static COUNTED: Counted = Counted;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Counted {
    fn took(bytes: usize) {
        let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
        PEAK.fetch_max(now, Ordering::Relaxed);
        TOTAL.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: all calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(block, layout) }
    }

    /// Counts every growth as a new block, because the allocator may have to move it.
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::took(size);
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(block, layout, size) }
    }
}

struct Used {
    peak: usize,
    total: usize,
}

/// Measures the memory that reading takes, in chunks as they come from a network. Outputs are dropped as soon as they
/// are returned.
fn used(input: Input, body: &[u8], limits: Limits) -> Used {
    let options = StreamOptions { limits, ..StreamOptions::default() };
    let (before, total) = (NOW.load(Ordering::Relaxed), TOTAL.load(Ordering::Relaxed));
    PEAK.store(before, Ordering::Relaxed);
    match input {
        Input::OpenResponses => {
            let mut stream = ResponseStream::new(options);
            body.chunks(CHUNK).for_each(|chunk| drop(stream.push(chunk)));
            stream.finish(BodyEnd::Eof);
        }
        Input::AiSdk => {
            let mut stream = ChunkStream::new(options);
            body.chunks(CHUNK).for_each(|chunk| drop(stream.push(chunk)));
            stream.finish(BodyEnd::Eof);
        }
        _ => {}
    }
    Used { peak: PEAK.load(Ordering::Relaxed) - before, total: TOTAL.load(Ordering::Relaxed) - total }
}

/// Returns streams with one very large value, or very many small ones, of every kind that is kept.
fn kept_things() -> Vec<(String, Input, Vec<u8>)> {
    let event = |json: String| format!("data: {json}\n\n");
    let long = "x".repeat(50 << 10);
    let mut streams = Vec::new();
    let mut add = |name: &str, input: Input, one: &dyn Fn(usize) -> String, count: usize| {
        let body: String = (0..count).map(|i| event(one(i))).collect();
        streams.push((name.to_owned(), input, body.into_bytes()));
    };
    let added = |i: usize, item: &str| {
        format!(
            r#"{{"type":"response.output_item.added","output_index":{i},"item":{{"type":"function_call",{item}}}}}"#
        )
    };
    let done = |i: usize, item: &str| {
        format!(r#"{{"type":"response.output_item.done","output_index":{i},"item":{{{item}}}}}"#)
    };
    let open_responses = Input::OpenResponses;
    add("arguments announced", open_responses, &|i| added(i, &format!(r#""arguments":"{long}""#)), 100);
    add("names announced", open_responses, &|i| added(i, &format!(r#""name":"{long}""#)), 100);
    add("call ids announced", open_responses, &|i| added(i, &format!(r#""call_id":"{i}{long}""#)), 100);
    add("item ids", open_responses, &|i| added(i, &format!(r#""id":"{i}{long}""#)), 100);
    let call =
        |i: usize| format!(r#""type":"function_call","call_id":"{i}","name":"f","arguments":"{{\"a\":\"{long}\"}}""#);
    add("calls reported", open_responses, &|i| done(i, &call(i)), 100);
    let encrypted = |i: usize| format!(r#""type":"reasoning","id":"{i}","encrypted_content":"{i}{long}""#);
    add("encrypted thinking", open_responses, &|i| done(i, &encrypted(i)), 100);
    let response = |field: &str| format!(r#"{{"type":"response.created","response":{{{field}}}}}"#);
    add("response ids", open_responses, &|i| response(&format!(r#""id":"{i}{long}""#)), 100);
    add("models", open_responses, &|i| response(&format!(r#""model":"{i}{long}""#)), 100);
    let list = |element: &str, bytes: usize| vec![element; bytes / element.len()].join(",");
    for (name, field) in [("usage", "usage"), ("metadata", "provider_metadata")] {
        let whole = |bytes| response(&format!(r#""{field}":{{"input_tokens":1,"x":[{}]}}"#, list(r#"{"":0}"#, bytes)));
        add(&format!("{name}, long"), open_responses, &|_| whole(450 << 10), 5);
        add(&format!("{name}, short"), open_responses, &|_| whole(15 << 10), 50);
    }
    for (name, element) in
        [("nothing", "{}"), ("messages", r#"{"type":"message"}"#), ("calls", r#"{"type":"function_call"}"#)]
    {
        let output =
            format!(r#"{{"type":"response.completed","response":{{"output":[{}]}}}}"#, list(element, 450 << 10));
        add(&format!("an output of {name}"), open_responses, &|_| output.clone(), 1);
    }
    let content = done(0, &format!(r#""type":"message","content":[{}]"#, list("{}", 450 << 10)));
    add("content of nothing", open_responses, &|_| content.clone(), 3);
    let annotations = list(r#"{"url":"https://a.b"}"#, 450 << 10);
    let annotated = done(0, &format!(r#""type":"message","content":[{{"annotations":[{annotations}]}}]"#));
    add("annotations", open_responses, &|_| annotated.clone(), 3);
    let cite = |i: usize| {
        let url = format!("https://a.b/{i}{}", "x".repeat(1900));
        format!(
            r#"{{"type":"response.output_text.annotation.added","output_index":{},"annotation":{{"url":"{url}"}}}}"#,
            i / 90
        )
    };
    add("citations", open_responses, &cite, 3000);
    let image = |i: usize| done(0, &format!(r#""type":"image_generation_call","result":"{i:08}""#));
    add("images", open_responses, &image, 20_000);
    let text = |kind: &str, escape: &str| {
        format!(r#"{{"type":"response.{kind}.done","output_index":0,"text":"{escape}{}"}}"#, "x".repeat(450 << 10))
    };
    for kind in ["output_text", "reasoning"] {
        add(&format!("{kind} in one event"), open_responses, &|_| text(kind, ""), 3);
        add(&format!("{kind} in one event with an escape"), open_responses, &|_| text(kind, r"\n"), 3);
        let delta =
            |i| format!(r#"{{"type":"response.{kind}.delta","output_index":0,"delta":"{i}{}"}}"#, "x".repeat(1000));
        add(&format!("{kind} in deltas"), open_responses, &delta, 3000);
        let parts = |i: usize| {
            format!(
                r#"{{"type":"response.{kind}.delta","output_index":{},"content_index":{},"delta":"x"}}"#,
                i / 100,
                i % 100
            )
        };
        add(&format!("{kind} in very many parts"), open_responses, &parts, 50_000);
        let under_long_id = |i: usize| {
            let id = if i == 0 { format!(r#","item_id":"{long}""#) } else { String::new() };
            format!(r#"{{"type":"response.{kind}.delta","output_index":0,"delta":"x"{id}}}"#)
        };
        add(&format!("{kind} in tiny deltas under a long id"), open_responses, &under_long_id, 5000);
    }
    let text = r#"{"type":"response.output_text.delta","delta":""#;
    for (name, piece) in [
        ("half surrogates", br"\ud800".as_slice()),
        ("invalid bytes and escapes", b"\xff\\n"),
        ("one invalid byte", b"x"),
    ] {
        for bytes in [200 << 10, 250 << 10, 500 << 10] {
            let body = [b"data: ", text.as_bytes(), b"\xff", &piece.repeat(bytes / piece.len()), b"\"}\n\n"].concat();
            streams.push((name.to_owned(), open_responses, body));
        }
    }
    streams.push(("lines of one event".to_owned(), open_responses, b"data: 1\n".repeat(100_000)));
    streams.push(("an event name".to_owned(), open_responses, [b"event: ".to_vec(), b"x".repeat(1 << 20)].concat()));
    streams
}

/// Checks invariant S16.
#[test]
fn a_stream_uses_at_most_four_times_its_limit_and_allocates_linearly() {
    let mut wrong = String::new();
    let mut check = |name: &str, input: Input, body: &[u8]| {
        let Used { peak, total } = used(input, body, LIMITS);
        if peak > 4 * LIMIT {
            let _ = writeln!(wrong, "{name}: {} kB at once", peak >> 10);
        }
        // This allows for growing buffers, a copy for the reader, one to compare with, and the overhead of tiny values.
        if total > 40 * body.len() + LIMIT {
            let _ = writeln!(wrong, "{name}: {} kB in all, for {} kB", total >> 10, body.len() >> 10);
        }
    };
    for generator in generators() {
        // Sizes below and above the limit.
        for bytes in [LIMIT - (LIMIT >> 4), 2 * LIMIT] {
            check(generator.name, generator.input, &(generator.make)(bytes));
        }
    }
    for (name, input, body) in kept_things() {
        check(&name, input, &body);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
