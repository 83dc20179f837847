//! Builds the core as WebAssembly. The build is reproducible.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{add_target, capture, cargo, command, root, run};
use crate::{Done, javascript};

pub const TARGET: &str = "wasm32-unknown-unknown";

/// The maximum memory of a module's instance. An instance reads one answer, so this limits what a hostile answer can
/// use. It is enough for the largest answer that the core accepts.
const MAX_MEMORY: u32 = 512 << 20;

/// How large a function may be, in the compiler's own measure, so that it is inlined; the default is 225. Engines compile a
/// function when it is first called, and the copies of inlined ones again with each function that has one. With this
/// limit, 13 % less code is compiled for the first answer, and the module is 10 % smaller and no slower.
const INLINE_THRESHOLD: u32 = 50;

/// The modules of one build. Each is loaded only when it is needed.
#[derive(Debug)]
pub struct Modules(PathBuf);

/// The packages of the extension's modules.
pub const PACKAGES: [&str; 4] = ["sluice-wasm", "sluice-requests-wasm", "sluice-tokens-wasm", "sluice-demo-wasm"];

/// Only the adapter has this module, and for people who download it, size matters more than speed. It only reads answers.
const AI_SDK: &str = "sluice-ai-sdk-wasm";

#[derive(Clone, Copy, PartialEq)]
enum Optimize {
    ForSize,
    ForSpeed,
}

impl Modules {
    /// Returns the module that reads answers.
    pub fn core(&self) -> PathBuf {
        self.module("sluice-wasm")
    }

    /// Returns the module that reads chunks of the AI SDK.
    pub fn ai_sdk(&self) -> PathBuf {
        self.module(AI_SDK)
    }

    /// Returns the module that builds requests.
    pub fn requests(&self) -> PathBuf {
        self.module("sluice-requests-wasm")
    }

    /// Returns the module that counts tokens.
    pub fn tokens(&self) -> PathBuf {
        self.module("sluice-tokens-wasm")
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Returns the extension's modules.
    pub fn of_extension(&self) -> Vec<PathBuf> {
        PACKAGES.iter().map(|package| self.module(package)).collect()
    }

    fn module(&self, package: &str) -> PathBuf {
        self.0.join(format!("{}.wasm", package.replace('-', "_")))
    }
}

pub fn build() -> Done<Modules> {
    build_all_in(&root().join("target"))
}

fn build_all_in(target_directory: &Path) -> Done<Modules> {
    build_in(&root(), target_directory, &[AI_SDK], Optimize::ForSize, " --cfg answers_only")?;
    build_in(&root(), target_directory, &PACKAGES, Optimize::ForSpeed, "")
}

/// Builds the core without our `memcmp`, to measure what that is worth.
pub fn build_without_memcmp() -> Done<PathBuf> {
    let target = root().join("target/without-memcmp");
    Ok(build_in(&root(), &target, &PACKAGES[..1], Optimize::ForSpeed, " --cfg without_memcmp")?.core())
}

/// Builds the core from a copy of its source without the attribute `inline(never)`, to measure what that is worth.
pub fn build_without_inline_never() -> Done<PathBuf> {
    let target = root().join("target/without-inline-never");
    let copy = target.join("source");
    let _ = fs::remove_dir_all(&copy);
    let files = capture(command("git").args(["ls-files", "Cargo.toml", "Cargo.lock", "crates", "xtask"]))?;
    for file in files.lines().filter(|file| root().join(file).is_file()) {
        let (from, to) = (root().join(file), copy.join(file));
        let write = || {
            fs::create_dir_all(to.parent().unwrap_or(&copy))?;
            if from.extension().is_none_or(|extension| extension != "rs") {
                return fs::copy(&from, &to).map(|_| ());
            }
            fs::write(&to, fs::read_to_string(&from)?.replace("#[inline(never)]\n", "\n"))
        };
        write().map_err(|error| format!("cannot copy {file}: {error}"))?;
    }
    Ok(build_in(&copy, &target, &PACKAGES[..1], Optimize::ForSpeed, "")?.core())
}

pub fn build_and_report() -> Done {
    let modules = build()?;
    javascript::build()?;
    report(&modules)
}

pub fn report(modules: &Modules) -> Done {
    javascript::run_script("report-size.mjs", &modules.core())?;
    javascript::run_script("report-tokens-size.mjs", &modules.tokens())
}

/// Checks that a second build from scratch gives the same bytes.
pub fn check_reproducible(first: &Modules) -> Done {
    let again = root().join("target/again");
    let _ = fs::remove_dir_all(&again);
    let second = build_all_in(&again)?;
    let read = |file: &Path| fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()));
    let all = |modules: &Modules| [modules.of_extension(), vec![modules.ai_sdk()]].concat();
    for (first, second) in all(first).iter().zip(&all(&second)) {
        if read(first)? != read(second)? {
            return Err(format!("two builds differ: {} and {}", first.display(), second.display()));
        }
    }
    Ok(())
}

fn build_in(
    source: &Path,
    target_directory: &Path,
    packages: &[&str],
    optimize: Optimize,
    more_flags: &str,
) -> Done<Modules> {
    add_target(TARGET)?;
    // Panic messages contain source paths. Without remapping, the bytes would depend on the machine.
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let remap_home = home.map(|home| format!(" --remap-path-prefix={home}=/cargo")).unwrap_or_default();
    let remap_root = format!(" --remap-path-prefix={}=/sluice", source.display());
    // If size matters most, the compiler inlines even less by itself.
    let inlining = match optimize {
        Optimize::ForSize => String::new(),
        Optimize::ForSpeed => format!(" -C llvm-args=-inline-threshold={INLINE_THRESHOLD}"),
    };
    let flags = format!(
        "-C target-feature=+simd128{inlining} -C link-arg=--max-memory={MAX_MEMORY}{remap_home}{remap_root}{more_flags}"
    );
    run(cargo()
        .current_dir(source)
        .args(["build", "--quiet", "--locked", "--lib", "--target", TARGET])
        .args(packages.iter().flat_map(|package| ["--package", package]))
        .args(["--profile", "wasm", "--target-dir"])
        .arg(target_directory)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags)
        // With a second profile, cargo would build the build scripts and their dependencies again.
        .envs((optimize == Optimize::ForSize).then_some(("CARGO_PROFILE_WASM_OPT_LEVEL", "z"))))?;
    Ok(Modules(target_directory.join(TARGET).join("wasm")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::shell::root;

    /// The module for the AI SDK has only the sentences that can end an answer.
    #[test]
    fn what_reads_answers_uses_sentences_of_answers_only() {
        let source = root().join("crates/sluice-core/src");
        let sentences = fs::read_to_string(source.join("message/sentences.rs")).unwrap();
        let (of_answers, _) = sentences.split_once("\n    ;\n").unwrap();
        let mut files = Vec::new();
        for name in ["ai_sdk", "exchange", "failure", "receive"] {
            files.push(source.join(name).with_extension("rs"));
            files.extend(fs::read_dir(source.join(name)).unwrap().map(|entry| entry.unwrap().path()));
        }
        let mut used = 0;
        for file in files {
            for after in fs::read_to_string(&file).unwrap().split("MessageCode::").skip(1) {
                let name = after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                assert!(of_answers.contains(&format!("    {name} = ")), "{name} in {}: move it up", file.display());
                used += 1;
            }
        }
        assert!(used > 50, "{used}");
    }
}
