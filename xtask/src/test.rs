//! `cargo xtask test`: runs every check, and announces each one.
//!
//! The tests in VS Code take the longest and mostly wait, so they start as soon as what they need is built. Everything else runs
//! beside them, with a lower priority.

mod programs;
mod summary;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};

use crate::shell::{cargo, root, run, yield_to_others};
use crate::vscode::{self, Machine};
use crate::wasm::Modules;
use crate::{Done, adapter, documents, extension, gateway, javascript, meter, recordings, servers, tidy, tokens, wasm};
use summary::Summary;

/// The variable that names a folder of recorded streams to check as well.
const RECORDINGS: &str = "SLUICE_RECORDINGS";

pub fn all() -> Done {
    let summary = Summary::new();
    let done = steps(&summary);
    summary.print(done.is_ok());
    done
}

fn steps(summary: &Summary) -> Done {
    // What fails most often takes the least time.
    summary.step("formatting", || run(cargo().args(["fmt", "--all", "--check"])))?;
    summary.step("house rules", tidy::check)?;
    summary.step("JavaScript style", javascript::check_style)?;
    thread::scope(|scope| {
        let machine = scope.spawn(|| summary.step("installation of VS Code and a browser", vscode::prepare));
        // Without Python, the other checks are still worth something.
        let litellm = scope.spawn(|| summary.step("installation of LiteLLM", || Ok(servers::prepare_litellm())));
        let sluice = scope.spawn(|| summary.step("the command line", gateway::build));
        let modules = summary.step("WebAssembly", wasm::build)?;
        let vsix = summary.step("the extension's package", || {
            adapter::build_around(&modules)?;
            extension::pack()
        })?;
        joined(sluice)?;
        let in_vscode = scope.spawn(move || check_in_vscode(summary, machine, &vsix));
        let native = scope.spawn(|| {
            yield_to_others();
            check_native(summary)
        });
        yield_to_others();
        check_modules(summary, &modules)?;
        joined(native)?;
        check_both(summary)?;
        let name = "the command line with a real LiteLLM";
        match joined(litellm)? {
            Ok(()) => summary.step(name, || servers::check(Some("litellm")))?,
            Err(reason) => summary.skip(name, &format!("it can't be installed: {reason}")),
        }
        joined(in_vscode)
    })
}

fn joined<T>(check: ScopedJoinHandle<'_, Done<T>>) -> Done<T> {
    check.join().map_err(|_| "a check panicked".to_owned())?
}

fn check_in_vscode(summary: &Summary, machine: ScopedJoinHandle<'_, Done<Machine>>, vsix: &Path) -> Done {
    let name = "the extension in a real VS Code";
    match joined(machine)? {
        Machine::Ready(tools) => {
            let notes = summary.step(name, || vscode::test(&tools, vsix, None, false))?;
            for note in notes {
                summary.add(format!("   {note}"));
            }
        }
        Machine::Cannot(reason) => summary.skip(name, &reason),
    }
    Ok(())
}

/// Everything that is written in Rust and runs natively.
fn check_native(summary: &Summary) -> Done {
    summary.step("lints", || {
        run(cargo().args(["clippy", "--quiet", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })?;
    summary.step("unit and integration tests", || programs::test(cargo_test().arg("--workspace")))?;
    summary.step("documentation", || {
        let mut doc = cargo();
        doc.args(["doc", "--quiet", "--locked", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings");
        run(&mut doc)?;
        run(cargo_test().args(["--workspace", "--doc"]))
    })?;
    summary.step("commands in the documents", documents::check)?;
    // Only the core is compiled again for this. A release build would compile everything that it depends on as well.
    summary.step("invariants, at full depth", || {
        programs::test(
            cargo_test()
                .args(["--config", "profile.dev.package.sluice-core.opt-level=2"])
                .args(["--config", "profile.dev.package.sluice-core.debug-assertions=false"])
                .arg("--workspace")
                .args(["--test", "invariants_exhaustive", "--test", "invariants_random"])
                .args(["--test", "ai_sdk_invariants", "--test", "exchange_exhaustive"]),
        )
    })
}

/// The WebAssembly modules and the JavaScript around them.
fn check_modules(summary: &Summary, modules: &Modules) -> Done {
    summary.step("WebAssembly, built again elsewhere", || {
        wasm::check_reproducible(modules)?;
        javascript::build()?;
        wasm::report(modules)
    })?;
    summary.step("hostile input, counted", || run(meter::on(modules)?.arg("--brief")))?;
    summary.step("the adapter package", adapter::test)?;
    summary.step("extension", extension::test)
}

/// What needs native programs as well as modules.
fn check_both(summary: &Summary) -> Done {
    summary.step("streams in Node", || javascript::test(&wasm::build()?, &export_streams()?))?;
    summary.step("the AI SDK, three versions of it, through the adapter", adapter::check_with_ai_sdks)?;
    summary.step("the same faults in the client, the extension and the adapter", extension::compare_faults)?;
    if let Some(recorded) = std::env::var_os(RECORDINGS).map(PathBuf::from) {
        summary.step("recorded streams", || recordings::check(&recorded))?;
        summary.step("recorded token counts", || tokens::check(&recorded))?;
    } else {
        let reason = format!("they aren't part of this repository; {RECORDINGS}=DIR names a folder of *.sse files");
        summary.skip("recorded streams and token counts", &reason);
    }
    Ok(())
}

/// Random cases come from a fixed seed, so that a commit that passed once passes again. Plain `cargo test` draws new
/// ones.
fn cargo_test() -> Command {
    let mut command = cargo();
    command.args(["test", "--quiet", "--locked"]);
    with_seed(&mut command);
    command
}

fn with_seed(command: &mut Command) {
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        command.env("PROPTEST_RNG_SEED", "1");
    }
}

/// Writes the core's made-up streams, with the native results, for the tests in Node.
fn export_streams() -> Done<PathBuf> {
    let directory = root().join("target/streams");
    let _ = std::fs::remove_dir_all(&directory);
    // The tests of the workspace have built this already. With `--package`, cargo would build the core and all its
    // dependencies again, because the packages of the workspace together enable more features than each alone.
    run(cargo().args(["build", "--quiet", "--locked", "--workspace", "--example", "export_streams"]))?;
    let program = root().join("target/debug/examples").join(format!("export_streams{}", std::env::consts::EXE_SUFFIX));
    run(Command::new(program).arg(&directory))?;
    Ok(directory)
}
