//! `cargo xtask dist`: makes everything that a release consists of, twice, compares the bytes, and uses each artefact in
//! an empty folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shell::{capture, cargo, command, root, run};
use crate::{Done, adapter, extension, notices, wasm};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The packages that Rust programs can use.
const CRATES: [&str; 2] = ["sluice-core", "sluice-client"];

/// Makes the artefacts in `target/dist`.
pub fn all() -> Done {
    let folder = root().join("target/dist");
    let first = make(&folder)?;
    let again = make(&folder)?;
    let different: Vec<&str> =
        first.iter().filter(|(name, sum)| again.get(*name) != Some(sum)).map(|(name, _)| name.as_str()).collect();
    if !different.is_empty() {
        return Err(format!("two builds of {} differ", different.join(", ")));
    }
    try_out(&folder)?;
    println!("\nEach artefact was built twice with the same bytes, and works. They are in {}:", folder.display());
    for (name, sum) in again {
        println!("{sum}  {name}");
    }
    Ok(())
}

/// Makes all artefacts and returns their checksums.
fn make(folder: &Path) -> Done<BTreeMap<String, String>> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    copy(&extension::pack()?, &folder.join(format!("sluice-{VERSION}.vsix")))?;
    adapter::build()?;
    run(command("npm")
        .args(["pack", "--silent", "--ignore-scripts", "--pack-destination"])
        .arg(folder)
        .current_dir(root().join("packages/stream-adapter")))?;
    program(folder)?;
    crates(folder)?;
    write(&folder.join(format!("sluice-{VERSION}.cdx.json")), &bill_of_materials()?)?;
    let sums = checksums(folder)?;
    let list: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    write(&folder.join("SHA256SUMS"), &list)?;
    Ok(sums)
}

/// Packs the command line for this machine, with its licences and the completions for shells.
fn program(folder: &Path) -> Done {
    let target = host()?;
    // Panic messages name source files. Without this, they would name the folder that they were built in.
    let flags = format!("--remap-path-prefix={}=.", root().display());
    run(cargo()
        .args(["build", "--quiet", "--locked", "--release", "--package", "sluice-cli", "--target-dir"])
        .arg(root().join("target/dist-build"))
        .env("RUSTFLAGS", flags))?;
    let built = root().join("target/dist-build/release").join(format!("sluice{}", std::env::consts::EXE_SUFFIX));
    let name = format!("sluice-{VERSION}-{target}");
    let contents = root().join("target/dist-contents").join(&name);
    let _ = fs::remove_dir_all(&contents);
    fs::create_dir_all(contents.join("completions")).map_err(|error| format!("{}: {error}", contents.display()))?;
    copy(&built, &contents.join(built.file_name().unwrap_or_default()))?;
    for document in ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md", "docs/command-line.md"] {
        let to = contents.join(Path::new(document).file_name().unwrap_or_default());
        copy(&root().join(document), &to)?;
    }
    notices::write(&["sluice-cli"], &target, std::slice::from_ref(&built), &contents)?;
    for (shell, file) in [("bash", "sluice.bash"), ("zsh", "_sluice"), ("fish", "sluice.fish")] {
        let completions = capture(Command::new(&built).args(["completions", shell]))?;
        write(&contents.join("completions").join(file), &completions)?;
    }
    let archive = folder.join(format!("{name}.tar"));
    run(command("tar")
        .args(["--create", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=go=rX"])
        .arg("--file")
        .arg(&archive)
        .arg("--directory")
        .arg(root().join("target/dist-contents"))
        .arg(&name))?;
    run(command("gzip").args(["--no-name", "--force"]).arg(&archive))
}

/// Packs the libraries as cargo would publish them, and builds them from the packed files.
fn crates(folder: &Path) -> Done {
    let target = root().join("target/dist-build");
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    run(cargo().args(["package", "--quiet", "--locked", "--allow-dirty", "--target-dir"]).arg(&target).args(packages))?;
    for name in CRATES {
        let file = format!("{name}-{VERSION}.crate");
        copy(&target.join("package").join(&file), &folder.join(&file))?;
    }
    Ok(())
}

/// Lists every crate that is part of an artefact, in the CycloneDX format.
fn bill_of_materials() -> Done<String> {
    let mut linked = notices::linked_crates(&wasm::PACKAGES, wasm::TARGET)?;
    linked.extend(notices::linked_crates(&["sluice-cli"], &host()?)?);
    let metadata = capture(cargo().args(["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut components = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let [name, version] = ["name", "version"].map(|key| package[key].as_str().unwrap_or_default());
        if linked.contains(&format!("{name} {version}")) {
            components.push(json!({
                "type": "library",
                "name": name,
                "version": version,
                "purl": format!("pkg:cargo/{name}@{version}"),
                "licenses": [{ "expression": package["license"] }],
            }));
        }
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

fn checksums(folder: &Path) -> Done<BTreeMap<String, String>> {
    let mut sums = BTreeMap::new();
    for file in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?.flatten() {
        let bytes = fs::read(file.path()).map_err(|error| format!("{}: {error}", file.path().display()))?;
        let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        sums.insert(file.file_name().to_string_lossy().into_owned(), sum);
    }
    Ok(sums)
}

/// Unpacks or installs each artefact in an empty folder, and uses it.
fn try_out(folder: &Path) -> Done {
    let empty = root().join("target/dist-trial");
    let _ = fs::remove_dir_all(&empty);
    fs::create_dir_all(&empty).map_err(|error| format!("{}: {error}", empty.display()))?;
    let name = format!("sluice-{VERSION}-{}", host()?);
    run(Command::new("tar")
        .arg("--extract")
        .arg("--file")
        .arg(folder.join(format!("{name}.tar.gz")))
        .current_dir(&empty))?;
    let answer = capture(
        Command::new(empty.join(&name).join("sluice")).args(["chat", "Hello!"]).env_clear().env("HOME", &empty),
    )?;
    if !answer.contains("Sluice") {
        return Err(format!("the packed command line answered {answer:?}"));
    }
    write(&empty.join("package.json"), "{}\n")?;
    let package = folder.join(format!("sluice-stream-adapter-{VERSION}.tgz"));
    run(Command::new("npm")
        .args(["install", "--silent", "--no-audit", "--no-fund", "--offline"])
        .arg(&package)
        .current_dir(&empty))?;
    let program = "import('@sluice/stream-adapter').then((adapter) => { if (Object.keys(adapter).length === 0) throw new Error('it exports nothing'); })";
    run(Command::new("node").args(["--eval", program]).current_dir(&empty))
}

/// Returns the name of this machine's target.
fn host() -> Done<String> {
    let version = capture(command("rustc").arg("--verbose").arg("--version"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc doesn't say which machine this is".to_owned())
}

fn copy(from: &Path, to: &Path) -> Done {
    fs::copy(from, to).map(drop).map_err(|error| format!("cannot copy {}: {error}", from.display()))
}

fn write(file: &Path, text: &str) -> Done {
    fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}
