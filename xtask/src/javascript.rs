//! Installs, compiles and tests the TypeScript code with the Node of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Done;
use crate::shell::{command, root, run};
use crate::wasm::Modules;

/// Returns the folder of the core's loader.
fn loader() -> PathBuf {
    root().join("packages/loader")
}

/// Returns the compiled loader, an ES module.
pub fn compiled_loader() -> PathBuf {
    loader().join("dist/src/core.js")
}

/// The members of the npm workspace, except for e2e, which is large; `vscode::prepare` installs it.
pub const MEMBERS: [&str; 5] =
    ["packages/loader", "packages/stream-adapter", "packages/stream-adapter/e2e", "extension", "bench/node"];

/// Options for every `npm ci`. Install scripts are disabled: nothing that they would compile or download is needed.
pub const QUIET: [&str; 4] = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/// Installs exactly the packages in the lock file, unless they are already installed.
pub fn install() -> Done {
    // A copy of the lock file records what was installed.
    let [wanted, installed] = ["package-lock.json", "node_modules/.installed-lock.json"].map(|file| root().join(file));
    let locked = fs::read(&wanted).map_err(|error| format!("{}: {error}", wanted.display()))?;
    if fs::read(&installed).is_ok_and(|installed| installed == locked) {
        return Ok(());
    }
    let members = MEMBERS.iter().flat_map(|member| ["--workspace", member]);
    run(command("npm").args(["ci", "--include-workspace-root"]).args(members).args(QUIET))?;
    fs::write(&installed, locked).map_err(|error| format!("{}: {error}", installed.display()))
}

/// Returns a command that runs a program from an npm package, in the folder of a member.
pub fn tool(script: &str, member: &Path) -> Command {
    let mut node = command("node");
    node.arg(root().join("node_modules").join(script)).current_dir(member);
    node
}

/// Checks the formatting of all JavaScript, TypeScript and JSON files, and lints them and the workflows of the code host.
pub fn check_style() -> Done {
    install()?;
    run(tool("@biomejs/biome/bin/biome", &root()).args(["ci", "--error-on-warnings", "--log-level=warn"]))
        .map_err(|error| format!("{error}; `npm run fix` in the root folder repairs most findings"))?;
    run(command("node").arg("xtask/src/workflows.mjs"))
}

pub fn build() -> Done {
    install()?;
    run(&mut tool("typescript/bin/tsc", &loader()))
}

/// Runs the loader's tests against the built modules and a directory of generated streams.
pub fn test(modules: &Modules, streams: &Path) -> Done {
    // The files are passed one by one, because Node versions differ in what `node --test` does with a folder.
    let folder = loader().join("dist/test");
    let files = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let tests = files.flatten().map(|file| file.path()).filter(|path| path.to_string_lossy().ends_with(".test.js"));
    run(command("node")
        .args(["--test", "--test-reporter=dot"])
        .args(tests)
        .env("SLUICE_WASM", modules.core())
        .env("SLUICE_AI_SDK_WASM", modules.ai_sdk())
        .env("SLUICE_TOKENS_WASM", modules.tokens())
        .env("SLUICE_STREAMS", streams)
        .current_dir(loader()))
}

/// Runs one of the loader's scripts on a built module.
pub fn run_script(script: &str, module: &Path) -> Done {
    run(command("node").arg(loader().join("scripts").join(script)).arg(module))
}
