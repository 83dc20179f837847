//! House rules that no compiler checks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Done;
use crate::shell::{capture, cargo, command, root};

const MAX_LINES: usize = 500;
/// A table that would not be easier to read in several files.
const SENTENCES: &str = "crates/sluice-core/src/message/sentences.rs";
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
        unlisted_files(&files)?,
        gone_files(&files)?,
        broken_links(&files)?,
        missing_tests()?,
        core_tree()?,
        licences()?,
    ]
    .concat();
    if problems.is_empty() { Ok(()) } else { Err(format!("\n  {}", problems.join("\n  "))) }
}

fn long_files(files: &[&str]) -> Vec<String> {
    let source = |file: &&&str| has_extension(file, &["rs", "ts", "mjs"]);
    let long = |file: &&str| {
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        let lines = text.lines().count();
        // Generated files may be longer.
        (lines > MAX_LINES && *file != SENTENCES && !text.starts_with("// Generated from "))
            .then(|| format!("{file} has {lines} lines; split it so that each file has one task"))
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

/// Checks the file tree in ARCHITECTURE.md: it lists every source file of the product, and nothing that doesn't exist.
/// A folder without entries of its own stands for everything in it.
fn unlisted_files(files: &[&str]) -> Done<Vec<String>> {
    let guide = read("ARCHITECTURE.md")?;
    let (mut listed, mut folders) = (BTreeSet::new(), BTreeSet::new());
    let mut parents: Vec<(usize, String)> = Vec::new();
    let tree = guide.lines().skip_while(|line| *line != "```text tree").skip(1).take_while(|line| *line != "```");
    for line in tree.filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        parents.retain(|(other, _)| *other < indent);
        let name = line.split_whitespace().next().unwrap_or_default();
        let path = parents.last().map_or(name.to_owned(), |(_, parent)| format!("{parent}{name}"));
        folders.extend(parents.last().map(|(_, parent)| parent.clone()));
        parents.push((indent, path.clone()));
        listed.insert(path);
    }
    let is_source = |file: &&&str| file.contains("/src/") && has_extension(file, &["rs", "ts"]);
    let is_listed = |file: &str| {
        let stands_for =
            |folder: &String| folder.ends_with('/') && !folders.contains(folder) && file.starts_with(folder);
        listed.contains(file) || listed.iter().any(stands_for)
    };
    let missing = files.iter().filter(is_source).filter(|file| !is_listed(file));
    let exists =
        |path: &&String| files.iter().any(|file| file == path || path.ends_with('/') && file.starts_with(*path));
    let missing = missing.map(|file| format!("the tree in ARCHITECTURE.md doesn't list {file}"));
    let gone = listed.iter().filter(|path| !exists(path));
    Ok(missing
        .chain(gone.map(|path| format!("the tree in ARCHITECTURE.md lists {path}, which doesn't exist")))
        .collect())
}

/// Finds mentions of files and folders that don't exist. A mention of a source file may leave out the leading folders, and
/// a `*` in it matches any characters.
fn gone_files(files: &[&str]) -> Done<Vec<String>> {
    let folders: BTreeSet<&str> = files.iter().filter_map(|file| Some(file.split_once('/')?.0)).collect();
    let mut problems = Vec::new();
    for document in files.iter().filter(|file| has_extension(file, &["md"]) && !file.ends_with("CHANGELOG.md")) {
        let text = read(document)?;
        // Code blocks show what programs print; only text between backticks is a mention.
        let prose: String = text.split("```").step_by(2).collect();
        for word in prose.split('`').skip(1).step_by(2).filter(|word| !word.contains(' ') && !word.starts_with('.')) {
            let is_source = has_extension(word, &["rs", "ts", "mjs", "toml"]) && !word.contains('*');
            let is_path = word.split_once('/').is_some_and(|(first, _)| folders.contains(first));
            if (is_source || is_path) && !files.iter().any(|file| is_mentioned(file, word)) {
                problems.push(format!("{document} mentions {word}, which doesn't exist"));
            }
        }
    }
    Ok(problems)
}

fn is_mentioned(file: &str, word: &str) -> bool {
    if let Some((start, end)) = word.split_once('*') {
        return file.starts_with(start) && file.ends_with(end);
    }
    let folder = format!("{}/", word.trim_end_matches('/'));
    file == word || file.ends_with(&format!("/{word}")) || file.starts_with(&folder)
}

/// Finds links to files and headings of this repository that don't exist.
fn broken_links(files: &[&str]) -> Done<Vec<String>> {
    let mut problems = Vec::new();
    for document in files.iter().filter(|file| has_extension(file, &["md"])) {
        let text = read(document)?;
        let prose: String = text.split("```").step_by(2).collect();
        for link in links(&prose).filter(|link| !link.contains(':')) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(document).parent().unwrap_or(Path::new(""));
            let target = if path.is_empty() { root().join(document) } else { root().join(folder).join(path) };
            let linked = fs::read_to_string(&target).unwrap_or_default();
            if !target.exists() || !heading.is_empty() && !anchors(&linked).contains(heading) {
                problems.push(format!("{document} links to {link}, which doesn't exist"));
            }
        }
    }
    Ok(problems)
}

