//! The real program at servers that aren't the gateway: wrong addresses, refusals that are remembered between runs, and
//! captures of several requests.

use std::path::{Path, PathBuf};
use std::process::Output;

use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Faults, Options};

use crate::support;

struct Place {
    directory: PathBuf,
    simulator: Simulator,
}

impl Place {
    fn new(name: &str, server: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("servers").join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let options = Options { faults: Faults::parse(&format!("as={server}")).unwrap(), ..Options::default() };
        let simulator = Simulator::start(Config { options, ..Config::recording() }).unwrap();
        Self { directory, simulator }
    }

    fn run(&self, url: &str, arguments: &[&str]) -> Output {
        support::run(support::sluice(&self.directory, arguments).env("SLUICE_BASE_URL", url), b"")
    }
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_base_url_without_v1_works_and_the_right_one_is_named() {
    let place = Place::new("address", "vllm");
    let url = place.simulator.url();
    let wrong = url.strip_suffix("/v1").unwrap();
    let advice =
        format!("There is no Open Responses API at {wrong}, but there is one at {url}. Change the base URL to {url}.");
    for arguments in [&["models"][..], &["chat", "-m", "sluice/echo", "Hello"]] {
        let output = place.run(wrong, arguments);
        assert!(output.status.success(), "{}", told(&output));
        assert!(told(&output).contains(&advice), "{}", told(&output));
    }
    let nowhere = place.run(&format!("{wrong}/v2"), &["chat", "-m", "sluice/echo", "Hello"]);
    let expected =
        format!("Check the base URL: there is no Open Responses API at {wrong}/v2, and none at {wrong}/v2/v1.");
    assert!(told(&nowhere).contains(&expected), "{}", told(&nowhere));
}

/// The second run knows what the first was refused, and how large the model's window is.
#[test]
fn what_a_server_refuses_is_remembered_between_runs() {
    let place = Place::new("refusals", "vllm");
    let arguments = ["chat", "-v", "-m", "sluice/echo", "--max-output", "200000", "Hello"];
    let mut requests = Vec::new();
    for _ in 0..2 {
        let before = support::bodies(&place.simulator).len();
        let output = place.run(&place.simulator.url(), &arguments);
        assert!(output.status.success(), "{}", told(&output));
        requests.push(support::bodies(&place.simulator).len() - before);
    }
    assert_eq!(requests, [2, 1]);
    // The refusal named the window.
    let last = place.run(&place.simulator.url(), &arguments);
    assert!(told(&last).contains("context: 6/128k"), "{}", told(&last));
}

#[test]
fn every_request_of_a_capture_has_its_own_files() {
    let place = Place::new("capture", "litellm");
    let tools = r#"{"tools": [{"name": "read_level", "inputSchema": {"type": "object"}, "command": ["echo", "3 m"]}]}"#;
    std::fs::write(place.directory.join("tools.json"), tools).unwrap();
    let arguments =
        ["chat", "--yes", "--capture", "it.sse", "-m", "sluice/tools", "--tools", "tools.json", "read_level"];
    let output = place.run(&place.simulator.url(), &arguments);
    assert!(output.status.success(), "{}", told(&output));
    for (file, word) in [("it.sse", "read_level"), ("it.sse.2", " said")] {
        let decoded = place.run("http://127.0.0.1:9/v1", &["decode", "--json", file]);
        assert!(decoded.status.success() && told(&decoded).contains(word), "{file}: {}", told(&decoded));
        assert!(place.directory.join(format!("{file}.request.json")).exists());
    }
}

#[test]
fn a_capture_keeps_every_attempt() {
    let place = Place::new("attempts", "vllm");
    let arguments = ["capture", "it.sse", "-m", "sluice/echo+fail-times=1+status=500", "Hello"];
    assert!(place.run(&place.simulator.url(), &arguments).status.success());
    let read = |name: &str| std::fs::read_to_string(place.directory.join(name)).unwrap();
    let body: serde_json::Value = serde_json::from_str(&read("it.sse")).unwrap();
    let failure: serde_json::Value = serde_json::from_str(&read("it.sse.failure.json")).unwrap();
    assert_eq!((body["error"].is_object(), &failure["status"]), (true, &500.into()), "{body} {failure}");
    let decoded = place.run("http://127.0.0.1:9/v1", &["decode", "it.sse.2"]);
    assert!(decoded.status.success() && told(&decoded).contains("Hello"), "{}", told(&decoded));
    assert!(!place.directory.join("it.sse.2.failure.json").exists());
}

#[test]
fn a_retry_is_announced_in_whole_sentences() {
    let place = Place::new("retry", "vllm");
    let output = place.run(&place.simulator.url(), &["chat", "-m", "sluice/echo+fail-times=1+status=429", "Hello"]);
    assert!(told(&output).contains("sluice: Too many requests; slow down. Attempt 2 in "), "{}", told(&output));
}

/// `LiteLLM` reports the cost among the token counts and nowhere else.
#[test]
fn the_cost_among_the_counts_is_shown() {
    let cost = |server: &str, arguments: &[&str]| {
        let place = Place::new(&format!("cost-{server}"), server);
        let output = place.run(&place.simulator.url(), &[&["chat", "-m", "sluice/echo", "Hello"], arguments].concat());
        assert!(output.status.success(), "{}", told(&output));
        told(&output)
    };
    let (shown, unknown) = (cost("litellm", &[]), cost("vllm", &[]));
    assert!(shown.contains(" out · $0.0"), "{shown}");
    assert!(!unknown.contains('$'), "{unknown}");
    assert!(cost("litellm", &["--json"]).contains(r#""cost":"#));
}

/// llama.cpp says that an answer is complete even if its limit was reached within a call. The tool must not run, and every
/// line says something.
#[test]
fn a_failed_tool_leaves_no_empty_line() {
    let place = Place::new("cut-call", "llama.cpp");
    let tools =
        r#"{"tools": [{"name": "read_level", "inputSchema": {"type": "object"}, "command": ["touch", "ran"]}]}"#;
    std::fs::write(place.directory.join("tools.json"), tools).unwrap();
    let model = "sluice/tools+mid-call-truncation";
    let output = place.run(
        &place.simulator.url(),
        &[
            "chat",
            "--yes",
            "-m",
            model,
            "--tools",
            "tools.json",
            r#"read_level {"place": "the old mill", "unit": "m"}"#,
        ],
    );
    let told = told(&output);
    assert!(!output.status.success() && !place.directory.join("ran").exists(), "{told}");
    assert!(told.contains("has probably reached its output limit"), "{told}");
    assert!(told.lines().all(|line| !matches!(line.trim(), "" | "sluice:" | "·")), "{told}");
}
