//! `transformers serve` with a tiny model that `servers/tiny_model.py` makes. It needs no key, so it is also used in VS Code as
//! a new user would use it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Scenario, User, begin, cancel, doctor, free_port, install, run_all, start, with_tools};
use crate::Done;
use crate::shell::run;
use crate::vscode;

const MODEL: &str = "sluice/tiny";
/// Where the model is in the cache of the Hugging Face libraries. The server lists what is there.
const CACHED: &str = "huggingface/hub/models--sluice--tiny";
const REVISION: &str = "0000000000000000000000000000000000000001";

pub fn check(folder: &Path, sluice: PathBuf) -> Done {
    let programs = install(folder, &["transformers[serving]==5.19.0", "torch==2.15.0", "requests"])?;
    make_model(&programs, folder)?;
    let port = free_port()?;
    let mut transformers = Command::new(programs.join("transformers"));
    transformers.args(["serve", "--host", "127.0.0.1", "--port", &port, "--device", "cpu"]);
    transformers.env("HF_HOME", folder.join("huggingface")).env("HF_HUB_OFFLINE", "1");
    let mut server = start(&mut transformers, &port, "/health")?;
    let user = User::new(sluice, folder, &port, None, MODEL);
    run_all("transformers serve", &SCENARIOS, &user)?;
    vscode::converse(&user.base_url)?;
    // The last scenario: the process of the engine is killed while it answers.
    let chat = begin(&user, "Go on forever")?;
    server.stop();
    let output = chat.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(1) || !said.contains("broke before the answer was complete") {
        return Err(format!("transformers serve, an engine that dies: {} and\n{said}", output.status));
    }
    println!("   ok: transformers serve, an engine that dies");
    Ok(())
}

/// Makes the model, unless it is there already, and puts it where the server looks for models.
fn make_model(programs: &Path, folder: &Path) -> Done {
    let cached = folder.join(CACHED);
    let revision = cached.join("refs/main");
    if revision.exists() {
        return Ok(());
    }
    println!("   making a tiny model");
    let snapshot = cached.join("snapshots").join(REVISION);
    run(Command::new(programs.join("python")).arg("xtask/servers/tiny_model.py").arg(&snapshot))?;
    // The library expects this directory, too.
    fs::create_dir_all(cached.join("blobs"))
        .and_then(|()| fs::create_dir_all(cached.join("refs")))
        .and_then(|()| fs::write(&revision, REVISION))
        .map_err(|error| format!("{}: {error}", revision.display()))
}

const SCENARIOS: [(&str, Scenario); 8] = [
    ("list of models", |user| user.expect(&["models"], 0, &[MODEL])),
    ("chat", |user| user.expect(&["chat", "Hello"], 0, &["Yes, I am a tiny model.", "completed", "9 out"])),
    ("tool loop", |user| {
        with_tools(user, "The weather?", &["→ weather {\"city\":\"Paris\"}", "The tools say that it is sunny."])
    }),
    ("parallel calls", |user| with_tools(user, "In parallel", &["Paris", "Rome", "The tools say that it is sunny."])),
    ("thinking", |user| user.expect(&["chat", "Think first"], 0, &["Let me see.", "I have thought about it."])),
    // The server says that such an answer is complete.
    ("length limit", |user| user.expect(&["chat", "--max-output", "16", "Go on forever"], 0, &["again and", "16 out"])),
    ("cancellation", |user| {
        cancel(user, "Go on forever")?;
        user.expect(&["chat", "Hello"], 0, &["Yes, I am a tiny model."])
    }),
    ("sluice doctor", |user| doctor(user, &WORKING)),
];

const WORKING: [&str; 9] = [
    "models",
    "answer",
    "streaming",
    "usage",
    "tools",
    "parallelCalls",
    "toolResults",
    "plainReasoning",
    "cancellation",
];
