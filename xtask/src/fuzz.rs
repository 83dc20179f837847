//! `cargo xtask fuzz`: a run of every fuzz target on the nightly toolchain.

use crate::Done;
use crate::shell::{capture, command, root, run};

const TARGETS: [&str; 3] = ["sse", "decode", "stream"];

pub fn all(seconds: u32) -> Done {
    let tools = root().join("target/tools");
    let cargo_fuzz = tools.join("bin/cargo-fuzz");
    let installed = capture(command("cargo").args(["fuzz", "--version"])).is_ok();
    if !installed && !cargo_fuzz.exists() {
        println!("Installing cargo-fuzz under target/tools; this takes a minute or two.");
        run(command("cargo").args(["install", "--quiet", "--locked", "cargo-fuzz", "--root"]).arg(&tools))?;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", tools.join("bin").display());
    for target in TARGETS {
        println!("\n── {target}, {seconds} s");
        // The pinned toolchain is set in the environment of whatever cargo runs; fuzzing needs another.
        run(command("cargo")
            .args(["fuzz", "run", "--target-dir", "target/fuzz", target, "--"])
            .args([format!("-max_total_time={seconds}"), "-max_len=8192".to_owned(), "-print_final_stats=0".to_owned()])
            .arg("-verbosity=0")
            .env("RUSTUP_TOOLCHAIN", "nightly")
            .env("PATH", &path))?;
    }
    println!("\nNo crash in {} targets.", TARGETS.len());
    Ok(())
}
