//! `cargo xtask bench`: the native figures, then those in Node; the peers are installed by the benchmark itself.

use std::path::PathBuf;

use crate::shell::{cargo, command, root, run};
use crate::{Done, adapter, javascript, wasm};

pub fn all(quick: bool) -> Done {
    let quick: &[&str] = if quick { &["--quick"] } else { &[] };
    run(cargo()
        .args(["run", "--quiet", "--locked", "--release", "--manifest-path", "bench/Cargo.toml", "--target-dir"])
        .args(["target/bench", "--"])
        .args(quick))?;
    let modules = wasm::build()?;
    javascript::build()?;
    javascript::install(&root().join("bench/node"))?;
    adapter::build_around(&modules.core())?;
    let benchmark = |script: &str, module: PathBuf, loader: &str| {
        let mut node = command("node");
        node.arg(root().join("bench/node").join(script)).arg("--wasm").arg(module).arg("--loader");
        node.arg(javascript::compiled_loader().with_file_name(loader)).args(quick);
        node
    };
    let adapter = ["--adapter", "packages/stream-adapter/dist/index.mjs"];
    run(benchmark("main.mjs", modules.core(), "core.js").args(adapter))?;
    run(&mut benchmark("tokens.mjs", modules.tokens(), "tokens.js"))
}
