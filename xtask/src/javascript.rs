//! Installs, compiles and tests the TypeScript code with the Node of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Done;
use crate::shell::{command, root, run};

/// Returns the folder of the core's loader.
fn loader() -> PathBuf {
    root().join("packages/loader")
}

/// Returns the compiled loader, an ES module.
pub fn compiled_loader() -> PathBuf {
    loader().join("dist/src/core.js")
}

/// Installs exactly the packages in the lock file, unless they are already installed.
pub fn install(package: &Path) -> Done {
    let modified = |file: PathBuf| file.metadata().and_then(|metadata| metadata.modified()).ok();
    let locked = modified(package.join("package-lock.json"));
    let installed = modified(package.join("node_modules/.package-lock.json"));
    if locked.is_some() && installed >= locked {
        return Ok(());
    }
    run(command("npm").args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(package))
}

/// Checks the formatting of all JavaScript, TypeScript and JSON files.
pub fn check_style() -> Done {
    install(&root())?;
    run(command("node").args(["node_modules/@biomejs/biome/bin/biome", "ci", "--log-level=warn"]))
        .map_err(|error| format!("{error}; `npm run fix` in the root folder repairs the formatting"))
}

pub fn build() -> Done {
    install(&loader())?;
    run(command("node").arg("node_modules/typescript/bin/tsc").current_dir(loader()))
}

/// Runs the loader's tests against the built modules and a directory of generated streams.
pub fn test(core: &Path, tokens: &Path, streams: &Path) -> Done {
    // The files are passed one by one, because Node versions differ in what `node --test` does with a folder.
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
