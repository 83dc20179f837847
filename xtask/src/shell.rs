//! Runs other programs and reports their failures.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Done;

/// Returns the workspace's root.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// Returns a command that runs in the workspace's root.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

pub fn cargo() -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
}

/// Runs a command with its output on the terminal.
pub fn run(command: &mut Command) -> Done {
    let line = spelled(command);
    let status = command.status().map_err(|error| missing(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed ({status})")) }
}

/// Runs a command and returns its output.
pub fn capture(command: &mut Command) -> Done<String> {
    let line = spelled(command);
    let output = command.output().map_err(|error| missing(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{line}` failed ({})\n{said}", output.status))
}

fn spelled(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(std::ffi::OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn missing(command: &Command, error: &std::io::Error) -> String {
    let program = command.get_program().to_string_lossy();
    format!("cannot run `{program}` ({error}); install it and make sure it is on the PATH")
}
