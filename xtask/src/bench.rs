//! `cargo xtask bench`: the native figures, then those in Node; the peers are installed by the benchmark itself.

use crate::shell::{cargo, command, root, run};
use crate::{Done, adapter, javascript, wasm};

pub fn all(quick: bool) -> Done {
    let quick: &[&str] = if quick { &["--quick"] } else { &[] };
    run(cargo()
        .args(["run", "--quiet", "--locked", "--release", "--manifest-path", "bench/Cargo.toml", "--target-dir"])
        .args(["target/bench", "--"])
        .args(quick))?;
    let module = wasm::build()?.core();
    javascript::build()?;
    javascript::install(&root().join("bench/node"))?;
    adapter::build_around(&module)?;
    let loader = javascript::compiled_loader();
    run(command("node")
        .arg("bench/node/main.mjs")
        .arg("--wasm")
        .arg(module)
        .arg("--loader")
        .arg(loader)
        .args(["--adapter", "packages/stream-adapter/dist/index.mjs"])
        .args(quick))
}
