//! `cargo xtask meter`: counts what hostile input costs in instructions and bytes, which are the same on every machine.

use std::path::PathBuf;
use std::process::Command;

use crate::Done;
use crate::shell::{cargo, root, run};
use crate::wasm::{self, Modules};

/// Reads every generator's input, perhaps at a larger size, or every pair of events.
pub fn all(pairs: bool, large: bool) -> Done {
    let options = [("--pairs", pairs), ("--large", large)];
    run(on(&wasm::build()?)?.args(options.iter().filter(|(_, is_set)| *is_set).map(|(option, _)| option)))
}

/// Returns a command that runs the meter with these modules.
pub fn on(modules: &Modules) -> Done<Command> {
    let mut meter = Command::new(build()?);
    meter.current_dir(root()).arg(modules.folder());
    Ok(meter)
}

pub fn build() -> Done<PathBuf> {
    let target = root().join("target/meter");
    run(cargo()
        .args(["build", "--quiet", "--locked", "--release", "--manifest-path", "meter/Cargo.toml", "--target-dir"])
        .arg(&target))?;
    Ok(target.join("release/sluice-meter"))
}
