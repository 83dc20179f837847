//! `cargo xtask bench`: runs the native benchmarks, then those in Node. The benchmarks install the other libraries
//! themselves.

mod compare;
mod instructions;
mod start;

use std::fs;
use std::path::PathBuf;

use crate::gateway::{self, Gateway};
use crate::shell::{cargo, command, root, run};
use crate::{Done, adapter, extension, javascript, vscode, wasm};

pub use compare::compare;
pub use instructions::instructions;
pub use start::start;

/// Measures the extension's budgets in a real VS Code. The suites check the results.
pub fn extension() -> Done {
    let vsix = extension::pack()?;
    let bytes = fs::metadata(&vsix).map_err(|error| format!("{}: {error}", vsix.display()))?.len();
    vscode::run(Some(vsix.clone()), Some("api"), false)?;
    vscode::run(Some(vsix), Some("session"), false)?;
    println!();
    println!("   aims: activation by our own clock <= 50 ms, no delay of the event loop > 50 ms while 20 streams run");
    println!("   the VSIX has {} KB (aim: <= 6000)", bytes / 1000);
    Ok(())
}

/// Measures when words are on the screen of a real VS Code, for one interval between words or for all.
pub fn screen(quick: bool, spacing: Option<u32>) -> Done {
    let tools = match vscode::prepare()? {
        vscode::Machine::Ready(tools) => tools,
        vscode::Machine::Cannot(reason) => return Err(reason),
    };
    let gateway = Gateway::start(&gateway::build()?)?;
    run(cargo().args(["build", "--quiet", "--locked", "--workspace", "--example", "screen_model"]))?;
    let mut driver = tools.node("e2e/screen.mjs", &gateway, &extension::pack()?);
    driver.env("SLUICE_SCREEN_MODEL", root().join("target/debug/examples/screen_model"));
    if quick {
        driver.args(["--only", "quick"]);
    }
    if let Some(spacing) = spacing {
        driver.args(["--spacing", &spacing.to_string()]);
    }
    run(&mut driver)
}

pub fn all(quick: bool) -> Done {
    let quick: &[&str] = if quick { &["--quick"] } else { &[] };
    run(cargo()
        .args(["run", "--quiet", "--locked", "--release", "--manifest-path", "bench/Cargo.toml", "--target-dir"])
        .args(["target/bench", "--"])
        .args(quick))?;
    instructions()?;
    start()?;
    let modules = wasm::build()?;
    javascript::build()?;
    adapter::build_around(&modules)?;
    let benchmark = |script: &str, module: PathBuf, loader: PathBuf| {
        let mut node = command("node");
        node.arg(root().join("bench/node").join(script)).arg("--wasm").arg(module);
        node.arg("--loader").arg(loader).args(quick);
        node
    };
    let loader = |name: &str| javascript::compiled_loader().with_file_name(name);
    let adapter = ["--adapter", "packages/stream-adapter/dist/index.mjs"];
    let mut main = benchmark("main.mjs", modules.core(), bundled_loader()?);
    main.arg("--without-memcmp").arg(wasm::build_without_memcmp()?);
    main.arg("--without-inline-never").arg(wasm::build_without_inline_never()?);
    run(main.args(adapter))?;
    run(&mut benchmark("tokens.mjs", modules.tokens(), loader("tokens.js")))?;
    for script in ["send.mjs", "session.mjs"] {
        run(command("node")
            .arg(root().join("bench/node").join(script))
            .arg("--core")
            .arg(modules.core())
            .arg("--requests")
            .arg(modules.requests())
            .arg("--loader")
            .arg(loader(""))
            .args(quick))?;
    }
    let mut hostile = benchmark("hostile.mjs", modules.core(), loader("core.js"));
    for (option, size) in [("--once", "524288"), ("--twice", "1048576"), ("--largest", "largest")] {
        hostile.arg(option).arg(export_hostile(size)?);
    }
    run(&mut hostile)
}

/// Bundles the core's loader as the extension and the adapter do. To import it as several files takes 2 ms longer.
fn bundled_loader() -> Done<PathBuf> {
    let file = root().join("target/bench-loader/core.mjs");
    run(javascript::tool("esbuild/bin/esbuild", &root())
        .args(["packages/loader/src/core.ts", "--bundle", "--format=esm", "--target=es2022", "--minify"])
        .args(["--log-level=warning", &format!("--outfile={}", file.display())]))?;
    Ok(file)
}

/// Writes hostile input of about this many bytes each, or the `largest` events.
pub fn export_hostile(bytes: &str) -> Done<PathBuf> {
    let directory = root().join("target/hostile").join(bytes);
    let _ = fs::remove_dir_all(&directory);
    run(cargo()
        .args(["run", "--quiet", "--locked", "--package", "sluice-core", "--example", "export_hostile", "--"])
        .arg(&directory)
        .arg(bytes))?;
    Ok(directory)
}
