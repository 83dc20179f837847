//! Runs other programs and reports their failures.

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::Done;

thread_local! {
    /// Where the programs that this thread runs print, instead of on the terminal.
    static OUTPUT: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Returns the workspace's root.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// Returns a command that runs in the workspace's root.
pub fn command(name: &str) -> Command {
    let mut command = program(name);
    command.current_dir(root());
    command
}

/// Returns a command that runs in the current folder. On Windows, some programs are scripts, and have to be named as
/// such.
pub fn program(name: &str) -> Command {
    let is_script = cfg!(windows) && ["npm", "code"].contains(&name);
    Command::new(if is_script { format!("{name}.cmd") } else { name.to_owned() })
}

pub fn cargo() -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
}

/// Installs what the compiler needs to build for another kind of machine, unless it is there.
pub fn add_target(target: &str) -> Done {
    let sysroot = capture(command("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(target).is_dir() {
        return Ok(());
    }
    run(command("rustup").args(["target", "add", target]))
}

/// Gives the programs that this thread runs from now on a lower priority than others. Elsewhere than on Linux, that would apply
/// to all threads.
pub fn yield_to_others() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}

/// Runs a task. Returns what it returned, and what the programs that it ran on this thread have printed.
pub fn gather<T>(task: impl FnOnce() -> T) -> Done<(T, String)> {
    let file = root().join(format!("target/output-{:?}.txt", thread::current().id()));
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    OUTPUT.set(Some(File::create(&file).map_err(failed)?));
    let done = task();
    OUTPUT.set(None);
    let output = fs::read(&file).and_then(|output| fs::remove_file(&file).map(|()| output)).map_err(failed)?;
    Ok((done, String::from_utf8_lossy(&output).into_owned()))
}

/// Runs a command with its output on the terminal, or where it is gathered.
pub fn run(command: &mut Command) -> Done {
    let line = spelled(command);
    OUTPUT.with_borrow(|output| {
        if let Some(file) = output
            && let (Ok(output), Ok(errors)) = (file.try_clone(), file.try_clone())
        {
            command.stdout(output).stderr(errors);
        }
    });
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
