//! The cost of finding the events, without interpreting them: Sluice's SSE framing compared with the minimum for any
//! reader of lines, which is to search every byte once for a line feed.

use std::convert::Infallible;
use std::hint::black_box;

use eventsource_stream::Eventsource;
use futures::{StreamExt, executor::block_on, stream};
use sluice_core::sse::{SseEvent, SseParser};

use crate::corpus::Corpus;
use crate::report::{Aim, Table};
use crate::timing::{Contender, medians, ratio};

const CHUNK: usize = 16 << 10;
const MAX_EVENT: usize = 64 << 20;

pub fn against_memchr(corpus: &Corpus, rounds: usize) -> Result<(), String> {
    let chunks = corpus.chunks(CHUNK);
    for (name, seen) in [("sluice", ours(&chunks)), ("eventsource-stream", eventsource_stream(&chunks))] {
        if seen != truth(corpus) {
            return Err(format!("{name} frames the {} corpus wrongly", corpus.name));
        }
    }
    let mut contenders = [
        Contender::new("memchr line split", || {
            black_box(line_split(&chunks));
        }),
        Contender::new("sluice, framing alone", || {
            black_box(ours(&chunks));
        }),
        Contender::new("eventsource-stream", || {
            black_box(eventsource_stream(&chunks));
        }),
    ];
    let times = medians(rounds, &mut contenders);
    let mut table = Table::default();
    for (contender, time) in contenders.iter().zip(&times) {
        let nanoseconds = time.as_nanos() as f64 / corpus.ends.len() as f64;
        let speed = corpus.megabytes() / time.as_secs_f64();
        table.info(contender.name, format!("{nanoseconds:.0} ns/event, {speed:.0} MB/s"), None);
    }
    table.aim("sluice / line split", String::new(), ratio(times[1], times[0]), Aim::AtMost(2.0));
    table.print("framing, text in 16 KiB chunks");
    Ok(())
}

/// The numbers of events and of data bytes, on which every framing must agree.
type Seen = (usize, usize);

fn truth(corpus: &Corpus) -> Seen {
    let data = corpus.chunk_per_event().into_iter().map(|event| {
        let line_feed = memchr::memchr(b'\n', event).expect("two lines an event");
        event.len() - line_feed - "\ndata: \n\n".len()
    });
    (corpus.ends.len(), data.sum())
}

/// The minimum: finds the lines of each chunk and adds up their lengths, so that the search isn't optimized away.
fn line_split(chunks: &[&[u8]]) -> usize {
    let mut bytes = 0;
    for chunk in chunks {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', chunk) {
            bytes += black_box(end - start);
            start = end + 1;
        }
        bytes += chunk.len() - start;
    }
    bytes
}

fn ours(chunks: &[&[u8]]) -> Seen {
    let mut parser = SseParser::new(MAX_EVENT);
    let mut seen = (0, 0);
    for chunk in chunks {
        let fits = parser.push(chunk, &mut |event: SseEvent<'_>| {
            black_box(event.name.len());
            seen.0 += 1;
            seen.1 += black_box(event.data.len());
        });
        fits.expect("no event near the limit");
    }
    seen
}

fn eventsource_stream(chunks: &[&[u8]]) -> Seen {
    let body = stream::iter(chunks.iter().map(Ok::<_, Infallible>));
    block_on(body.eventsource().fold((0, 0), |seen, event| {
        let event = event.expect("a well-formed stream");
        std::future::ready((seen.0 + 1, seen.1 + black_box(event.data.len())))
    }))
}
