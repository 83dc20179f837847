//! `packages/stream-adapter`: built around the WebAssembly core, tested, and read through by the real AI SDK.

use std::path::{Path, PathBuf};

use crate::gateway::{self, Gateway};
use crate::shell::{command, root, run};
use crate::{Done, javascript, wasm};

fn package() -> PathBuf {
    root().join("packages/stream-adapter")
}

/// Builds the package and says how large it is.
pub fn build() -> Done {
    build_around(&wasm::build()?.core())
}

pub fn build_around(module: &Path) -> Done {
    javascript::install(&package())?;
    run(command("node").arg("scripts/build.mjs").arg(module).current_dir(package()))
}

/// The package's own tests, against what `build_around` built.
pub fn test() -> Done {
    let tests =
        ["adapter", "browser", "hostile", "random", "sample", "types"].map(|name| format!("test/{name}.test.mjs"));
    let options = ["--experimental-vm-modules", "--no-warnings", "--test", "--test-reporter=dot"];
    run(command("node").args(options).args(tests).current_dir(package()))
}

/// The AI SDK, in the versions that are in use, reads the embedded gateway through the adapter.
pub fn check_with_ai_sdks() -> Done {
    let e2e = package().join("e2e");
    javascript::install(&e2e)?;
    let gateway = Gateway::start(&gateway::build()?)?;
    run(command("node").arg("main.mjs").arg(&gateway.url).current_dir(e2e))
}
