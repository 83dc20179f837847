//! `LiteLLM`. Behind it is `servers/upstream.py`, a small chat-completions server that can be asked for every kind of answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::{Scenario, Server, User, cancel, doctor, free_port, install, run_all, start, with_tools};
use crate::Done;
use crate::shell::command;

/// `LiteLLM` refuses to start without a key that looks random.
const KEY: &str = "sk-0f3b6a1d9c7e5248b1a6d4e3f2c10987";

/// What is installed from `PyPI`.
pub const PACKAGES: [&str; 1] = ["litellm[proxy]==1.106.2"];

pub fn check(folder: &Path, sluice: PathBuf) -> Done {
    let programs = install(folder, &PACKAGES)?;
    let mut upstream = Server::start(command("python3").arg("xtask/servers/upstream.py"))?;
    let config = folder.join("litellm.json");
    let model = json!({
        "model_name": "fake",
        "litellm_params": {
            // This provider has no Responses API of its own, so LiteLLM translates.
            "model": "deepseek/fake",
            "api_base": format!("http://127.0.0.1:{}/v1", upstream.line()?),
            "api_key": "none",
        },
    });
    let settings = json!({ "model_list": [model], "general_settings": { "master_key": KEY } });
    fs::write(&config, settings.to_string()).map_err(|error| format!("{}: {error}", config.display()))?;
    let port = free_port()?;
    let mut litellm = Command::new(programs.join("litellm"));
    litellm.arg("--config").arg(&config).args(["--host", "127.0.0.1", "--port", &port]);
    litellm.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    let _server = start(&mut litellm, &port, "/health/liveliness")?;
    let user = User::new(sluice, folder, &port, Some(KEY), "fake");
    run_all("LiteLLM", &SCENARIOS, &user)?;
    cancel(&user, "Count slowly").map_err(|problem| format!("LiteLLM, cancellation: {problem}"))?;
    // This blocks until the upstream has noticed.
    match upstream.line()?.as_str() {
        "cancelled" => println!("   ok: LiteLLM, cancellation"),
        other => return Err(format!("LiteLLM, cancellation: the upstream said {other:?}")),
    }
    Ok(())
}

const SCENARIOS: [(&str, Scenario); 9] = [
    ("list of models", |user| user.expect(&["models"], 0, &["fake"])),
    ("chat", |user| user.expect(&["chat", "Hello"], 0, &["Yes, I am the upstream.", "completed", "20 tokens in"])),
    ("tool loop", |user| with_tools(user, "What is the weather?", &["→ weather", "The tools say", "sunny"])),
    ("parallel calls", |user| with_tools(user, "The weather, in parallel", &["Paris", "Rome", "sunny", "completed"])),
    ("thinking", |user| user.expect(&["chat", "Think first"], 0, &["Let me see.", "Yes, I am the upstream."])),
    ("length limit", |user| user.expect(&["chat", "--max-output", "16", "Count"], 0, &["incomplete"])),
    ("an engine that dies", |user| user.expect(&["chat", "Count until you die"], 1, &["failed", "not completed"])),
    ("a refusal", |user| user.expect(&["chat", "refuse"], 1, &["I refuse this request"])),
    ("sluice doctor", |user| doctor(user, &WORKING)),
];

const WORKING: [&str; 9] =
    ["models", "key", "answer", "streaming", "usage", "tools", "parallelCalls", "toolResults", "cancellation"];
