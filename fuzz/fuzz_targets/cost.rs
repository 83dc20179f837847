//! Searches for streams whose cost grows faster than their size. An input is a list of steps, each of which repeats an
//! event, or a list of raw events that are repeated. The stream is read at one size and at twice that size, and the
//! costs are compared: allocations of the native core and, if `cargo xtask fuzz` has started the meter, instructions in
//! WebAssembly.
#![no_main]

#[allow(dead_code, reason = "only the steps are used here")]
#[path = "../../crates/sluice-core/tests/support/hostile.rs"]
mod hostile;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};

use hostile::{Input, Step, body};
use libfuzzer_sys::fuzz_target;
use sluice_core::{BodyEnd, ChunkStream, ResponseStream, StreamOptions};

/// The number of bytes for each share of a step, and for all raw events together.
const SCALE: usize = 4 << 10;
const RAW: usize = 16 << 10;
const MAX_STEPS: usize = 6;
/// Doubling the input may triple the cost. Below the second number there is no growth to speak of.
const MAX_GROWTH: u64 = 3;
const FEW_ALLOCATIONS: u64 = 2_000;
const FEW_BYTES: u64 = 2 << 20;
const FEW_INSTRUCTIONS: u64 = 2_000_000;
/// The limit for one call, as in the meter.
const MAX_CALL: u64 = 600_000_000;

fuzz_target!(|spelled: &[u8]| {
    let Some((first, rest)) = spelled.split_first() else { return };
    let input = if first % 2 == 0 { Input::OpenResponses } else { Input::AiSdk };
    let make = |scale: usize| {
        if first / 2 % 2 == 0 {
            let steps = Step::read(rest);
            body(input, &steps[..steps.len().min(MAX_STEPS)], scale * SCALE)
        } else {
            repeated(rest, scale * RAW)
        }
    };
    let (once, twice) = (make(1), make(2));

    let counts = [&once, &twice].map(|body| native(input, body));
    check("allocations", counts.map(|count| count.0), FEW_ALLOCATIONS);
    check("bytes allocated", counts.map(|count| count.1), FEW_BYTES);
    if let Some(meter) = &*METER {
        let costs = [&once, &twice].map(|body| meter.lock().expect("one thread").cost(input, body));
        check("instructions", costs.map(|cost| cost[0]), FEW_INSTRUCTIONS);
        assert!(costs[1][1] <= MAX_CALL, "one push takes {} instructions", costs[1][1]);
    }
});

fn check(what: &str, [once, twice]: [u64; 2], few: u64) {
    assert!(twice <= few.max(once.saturating_mul(MAX_GROWTH)), "{what}: {once} at first, {twice} for twice the input");
}

/// Repeats each of the events until all together have about `bytes` bytes.
fn repeated(events: &[u8], bytes: usize) -> Vec<u8> {
    let times = bytes / events.len().max(1) + 1;
    let mut body = Vec::new();
    for event in events.split_inclusive(|byte| *byte == b'\n') {
        // The blank line between two events belongs to the first.
        if event == b"\n" {
            continue;
        }
        body.extend([event, b"\n"].concat().repeat(times));
    }
    body
}

/// How often the core allocates, and how many bytes.
fn native(input: Input, body: &[u8]) -> (u64, u64) {
    let before = (COUNT.load(Relaxed), BYTES.load(Relaxed));
    if input == Input::AiSdk {
        let mut stream = ChunkStream::new(StreamOptions::default());
        body.chunks(64 << 10).for_each(|piece| drop(stream.push(piece)));
        drop(stream.finish(BodyEnd::Eof));
    } else {
        let mut stream = ResponseStream::new(StreamOptions::default());
        body.chunks(64 << 10).for_each(|piece| drop(stream.push(piece)));
        drop(stream.finish(BodyEnd::Eof));
    }
    ((COUNT.load(Relaxed) - before.0) as u64, (BYTES.load(Relaxed) - before.1) as u64)
}

/// The system's allocator, which also counts what was allocated.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// A running `sluice-meter --serve`.
struct Meter {
    _process: Child,
    questions: ChildStdin,
    answers: ChildStdout,
}

static METER: LazyLock<Option<Mutex<Meter>>> = LazyLock::new(|| {
    let (program, modules) = (std::env::var_os("SLUICE_METER")?, std::env::var_os("SLUICE_MODULES")?);
    let mut command = Command::new(program);
    command.arg(modules).arg("--serve").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().expect("the meter starts");
    let (questions, answers) = (process.stdin.take()?, process.stdout.take()?);
    Some(Mutex::new(Meter { _process: process, questions, answers }))
});

impl Meter {
    /// Returns the fuel, the fuel of the most expensive call, and the growth of the memory.
    fn cost(&mut self, input: Input, body: &[u8]) -> [u64; 3] {
        let length = u32::try_from(body.len()).expect("small bodies");
        self.questions.write_all(&[u8::from(input == Input::AiSdk)]).expect("the meter listens");
        self.questions.write_all(&length.to_le_bytes()).expect("the meter listens");
        self.questions.write_all(body).expect("the meter listens");
        let mut answer = [0; 24];
        self.answers.read_exact(&mut answer).expect("the meter answers");
        let number = |place: usize| u64::from_le_bytes(answer[place * 8..][..8].try_into().expect("eight bytes"));
        [0, 1, 2].map(number)
    }
}
