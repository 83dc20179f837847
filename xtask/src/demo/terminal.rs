//! The demo without VS Code: a greeting and a question that needs a tool, on the command line.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Done;
use crate::gateway::Gateway;
use crate::shell::{command, root, run};

pub fn play(sluice: &Path, gateway: &Gateway) -> Done {
    let tools = write_tools()?;
    // The demo's usage must not be added to the user's.
    let home = root().join("target/demo-home");
    let _ = fs::remove_dir_all(&home);
    let questions = [
        ("Hello! Who are you?", vec![]),
        ("Please look at the file README.md", vec!["--effort", "low", "--tools", tools.as_str()]),
    ];
    for (question, arguments) in questions {
        let words = ["sluice chat"].into_iter().chain(arguments.iter().copied()).collect::<Vec<_>>().join(" ");
        println!("\n$ {words} \"{question}\"\n");
        run(command(&sluice.to_string_lossy())
            .args(["chat", "-m", "sluice/demo"])
            .args(&arguments)
            .arg(question)
            .env("SLUICE_BASE_URL", &gateway.url)
            .env("SLUICE_HOME", &home)
            .env_remove("SLUICE_API_KEY")
            .env_remove("AI_GATEWAY_API_KEY")
            .env_remove("VERCEL_OIDC_TOKEN"))?;
    }
    println!("\n$ sluice usage\n");
    run(command(&sluice.to_string_lossy()).arg("usage").env("SLUICE_HOME", &home))?;
    println!("\nTo continue on your own, run: {} chat", sluice.strip_prefix(root()).unwrap_or(sluice).display());
    Ok(())
}

/// The tool of the demo. It reads `{"path": …}` from standard input and prints the first lines of that file of this
/// project.
pub fn read_file_tool() -> Done {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).map_err(|error| format!("no input: {error}"))?;
    let input: Value = serde_json::from_str(&input).map_err(|error| format!("bad input: {error}"))?;
    let path = input["path"].as_str().unwrap_or_default();
    let file = root().join(path).canonicalize().map_err(|error| format!("{path}: {error}"))?;
    if !root().canonicalize().is_ok_and(|root| file.starts_with(root)) {
        return Err(format!("{path} is not in this project"));
    }
    let text = fs::read_to_string(file).map_err(|error| format!("{path}: {error}"))?;
    text.lines().take(8).for_each(|line| println!("{line}"));
    Ok(())
}

fn write_tools() -> Done<String> {
    let this = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tools = json!({"tools": [{"name": "read_file", "description": "Read a file of this project",
        "inputSchema": schema, "command": [this, "read-file-tool"]}]});
    let file = PathBuf::from("target/demo-tools.json");
    fs::write(root().join(&file), tools.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file.display().to_string())
}
