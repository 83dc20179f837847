//! Generates THIRD-PARTY-NOTICES.txt: the licences of everything that is linked into the WebAssembly modules of a
//! package, or into a program. These licences must be included in every copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Done;
use crate::shell::{capture, cargo, root};
use crate::wasm::TARGET;

/// The npm packages that are bundled into the extension. Only the inspector's view has any.
pub const NPM_PACKAGES: [&str; 1] = ["preact"];
pub const FILE: &str = "THIRD-PARTY-NOTICES.txt";

/// The components of the standard library that are linked, with their copyright holders. All are available under the
/// MIT licence.
const STANDARD_LIBRARY: [(&str, &str); 4] = [
    ("the Rust standard library", "The Rust Project Contributors"),
    ("compiler-builtins", "2016 Jorge Aparicio and The Rust Project Contributors"),
    ("dlmalloc", "2014 Alex Crichton"),
    ("hashbrown", "2016 Amanieu d'Antras"),
];

/// The same for those that only programs contain, because a module has no backtraces.
const BACKTRACES: [(&str, &str); 6] = [
    ("addr2line", "2016-2018 The gimli Developers"),
    ("adler2", "Jonas Schievink"),
    ("gimli", "2015 The Rust Project Developers"),
    (
        "miniz_oxide",
        "2013-2014 RAD Game Tools and Valve Software, 2010-2014 Rich Geldreich and Tenacious Software LLC, 2017 Frommi, 2017-2024 oyvindln",
    ),
    ("object", "2015 The Gimli Developers"),
    ("rustc-demangle", "2014 Alex Crichton"),
];

const MIT: &str = include_str!("../../LICENSE-MIT");
const APACHE: &str = include_str!("../../LICENSE-APACHE");

