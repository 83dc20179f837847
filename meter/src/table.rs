//! Prints a table of what every generator costs at one size and at twice that size, and whether that is within bounds.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::hostile::{Generator, Input};
use crate::machine::{Cost, Machine};
use crate::memory;

/// How many bytes a generator makes at first; then it makes twice as many.
#[derive(Clone, Copy)]
pub struct Sizes {
    stream: usize,
    /// For inputs that are read as a whole.
    at_once: usize,
}

/// Small enough for an interpreter, large enough to notice a product of two sizes.
pub const SMALL_SIZES: Sizes = Sizes { stream: 128 << 10, at_once: 32 << 10 };
/// Twice these sizes exceed all buffers and shortcuts, and most limits.
pub const LARGE_SIZES: Sizes = Sizes { stream: 512 << 10, at_once: 128 << 10 };
/// The most that doubling the input may multiply the instructions by.
const MAX_GROWTH: f64 = 3.0;
/// Below this there is no growth to speak of: starting a stream takes some instructions, too.
const SMALL: u64 = 1_000_000;
/// Beyond this a stream costs far too much, whatever its growth. This also stops an endless loop.
const MAX_PER_BYTE: u64 = 4_000;
/// The same for inputs that are read as a whole: a list of models, with all texts that an editor shows of it, an error, a text
/// to mask.
const MAX_PER_BYTE_AT_ONCE: u64 = 150_000;
/// The limit for one push of 64 KiB. Node executes twenty units of fuel per nanosecond or more, so this is at most 31 ms
/// there. `cargo xtask bench` measures the same pushes by the clock; the limit for that is 50 ms.
const MAX_CALL: u64 = 620_000_000;
/// The most memory that a stream may hold: four times its limit.
const MAX_MEMORY: usize = 4 * memory::LIMIT;
/// The same for linear memory, with the default limits: four times the largest event.
const MAX_LINEAR_MEMORY: usize = 64 << 20;
/// The size of an input that certainly reaches the limit.
const ENOUGH: usize = 4 * memory::LIMIT;

/// Returns the fuel for an input of this many bytes.
pub fn allowance(input: Input, bytes: usize) -> u64 {
    SMALL + bytes as u64 * if is_stream(input) { MAX_PER_BYTE } else { MAX_PER_BYTE_AT_ONCE }
}

fn is_stream(input: Input) -> bool {
    matches!(input, Input::OpenResponses | Input::AiSdk)
}

/// Returns what is wrong with the growth from one input to another that is twice as large.
pub fn judge(input: Input, once: Cost, twice: Cost) -> Vec<&'static str> {
    let mut problems = Vec::new();
    if twice.fuel > SMALL.max((MAX_GROWTH * once.fuel as f64) as u64) {
        problems.push("grows faster than its input");
    }
    if is_stream(input) && twice.longest_call > MAX_CALL {
        problems.push("one push takes too long");
    }
    problems
}

impl Sizes {
    fn of(self, input: Input) -> usize {
        if is_stream(input) { self.stream } else { self.at_once }
    }
}

/// Prints the table, or only the rows that are out of bounds if it should be brief. Returns the number of these rows.
pub fn print(machine: &Machine, generators: &[Generator], sizes: Sizes, brief: bool) -> usize {
    let costs = in_parallel(generators, |generator| {
        let read =
            |bytes: usize| machine.read(generator.input, &(generator.make)(bytes), allowance(generator.input, bytes));
        let once = sizes.of(generator.input);
        Ok::<_, String>((read(once)?, read(2 * once)?))
    });
    println!(
        "{:<60} {:>9} {:>9} {:>6} {:>8} {:>10} {:>9} {:>8}",
        "hostile input", "at n", "at 2n", "ratio", "per byte", "one push", "linear", "native"
    );
    println!(
        "{:<60} {:>9} {:>9} {:>6} {:>8} {:>10} {:>9} {:>8}",
        format!("n = {}, or {} read at once; fuel in thousands", kibibytes(sizes.stream), kibibytes(sizes.at_once)),
        "",
        "",
        "<= 3",
        "<= 4000",
        "<= 620000",
        "memory",
        "<= 4 MiB"
    );
    let mut bad = 0;
    for (generator, cost) in generators.iter().zip(costs) {
        let (once, twice) = match cost {
            Ok(costs) => costs,
            Err(error) => {
                bad += 1;
                println!("{:<60} {error}  MISSED", generator.name);
                continue;
            }
        };
        let mut problems = judge(generator.input, once, twice);
        let mut native = String::new();
        if is_stream(generator.input) {
            let peak = memory::peak(generator.input, &(generator.make)(ENOUGH));
            native = kibibytes(peak);
            if peak > MAX_MEMORY {
                problems.push("takes too much memory");
            }
        }
        if brief && problems.is_empty() {
            continue;
        }
        bad += usize::from(!problems.is_empty());
        let mark = if problems.is_empty() { String::new() } else { format!("  MISSED: {}", problems.join(", ")) };
        println!(
            "{:<60} {:>9} {:>9} {:>6.2} {:>8} {:>10} {:>9} {:>8}{mark}",
            generator.name,
            once.fuel / 1000,
            twice.fuel / 1000,
            twice.fuel as f64 / once.fuel as f64,
            twice.fuel / (2 * sizes.of(generator.input)) as u64,
            twice.longest_call / 1000,
            kibibytes(twice.memory),
            native,
        );
    }
    println!("{} kinds of hostile input, {bad} out of bounds", generators.len());
    bad
}

/// Prints what the most expensive push costs of streams that are as large as they may be, and how much memory they take.
/// Returns how many cost more than they may.
pub fn print_largest(machine: &Machine, largest: &[(Generator, usize)], brief: bool) -> usize {
    let costs =
        in_parallel(largest, |(generator, bytes)| machine.read(generator.input, &(generator.make)(*bytes), u64::MAX));
    println!("{:<60} {:>10} {:>9}", "largest events; fuel in thousands", "one push", "memory");
    let mut bad = 0;
    for ((generator, _), cost) in largest.iter().zip(costs) {
        let (cost, problem) = match cost {
            Ok(cost) if cost.longest_call > MAX_CALL => (cost, "  MISSED: one push takes too long".to_owned()),
            Ok(cost) if cost.memory > MAX_LINEAR_MEMORY => (cost, "  MISSED: takes too much memory".to_owned()),
            Ok(cost) => (cost, String::new()),
            Err(error) => (Cost::default(), format!("  MISSED: {error}")),
        };
        bad += usize::from(!problem.is_empty());
        if !brief || !problem.is_empty() {
            let (push, memory) = (cost.longest_call / 1000, kibibytes(cost.memory));
            println!("{:<60} {push:>10} {memory:>9}{problem}", generator.name);
        }
    }
    println!("{} kinds of large events, {bad} out of bounds", largest.len());
    bad
}

fn kibibytes(bytes: usize) -> String {
    format!("{} K", bytes >> 10)
}

/// Returns the results in the order of the items. All cores work on them.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let worker = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { return };
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(worker))));
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
