//! The core as WebAssembly: the same bytes wherever it is built.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{capture, cargo, command, root, run};
use crate::{Done, javascript};

const TARGET: &str = "wasm32-unknown-unknown";

/// The two modules: what streams answers, and what counts tokens. The second is loaded when there is time.
pub const CORE: &str = "sluice-wasm";
pub const TOKENS: &str = "sluice-tokens-wasm";

/// Builds a module and says where it is.
pub fn build(package: &str) -> Done<PathBuf> {
    build_in(&root().join("target"), package)
}

pub fn build_and_report() -> Done {
    let (core, tokens) = (build(CORE)?, build(TOKENS)?);
    javascript::build()?;
    javascript::run_script("report-size.mjs", &core)?;
    javascript::run_script("report-tokens-size.mjs", &tokens)
}

/// A second build from scratch must give the same bytes.
pub fn check_reproducible(first: &Path, package: &str) -> Done {
    let again = root().join("target/again");
    let _ = fs::remove_dir_all(&again);
    let second = build_in(&again, package)?;
    let read = |file: &Path| fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()));
    if read(first)? == read(&second)? {
        return Ok(());
    }
    Err(format!("two builds differ: {} and {}", first.display(), second.display()))
}

/// The gateway's responder will run inside the extension: it must build where there are no sockets.
pub fn check_responder() -> Done {
    run(cargo().args(["check", "--quiet", "--locked", "--package", "sluice-simulator", "--lib", "--target", TARGET]))
}

fn build_in(target_directory: &Path, package: &str) -> Done<PathBuf> {
    add_target()?;
    // Panic messages carry source paths; without these the bytes would depend on who built them where.
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let remap_home = home.map(|home| format!(" --remap-path-prefix={home}=/cargo")).unwrap_or_default();
    let remap_root = format!(" --remap-path-prefix={}=/sluice", root().display());
    let flags = format!("-C target-feature=+simd128{remap_home}{remap_root}");
    run(cargo()
        .args(["build", "--quiet", "--locked", "--package", package, "--lib", "--target", TARGET])
        .args(["--profile", "wasm", "--target-dir"])
        .arg(target_directory)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags))?;
    Ok(target_directory.join(TARGET).join(format!("wasm/{}.wasm", package.replace('-', "_"))))
}

fn add_target() -> Done {
    let sysroot = capture(command("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).is_dir() {
        return Ok(());
    }
    run(command("rustup").args(["target", "add", TARGET]))
}
