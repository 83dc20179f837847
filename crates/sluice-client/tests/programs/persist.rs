//! The full stress test of the memory file: a thousand killed writers, a hundred thousand flipped bits, four writers at
//! once. Run by `cargo xtask persist`.

use std::process::ExitCode;

#[path = "../support/persist.rs"]
mod persist;

fn main() -> ExitCode {
    if persist::live_as_victim() {
        return ExitCode::SUCCESS;
    }
    let plan = persist::Plan { kills: 1000, flips: 100_000, writers: 4, updates: 1000, victim_arguments: &[] };
    let scratch = std::env::temp_dir().join(format!("sluice-persist-{}", std::process::id()));
    let report = persist::run(&plan, &scratch, &mut |step| eprintln!("{step}"));
    println!("{report}");
    if report.bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