/// Returns where the links and pictures of a document lead: `[text](target)`, `[name]: target` and those of HTML.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let named = prose.lines().filter(|line| line.starts_with('[')).filter_map(|line| Some(line.split_once("]: ")?.1));
    let html = ["href=\"", "src=\""].into_iter().flat_map(|name| prose.split(name).skip(1));
    inline.chain(named).chain(html.filter_map(|rest| rest.split('"').next()))
}

/// Returns the names under which code hosts link to the headings of a document. If one is repeated, it is numbered.
fn anchors(document: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in document.lines().filter(|line| line.starts_with('#')).map(anchor) {
        let numbered = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Finds rules whose tests don't exist. The last column of a table row names them as `file`: `name`, with more names
/// after commas. In docs/invariants.md the first column is an id, which the named files must mention.
fn missing_tests() -> Done<Vec<String>> {
    let mut problems = Vec::new();
    for document in ["SECURITY.md", "docs/invariants.md"] {
        for row in read(document)?.lines().filter(|line| line.starts_with("| ") && line.contains("`:")) {
            let tests = row.trim_end_matches('|').rsplit(" | ").next().unwrap_or_default();
            let id = row.split('|').nth(1).map(str::trim).filter(|_| document != "SECURITY.md");
            for group in tests.split(';') {
                let mut quoted = group.split('`').skip(1).step_by(2);
                let Some(file) = quoted.next() else { continue };
                let Ok(source) = fs::read_to_string(root().join(file)) else {
                    problems.push(format!("{document} names {file}, which doesn't exist"));
                    continue;
                };
                let names = quoted.filter(|name| !name.starts_with("cargo ") && !root().join(name).is_file());
                let missing = names.filter(|name| !source.contains(*name));
                problems.extend(missing.map(|name| format!("{document} names the test {name}, which isn't in {file}")));
                let mentions = |id: &&str| source.split(|c: char| !c.is_alphanumeric()).any(|word| word == *id);
                let id = id.filter(|id| !mentions(id));
                problems.extend(id.map(|id| format!("{file} doesn't mention {id}, which it checks")));
            }
        }
    }
    Ok(problems)
}

fn has_extension(file: &str, extensions: &[&str]) -> bool {
    Path::new(file).extension().is_some_and(|extension| extensions.iter().any(|other| extension == *other))
}

fn read(document: &str) -> Done<String> {
    fs::read_to_string(root().join(document)).map_err(|error| format!("{document}: {error}"))
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
    // Platform by platform: a crate that is used on one of them may have dependencies on another.
    let problems: Done<Vec<_>> = PLATFORMS.into_iter().map(licences_on).collect();
    Ok(problems?.into_iter().flatten().collect::<BTreeSet<String>>().into_iter().collect())
}

fn licences_on(platform: &str) -> Done<Vec<String>> {
    let metadata =
        capture(cargo().args(["metadata", "--locked", "--format-version", "1", "--filter-platform", platform]))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    // `packages` lists everything in the lock file; `resolve` lists what this platform needs.
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

#[cfg(test)]
mod tests {
    use super::{anchors, is_mentioned, links};

    #[test]
    fn every_kind_of_link_is_found() {
        let prose = "[a](b.md#c) ![d](e.png \"f\")\n[g]: h.md\n<img src=\"i.svg\"> <a href=\"#j\">";
        assert_eq!(links(prose).collect::<Vec<_>>(), ["b.md#c", "e.png", "h.md", "#j", "i.svg"]);
    }

    #[test]
    fn headings_are_named_as_code_hosts_do() {
        let found = anchors("# Who's *there*?\n## A `b_c`\n## A `b_c`\n");
        assert_eq!(Vec::from_iter(found), ["a-b_c", "a-b_c-1", "whos-there"]);
    }

    #[test]
    fn files_can_be_mentioned_in_short() {
        let cases = ["docs/faq.md", "faq.md", "docs/", "docs", "docs/*.md", "docs/f*"];
        assert!(cases.iter().all(|word| is_mentioned("docs/faq.md", word)));
        assert!(["aq.md", "doc", "docs/*.txt", "docs/a*"].iter().all(|word| !is_mentioned("docs/faq.md", word)));
    }
}
