//! Counts the instructions that the native core spends on one event, with Valgrind. They are the same on a busy machine, so
//! they show what a change to the hot path is worth. `cargo xtask bench --instructions` prints nothing else.

use std::fs;

use crate::Done;
use crate::shell::{capture, cargo, command, root, run};

const EVENTS: u64 = 5_000;
const TITLE: &str = "instructions for each event, 16 KiB chunks";

pub fn instructions() -> Done {
    if capture(command("valgrind").arg("--version")).is_err() {
        println!("\n   SKIPPED: counting instructions, because Valgrind isn't installed");
        return Ok(());
    }
    run(cargo().args(["build", "--locked", "--release", "--package", "sluice-core", "--example", "read_stream"]))?;
    println!("\n{TITLE}  measured  figure\n{}", "-".repeat(TITLE.len() + 18));
    for (kind, about) in [("text", "text"), ("paced", "text, paced for VS Code"), ("arguments", "arguments of a call")]
    {
        let [once, twice] = [count(kind, 1)?, count(kind, 2)?];
        println!("{about:<width$}{:>18}", twice.saturating_sub(once) / EVENTS, width = TITLE.len());
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
