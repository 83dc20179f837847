//! Uses each artefact of a release as its users would: in an empty folder outside of the clone.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::dist::{ARM, CRATES, SUMS, VERSION, host, write};
use crate::gateway::Gateway;
use crate::shell::{capture, cargo, program, run};
use crate::{Done, demo};

/// Reads a stream with the packed adapter.
const ADAPTER: &str = r#"
import { OpenResponsesStreamAdapter } from "@sluice/stream-adapter";
class LanguageModelTextPart { constructor(value) { this.value = value; } }
const adapter = new OpenResponsesStreamAdapter({ vscode: { LanguageModelTextPart } });
const body = JSON.stringify({ model: "sluice/echo", stream: true, input: "It works." });
const send = (signal) => fetch(`${process.argv[1]}/responses`, { method: "POST", headers: { "content-type": "application/json" }, body, signal });
let text = "";
await adapter.processStream(send, { report: (part) => (text += part.value ?? "") });
if (text !== "It works.") throw new Error(`the adapter reported ${JSON.stringify(text)}`);
"#;

/// Counts tokens with the packed core, and asks a question with the packed client.
const USER: &str = r#"
use sluice_client::core::{ChatMessage, ChatRequest, Counter, Ending, Endpoint, Output, Part};
use sluice_client::{Client, Event, Timeouts};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    assert!(Counter::estimating().text("openai/gpt-5", "Hello!") > 0);
    let endpoint = Endpoint::parse(&std::env::args().nth(1).ok_or("an address is missing")?)?;
    let client = Client::new(endpoint, None, Timeouts::default())?;
    let messages = vec![ChatMessage::user("It works.")];
    let chat = ChatRequest { model: "sluice/echo".to_owned(), messages, ..ChatRequest::default() };
    let mut answer = String::new();
    let report = client
        .respond(&chat, std::future::pending(), &mut |event| {
            if let Event::Output(Output::Part(Part::Text { value })) = event {
                answer.push_str(&value);
            }
        })
        .await;
    assert_eq!((report.ending, answer.as_str()), (Ending::Done, "It works."));
    Ok(())
}
"#;

pub fn all(artefacts: &Path) -> Done {
    let empty = std::env::temp_dir().join(format!("sluice-trial-{}", std::process::id()));
    fs::create_dir_all(&empty).map_err(|error| format!("{}: {error}", empty.display()))?;
    let done = in_folder(artefacts, &empty);
    let _ = fs::remove_dir_all(&empty);
    done
}

fn in_folder(artefacts: &Path, empty: &Path) -> Done {
    run(Command::new("sha256sum").args(["--check", "--strict", "--quiet", SUMS]).current_dir(artefacts))?;
    let host = host()?;
    let folder = format!("sluice-{VERSION}-{host}");
    unpack(artefacts, &format!("{folder}.tar.gz"), empty)?;
    let sluice = empty.join(&folder).join("sluice");
    says_hello(Command::new(&sluice), empty)?;
    documents(&empty.join(&folder))?;
    if host != ARM {
        on_arm(artefacts, empty)?;
    }
    let gateway = Gateway::start(&sluice)?;
    adapter(artefacts, empty, &gateway)?;
    crates(artefacts, empty, &gateway)?;
    demo::in_browser(&artefacts.join(format!("sluice-{VERSION}.vsix")), &gateway)
}

/// Asks the demo a question with a packed command line, without any settings.
fn says_hello(mut program: Command, home: &Path) -> Done {
    let answer = capture(program.args(["chat", "Hello!"]).env_clear().env("HOME", home))?;
    if answer.contains("Sluice") { Ok(()) } else { Err(format!("the packed command line answered {answer:?}")) }
}

/// Checks what is packed next to the command line.
fn documents(folder: &Path) -> Done {
    let pages = fs::read_dir(folder.join("man")).map_err(|error| format!("the manual pages: {error}"))?;
    let pages: Vec<_> = pages.flatten().map(|page| page.path()).collect();
    for page in &pages {
        let text = fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
        if !text.contains(".SH NAME") {
            return Err(format!("{} isn't a manual page", page.display()));
        }
        // Not every machine can show manual pages. One that can reports mistakes in them.
        if let Ok(problems) = Command::new("groff").args(["-k", "-man", "-ww", "-z", "-Tutf8"]).arg(page).output()
            && !problems.stderr.is_empty()
        {
            return Err(format!("{}: {}", page.display(), String::from_utf8_lossy(&problems.stderr)));
        }
    }
    if !pages.iter().any(|page| page.ends_with("sluice.1")) {
        return Err("there is no manual page of `sluice`".to_owned());
    }
    let completes = "source completions/sluice.bash && complete -p sluice > /dev/null";
    run(Command::new("bash").args(["-c", completes]).current_dir(folder))?;
    for file in
        ["completions/_sluice", "completions/sluice.fish", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES.txt"]
    {
        if fs::metadata(folder.join(file)).map_or(0, |file| file.len()) == 0 {
            return Err(format!("{file} is missing or empty"));
        }
    }
    Ok(())
}

fn on_arm(artefacts: &Path, empty: &Path) -> Done {
    let folder = format!("sluice-{VERSION}-{ARM}");
    let archive = format!("{folder}.tar.gz");
    if !artefacts.join(&archive).is_file() {
        return Ok(());
    }
    unpack(artefacts, &archive, empty)?;
    if capture(Command::new("qemu-aarch64").arg("--version")).is_err() {
        println!("   SKIPPED: running the command line for {ARM}, because there is no qemu-aarch64");
        return Ok(());
    }
    let mut emulator = Command::new("qemu-aarch64");
    emulator.args(["-L", "/usr/aarch64-linux-gnu"]).arg(empty.join(folder).join("sluice"));
    says_hello(emulator, empty)
}

fn adapter(artefacts: &Path, empty: &Path, gateway: &Gateway) -> Done {
    write(&empty.join("package.json"), "{}\n")?;
    run(program("npm")
        .args(["install", "--silent", "--no-audit", "--no-fund", "--offline"])
        .arg(artefacts.join(format!("sluice-stream-adapter-{VERSION}.tgz")))
        .current_dir(empty))?;
    run(Command::new("node").args(["--input-type=module", "--eval", ADAPTER, &gateway.url]).current_dir(empty))
}

fn crates(artefacts: &Path, empty: &Path, gateway: &Gateway) -> Done {
    for name in CRATES {
        unpack(artefacts, &format!("{name}-{VERSION}.crate"), empty)?;
    }
    let manifest = format!(
        r#"
        [package]
        name = "user"
        edition = "2024"
        [dependencies]
        sluice-client.path = "../sluice-client-{VERSION}"
        tokio = {{ version = "1", features = ["macros", "rt"] }}
        [patch.crates-io]
        sluice-core.path = "../sluice-core-{VERSION}"
        [workspace]
        "#
    );
    fs::create_dir_all(empty.join("user/src")).map_err(|error| format!("{}: {error}", empty.display()))?;
    write(&empty.join("user/Cargo.toml"), &manifest)?;
    write(&empty.join("user/src/main.rs"), USER)?;
    run(cargo().args(["run", "--quiet", "--", &gateway.url]).current_dir(empty.join("user")))
}

fn unpack(artefacts: &Path, archive: &str, folder: &Path) -> Done {
    run(Command::new("tar").arg("-xzf").arg(artefacts.join(archive)).current_dir(folder))
}
