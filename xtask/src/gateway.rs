//! Runs the embedded gateway as a separate process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::shell::{cargo, command, root, run};
use crate::{Done, javascript};

/// Builds the command line and returns its path.
pub fn build() -> Done<PathBuf> {
    // The tests of the workspace have built this already. With `--package`, cargo would build most of it again, because the
    // packages of the workspace together enable more features than each alone.
    run(cargo().args(["build", "--quiet", "--locked", "--workspace", "--bin", "sluice"]))?;
    Ok(root().join("target/debug").join(format!("sluice{}", std::env::consts::EXE_SUFFIX)))
}

/// `cargo xtask sdks`: checks the gateway with other clients.
pub fn check_with_sdks() -> Done {
    let gateway = Gateway::start(&build()?)?;
    javascript::install()?;
    run(command("node").arg("bench/node/gateway.mjs").arg(&gateway.url))
}

/// A running `sluice serve`. It is stopped when this is dropped.
pub struct Gateway {
    server: Child,
    pub url: String,
}

impl Gateway {
    pub fn start(sluice: &Path) -> Done<Self> {
        Self::start_with(sluice, &[])
    }

    /// Starts a gateway with more arguments, such as `--as ollama`.
    pub fn start_with(sluice: &Path, arguments: &[&str]) -> Done<Self> {
        let mut server = Command::new(sluice)
            .args(["serve", "--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run {}: {error}", sluice.display()))?;
        let mut line = String::new();
        if let Some(output) = server.stdout.take() {
            let mut output = BufReader::new(output);
            let _ = output.read_line(&mut line);
            // The log must be read, or the gateway would block on a full pipe.
            std::thread::spawn(move || output.lines().for_each(drop));
        }
        let url = line.split_whitespace().last().filter(|word| word.starts_with("http")).map(str::to_owned);
        url.map_or_else(
            || Err(format!("the gateway printed {line:?} instead of its address")),
            |url| Ok(Self { server, url }),
        )
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
