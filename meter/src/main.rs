//! Counts what hostile input costs, instead of measuring the time.
//!
//! `sluice-meter MODULES` reads every generator's input at one size and at twice that size, prints a table, and fails
//! if anything costs too much. `--brief` prints only the rows that do. `--only WORDS` selects the generators whose
//! names contain these words. `--pairs` reads every pair of events instead, many of one after many of the other.
//! `--serve` serves the fuzz target `cost`.

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

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [modules] => run(modules, |machine| Ok(table::print(machine, &hostile::generators(), false))),
        [modules, "--brief"] => run(modules, |machine| Ok(table::print(machine, &hostile::generators(), true))),
        [modules, "--only", words] => run(modules, |machine| {
            let mut generators = hostile::generators();
            generators.retain(|generator| generator.name.contains(words));
            Ok(table::print(machine, &generators, false))
        }),
        [modules, "--pairs"] => run(modules, |machine| Ok(pairs::print(machine))),
        [modules, "--serve"] => run(modules, |machine| serve::answer(machine).map(|()| 0)),
        _ => Err("usage: sluice-meter MODULES [--brief | --only WORDS | --pairs | --serve]".to_owned()),
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

fn run(modules: &str, work: impl FnOnce(&Machine) -> Result<usize, String>) -> Result<usize, String> {
    work(&Machine::new(Path::new(modules))?)
}
