//! `cargo xtask dist`: makes everything that a release consists of, here and in a clone in another folder, compares the
//! bytes, and uses each artefact in an empty folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shell::{add_target, capture, cargo, command, root, run};
use crate::{Done, adapter, extension, notices, trial, wasm};

pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The packages that Rust programs can use.
pub const CRATES: [&str; 2] = ["sluice-core", "sluice-client"];
/// What the command line is also built for, if this machine has the linker.
pub const ARM: &str = "aarch64-unknown-linux-gnu";
const ARM_LINKER: &str = "aarch64-linux-gnu-gcc";
pub const SUMS: &str = "SHA256SUMS";

/// Makes the artefacts in `target/dist`. Unless `once`, also checks them.
pub fn all(once: bool) -> Done {
    let folder = root().join("target/dist");
    if !once && !capture(command("git").args(["status", "--porcelain"]))?.is_empty() {
        return Err("commit your changes first: the artefacts are compared with those of a clone".to_owned());
    }
    make(&folder)?;
    if once {
        return Ok(());
    }
    compare_with_clone(&folder)?;
    trial::all(&folder)?;
    println!("\nAll artefacts were built twice with the same bytes, and work. They are in {}:", folder.display());
    print!("{}", read(&folder.join(SUMS))?);
    Ok(())
}

/// Makes the artefact that depends on the machine, and a file with its checksum.
pub fn for_this_machine() -> Done {
    let (folder, host) = (root().join("target/dist"), host()?);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    program(&folder, &host)?;
    write_checksums(&folder, &format!("{SUMS}-{host}"))
}

/// Makes all artefacts, and a file with their checksums.
fn make(folder: &Path) -> Done {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    copy(&extension::pack()?, &folder.join(format!("sluice-{VERSION}.vsix")))?;
    adapter::build()?;
    run(command("npm")
        .args(["pack", "--silent", "--ignore-scripts", "--pack-destination"])
        .arg(folder)
        .current_dir(root().join("packages/stream-adapter")))?;
    program(folder, &host()?)?;
    match capture(command(ARM_LINKER).arg("--version")) {
        Ok(_) if host()? != ARM => {
            add_target(ARM)?;
            program(folder, ARM)?;
        }
        Ok(_) => {}
        Err(_) => println!("   SKIPPED: the command line for {ARM}, because there is no {ARM_LINKER}"),
    }
    crates(folder)?;
    write(&folder.join(format!("sluice-{VERSION}.cdx.json")), &bill_of_materials()?)?;
    write_checksums(folder, SUMS)
}

/// Makes all artefacts again, from a clone in another folder.
fn compare_with_clone(folder: &Path) -> Done {
    let clone = root().join("target/dist-clone");
    let _ = fs::remove_dir_all(&clone);
    run(command("git").args(["clone", "--quiet", "--no-hardlinks", "."]).arg(&clone))?;
    run(cargo()
        .args(["run", "--quiet", "--locked", "--package", "xtask", "--", "dist", "--once"])
        .current_dir(&clone)
        // Cargo sets these for this program, and they name its folder.
        .env_remove("CARGO_MANIFEST_DIR")
        .env_remove("CARGO_TARGET_DIR"))?;
    let [here, there] = [folder, &clone.join("target/dist")].map(|folder| read(&folder.join(SUMS)));
    let (here, there) = (here?, there?);
    let different: Vec<&str> = here.lines().filter(|line| !there.lines().any(|other| other == *line)).collect();
    if different.is_empty() && here.len() == there.len() {
        return Ok(());
    }
    Err(format!("two builds differ:\n{}", different.join("\n")))
}

