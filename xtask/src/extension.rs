//! Compiles the VS Code extension, bundles it with its WebAssembly modules, and packs it into one VSIX for all
//! platforms.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{command, root, run};
use crate::{Done, javascript, notices, wasm};

pub fn folder() -> PathBuf {
    root().join("extension")
}

/// Builds the VSIX and returns its path.
pub fn pack() -> Done<PathBuf> {
    let extension = folder();
    javascript::install()?;
    run(&mut javascript::tool("typescript/bin/tsc", &extension))?;
    let dist = extension.join("dist");
    let _ = fs::remove_dir_all(&dist);
    run(command("node").arg("esbuild.mjs").current_dir(&extension))?;
    let modules = wasm::build()?.all();
    for module in &modules {
        copy(module, &dist)?;
    }
    notices::write(&wasm::PACKAGES, &modules, &extension)?;
    fs::copy(root().join("LICENSE-MIT"), extension.join("LICENSE.txt"))
        .map_err(|error| format!("LICENSE-MIT: {error}"))?;
    let vsix = root().join("target/sluice.vsix");
    run(javascript::tool("@vscode/vsce/vsce", &extension)
        .args(["package", "--no-dependencies", "--allow-missing-repository", "--out"])
        .arg(&vsix))?;
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
