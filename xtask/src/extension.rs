//! Compiles the VS Code extension, bundles it with its WebAssembly modules, and packs it into one VSIX for all
//! platforms.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::gateway::{self, Gateway};
use crate::shell::{cargo, command, root, run};
use crate::{Done, javascript, notices, wasm};

pub fn folder() -> PathBuf {
    root().join("extension")
}

/// Builds the VSIX and returns its path.
pub fn pack() -> Done<PathBuf> {
    let extension = folder();
    javascript::install()?;
    run(&mut javascript::tool("typescript/bin/tsc", &extension))?;
    run(javascript::tool("typescript/bin/tsc", &extension).args(["--project", "view"]))?;
    let dist = extension.join("dist");
    let _ = fs::remove_dir_all(&dist);
    run(command("node").arg("esbuild.mjs").current_dir(&extension))?;
    let modules = wasm::build()?.of_extension();
    for module in &modules {
        copy(module, &dist)?;
    }
    copy(&root().join("crates/sluice-core/data/gemma.vocabulary"), &dist)?;
    notices::write(&wasm::PACKAGES, wasm::TARGET, &modules, &extension)?;
    notices::add_npm_packages(&extension)?;
    fs::copy(root().join("LICENSE-MIT"), extension.join("LICENSE.txt"))
        .map_err(|error| format!("LICENSE-MIT: {error}"))?;
    let vsix = root().join("target/sluice.vsix");
    run(javascript::tool("@vscode/vsce/vsce", &extension)
        .args(["package", "--no-dependencies", "--allow-missing-repository"])
        // As long as the manifest names no repository, links to pictures can't become addresses of it.
        .args(["--no-rewrite-relative-links", "--out"])
        .arg(&vsix)
        // All packed files have this time (in 1980, the earliest that archives can have), so that two builds have the
        // same bytes.
        .env("SOURCE_DATE_EPOCH", "315619200"))?;
    notices::check_packed(&vsix, &format!("extension/{}", notices::FILE))?;
    Ok(vsix)
}

/// Runs the extension's own tests, with a mock of VS Code and the real modules.
pub fn test() -> Done {
    let extension = folder();
    javascript::install()?;
    run(javascript::tool("typescript/bin/tsc", &extension).args(["--project", "tsconfig.test.json"]))?;
    run(command("node").arg("test/run.mjs").env("SLUICE_WASM_DIR", wasm::build()?.folder()).current_dir(&extension))
}

/// Runs the fault matrix in the client, the extension and the stream adapter, and compares the results.
pub fn compare_faults() -> Done {
    let results = root().join("target/faults.json");
    // As in `test::export_streams`, the whole workspace, because its tests have built this already.
    run(cargo().args(["build", "--quiet", "--locked", "--workspace", "--example", "faults"]))?;
    let program = root().join("target/debug/examples").join(format!("faults{}", std::env::consts::EXE_SUFFIX));
    run(Command::new(program).arg(&results))?;
    let gateway = Gateway::start(&gateway::build()?)?;
    run(command("node")
        .args(["test/run.mjs", "faults.ts"])
        .env("SLUICE_FAULTS", &results)
        .env("SLUICE_GATEWAY", &gateway.url)
        .env("SLUICE_WASM_DIR", wasm::build()?.folder())
        .current_dir(folder()))
}

pub fn report() -> Done {
    let vsix = pack()?;
    let bytes = fs::metadata(&vsix).map_err(|error| format!("{}: {error}", vsix.display()))?.len();
    println!("{}: {} KB", vsix.display(), bytes / 1000);
    Ok(())
}

fn copy(file: &Path, folder: &Path) -> Done {
    let name = file.file_name().ok_or_else(|| format!("{} isn't a file", file.display()))?;
    fs::copy(file, folder.join(name)).map(drop).map_err(|error| format!("cannot copy {}: {error}", file.display()))
}
