//! Hostile input never breaks the invariants, and the generators do what they promise. The cost of reading it is
//! measured elsewhere: instructions by the meter, time by the benchmarks.

use std::collections::BTreeSet;

use crate::support::hostile::{Input, generators};
use crate::support::{assert_sound, in_parallel, run};
use sluice_core::{BodyEnd, ChunkStream, StreamOptions};

#[test]
fn generators_make_the_requested_number_of_bytes() {
    const BYTES: usize = 64 << 10;
    let mut names = BTreeSet::new();
    for generator in generators() {
        assert!(names.insert(generator.name), "two generators are called {:?}", generator.name);
        let made = (generator.make)(BYTES);
        assert!((BYTES / 2..BYTES * 2).contains(&made.len()), "{:?} made {} bytes", generator.name, made.len());
        assert_eq!(made, (generator.make)(BYTES), "{:?} is not deterministic", generator.name);
    }
}

/// Checks invariant S16.
#[test]
fn hostile_streams_keep_the_invariants() {
    in_parallel(&generators(), |generator| {
        let body = (generator.make)(4 << 10);
        match generator.input {
            Input::OpenResponses => {
                let (outputs, outcome) = run(&body, body.len());
                assert_sound(&outputs, &outcome);
                assert_eq!((outputs, outcome), run(&body, 1), "{:?} byte by byte", generator.name);
            }
            Input::AiSdk => {
                let read = |chunk: usize| {
                    let mut stream = ChunkStream::new(StreamOptions::default());
                    let mut outputs = Vec::new();
                    body.chunks(chunk).for_each(|piece| outputs.extend(stream.push(piece)));
                    let (rest, outcome) = stream.finish(BodyEnd::Eof);
                    outputs.extend(rest);
                    (outputs, outcome)
                };
                assert_eq!(read(body.len()), read(1), "{:?} byte by byte", generator.name);
            }
            _ => {}
        }
    });
}
