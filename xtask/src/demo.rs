//! `cargo xtask demo`: the embedded gateway, and VS Code with the extension that talks to it. Where there is nobody to look,
//! one conversation is held and printed; where there is no VS Code, it is held in the terminal.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::gateway::{self, Gateway};
use crate::shell::{capture, root, run};
use crate::vscode::{self, Machine, Tools};
use crate::{Done, extension};

mod terminal;

pub use terminal::read_file_tool;

/// How to show it.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Options {
    /// Hold one conversation in the real Chat view, write pictures and print what was said
    #[arg(long)]
    headless: bool,
    /// Use the command line instead of VS Code
    #[arg(long, conflicts_with = "headless")]
    terminal: bool,
}

pub fn play(options: Options) -> Done {
    println!("Building the command line; the first time this takes a few minutes …");
    let sluice = gateway::build()?;
    let gateway = Gateway::start(&sluice)?;
    println!("The embedded gateway serves {}: no account, nothing leaves this machine.", gateway.url);
    if options.terminal {
        return terminal::play(&sluice, &gateway);
    }
    println!("Packing the extension …");
    let vsix = extension::pack()?;
    let nobody_looks = !has_display() && !std::io::stdout().is_terminal();
    if !options.headless && !nobody_looks && has_display() && capture(Command::new("code").arg("--version")).is_ok() {
        return in_installed_code(&vsix, &gateway);
    }
    match vscode::prepare()? {
        Machine::Ready(tools) => in_code_server(&tools, &vsix, &gateway, options.headless || nobody_looks),
        Machine::Cannot(reason) => {
            println!("\nVS Code cannot be shown here: {reason}. The same conversation in the terminal:");
            terminal::play(&sluice, &gateway)
        }
    }
}

fn has_display() -> bool {
    cfg!(any(windows, target_os = "macos"))
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some())
}

/// A profile of its own, so that nobody's settings change.
fn in_installed_code(vsix: &Path, gateway: &Gateway) -> Done {
    let folder = root().join("target/vscode/demo-desktop");
    let user = folder.join("user/User");
    fs::create_dir_all(&user).map_err(|error| format!("{}: {error}", user.display()))?;
    let groups = r#"[{ "name": "Sluice", "vendor": "sluice" }]"#;
    fs::write(user.join("chatLanguageModels.json"), groups).map_err(|error| format!("{}: {error}", user.display()))?;
    let code = || {
        let mut code = Command::new("code");
        code.arg("--user-data-dir").arg(folder.join("user")).arg("--extensions-dir").arg(folder.join("extensions"));
        code
    };
    run(code().arg("--install-extension").arg(vsix).arg("--force"))?;
    println!("VS Code opens; choose “Sluice Demo” below the chat's input. Close its window to end the demo.");
    run(code()
        .args(["--new-window", "--wait", "--disable-workspace-trust"])
        .arg(root())
        .env("SLUICE_BASE_URL", &gateway.url)
        .env("AI_GATEWAY_API_KEY", "demo"))
}

fn in_code_server(tools: &Tools, vsix: &Path, gateway: &Gateway, headless: bool) -> Done {
    let mut driver = tools.node("e2e/demo.mjs", gateway, vsix);
    if headless {
        println!("Starting VS Code in a browser that nobody sees …");
        return run(driver.arg("--headless"));
    }
    let mut driver = driver.stdout(Stdio::piped()).spawn().map_err(|error| format!("cannot start VS Code: {error}"))?;
    for line in driver.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
        println!("{line}");
        if let Some(url) = line.split_whitespace().last().filter(|word| word.starts_with("http")) {
            println!("Choose “Sluice Demo” below the chat's input. Ctrl-C ends the demo.");
            open_browser(url);
        }
    }
    let status = driver.wait().map_err(|error| format!("VS Code: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("VS Code stopped ({status})")) }
}

/// If there is one; the address is on the screen anyway.
fn open_browser(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if has_display() {
        let _ = Command::new(opener).arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    }
}
