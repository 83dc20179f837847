//! Builds test programs and runs several at once. Cargo would run one after the other, and some of them
//! mostly wait.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use super::with_seed;
use crate::Done;
use crate::shell::capture;

struct Program {
    file: PathBuf,
    /// The directory of its package, in which cargo would run it.
    directory: PathBuf,
}

/// Runs what this `cargo test` would run, except for examples in the documentation.
pub fn test(cargo_test: &mut Command) -> Done {
    let programs = build(cargo_test)?;
    let count = programs.len();
    let queue = Mutex::new(VecDeque::from(programs));
    let next = || queue.lock().ok()?.pop_front();
    let problems = Mutex::new(Vec::new());
    let work = || {
        while let Some(program) = next() {
            if let (Err(problem), Ok(mut problems)) = (program.run(), problems.lock()) {
                problems.push(problem);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(work);
        }
    });
    let problems = problems.into_inner().unwrap_or_default();
    match (count, problems.as_slice()) {
        (0, _) => Err("there are no tests".to_owned()),
        (_, []) => Ok(()),
        _ => Err(problems.join("\n")),
    }
}

fn build(cargo_test: &mut Command) -> Done<Vec<Program>> {
    let messages = capture(cargo_test.args(["--no-run", "--message-format=json-render-diagnostics"]))?;
    let programs = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let file = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let directory = Path::new(message["manifest_path"].as_str()?).parent()?;
        Some(Program { file: file.into(), directory: directory.into() })
    });
    Ok(programs.collect())
}

impl Program {
    /// Runs it. The error has what it printed.
    fn run(&self) -> Done {
        let mut command = Command::new(&self.file);
        with_seed(&mut command);
        let output = command
            .arg("--quiet")
            .current_dir(&self.directory)
            .env("CARGO_MANIFEST_DIR", &self.directory)
            .output()
            .map_err(|error| format!("{}: {error}", self.file.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Err(format!("{} failed ({})\n{printed}", self.file.display(), output.status))
    }
}
