//! Native benchmarks of Sluice's core and of similar libraries: `cargo run --release -- [--quick]`.
//!
//! Prints a table for each of the project's goals. Exits with 0 whatever the results are, but with 1 if a contender
//! reads a corpus incorrectly, because then its time means nothing.

mod allocations;
mod contenders;
mod corpus;
mod framing;
#[allow(dead_code, unused_imports, reason = "tests and the fuzz target use the rest")]
#[path = "../../crates/sluice-core/tests/support/hostile.rs"]
mod hostile;
mod hostile_streams;
mod huge_event;
mod report;
mod throughput;
mod timing;
mod tokens;

use std::process::ExitCode;

use corpus::{Corpus, FieldOrder, TEXT_CHECKSUM, TOOLS_CHECKSUM};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

fn main() -> ExitCode {
    let quick = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--quick" => true,
        _ => {
            eprintln!("usage: sluice-bench [--quick]");
            return ExitCode::FAILURE;
        }
    };
    match run(quick) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            ExitCode::FAILURE
        }
    }
}

fn run(quick: bool) -> Result<(), String> {
    let rounds = if quick { 5 } else { 25 };
    let text = corpus::text(FieldOrder::Alphabetical);
    let tools = corpus::tools();
    describe(&text, TEXT_CHECKSUM)?;
    describe(&tools, TOOLS_CHECKSUM)?;

    throughput::text(&text, rounds)?;
    framing::against_memchr(&text, rounds)?;
    allocations::per_text_delta(&text);
    let other_order = corpus::text(FieldOrder::SequenceFirst);
    throughput::others(
        &[("text", &text), ("text, other field order", &other_order), ("tools", &tools)],
        rounds.div_ceil(3),
    )?;
    tokens::throughput(rounds)?;
    hostile_streams::linear(rounds.div_ceil(5));
    // Last, because it changes how the allocator behaves.
    huge_event::linear(rounds.div_ceil(5))
}

fn describe(corpus: &Corpus, checksum: u32) -> Result<(), String> {
    println!("corpus {}: {} events, {:.2} MB", corpus.name, corpus.ends.len(), corpus.megabytes());
    if corpus.checksum() == checksum {
        return Ok(());
    }
    Err(format!("the {} corpus has checksum {:#x}, not {checksum:#x}", corpus.name, corpus.checksum()))
}
