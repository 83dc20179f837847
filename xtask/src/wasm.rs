//! The core as WebAssembly: the same bytes wherever it is built.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{capture, cargo, command, root, run};
use crate::{Done, javascript};

const TARGET: &str = "wasm32-unknown-unknown";
/// Each is loaded when it is needed and not before: to read answers, to ask, to play the demo.
const PACKAGES: [&str; 3] = ["sluice-wasm", "sluice-requests-wasm", "sluice-demo-wasm"];

/// Builds all modules and says where the one that reads answers is; the others are beside it.
pub fn build() -> Done<PathBuf> {
    build_in(&root().join("target"))
}

/// All modules of a build, given one of them.
pub fn modules(beside: &Path) -> Vec<PathBuf> {
    PACKAGES.iter().map(|package| beside.with_file_name(format!("{}.wasm", package.replace('-', "_")))).collect()
}

pub fn build_and_report() -> Done {
    let module = build()?;
    javascript::build()?;
    javascript::run_script("report-size.mjs", &module)
}

/// A second build from scratch must give the same bytes.
pub fn check_reproducible(first: &Path) -> Done {
    let again = root().join("target/again");
    let _ = fs::remove_dir_all(&again);
    let second = build_in(&again)?;
    let read = |file: &Path| fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()));
    for (first, second) in modules(first).iter().zip(&modules(&second)) {
        if read(first)? != read(second)? {
            return Err(format!("two builds differ: {} and {}", first.display(), second.display()));
        }
    }
    Ok(())
}

fn build_in(target_directory: &Path) -> Done<PathBuf> {
    add_target()?;
    // Panic messages carry source paths; without these the bytes would depend on who built them where.
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let remap_home = home.map(|home| format!(" --remap-path-prefix={home}=/cargo")).unwrap_or_default();
    let remap_root = format!(" --remap-path-prefix={}=/sluice", root().display());
    let flags = format!("-C target-feature=+simd128{remap_home}{remap_root}");
    run(cargo()
        .args(["build", "--quiet", "--locked", "--lib", "--target", TARGET])
        .args(PACKAGES.iter().flat_map(|package| ["--package", package]))
        .args(["--profile", "wasm", "--target-dir"])
        .arg(target_directory)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags))?;
    Ok(target_directory.join(TARGET).join("wasm/sluice_wasm.wasm"))
}

fn add_target() -> Done {
    let sysroot = capture(command("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).is_dir() {
        return Ok(());
    }
    run(command("rustup").args(["target", "add", TARGET]))
}