/// Packs the command line for one kind of machine, with its licences, manual pages and completions for shells.
fn program(folder: &Path, target: &str) -> Done {
    // Panic messages name source files. Without this, they would name the folder that they were built in.
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let remap_home = home.map(|home| format!(" --remap-path-prefix={home}=/cargo")).unwrap_or_default();
    let flags = format!("--remap-path-prefix={}=/sluice{remap_home}", root().display());
    let build = root().join("target/dist-build");
    let compile = |target: &str| {
        run(cargo()
            .args(["build", "--quiet", "--locked", "--release", "--package", "sluice-cli", "--target", target])
            .arg("--target-dir")
            .arg(&build)
            .env("RUSTFLAGS", &flags)
            .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", ARM_LINKER))
    };
    compile(target)?;
    let file = format!("sluice{}", std::env::consts::EXE_SUFFIX);
    let [built, own] = [target, &host()?].map(|target| build.join(target).join("release").join(&file));
    let name = format!("sluice-{VERSION}-{target}");
    let contents = root().join("target/dist-contents").join(&name);
    let _ = fs::remove_dir_all(&contents);
    fs::create_dir_all(contents.join("completions")).map_err(|error| format!("{}: {error}", contents.display()))?;
    copy(&built, &contents.join(&file))?;
    for document in ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md", "docs/command-line.md"] {
        let to = contents.join(Path::new(document).file_name().unwrap_or_default());
        copy(&root().join(document), &to)?;
    }
    notices::write(&["sluice-cli"], target, std::slice::from_ref(&built), &contents)?;
    run(Command::new(&own).arg("man").arg(contents.join("man")))?;
    for (shell, file) in [("bash", "sluice.bash"), ("zsh", "_sluice"), ("fish", "sluice.fish")] {
        let completions = capture(Command::new(&own).args(["completions", shell]))?;
        write(&contents.join("completions").join(file), &completions)?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    pack(&contents, &name, &file, &archive).map_err(|error| format!("cannot write {}: {error}", archive.display()))
}

/// Packs a folder and its folders under a name. The bytes depend on nothing but the names and contents of the files.
fn pack(folder: &Path, name: &str, program: &str, archive: &Path) -> std::io::Result<()> {
    let compressed = GzBuilder::new().write(fs::File::create(archive)?, Compression::best());
    let mut archive = tar::Builder::new(compressed);
    let mut folders = vec![(folder.to_owned(), name.to_owned())];
    while let Some((folder, name)) = folders.pop() {
        let mut files = fs::read_dir(folder)?.map(|file| Ok(file?.path())).collect::<std::io::Result<Vec<_>>>()?;
        files.sort();
        for file in files {
            let last = file.file_name().unwrap_or_default().to_string_lossy();
            let inside = format!("{name}/{last}");
            if file.is_dir() {
                folders.push((file, inside));
                continue;
            }
            let bytes = fs::read(&file)?;
            let mut header = tar::Header::new_ustar();
            header.set_size(bytes.len() as u64);
            header.set_mode(if last == program { 0o755 } else { 0o644 });
            archive.append_data(&mut header, inside, bytes.as_slice())?;
        }
    }
    archive.into_inner()?.finish()?.sync_all()
}

/// Packs the libraries as cargo would publish them, and builds them from the packed files.
fn crates(folder: &Path) -> Done {
    let target = root().join("target/dist-build");
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    // The client is built with the core of this repository: no registry has it yet.
    let core = "patch.crates-io.sluice-core.path=\"crates/sluice-core\"";
    run(cargo()
        .args(["package", "--quiet", "--locked", "--allow-dirty", "--config", core, "--target-dir"])
        .arg(&target)
        .args(packages))?;
    for name in CRATES {
        let file = format!("{name}-{VERSION}.crate");
        copy(&target.join("package").join(&file), &folder.join(&file))?;
    }
    Ok(())
}

/// Lists every third-party component that is part of an artefact, in the `CycloneDX` format.
fn bill_of_materials() -> Done<String> {
    let mut linked = notices::linked_crates(&wasm::PACKAGES, wasm::TARGET)?;
    linked.extend(notices::linked_crates(&["sluice-cli"], &host()?)?);
    let metadata = capture(cargo().args(["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut components = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let [name, version] = ["name", "version"].map(|key| package[key].as_str().unwrap_or_default());
        if linked.contains(&format!("{name} {version}")) {
            components.push(component("cargo", name, version, &package["license"]));
        }
    }
    for name in notices::NPM_PACKAGES {
        let manifest = read(&root().join("node_modules").join(name).join("package.json"))?;
        let manifest: Value = serde_json::from_str(&manifest).map_err(|error| format!("{name}: {error}"))?;
        let version = manifest["version"].as_str().unwrap_or_default();
        components.push(component("npm", name, version, &manifest["license"]));
    }
    for (name, licence) in [("cl100k_base", "MIT"), ("o200k_base", "MIT"), ("gemma-3", "Apache-2.0")] {
        let name = format!("vocabulary {name}");
        components.push(json!({ "type": "data", "name": name, "licenses": [{ "expression": licence }] }));
    }
    let sluice = json!({ "type": "application", "name": "sluice", "version": VERSION });
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": sluice },
        "components": components,
    });
    Ok(format!("{bill:#}\n"))
}

fn component(registry: &str, name: &str, version: &str, licence: &Value) -> Value {
    let address = format!("pkg:{registry}/{name}@{version}");
    // In old manifests, a slash separates alternatives. That isn't an expression of SPDX.
    let licence = licence.as_str().unwrap_or_default().split('/').map(str::trim).collect::<Vec<_>>().join(" OR ");
    json!({
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "purl": address,
        "licenses": [{ "expression": licence }],
    })
}

/// Writes the checksums of all files in a folder, in the form of `sha256sum`.
fn write_checksums(folder: &Path, name: &str) -> Done {
    let mut sums = BTreeMap::new();
    for file in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?.flatten() {
        let bytes = fs::read(file.path()).map_err(|error| format!("{}: {error}", file.path().display()))?;
        let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        sums.insert(file.file_name().to_string_lossy().into_owned(), sum);
    }
    let lines: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    write(&folder.join(name), &lines)
}

/// Returns the name of this machine's target.
pub fn host() -> Done<String> {
    let version = capture(command("rustc").arg("--verbose").arg("--version"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc doesn't say which machine this is".to_owned())
}

fn copy(from: &Path, to: &Path) -> Done {
    fs::copy(from, to).map(drop).map_err(|error| format!("cannot copy {}: {error}", from.display()))
}

pub fn write(file: &Path, text: &str) -> Done {
    fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

fn read(file: &Path) -> Done<String> {
    fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{VERSION, pack};
    use crate::shell::root;

    /// Everything is built and tested with the oldest toolchain that is promised, so the promise holds.
    #[test]
    fn the_oldest_toolchain_is_the_pinned_one() {
        let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
        let value = |text: &str, name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.trim_matches([' ', '=', '"']).to_owned()
        };
        let pinned = value(&read("rust-toolchain.toml"), "channel");
        let promised = value(&read("Cargo.toml"), "rust-version");
        assert!(!promised.is_empty() && pinned.starts_with(&promised), "{pinned:?} {promised:?}");
    }

    #[test]
    fn everything_has_the_same_version() {
        for file in ["extension/package.json", "packages/stream-adapter/package.json"] {
            let manifest: serde_json::Value = serde_json::from_slice(&fs::read(root().join(file)).unwrap()).unwrap();
            assert_eq!(manifest["version"], VERSION, "{file}");
        }
    }

    #[test]
    fn an_archive_depends_on_contents_only() {
        let folder = std::env::temp_dir().join(format!("sluice-pack-{}", std::process::id()));
        let [one, other] = ["one", "other"].map(|name| {
            let (contents, archive) = (folder.join(name), folder.join(format!("{name}.tar.gz")));
            fs::create_dir_all(contents.join("man")).unwrap();
            // The order in which files are created must not matter.
            let mut files = ["sluice", "a.txt", "man/b.1"];
            if name == "one" {
                files.reverse();
            }
            for file in files {
                fs::write(contents.join(file), file).unwrap();
            }
            pack(&contents, "sluice-1", "sluice", &archive).unwrap();
            fs::read(archive).unwrap()
        });
        fs::remove_dir_all(&folder).unwrap();
        assert!(!one.is_empty() && one == other);
    }
}
