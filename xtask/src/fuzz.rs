//! `cargo xtask fuzz`: runs every fuzz target, and the tests of our own `memcmp` in Miri, on the nightly toolchain.
//!
//! A target starts from three folders: `fuzz/corpus`, what earlier runs on this machine found; `fuzz/seeds`, a small
//! selection of that, which is part of the repository; and the generators' hostile input.

use std::fs;
use std::path::Path;

use crate::bench::export_hostile;
use crate::shell::{capture, command, root, run};
use crate::{Done, meter, wasm};

const TARGETS: [&str; 4] = ["sse", "decode", "stream", "cost"];

pub fn all(only: Option<&str>, seconds: u32) -> Done {
    let tools = root().join("target/tools");
    let cargo_fuzz = tools.join("bin/cargo-fuzz");
    let installed = capture(command("cargo").args(["fuzz", "--version"])).is_ok();
    if !installed && !cargo_fuzz.exists() {
        println!("Installing cargo-fuzz under target/tools; this takes a minute or two.");
        run(command("cargo").args(["install", "--quiet", "--locked", "cargo-fuzz", "--root"]).arg(&tools))?;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", tools.join("bin").display());
    let targets: Vec<&str> = TARGETS.into_iter().filter(|target| only.is_none_or(|only| only == *target)).collect();
    if targets.is_empty() {
        return Err(format!("there is no such target; there are {}", TARGETS.join(", ")));
    }
    let hostile = export_hostile("4096")?;
    for target in &targets {
        println!("\n── {target}, {seconds} s");
        let corpus = root().join("fuzz/corpus").join(target);
        let seeds = root().join("target/hostile/seeds").join(target);
        make_seeds(target, &hostile, &seeds)
            .and_then(|()| fs::create_dir_all(&corpus))
            .map_err(|error| format!("cannot write seeds: {error}"))?;
        let mut fuzz = command("cargo");
        let kept = root().join("fuzz/seeds").join(target);
        fuzz.args(["fuzz", "run", "--target-dir", "target/fuzz", target]).args([corpus, kept, seeds]);
        if *target == "cost" {
            // The other targets look for memory errors. Without a sanitizer, this one runs three times as many inputs.
            fuzz.args(["--sanitizer", "none"]);
            fuzz.env("SLUICE_METER", meter::build()?).env("SLUICE_MODULES", wasm::build()?.folder());
        }
        // Cargo passes the pinned toolchain on in the environment, but fuzzing needs another.
        run(fuzz
            .args(["--", &format!("-max_total_time={seconds}"), "-max_len=8192", "-print_final_stats=0"])
            .arg("-verbosity=0")
            .env("RUSTUP_TOOLCHAIN", "nightly")
            .env("PATH", &path))?;
    }
    println!("\nNo crash in {} targets.", targets.len());
    if only.is_none() { miri() } else { Ok(()) }
}

/// Runs the tests of the only code that handles pointers itself.
fn miri() -> Done {
    println!("\n── Miri");
    run(command("rustup").args(["component", "add", "--toolchain", "nightly", "miri", "rust-src"]))?;
    run(command("cargo")
        .args(["miri", "test", "--quiet", "--locked", "--package", "sluice-wasm", "--lib", "--target-dir"])
        .args(["target/miri", "compare"])
        .env("RUSTUP_TOOLCHAIN", "nightly"))
}

/// Returns hostile input in a target's format. For `cost`, the first byte says what follows: 0 and 1 mean steps in
/// either dialect, 2 and 3 events.
fn make_seeds(target: &str, hostile: &Path, seeds: &Path) -> std::io::Result<()> {
    let _ = fs::remove_dir_all(seeds);
    fs::create_dir_all(seeds)?;
    let index: serde_json::Value = serde_json::from_slice(&fs::read(hostile.join("index.json"))?)?;
    for entry in index.as_array().into_iter().flatten() {
        let file = entry["file"].as_str().unwrap_or_default();
        let first: &[u8] = match (target, entry["input"].as_str()) {
            ("cost", Some("OpenResponses")) => &[2],
            ("cost", Some("AiSdk")) => &[3],
            ("cost", _) => continue,
            _ => &[],
        };
        fs::write(seeds.join(file), [first, &fs::read(hostile.join(file))?].concat())?;
    }
    if target == "cost" {
        // One step of each kind; the fuzzer combines them.
        for (dialect, template) in [0, 1].into_iter().flat_map(|dialect| (0..46).map(move |step| (dialect, step))) {
            fs::write(seeds.join(format!("step-{dialect}-{template}")), [dialect, template, 1, 0, 0])?;
        }
    }
    Ok(())
}
