//! `cargo xtask demo`: starts the embedded gateway and VS Code with the extension. Without a display and a terminal, it
//! runs one conversation and prints it. Without VS Code, the conversation runs in the terminal; that is a failure if
//! pictures of VS Code were asked for.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::gateway::{self, Gateway};
use crate::shell::{capture, program, root, run};
use crate::vscode::{self, Machine, Tools};
use crate::{Done, extension};

mod terminal;

pub use terminal::read_file_tool;

/// How to run the demo.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Options {
    /// Run one conversation in the real Chat view, save screenshots and print the answers
    #[arg(long)]
    headless: bool,
    /// Use the command line instead of VS Code
    #[arg(long, conflicts_with = "headless")]
    terminal: bool,
}

pub fn play(options: Options) -> Done {
    println!("Building the command line; this takes a few minutes the first time …");
    let sluice = gateway::build()?;
    let gateway = Gateway::start(&sluice)?;
    println!("The embedded gateway listens on {}. It needs no account, and nothing leaves this machine.", gateway.url);
    if options.terminal {
        return terminal::play(&sluice, &gateway);
    }
    println!("Packing the extension …");
    let vsix = extension::pack()?;
    let unattended = !has_display() && !std::io::stdout().is_terminal();
    if !options.headless && !unattended && has_display() && capture(program("code").arg("--version")).is_ok() {
        return in_installed_code(&vsix, &gateway);
    }
    match vscode::prepare()? {
        Machine::Ready(tools) => in_code_server(&tools, &vsix, &gateway, options.headless || unattended),
        Machine::Cannot(reason) => {
            println!("\nVS Code can't run here: {reason}. Here is the same conversation in the terminal:");
            terminal::play(&sluice, &gateway)?;
            end_without_code(options.headless, &reason)
        }
    }
}

/// Repeats at the end, where people look, that the conversation wasn't in VS Code.
fn end_without_code(pictures: bool, reason: &str) -> Done {
    if pictures {
        return Err(format!(
            "there are no pictures, because VS Code can't run here: {reason}; `cargo xtask demo --terminal` needs no VS Code"
        ));
    }
    println!("\nThis was the terminal and not VS Code, which can't run here: {reason}");
    Ok(())
}

/// Has a conversation with a packed extension in a real VS Code. Says so if this machine can't.
pub fn in_browser(vsix: &Path, gateway: &Gateway) -> Done {
    match vscode::prepare()? {
        Machine::Ready(tools) => in_code_server(&tools, vsix, gateway, true),
        Machine::Cannot(reason) => {
            println!("   SKIPPED: a conversation in VS Code, because {reason}");
            Ok(())
        }
    }
}

fn has_display() -> bool {
    cfg!(any(windows, target_os = "macos"))
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some())
}

/// Uses a separate profile, so that the user's settings don't change.
fn in_installed_code(vsix: &Path, gateway: &Gateway) -> Done {
    let folder = root().join("target/vscode/demo-desktop");
    let user = folder.join("user/User");
    fs::create_dir_all(&user).map_err(|error| format!("{}: {error}", user.display()))?;
    let groups = r#"[{ "name": "Sluice", "vendor": "sluice" }]"#;
    fs::write(user.join("chatLanguageModels.json"), groups).map_err(|error| format!("{}: {error}", user.display()))?;
    let code = || {
        let mut code = program("code");
        code.arg("--user-data-dir").arg(folder.join("user")).arg("--extensions-dir").arg(folder.join("extensions"));
        code
    };
    run(code().arg("--install-extension").arg(vsix).arg("--force"))?;
    println!("VS Code is opening. Choose “Sluice Demo” below the chat's input. Close the window to end the demo.");
    run(code()
        .args(["--new-window", "--wait", "--disable-workspace-trust"])
        .arg(root())
        .env("SLUICE_BASE_URL", &gateway.url)
        .env("SLUICE_API_KEY", "demo"))
}

fn in_code_server(tools: &Tools, vsix: &Path, gateway: &Gateway, headless: bool) -> Done {
    let mut driver = tools.node("e2e/demo.mjs", gateway, vsix);
    if headless {
        println!("Starting VS Code in a headless browser …");
        return run(driver.arg("--headless"));
    }
    let mut driver = driver.stdout(Stdio::piped()).spawn().map_err(|error| format!("cannot start VS Code: {error}"))?;
    for line in driver.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
        println!("{line}");
        if let Some(url) = line.split_whitespace().last().filter(|word| word.starts_with("http")) {
            println!("Choose “Sluice Demo” below the chat's input. Press Ctrl-C to end the demo.");
            open_browser(url);
        }
    }
    let status = driver.wait().map_err(|error| format!("VS Code: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("VS Code stopped ({status})")) }
}

/// Opens the address in a browser, if there is one. It is printed in any case.
fn open_browser(url: &str) {
    let opener = match env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    if has_display() {
        let _ = Command::new(opener).arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    }
}

#[cfg(test)]
mod tests {
    use super::end_without_code;

    /// A script that waits for pictures must notice that there are none.
    #[test]
    fn a_demo_without_pictures_fails_only_if_they_were_asked_for() {
        assert_eq!(end_without_code(false, "npm is missing"), Ok(()));
        let error = end_without_code(true, "npm is missing").unwrap_err();
        assert!(error.contains("no pictures") && error.contains("npm is missing"), "{error}");
    }
}