/// Writes the notices for these packages, built for this target, and checks that they cover every crate that is named
/// in what was built.
pub fn write(packages: &[&str], target: &str, built: &[PathBuf], folder: &Path) -> Done {
    let notices = text(packages, target)?;
    for file in built {
        let bytes = fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let missing: Vec<String> = crates_named_in(&bytes).into_iter().filter(|name| !covers(&notices, name)).collect();
        if !missing.is_empty() {
            return Err(format!("{FILE} doesn't cover {}, which {} contains", missing.join(", "), file.display()));
        }
    }
    let file = folder.join(FILE);
    fs::write(&file, notices).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Adds the licences of the npm packages to the notices in a folder.
pub fn add_npm_packages(folder: &Path) -> Done {
    let file = folder.join(FILE);
    let mut text = fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    for name in NPM_PACKAGES {
        let package = root().join("node_modules").join(name);
        let licence = licence_of(&package).ok_or_else(|| format!("{name} doesn't include its licence text"))?;
        text.push_str(&format!("\n{}\n{name}\n\n{licence}\n", "-".repeat(100)));
    }
    fs::write(&file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Checks that a packed artefact contains the notices. Archives store file names uncompressed.
pub fn check_packed(archive: &Path, path: &str) -> Done {
    let bytes = fs::read(archive).map_err(|error| format!("cannot read {}: {error}", archive.display()))?;
    let is_there = bytes.windows(path.len()).any(|window| window == path.as_bytes());
    if is_there { Ok(()) } else { Err(format!("{} doesn't contain {path}", archive.display())) }
}

fn text(packages: &[&str], target: &str) -> Done<String> {
    let linked = linked_crates(packages, target)?;
    let metadata = capture(cargo().args(["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    // Crates of the same project often share one text.
    let mut by_text: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let [name, version, manifest] = ["name", "version", "manifest_path"].map(|key| package[key].as_str());
        let (Some(name), Some(version), Some(manifest)) = (name, version, manifest) else { continue };
        let title = format!("{name} {version}");
        let folder = Path::new(manifest).parent().unwrap_or(Path::new(manifest));
        // The crate isn't linked, but the core's build script takes vocabularies from it. Programs contain them; of the
        // modules, only the one that counts tokens does.
        if name == "tiktoken" && (target != TARGET || packages.contains(&"sluice-tokens-wasm")) {
            let titles = ["the vocabularies cl100k_base and o200k_base".to_owned()];
            by_text.entry(licence_of_vocabularies(folder)?).or_default().extend(titles);
            let apache = format!("Copyright 2024 Google LLC. Only the pieces, in another form.\n\n{APACHE}");
            by_text.entry(normal(&apache)).or_default().insert("the vocabulary of Gemma 3".to_owned());
        }
        if !linked.contains(&title) {
            continue;
        }
        let mut licence = licence_of(folder).ok_or_else(|| format!("{title} doesn't include its licence text"))?;
        if !licence.contains("Copyright ") {
            // The licence names no copyright holder, so the notice refers to the project.
            let project = package["repository"].as_str().unwrap_or(name);
            licence = format!("By the authors of {project}\n\n{licence}");
        }
        by_text.entry(licence).or_default().insert(title);
    }
    let backtraces: &[_] = if target == TARGET { &[] } else { &BACKTRACES };
    for (title, holder) in STANDARD_LIBRARY.iter().chain(backtraces) {
        let terms = MIT.split_once("\n\n").map_or(MIT, |(_, terms)| terms).trim_start();
        let terms = terms.split_once("Permission is hereby granted").map_or(terms, |(_, rest)| rest);
        let licence = format!("MIT License\n\nCopyright (c) {holder}\n\nPermission is hereby granted{terms}");
        by_text.entry(licence.trim_end().to_owned()).or_default().insert((*title).to_owned());
    }
    let mut sections: Vec<(String, String)> = by_text
        .into_iter()
        .map(|(licence, titles)| (titles.into_iter().collect::<Vec<_>>().join(", "), licence))
        .collect();
    sections.sort();
    let missing: Vec<&String> =
        linked.iter().filter(|title| !sections.iter().any(|(titles, _)| covers(titles, title))).collect();
    if !missing.is_empty() {
        return Err(format!("cargo metadata doesn't list {missing:?}"));
    }
    let mut text = "This package contains third-party software and data under the following licences.\n".to_owned();
    for (titles, licence) in sections {
        text.push_str(&format!("\n{}\n{titles}\n\n{licence}\n", "-".repeat(100)));
    }
    Ok(text)
}

/// Returns names and versions of the third-party crates that are compiled into these packages.
pub fn linked_crates(packages: &[&str], target: &str) -> Done<BTreeSet<String>> {
    let tree = capture(
        cargo()
            .args(["tree", "--locked", "--target", target, "--edges", "normal,no-proc-macro"])
            .args(["--prefix", "none", "--format", "{p}"])
            .args(packages.iter().flat_map(|package| ["--package", package])),
    )?;
    let foreign = tree.lines().map(|line| line.trim_end_matches("(*)").trim()).filter(|line| !line.contains('('));
    Ok(foreign.filter(|line| !line.is_empty()).map(|line| line.replacen(" v", " ", 1)).collect())
}

/// Returns the licence texts of a crate. If it is available under the MIT licence, that one is used.
fn licence_of(folder: &Path) -> Option<String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|file| file.path()).collect();
    files.sort();
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    // The third-party file covers more vocabularies than are linked; see `licence_of_vocabularies`.
    files.retain(|file| {
        let name = name(file);
        let is_licence =
            ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"].iter().any(|word| name.starts_with(word));
        is_licence && !name.contains("3RD-PARTY") && file.is_file()
    });
    if files.iter().any(|file| name(file).contains("MIT")) {
        files.retain(|file| ["MIT", "NOTICE", "COPYRIGHT"].iter().any(|word| name(file).contains(word)));
    }
    let texts: Vec<String> =
        files.iter().filter_map(|file| fs::read_to_string(file).ok()).map(|text| normal(&text)).collect();
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

fn licence_of_vocabularies(tiktoken: &Path) -> Done<String> {
    let file = tiktoken.join("LICENSE-3RD-PARTY");
    let text = fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let of_openai = normal(&text).split("\n## ").find(|section| section.starts_with("OpenAI")).map(str::to_owned);
    let of_openai = of_openai.filter(|section| section.contains("cl100k_base") && section.contains("o200k_base"));
    of_openai.ok_or_else(|| format!("{} doesn't cover our vocabularies", file.display()))
}

fn normal(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Returns whether there is a notice for a crate, with or without its version.
fn covers(notices: &str, title: &str) -> bool {
    let titles = notices.lines().flat_map(|line| line.split(", "));
    titles.into_iter().any(|each| each == title || each.strip_prefix(title).is_some_and(|rest| rest.starts_with(' ')))
}

/// Returns the crates that panic messages in a module name by their source files. The result is incomplete, but
/// independent of the dependency tree.
fn crates_named_in(module: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(module);
    let from_registry = text.split("/registry/src/").skip(1).filter_map(|path| path.split('/').nth(1));
    let from_std = text.split("/rust/deps/").skip(1).filter_map(|path| path.split('/').next());
    let name = |folder: &str| folder.rsplit_once('-').map(|(name, _)| name.to_owned());
    from_registry.chain(from_std).filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::{covers, crates_named_in, linked_crates, text};
    use crate::wasm::{PACKAGES, TARGET};

    #[test]
    fn every_linked_crate_has_its_licence() {
        let cases: [(&[&str], &str, bool); 3] = [
            (&PACKAGES, TARGET, true),
            (&["sluice-wasm"], TARGET, false),
            (&["sluice-cli"], "x86_64-unknown-linux-gnu", true),
        ];
        for (packages, target, has_vocabularies) in cases {
            let notices = text(packages, target).unwrap();
            assert_eq!(notices, text(packages, target).unwrap(), "the notices aren't deterministic");
            let linked = linked_crates(packages, target).unwrap();
            assert!(linked.len() > 5);
            for title in &linked {
                assert!(covers(&notices, title), "no notice for {title}");
            }
            let sections: Vec<&str> = notices.split(&"-".repeat(100)).skip(1).collect();
            for section in &sections {
                let has_holder = section.contains("Copyright ") || section.contains("By the authors of http");
                assert!(has_holder, "no copyright in {section}");
                let openings = [
                    "Permission is hereby granted",
                    "Permission to use, copy, modify",
                    "Redistribution and use in source and binary forms",
                    "Apache License",
                    "Mozilla Public License",
                    "UNICODE LICENSE",
                ];
                let has_licence = openings.iter().any(|opening| section.contains(opening));
                assert!(has_licence, "no licence in {section}");
            }
            assert_eq!(notices.contains("Copyright (c) 2022 OpenAI"), has_vocabularies, "the vocabularies");
            assert!(!notices.contains("Llama"), "vocabularies that are not linked");
        }
    }

    #[test]
    fn crates_are_found_in_a_module() {
        let module =
            b"\0/cargo/registry/src/index-1/serde_json-1.0.1/src/de.rs\0\xff/rust/deps/dlmalloc-0.2.11/src/lib.rs";
        assert_eq!(Vec::from_iter(crates_named_in(module)), ["dlmalloc", "serde_json"]);
        assert!(covers("a 1.0, dlmalloc\n", "dlmalloc") && covers("x\nserde_json 1.0.1", "serde_json"));
        assert!(!covers("serde_json 1.0.1", "serde"));
    }
}
