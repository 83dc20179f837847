//! `cargo xtask bench`: the native figures, then those in Node; the peers are installed by the benchmark itself.

use crate::shell::{cargo, command, root, run};
use crate::{Done, javascript, wasm};

pub fn all(quick: bool) -> Done {
    let quick: &[&str] = if quick { &["--quick"] } else { &[] };
    run(cargo()
        .args(["run", "--quiet", "--locked", "--release", "--manifest-path", "bench/Cargo.toml", "--target-dir"])
        .args(["target/bench", "--"])
        .args(quick))?;
    let modules = wasm::build()?;
    javascript::build()?;
    javascript::install(&root().join("bench/node"))?;
    for (script, module, loader) in
        [("main.mjs", modules.core(), "core.js"), ("tokens.mjs", modules.tokens(), "tokens.js")]
    {
        run(command("node")
            .arg(root().join("bench/node").join(script))
            .arg("--wasm")
            .arg(module)
            .arg("--loader")
            .arg(javascript::compiled_loader().with_file_name(loader))
            .args(quick))?;
    }
    Ok(())
}
