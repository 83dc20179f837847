//! How everything here is timed: contenders take turns, round by round, in one process, and the medians are compared.
//! The machine may be busy, but what slows down a round slows down all contenders.

use std::time::{Duration, Instant};

pub struct Contender<'a> {
    pub name: &'a str,
    pub run: Box<dyn FnMut() + 'a>,
}

impl<'a> Contender<'a> {
    pub fn new(name: &'a str, run: impl FnMut() + 'a) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// Returns the median time of each contender. One untimed round warms up caches and the allocator.
pub fn medians(rounds: usize, contenders: &mut [Contender<'_>]) -> Vec<Duration> {
    measure(rounds, contenders).into_iter().map(median).collect()
}

/// Returns the minimum time of each contender, for short work on a busy machine.
pub fn least(rounds: usize, contenders: &mut [Contender<'_>]) -> Vec<Duration> {
    measure(rounds, contenders).into_iter().filter_map(|times| times.into_iter().min()).collect()
}

fn measure(rounds: usize, contenders: &mut [Contender<'_>]) -> Vec<Vec<Duration>> {
    let count = contenders.len();
    let mut times = vec![Vec::with_capacity(rounds); count];
    for round in 0..=rounds {
        for turn in 0..count {
            // The order changes, so that no contender always runs after the same one.
            let which = (round + turn) % count;
            let start = Instant::now();
            (contenders[which].run)();
            let time = start.elapsed();
            if round > 0 {
                times[which].push(time);
            }
        }
    }
    times
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
