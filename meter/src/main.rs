//! Counts what hostile input costs, instead of measuring the time.
//!
//! `sluice-meter MODULES` reads every generator's input at one size and at twice that size, prints a table, and fails
//! if anything costs too much. Then it reads streams that are as large as they may be and prints what the most
//! expensive push of each costs. `--large` reads four times as much, which takes minutes. `--brief` prints only the rows
//! that cost too much. `--only WORDS` selects the generators whose names contain these words. `--pairs` reads every pair
//! of events instead, many of one after many of the other. `--serve` serves the fuzz target `cost`.

#[allow(dead_code, reason = "the fuzz target uses the rest")]
#[path = "../../crates/sluice-core/tests/support/hostile.rs"]
mod hostile;
mod machine;
mod memory;
mod pairs;
mod serve;
mod table;

use std::path::Path;
use std::process::ExitCode;

use machine::Machine;
use table::{LARGE_SIZES, SMALL_SIZES, Sizes};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [modules] => run(modules, |machine| Ok(tables(machine, "", SMALL_SIZES, false))),
        [modules, "--large"] => run(modules, |machine| Ok(tables(machine, "", LARGE_SIZES, false))),
        [modules, "--brief"] => run(modules, |machine| Ok(tables(machine, "", SMALL_SIZES, true))),
        [modules, "--only", words] => run(modules, |machine| Ok(tables(machine, words, SMALL_SIZES, false))),
        [modules, "--pairs"] => run(modules, |machine| Ok(pairs::print(machine))),
        [modules, "--serve"] => run(modules, |machine| serve::answer(machine).map(|()| 0)),
        _ => Err("usage: sluice-meter MODULES [--large | --brief | --only WORDS | --pairs | --serve]".to_owned()),
    };
    match done {
        Ok(0) => ExitCode::SUCCESS,
        Ok(bad) => {
            eprintln!("{bad} of them cost more than they may");
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Prints both tables, with the generators whose names contain these words, and says how many cost more than they may.
fn tables(machine: &Machine, words: &str, sizes: Sizes, brief: bool) -> usize {
    let mut generators = hostile::generators();
    generators.retain(|generator| generator.name.contains(words));
    let mut largest = hostile::largest();
    largest.retain(|(generator, _)| generator.name.contains(words));
    table::print(machine, &generators, sizes, brief) + table::print_largest(machine, &largest, brief)
}

fn run(modules: &str, work: impl FnOnce(&Machine) -> Result<usize, String>) -> Result<usize, String> {
    work(&Machine::new(Path::new(modules))?)
}
