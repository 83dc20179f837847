//! Starts the real program.

#[path = "../../../sluice-client/tests/support/canary.rs"]
pub mod canary;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use sluice_simulator::server::Simulator;

/// Returns a command that runs in a directory, keeps its files there, and inherits no key, address or model from the
/// machine.
pub fn sluice(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.args(arguments).current_dir(directory).env("SLUICE_HOME", directory).env("XDG_CACHE_HOME", directory);
    for name in ["SLUICE_API_KEY", "AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN", "SLUICE_BASE_URL", "SLUICE_MODEL"] {
        command.env_remove(name);
    }
    command
}

/// Starts a command and writes to its standard input. If the program refuses its arguments, it doesn't read the input.
pub fn start(command: &mut Command, input: &[u8]) -> Child {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be run");
    let _ = child.stdin.take().expect("it is piped").write_all(input);
    child
}

/// Runs a command with this input.
pub fn run(command: &mut Command, input: &[u8]) -> Output {
    start(command, input).wait_with_output().expect("it ends")
}

/// Returns the bodies of the requests for an answer. The list of models, which has no body, may be requested at any time.
pub fn bodies(simulator: &Simulator) -> Vec<Value> {
    let requests = simulator.requests().into_iter().filter(|request| request.method == "POST");
    requests.map(|request| serde_json::from_slice(&request.body).expect("JSON")).collect()
}
