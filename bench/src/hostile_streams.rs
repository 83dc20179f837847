//! Measures what hostile input costs at one size and at twice that size. If the work grows as fast as the input, the
//! second takes twice as long; ours may take three times as long.

use std::hint::black_box;
use std::time::{Duration, Instant};

use sluice_core::{BodyEnd, ChunkStream, Limits, ResponseStream, StreamOptions};

use crate::allocations::counted;
use crate::hostile::{Input, generators};
use crate::report::{Aim, Table};
use crate::timing::ratio;

const ONCE: usize = 1 << 20;
const CHUNK: usize = 64 << 10;
/// A run that takes longer than this is stopped.
const PATIENCE: Duration = Duration::from_secs(5);
/// Short input is read repeatedly for this long.
const ENOUGH: Duration = Duration::from_millis(100);
/// Shorter times mostly measure the machine's other work.
const SHORT: Duration = Duration::from_millis(5);
/// The limits for an answer and for one event while memory is measured.
const LIMIT: usize = 1 << 20;

pub fn linear(rounds: usize) {
    let mut table = Table::default();
    let (mut longest, mut largest) = ((Duration::ZERO, ""), (0, ""));
    let streams = generators().into_iter().filter(|made| matches!(made.input, Input::OpenResponses | Input::AiSdk));
    for generator in streams {
        let bodies = [(generator.make)(ONCE), (generator.make)(2 * ONCE)];
        let [once, twice] = least(generator.input, &bodies, rounds);
        let memory = peak(generator.input, &(generator.make)(4 * LIMIT));
        longest = longest.max((twice.longest_push, generator.name));
        largest = largest.max((memory, generator.name));
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let measured = format!(
            "{:.1} ms, {:.1} ms, longest push {:.1} ms, {:.1} MiB",
            milliseconds(once.time),
            milliseconds(twice.time),
            milliseconds(twice.longest_push),
            mebibytes(memory)
        );
        let growth = match (once.stopped || twice.stopped, twice.time < SHORT) {
            (true, _) => f64::INFINITY,
            (_, true) => 2.0,
            _ => ratio(twice.time, once.time),
        };
        table.aim(generator.name, measured, growth, Aim::AtMost(3.0));
    }
    let (push, of) = longest;
    table.aim("longest push of 64 KiB, ms", of.to_owned(), push.as_secs_f64() * 1e3, Aim::AtMost(50.0));
    let (memory, of) = largest;
    let share = memory as f64 / LIMIT as f64;
    table.aim("most memory, in limits of the stream", of.to_owned(), share, Aim::AtMost(4.0));
    table.print("hostile streams: time at n = 1 MiB and 2n, natively");
}

struct Reading {
    time: Duration,
    longest_push: Duration,
    stopped: bool,
}

/// Returns the minimum time for each of the bodies, and the minimum of their slowest chunks: the time they take when
/// nothing else runs. They take turns. Short bodies are read more often, because the machine's other work is a larger
/// part of their time.
fn least(input: Input, bodies: &[Vec<u8>; 2], rounds: usize) -> [Reading; 2] {
    let mut best = bodies.each_ref().map(|body| read(input, body));
    let start = Instant::now();
    for round in 1.. {
        let is_enough = round >= rounds && (round >= 10 * rounds || start.elapsed() > ENOUGH);
        if is_enough || best.iter().any(|reading| reading.stopped) {
            break;
        }
        for (best, body) in best.iter_mut().zip(bodies) {
            let next = read(input, body);
            best.time = best.time.min(next.time);
            best.longest_push = best.longest_push.min(next.longest_push);
        }
    }
    best
}

fn read(input: Input, body: &[u8]) -> Reading {
    let (start, mut longest_push) = (Instant::now(), Duration::ZERO);
    let mut stopped = false;
    feed(input, body, CHUNK, StreamOptions::default(), |took| {
        longest_push = longest_push.max(took);
        stopped = start.elapsed() > PATIENCE;
        !stopped
    });
    Reading { time: start.elapsed(), longest_push, stopped }
}

/// Returns the most bytes that a stream with small limits holds. The outputs of a chunk belong to the caller, so chunks
/// are small.
fn peak(input: Input, body: &[u8]) -> usize {
    let limits = Limits { max_event_bytes: LIMIT, max_answer_bytes: LIMIT, ..Limits::default() };
    let (start, options) = (Instant::now(), StreamOptions { limits, ..StreamOptions::default() });
    counted(|| feed(input, body, CHUNK / 4, options, |_| start.elapsed() < PATIENCE)).1
}

/// Pushes the body in chunks until `after_each`, which gets the time for a chunk, returns false.
fn feed(input: Input, body: &[u8], chunk: usize, options: StreamOptions, mut after_each: impl FnMut(Duration) -> bool) {
    let mut timed = |push: &mut dyn FnMut()| {
        let start = Instant::now();
        push();
        after_each(start.elapsed())
    };
    if input == Input::AiSdk {
        let mut stream = ChunkStream::new(options);
        let _ = body.chunks(chunk).all(|piece| timed(&mut || drop(black_box(stream.push(piece)))));
        let mut stream = Some(stream);
        timed(&mut || drop(black_box(stream.take().map(|stream| stream.finish(BodyEnd::Eof)))));
    } else {
        let mut stream = ResponseStream::new(options);
        let _ = body.chunks(chunk).all(|piece| timed(&mut || drop(black_box(stream.push(piece)))));
        let mut stream = Some(stream);
        timed(&mut || drop(black_box(stream.take().map(|stream| stream.finish(BodyEnd::Eof)))));
    }
}

fn mebibytes(bytes: usize) -> f64 {
    bytes as f64 / (1 << 20) as f64
}
