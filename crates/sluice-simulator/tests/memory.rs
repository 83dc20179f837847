//! The memory that the gateway keeps after requests is bounded, however large and many they were.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sluice_simulator::server::{Config, Simulator};

/// Counts the bytes that are allocated and not freed yet.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// Safety: all calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: usize = 1 << 20;

/// Posts a body, reads the whole reply, and returns its status line.
fn post(simulator: &Simulator, path: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", simulator.port())).unwrap();
    let (port, length) = (simulator.port(), body.len());
    let head = "content-type: application/json\r\nconnection: close";
    write!(
        socket,
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = String::new();
    socket.read_to_string(&mut reply).unwrap();
    reply.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn large_requests_are_not_kept() {
    let simulator = Simulator::start(Config::default()).unwrap();
    let image = format!("data:image/png;base64,{}", "A".repeat(2 * MIB));
    let stored = serde_json::json!({
        "model": "sluice/echo",
        "input": [{ "type": "message", "role": "user", "content": [{ "type": "input_image", "image_url": image }] }],
        "store": true,
    })
    .to_string();
    let refused = serde_json::json!({ "model": "no/such", "input": image }).to_string();
    let requests = [
        ("/v1/responses", stored.as_str(), "HTTP/1.1 200 OK"),
        ("/v1/responses", &refused, "HTTP/1.1 404 Not Found"),
        ("/v1/nothing", &refused, "HTTP/1.1 404 Not Found"),
        ("/v1/responses", &image, "HTTP/1.1 400 Bad Request"),
    ];
    let before = LIVE.load(Ordering::Relaxed);
    for _ in 0..15 {
        for (path, body, status) in requests {
            assert_eq!(post(&simulator, path, body), status);
        }
    }
    assert!(simulator.wait_until(Duration::from_secs(20), |streams| streams.open == 0));
    // 120 MiB were received. What remains are stored conversations of at most 16 MiB and one connection that is
    // closing.
    let kept = LIVE.load(Ordering::Relaxed).saturating_sub(before);
    assert!(kept < 24 * MIB, "{} MiB are kept", kept / MIB);

    // The recording for tests is bounded too. This isn't a separate test, because its memory would be counted here.
    let simulator = Simulator::start(Config::recording()).unwrap();
    let body = "A".repeat(16 * MIB);
    for _ in 0..6 {
        post(&simulator, "/v1/nothing", &body);
    }
    assert_eq!(simulator.requests().len(), 4, "64 MiB");
}
