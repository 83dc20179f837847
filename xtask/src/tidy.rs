//! House rules that no compiler checks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Done;
use crate::shell::{capture, cargo, command, root};

const MAX_LINES: usize = 500;
/// All dependencies that the core may have, including proc macros.
const CORE_TREE: [&str; 22] = [
    "aho-corasick",
    "base64",
    "itoa",
    "memchr",
    "proc-macro2",
    "quote",
    "regex",
    "regex-automata",
    "regex-syntax",
    "rustc-hash",
    "ruzstd",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "siphasher",
    "sluice-core",
    "syn",
    "tiktoken",
    "twox-hash",
    "unicode-ident",
    "zmij",
];
const LICENCES: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MPL-2.0",
    "Unicode-3.0",
    "Zlib",
];

/// The platforms whose dependencies are checked. WebAssembly isn't listed: only the core is built for it, and its
/// dependencies are listed above.
const PLATFORMS: [&str; 3] = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"];

pub fn check() -> Done {
    let files = capture(command("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let files: Vec<&str> = files.lines().filter(|file| root().join(file).is_file()).collect();
    let problems: Vec<String> = [
        long_files(&files),
        unmerged_files(&files),
        unmapped_files(&files)?,
        missing_tests()?,
        core_tree()?,
        licences()?,
    ]
    .concat();
    if problems.is_empty() { Ok(()) } else { Err(format!("\n  {}", problems.join("\n  "))) }
}

fn long_files(files: &[&str]) -> Vec<String> {
    let source =
        |file: &&&str| Path::new(file).extension().is_some_and(|end| ["rs", "ts", "mjs"].iter().any(|s| end == *s));
    let long = |file: &&str| {
        let lines = fs::read_to_string(root().join(file)).unwrap_or_default().lines().count();
        (lines > MAX_LINES).then(|| format!("{file} has {lines} lines; split it so that each file has one task"))
    };
    files.iter().filter(source).filter_map(long).collect()
}

/// Finds leftover conflict markers; no other check rejects them in text files.
fn unmerged_files(files: &[&str]) -> Vec<String> {
    let is_unmerged = |file: &&&str| {
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        ["<<<<<<< ", ">>>>>>> "].iter().any(|marker| text.lines().any(|line| line.starts_with(marker)))
    };
    files.iter().filter(is_unmerged).map(|file| format!("{file} contains conflict markers")).collect()
}

/// Checks that ARCHITECTURE.md mentions every source file of the product, and no file that doesn't exist. The simulator
/// isn't part of the product and describes its own files.
fn unmapped_files(files: &[&str]) -> Done<Vec<String>> {
    let map =
        fs::read_to_string(root().join("ARCHITECTURE.md")).map_err(|error| format!("ARCHITECTURE.md: {error}"))?;
    let is_product = |file: &&&str| {
        ["extension/src/", "packages/loader/src/"].iter().any(|folder| file.starts_with(folder))
            || file.starts_with("crates/") && file.contains("/src/") && !file.starts_with("crates/sluice-simulator/")
    };
    let missing = files.iter().filter(is_product).filter(|file| !map.contains(**file));
    let mut problems: Vec<String> = missing.map(|file| format!("ARCHITECTURE.md does not mention {file}")).collect();
    for word in map.split(|c: char| c.is_whitespace() || c == '`') {
        let is_path = ["crates/", "extension/", "packages/"].iter().any(|folder| word.starts_with(folder));
        if is_path && word.contains('.') && !files.contains(&word) {
            problems.push(format!("ARCHITECTURE.md mentions {word}, which does not exist"));
        }
    }
    Ok(problems)
}

/// Finds promises in SECURITY.md whose tests don't exist. A test is named as `file`: `name`, with more names after commas.
fn missing_tests() -> Done<Vec<String>> {
    let promises = fs::read_to_string(root().join("SECURITY.md")).map_err(|error| format!("SECURITY.md: {error}"))?;
    let mut problems = Vec::new();
    for row in promises.lines().filter(|line| line.starts_with("| ") && line.contains("`:")) {
        let tests = row.trim_end_matches('|').rsplit(" | ").next().unwrap_or_default();
        for group in tests.split(';') {
            let mut quoted = group.split('`').skip(1).step_by(2);
            let Some(file) = quoted.next() else { continue };
            let Ok(source) = fs::read_to_string(root().join(file)) else {
                problems.push(format!("SECURITY.md names {file}, which does not exist"));
                continue;
            };
            let names = quoted.filter(|name| !name.starts_with("cargo ") && !root().join(name).is_file());
            let missing = names.filter(|name| !source.contains(*name));
            problems.extend(missing.map(|name| format!("SECURITY.md names the test {name}, which is not in {file}")));
        }
    }
    Ok(problems)
}

fn core_tree() -> Done<Vec<String>> {
    let tree = capture(
        cargo()
            .args(["tree", "--locked", "--package", "sluice-core", "--edges", "normal,build"])
            .args(["--prefix", "none", "--format", "{lib}"]),
    )?;
    let names: BTreeSet<String> =
        tree.lines().map(|line| line.trim_end_matches("(*)").trim().replace('_', "-")).collect();
    let allowed = CORE_TREE.map(|name| name.replace('_', "-"));
    let strange = names.into_iter().filter(|name| !name.is_empty() && !allowed.contains(name));
    Ok(strange.map(|name| format!("sluice-core has a new dependency: {name}")).collect())
}

/// Checks the same rule as deny.toml for the platforms we build for, without installing a tool.
fn licences() -> Done<Vec<String>> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--locked", "--format-version", "1"]);
    for platform in PLATFORMS {
        metadata.args(["--filter-platform", platform]);
    }
    let metadata = capture(&mut metadata)?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    // `packages` lists everything in the lock file; `resolve` lists what these platforms need.
    let depended: BTreeSet<&str> = (metadata["resolve"]["nodes"].as_array().into_iter().flatten())
        .flat_map(|node| node["deps"].as_array().into_iter().flatten())
        .filter_map(|dependency| dependency["pkg"].as_str())
        .collect();
    let mut problems = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        if !package["id"].as_str().is_some_and(|id| depended.contains(id)) {
            continue;
        }
        let licence = package["license"].as_str().unwrap_or_default().replace('/', " OR ");
        let allowed = |word: &str| LICENCES.contains(&word.trim_matches(['(', ')', ' ']));
        // In "(A OR B) AND C", each operand of AND needs one alternative that we accept.
        if !licence.split(" AND ").all(|side| side.split(" OR ").any(allowed)) {
            problems.push(format!("{} is licensed as {licence:?}", package["name"]));
        }
        if package["source"].as_str().is_some_and(|source| source.starts_with("git+")) {
            problems.push(format!("{} comes from a git repository", package["name"]));
        }
    }
    Ok(problems)
}
