//! `cargo xtask vscode`: tests the extension in a real VS Code in a real browser. The programs in `e2e/` drive it; this
//! module provides what they need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::gateway::{self, Gateway};
use crate::shell::{self, capture, root};
use crate::{Done, adapter, extension};

mod browser;
mod install;

/// The installed tools for tests in VS Code.
pub struct Tools {
    /// The directory of code-server, its Node and playwright-core.
    directory: PathBuf,
    browser: PathBuf,
}

/// Whether this machine can run VS Code, or the reason why it can't.
pub enum Machine {
    Ready(Tools),
    Cannot(String),
}

/// Installs what is missing. Later runs need no network and return immediately.
pub fn prepare() -> Done<Machine> {
    let directory = match install::code_server()? {
        Ok(directory) => directory,
        Err(reason) => return Ok(Machine::Cannot(reason)),
    };
    Ok(match browser::find_or_install() {
        Ok(browser) => Machine::Ready(Tools { directory, browser }),
        Err(reason) => Machine::Cannot(reason),
    })
}

/// Returns the directory for runs, screenshots and results.
fn work() -> PathBuf {
    root().join("target/vscode")
}

/// Runs `cargo xtask vscode`. It is an error if this machine can't run VS Code.
pub fn run(extension: Option<PathBuf>, only: Option<&str>, keep: bool) -> Done {
    match prepare()? {
        Machine::Ready(tools) => {
            // Its sample provider is tested too.
            adapter::build()?;
            test(&tools, &extension.map_or_else(extension::pack, Ok)?, only, keep).map(drop)
        }
        Machine::Cannot(reason) => Err(reason),
    }
}

/// Has a conversation in a real VS Code with a server that needs no key, as a new user would. Says so if this machine can't.
pub fn converse(base_url: &str) -> Done {
    let tools = match prepare()? {
        Machine::Ready(tools) => tools,
        Machine::Cannot(reason) => {
            println!("   SKIPPED: a conversation in VS Code, because {reason}");
            return Ok(());
        }
    };
    let gateway = Gateway::start(&gateway::build()?)?;
    let mut driver = tools.node("e2e/drive.mjs", &gateway, &extension::pack()?);
    shell::run(driver.args(["--only", "foreign", "--imitated", &format!("foreign={base_url}")]))
}

/// Runs the tests in a real VS Code, with a packed extension or a folder that contains one, and with the adapter package as it
/// was built last. Returns what a summary has to mention: checks that were skipped, and suites that were repeated.
pub fn test(tools: &Tools, extension: &Path, only: Option<&str>, keep: bool) -> Done<Vec<String>> {
    let sluice = gateway::build()?;
    let gateway = Gateway::start(&sluice)?;
    let imitated = ["ollama", "llama.cpp"].map(|name| (name, Gateway::start_with(&sluice, &["--as", name])));
    let catalogue = capture(Command::new(&sluice).args(["serve", "--list-faults"]))?;
    let catalogue: Vec<&str> = catalogue.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let mut driver = tools.node("e2e/drive.mjs", &gateway, extension);
    driver.args(["--catalogue", &catalogue.join(",")]);
    for (name, gateway) in &imitated {
        driver.args(["--imitated", &format!("{name}={}", gateway.as_ref()?.url)]);
    }
    if let Some(only) = only {
        driver.args(["--only", only]);
    }
    if keep {
        driver.arg("--keep");
    }
    shell::run(&mut driver)?;
    let file = work().join("results.json");
    let report = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let report: Value = serde_json::from_slice(&report).map_err(|error| format!("{}: {error}", file.display()))?;
    let list = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let skipped = list("results").into_iter().filter_map(|result| {
        let reason = result["skipped"].as_str()?;
        Some(format!("SKIPPED: {}: {}, because {reason}", text(&result["suite"]), text(&result["name"])))
    });
    let repeated = list("repeated")
        .into_iter()
        .map(|suite| format!("REPEATED: the suite {}, because {}", text(&suite["suite"]), text(&suite["reason"])));
    Ok(skipped.chain(repeated).collect())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl Tools {
    /// Returns a command that runs one of the programs in e2e/ with all its arguments.
    pub fn node(&self, program: &str, gateway: &Gateway, extension: &Path) -> Command {
        let mut driver = Command::new(install::node(&self.directory));
        // Proxies, options for Node and the like must not reach VS Code.
        driver.env_clear().envs(["PATH", "TMPDIR"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        driver.current_dir(root()).arg(program).args(["--gateway", &gateway.url]);
        driver.arg("--tools").arg(&self.directory).arg("--chromium").arg(&self.browser).arg("--work").arg(work());
        driver.arg(if extension.is_dir() { "--extension" } else { "--vsix" }).arg(extension);
        driver
    }
}
