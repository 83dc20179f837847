//! Builds `packages/stream-adapter` around the WebAssembly core, tests it, and checks it with the real AI SDK.

use std::fs;
use std::path::PathBuf;

use crate::gateway::{self, Gateway};
use crate::shell::{capture, command, root, run};
use crate::wasm::Modules;
use crate::{Done, javascript, notices, wasm};

fn package() -> PathBuf {
    root().join("packages/stream-adapter")
}

/// Builds the package and prints its size.
pub fn build() -> Done {
    build_around(&wasm::build()?)
}

pub fn build_around(modules: &Modules) -> Done {
    javascript::install()?;
    notices::write(
        &["sluice-wasm", "sluice-ai-sdk-wasm", "sluice-requests-wasm", "sluice-tokens-wasm"],
        wasm::TARGET,
        &[modules.core(), modules.ai_sdk(), modules.requests(), modules.tokens()],
        &package(),
    )?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root().join(licence), package().join(licence)).map_err(|error| format!("{licence}: {error}"))?;
    }
    run(command("node").arg("scripts/build.mjs").arg(modules.folder()).current_dir(package()))
}

/// Runs the package's own tests against the output of `build_around`.
pub fn test() -> Done {
    let tests = ["adapter", "browser", "failures", "hostile", "messages", "random", "sample", "tokens", "types"]
        .map(|name| format!("test/{name}.test.mjs"));
    let options = ["--experimental-vm-modules", "--no-warnings", "--test", "--test-reporter=dot"];
    run(command("node").args(options).args(tests).current_dir(package()))?;
    run(javascript::tool("publint/src/cli.js", &package()).arg("--strict"))?;
    let types =
        ["--pack", ".", "--exclude-entrypoints", "./core.wasm", "./ai-sdk.wasm", "--format", "ascii", "--quiet"];
    run(javascript::tool("@arethetypeswrong/cli/dist/index.js", &package()).args(types))?;
    let packed =
        capture(command("npm").args(["pack", "--dry-run", "--json", "--ignore-scripts"]).current_dir(package()))?;
    for file in [
        notices::FILE,
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "README.md",
        "CHANGELOG.md",
        "dist/index.mjs",
        "dist/core.wasm",
        "dist/ai-sdk.mjs",
        "dist/ai-sdk.wasm",
        "dist/vocabularies.cjs",
    ] {
        if !packed.contains(&format!("\"{file}\"")) {
            return Err(format!("the npm package would not contain {file}"));
        }
    }
    check_reference()
}

/// Generates the reference of the package's interface and compares it with the one in `docs/`.
fn check_reference() -> Done {
    run(&mut javascript::tool("typedoc/bin/typedoc", &package()))?;
    for (name, title) in [
        ("index", "@sluice/stream-adapter"),
        ("messages", "@sluice/stream-adapter/messages"),
        ("tokens", "@sluice/stream-adapter/tokens"),
    ] {
        let [made, kept] =
            [format!("target/api/{name}.md"), format!("docs/adapter-{name}.md")].map(|it| root().join(it));
        let text = fs::read_to_string(&made).map_err(|error| format!("{}: {error}", made.display()))?;
        let text = text.replacen(&format!("# {name}\n"), &format!("# `{title}`\n"), 1);
        let text = text.replace("](messages.md#", "](adapter-messages.md#");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&kept, text).map_err(|error| format!("{}: {error}", kept.display()))?;
        } else if fs::read_to_string(&kept).ok() != Some(text) {
            return Err(format!("{} is out of date: UPDATE_EXPECT=1 cargo xtask adapter rewrites it", kept.display()));
        }
    }
    Ok(())
}

/// Runs the AI SDK, in the versions that are in use, against the embedded gateway through the adapter.
pub fn check_with_ai_sdks() -> Done {
    let e2e = package().join("e2e");
    javascript::install()?;
    let gateway = Gateway::start(&gateway::build()?)?;
    run(command("node").arg("rows.mjs").current_dir(&e2e))?;
    run(command("node").arg("main.mjs").arg(&gateway.url).current_dir(e2e))
}

/// Uses the packed package in other runtimes and with other bundlers.
pub fn check_everywhere() -> Done {
    build()?;
    let folder = root().join("target/everywhere");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let packed = ["pack", "--silent", "--ignore-scripts", "--pack-destination"];
    let name = capture(command("npm").args(packed).arg(&folder).current_dir(package()))?;
    let gateway = Gateway::start(&gateway::build()?)?;
    let mut everywhere = command("node");
    everywhere.arg("e2e/everywhere.mjs").arg(folder.join(name.trim())).arg(folder.join("user")).arg(&gateway.url);
    run(everywhere.current_dir(package()))
}
