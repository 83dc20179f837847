//! `cargo xtask test`: runs every check, and announces each one.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::shell::{cargo, root, run};
use crate::vscode::{self, Machine};
use crate::{Done, adapter, documents, extension, javascript, meter, recordings, tidy, tokens, wasm};

/// The variable that names a folder of recorded streams to check as well.
const RECORDINGS: &str = "SLUICE_RECORDINGS";

pub fn all() -> Done {
    let mut summary = Summary { started: Instant::now(), lines: Vec::new() };
    let done = steps(&mut summary);
    summary.print(done.is_ok());
    done
}

fn steps(summary: &mut Summary) -> Done {
    summary.step("formatting", || run(cargo().args(["fmt", "--all", "--check"])))?;
    summary.step("lints", || {
        run(cargo().args(["clippy", "--quiet", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })?;
    summary.step("house rules", tidy::check)?;
    summary.step("JavaScript style", javascript::check_style)?;
    summary.step("documentation", || {
        let mut doc = cargo();
        doc.args(["doc", "--quiet", "--locked", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings");
        run(&mut doc)
    })?;
    // These include the examples in the documentation.
    summary.step("unit and integration tests", || run(cargo_test().arg("--workspace")))?;
    summary.step("commands in the documents", documents::check)?;
    summary.step("invariants, at full depth", || {
        run(cargo_test().args(["--release", "--package", "sluice-core"]).args([
            "--test",
            "invariants_exhaustive",
            "--test",
            "invariants_random",
            "--test",
            "ai_sdk_invariants",
            "--test",
            "exchange_exhaustive",
        ]))
    })?;
    summary.step("WebAssembly", || {
        let modules = wasm::build()?;
        wasm::check_reproducible(&modules)?;
        javascript::build()?;
        javascript::test(&modules, &export_streams()?)?;
        wasm::report(&modules)
    })?;
    summary.step("hostile input, counted", || run(meter::on(&wasm::build()?)?.arg("--brief")))?;
    summary.step("the adapter package", || {
        adapter::build_around(&wasm::build()?)?;
        adapter::test()
    })?;
    summary.step("the AI SDK, three versions of it, through the adapter", adapter::check_with_ai_sdks)?;
    summary.step("extension", extension::test)?;
    summary.step("the same faults in the client, the extension and the adapter", extension::compare_faults)?;
    if let Some(recorded) = std::env::var_os(RECORDINGS).map(PathBuf::from) {
        summary.step("recorded streams", || recordings::check(&recorded))?;
        summary.step("recorded token counts", || tokens::check(&recorded))?;
    } else {
        let reason = format!("they aren't part of this repository; {RECORDINGS}=DIR names a folder of *.sse files");
        summary.skip("recorded streams and token counts", &reason);
    }
    let name = "the extension in a real VS Code";
    match summary.step("installation of VS Code and a browser", vscode::prepare)? {
        Machine::Ready(tools) => {
            let notes = summary.step(name, || vscode::test(&tools, &extension::pack()?, None, false))?;
            summary.lines.extend(notes.iter().map(|note| format!("   {note}")));
        }
        Machine::Cannot(reason) => summary.skip(name, &reason),
    }
    Ok(())
}

/// Everything that was run or skipped, to be printed at the end.
struct Summary {
    started: Instant,
    lines: Vec<String>,
}

impl Summary {
    fn step<T>(&mut self, name: &str, check: impl FnOnce() -> Done<T>) -> Done<T> {
        println!("\n── {name}");
        let started = Instant::now();
        let done = check();
        let seconds = started.elapsed().as_secs_f64();
        let failed = if done.is_ok() { "" } else { "FAILED: " };
        self.lines.push(format!("{seconds:8.1} s  {failed}{name}"));
        let value = done.map_err(|error| format!("{name}: {error}"))?;
        println!("   ok, {seconds:.1} s");
        Ok(value)
    }

    fn skip(&mut self, name: &str, reason: &str) {
        println!("\n── {name}\n   SKIPPED: {reason}");
        self.lines.push(format!("   SKIPPED: {name}, because {reason}"));
    }

    fn print(&self, passed: bool) {
        println!("\n── summary");
        self.lines.iter().for_each(|line| println!("{line}"));
        let skipped = self.lines.iter().filter(|line| line.contains("SKIPPED: ")).count();
        let result = match (passed, skipped) {
            (false, _) => "Stopped at the first failure,".to_owned(),
            (true, 0) => "All tests passed".to_owned(),
            (true, _) => format!("The other tests passed, but {skipped} SKIPPED,"),
        };
        println!("{result} after {:.0} s.", self.started.elapsed().as_secs_f64());
    }
}

/// Random cases come from a fixed seed, so that a commit that passed once passes again. Plain `cargo test` draws new
/// ones.
fn cargo_test() -> Command {
    let mut command = cargo();
    command.args(["test", "--quiet", "--locked"]);
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        command.env("PROPTEST_RNG_SEED", "1");
    }
    command
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
