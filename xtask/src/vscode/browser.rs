//! Finds Chromium, or installs Debian's package.

use std::path::PathBuf;

use crate::shell::{capture, command, run};

const PROGRAMS: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// Returns Chromium's path. The variable `CHROMIUM` overrides the search.
pub fn find_or_install() -> Result<PathBuf, String> {
    if let Some(program) = std::env::var_os("CHROMIUM") {
        return Ok(program.into());
    }
    if let Some(program) = on_the_path() {
        return Ok(program);
    }
    let missing = "Chromium is missing; install Chromium or Chrome, or name its program in CHROMIUM";
    let root = capture(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || capture(command("apt-get").arg("--version")).is_err() {
        return Err(missing.into());
    }
    println!("   installing Chromium with apt …");
    let install = || {
        run(command("apt-get")
            .args([
                "install",
                "--yes",
                "--quiet",
                "--quiet",
                "--no-install-recommends",
                "chromium",
                "fonts-dejavu-core",
            ])
            .env("DEBIAN_FRONTEND", "noninteractive"))
    };
    // The package list may be outdated or missing.
    let installed = install().or_else(|_| {
        run(command("apt-get").args(["update", "--quiet", "--quiet"]))?;
        install()
    });
    match (installed, on_the_path()) {
        (Ok(()), Some(program)) => Ok(program),
        (Err(error), _) => Err(format!("{missing} ({error})")),
        (Ok(()), None) => Err(missing.into()),
    }
}

fn on_the_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    PROGRAMS.iter().find_map(|program| folders.iter().map(|folder| folder.join(program)).find(|file| file.is_file()))
}
