//! The embedded gateway as a process of its own, for whatever wants to talk to it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::shell::{cargo, command, root, run};
use crate::{Done, javascript};

/// Builds the command line and says where it is.
pub fn build() -> Done<PathBuf> {
    run(cargo().args(["build", "--quiet", "--locked", "--package", "sluice"]))?;
    Ok(root().join("target/debug").join(format!("sluice{}", std::env::consts::EXE_SUFFIX)))
}

/// `cargo xtask sdks`: other people's clients read the gateway.
pub fn check_with_sdks() -> Done {
    let gateway = Gateway::start(&build()?)?;
    javascript::install(&root().join("bench/node"))?;
    run(command("node").arg("bench/node/gateway.mjs").arg(&gateway.url))
}

/// `sluice serve`, until dropped.
pub struct Gateway {
    server: Child,
    pub url: String,
}

impl Gateway {
    pub fn start(sluice: &Path) -> Done<Self> {
        let mut server = Command::new(sluice)
            .args(["serve", "--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run {}: {error}", sluice.display()))?;
        let mut line = String::new();
        if let Some(output) = server.stdout.take() {
            let mut output = BufReader::new(output);
            let _ = output.read_line(&mut line);
            // Somebody must read the log, or the gateway would stop at a full pipe.
            std::thread::spawn(move || output.lines().for_each(drop));
        }
        let url = line.split_whitespace().last().filter(|word| word.starts_with("http")).map(str::to_owned);
        url.map_or_else(
            || Err(format!("the gateway said {line:?} instead of its address")),
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
