//! What requests cost and why: records, the cache lens, limits, and exchanges in one file.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use sluice_client::Store;
use sluice_core::{RequestEnd, RequestKind, RequestStart, UsageTracker};
use sluice_simulator::server::{Config, Simulator};

struct Bench {
    directory: PathBuf,
    simulator: Simulator,
}

impl Bench {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("costs").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        Self { directory, simulator: Simulator::start(Config::recording()).unwrap() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = support::sluice(&self.directory, arguments);
        command.env("XDG_CONFIG_HOME", &self.directory).env("HOME", &self.directory);
        support::run(command.env("SLUICE_BASE_URL", self.simulator.url()), b"")
    }

    fn print(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", told(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Records that a model cost this much today.
    fn spend(&self, dollars: &str) {
        let (store, mut memory, _) = Store::open(&self.directory);
        let mut tracker = UsageTracker::default();
        let start = RequestStart {
            id: String::new(),
            conversation: String::new(),
            model: "acme/one".to_owned(),
            kind: RequestKind::Main,
            effort: None,
            estimate: None,
            context_window: None,
        };
        tracker.open(start, 0);
        let usage = serde_json::from_str(r#"{"input_tokens":10,"output_tokens":10}"#).unwrap();
        let end = RequestEnd { usage, cost: Some(dollars.to_owned()), is_answered: true, ..RequestEnd::default() };
        let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        memory.record(&tracker.finish("", &end, 1).unwrap(), u32::try_from(seconds / 86_400).unwrap());
        store.save(&mut memory).unwrap();
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn requests_are_listed_shown_and_explained() {
    let bench = Bench::new("records");
    let long = "word ".repeat(2_000);
    bench.print(&["chat", "-m", "sluice/echo", &format!("CANARY {long}")]);
    bench.print(&["chat", "-c", "Go on."]);
    bench.print(&["chat", "-c", "-s", "Be brief.", "And?"]);
    let lines = bench.print(&["show", "--requests"]);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    let id = lines.lines().nth(1).unwrap().split("  ").next().unwrap();
    assert!(lines.lines().nth(1).unwrap().contains("cached) ·") && lines.contains("(play money)"), "{lines}");
    let shown = bench.print(&["show", id]);
    for words in ["sent", "first byte", "first text", "end: completed", "history", "(play money)", "the same as in"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    let why = bench.print(&["why"]);
    assert!(why.contains("It is the first request of its conversation."), "{why}");
    assert!(why.contains("There were no instructions before."), "{why}");
    assert_eq!(bench.print(&["why", id]).lines().count(), 1);
    let record: Value = serde_json::from_str(&bench.print(&["show", id, "--json"])).unwrap();
    assert_eq!(record["version"], 1);
    let log: Value = serde_json::from_str(&bench.print(&["log", "--json"])).unwrap();
    assert_eq!((&log["requests"], &log["cost"]), (&3.into(), &0.0.into()), "play money isn't a cost");
    let files = fs::read_dir(bench.directory.join("requests")).unwrap();
    for file in files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()) {
        assert!(!file.contains("CANARY"), "{file}");
    }
    bench.print(&["log", "--delete"]);
    assert_eq!(fs::read_dir(bench.directory.join("requests")).unwrap().count(), 0);
}

#[test]
fn a_limit_stops_a_request_before_it_is_sent() {
    let bench = Bench::new("limits");
    bench.spend("1.20");
    bench.print(&["config", "limit.day", "1"]);
    bench.print(&["config", "limit.month.acme/one", "20"]);
    let output = bench.run(&["chat", "-m", "acme/one", "Hello"]);
    assert_eq!(output.status.code(), Some(1));
    let said = told(&output);
    assert!(said.contains("$1.20 is spent or reserved, and the limit is $1.00."), "{said}");
    assert!(said.contains("`sluice config limit.day DOLLARS` raises the limit."), "{said}");
    assert!(bench.simulator.requests().iter().all(|request| request.method != "POST"), "nothing was sent");
    // The demo's money isn't real.
    bench.print(&["chat", "-m", "sluice/echo", "Hello"]);
    let usage = bench.print(&["usage"]);
    assert!(usage.contains("limit.day: $1.20 of $1.00 (120 %)"), "{usage}");
    assert!(usage.contains("limit.month.acme/one: $1.20 of $20.00 (6 %)"), "{usage}");
    let usage: Value = serde_json::from_str(&bench.print(&["usage", "--json"])).unwrap();
    assert_eq!(usage["limits"][0]["used"], 1.2);
    assert_eq!(bench.print(&["config"]).lines().filter(|line| line.starts_with("limit.")).count(), 2);
    bench.print(&["config", "limit.day", "--unset"]);
    assert!(bench.run(&["config", "limit.week", "1"]).status.code() == Some(2));
    assert!(bench.run(&["config", "limit.day", "much"]).status.code() == Some(2));
}

/// Returns the lines of parts.
fn parts(lines: &str) -> Vec<&str> {
    lines.lines().filter(|line| !line.contains("\"outcome\"")).collect()
}

#[test]
fn an_exchange_in_one_file_is_replayed_served_and_asked_again() {
    let bench = Bench::new("exchange");
    let captured = ["capture", "one.exchange", "--exchange", "--json", "-m", "sluice/reasoning", "CANARY"];
    let original = bench.print(&captured);
    let file = fs::read_to_string(bench.directory.join("one.exchange")).unwrap();
    let header: Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert!(!header.to_string().contains("CANARY"), "{header}");
    assert!(!parts(&original).is_empty());
    assert_eq!(parts(&bench.print(&["replay", "--json", "one.exchange"])), parts(&original));
    let shown = bench.print(&["replay", "one.exchange"]);
    assert!(shown.contains("first byte") && shown.contains("end: completed"), "{shown}");
    let again = bench.run(&["replay", "one.exchange", "--ask", "sluice/echo"]);
    assert!(told(&again).contains("--with-texts"), "{}", told(&again));
    bench.print(&["capture", "two.exchange", "--exchange", "--with-texts", "-m", "sluice/reasoning", "Say it again."]);
    assert!(bench.print(&["replay", "two.exchange", "--ask", "sluice/echo"]).contains("Say it again."));
    // Every request to a server that replays the file gets the same answer.
    let mut serve = support::sluice(&bench.directory, &["serve", "--port", "0", "--replay", "one.exchange"]);
    let mut server = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut log = BufReader::new(server.stdout.take().unwrap());
    log.read_line(&mut first).unwrap();
    let url = first.trim().rsplit(' ').next().unwrap();
    let mut ask = support::sluice(&bench.directory, &["chat", "--no-log", "--json", "-m", "sluice/reasoning", "Other"]);
    let served = support::run(ask.env("SLUICE_BASE_URL", url), b"");
    server.kill().unwrap();
    server.wait().unwrap();
    // What goes back to a server names that server.
    let same = |lines: &str| {
        let lines = parts(lines).into_iter().filter(|line| !line.contains("\"replay\"")).map(str::to_owned);
        lines.collect::<Vec<String>>()
    };
    assert_eq!(same(&String::from_utf8_lossy(&served.stdout)), same(&original), "{}", told(&served));
    fs::write(bench.directory.join("three.exchange"), "data: {}\n").unwrap();
    assert!(told(&bench.run(&["replay", "three.exchange"])).contains("is not an exchange"));
}
