//! How fast a whole answer is read natively, from bytes to parts.

use std::hint::black_box;
use std::time::Duration;

use crate::contenders::{async_openai, check, check_sluice, sluice};
use crate::corpus::Corpus;
use crate::report::{Aim, Table};
use crate::timing::{Contender, medians, ratio};

const CHUNK: usize = 16 << 10;
/// An event of a text or of a call's arguments.
const NANOSECONDS: Aim = Aim::AtMost(200.0);

/// The main figure: a long text answer in the chunks of a network.
pub fn text(corpus: &Corpus, rounds: usize) -> Result<(), String> {
    let chunks = corpus.chunks(CHUNK);
    check(corpus, &chunks)?;
    let mut contenders = [
        Contender::new("sluice", || sluice(&chunks, |output| drop(black_box(output)))),
        Contender::new("eventsource-stream + async-openai types", || {
            async_openai(&chunks, |event| drop(black_box(event)));
        }),
    ];
    let times = medians(rounds, &mut contenders);
    let mut table = Table::default();
    for (contender, &time) in contenders.iter().zip(&times) {
        table.info(contender.name, per_event(corpus, time), None);
    }
    let speed = megabytes_per_second(corpus, times[0]);
    table.aim("sluice / peer", String::new(), ratio(times[0], times[1]), Aim::AtMost(0.20));
    table.aim("sluice, MB/s", String::new(), speed, Aim::AtLeast(600.0));
    table.aim("sluice, ns/event", String::new(), nanoseconds_per_event(corpus, times[0]), NANOSECONDS);
    table.print("text, 16 KiB chunks");
    Ok(())
}

/// Other streams and less favourable chunks. Only tools in large chunks have a goal. With one byte per chunk, the other
/// library would take minutes, because it searches its buffer again for every chunk.
pub fn others(corpora: &[(&str, &Corpus)], rounds: usize) -> Result<(), String> {
    let mut table = Table::default();
    for (label, corpus) in corpora {
        for (chunking, chunks) in [("16 KiB", corpus.chunks(CHUNK)), ("an event", corpus.chunk_per_event())] {
            check(corpus, &chunks)?;
            let mut contenders = [
                Contender::new("sluice", || sluice(&chunks, |output| drop(black_box(output)))),
                Contender::new("peer", || async_openai(&chunks, |event| drop(black_box(event)))),
            ];
            let times = medians(rounds, &mut contenders);
            let what = format!("{label}, {chunking} a chunk");
            table.info(&what, per_event(corpus, times[0]), Some(ratio(times[0], times[1])));
            if (*label, chunking) == ("tools", "16 KiB") {
                let figure = nanoseconds_per_event(corpus, times[0]);
                table.aim("tools, 16 KiB a chunk, ns/event", String::new(), figure, NANOSECONDS);
            }
        }
        let bytes = corpus.chunks(1);
        check_sluice(corpus, &bytes)?;
        let mut alone = [Contender::new("sluice", || sluice(&bytes, |output| drop(black_box(output))))];
        let time = medians(rounds, &mut alone)[0];
        table.info(&format!("{label}, 1 byte a chunk"), per_event(corpus, time), None);
    }
    table.print("other streams: sluice, and its share of the peer's time");
    Ok(())
}

fn megabytes_per_second(corpus: &Corpus, time: Duration) -> f64 {
    corpus.megabytes() / time.as_secs_f64()
}

fn nanoseconds_per_event(corpus: &Corpus, time: Duration) -> f64 {
    time.as_nanos() as f64 / corpus.ends.len() as f64
}

fn per_event(corpus: &Corpus, time: Duration) -> String {
    let nanoseconds = nanoseconds_per_event(corpus, time);
    format!("{nanoseconds:.0} ns/event, {:.0} MB/s", megabytes_per_second(corpus, time))
}
