//! `cargo xtask platforms`: compiles and lints the programs and their tests for systems that this machine isn't.

use crate::Done;
use crate::shell::{add_target, cargo, run};

/// One target for each system. Rust code rarely depends on more.
const TARGETS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-gnu"];
/// What runs on the users' machines, or starts processes there.
const PACKAGES: [&str; 5] = ["sluice-core", "sluice-client", "sluice-simulator", "sluice-cli", "xtask"];

pub fn check() -> Done {
    for target in TARGETS {
        println!("\n── {target}");
        add_target(target)?;
        let name = target.replace('-', "_");
        run(cargo()
            .args(["clippy", "--quiet", "--locked", "--all-targets", "--target", target])
            .args(PACKAGES.iter().flat_map(|package| ["--package", package]))
            .args(["--", "--deny", "warnings"])
            // Nothing is linked, so the C code of dependencies isn't needed, and nor is a compiler for it.
            .env(format!("CC_{name}"), "true")
            .env(format!("AR_{name}"), "true"))?;
    }
    Ok(())
}
