//! Adds the commit to the version.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // A source archive has no commit.
    let commit = git(&["rev-parse", "--short=9", "HEAD"]).map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo:rustc-env=SLUICE_VERSION={}{commit}", env!("CARGO_PKG_VERSION"));
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
