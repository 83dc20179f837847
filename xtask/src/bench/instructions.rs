//! `cargo xtask bench --instructions`: counts the instructions that the native core spends on one event. They are the same
//! on a busy machine, so they show what a change to the hot path is worth. Valgrind has to be installed.

use std::fs;

use crate::Done;
use crate::shell::{capture, cargo, command, root, run};

const EVENTS: u64 = 5_000;

pub fn instructions() -> Done {
    run(cargo().args(["build", "--locked", "--release", "--package", "sluice-core", "--example", "read_stream"]))?;
    println!("instructions for each event of a stream, read in chunks of 16 KiB");
    for (kind, about) in [("text", "text"), ("paced", "text, paced for VS Code"), ("arguments", "arguments of a call")]
    {
        let [once, twice] = [count(kind, 1)?, count(kind, 2)?];
        println!("{about:<24} {:>6}", twice.saturating_sub(once) / EVENTS);
    }
    Ok(())
}

/// Returns how many instructions the program needs to read the stream this many times.
fn count(kind: &str, rounds: u64) -> Done<u64> {
    let file = root().join("target/callgrind.out");
    let numbers = [EVENTS.to_string(), rounds.to_string()];
    capture(
        command("valgrind")
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", file.display()))
            .args(["target/release/examples/read_stream", kind])
            .args(numbers),
    )?;
    let profile = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let total = profile.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
    total.ok_or_else(|| format!("{} has no total", file.display()))
}
