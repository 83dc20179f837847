//! The TypeScript side: installed, compiled and tested with the machine's Node.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Done;
use crate::shell::{command, root, run};

/// Where the loader of the core lives.
fn loader() -> PathBuf {
    root().join("crates/sluice-wasm/js")
}

/// The compiled loader, as an ES module.
pub fn compiled_loader() -> PathBuf {
    loader().join("dist/src/core.js")
}

/// Installs exactly what the lock file names, unless it is there already.
pub fn install(package: &Path) -> Done {
    let modified = |file: PathBuf| file.metadata().and_then(|metadata| metadata.modified()).ok();
    let locked = modified(package.join("package-lock.json"));
    let installed = modified(package.join("node_modules/.package-lock.json"));
    if locked.is_some() && installed >= locked {
        return Ok(());
    }
    run(command("npm").args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(package))
}

pub fn build() -> Done {
    install(&loader())?;
    run(command("node").arg("node_modules/typescript/bin/tsc").current_dir(loader()))
}

/// Runs the loader's tests against the built modules and a directory of invented streams.
pub fn test(core: &Path, tokens: &Path, streams: &Path) -> Done {
    // File by file: what a folder means to `node --test` differs between versions.
    let folder = loader().join("dist/test");
    let files = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let tests = files.flatten().map(|file| file.path()).filter(|path| path.to_string_lossy().ends_with(".test.js"));
    run(command("node")
        .args(["--test", "--test-reporter=dot"])
        .args(tests)
        .env("SLUICE_WASM", core)
        .env("SLUICE_TOKENS_WASM", tokens)
        .env("SLUICE_STREAMS", streams)
        .current_dir(loader()))
}

/// Runs one of the loader's scripts on a built module.
pub fn run_script(script: &str, module: &Path) -> Done {
    run(command("node").arg(loader().join("scripts").join(script)).arg(module))
}
