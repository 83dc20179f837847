//! What requests cost and why: records, the cache lens, limits, and exchanges in one file.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;
use sluice_client::Store;
use sluice_core::{Recording, RequestEnd, RequestKind, RequestStart, UsageTracker};
use sluice_simulator::server::{Config, Simulator};

use crate::support;

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
    let captured = ["capture", "one.exchange", "--exchange", "--json", "-m", "sluice/reasoning"];
    let original = bench.print(&[captured.as_slice(), &["-s", "CANARY of the rules", "CANARY"]].concat());
    let file = fs::read_to_string(bench.directory.join("one.exchange")).unwrap();
    let header: Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert!(!header.to_string().contains("CANARY"), "{header}");
    assert!(!file.contains("CANARY of the rules"), "the answer repeats it: {file}");
    assert!(!parts(&original).is_empty());
    assert_eq!(parts(&bench.print(&["replay", "--json", "one.exchange"])), parts(&original));
    let shown = bench.print(&["replay", "one.exchange"]);
    assert!(shown.contains("first byte") && shown.contains("end: completed"), "{shown}");
    let again = bench.run(&["replay", "one.exchange", "--ask", "sluice/echo"]);
    assert!(told(&again).contains("--with-texts"), "{}", told(&again));
    let captured = ["capture", "two.exchange", "--exchange", "--with-texts", "--json", "-m", "sluice/reasoning"];
    let said_again = bench.print(&[captured.as_slice(), &["Say it again."]].concat());
    let path = bench.directory.join("two.exchange");
    let file = fs::read_to_string(&path).unwrap();
    let (header, rest) = file.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["chat"]["tools"] = serde_json::json!([{"name": "read_file", "description": "Reads a file"}]);
    fs::write(&path, format!("{header}\n{rest}")).unwrap();
    assert!(bench.print(&["replay", "two.exchange", "--ask", "sluice/echo"]).contains("Say it again."));
    let asked = support::bodies(&bench.simulator).pop().unwrap();
    assert_eq!((&asked["model"], &asked["tools"][0]["name"]), (&"sluice/echo".into(), &"read_file".into()), "{asked}");
    // VS Code's recordings become the same kind of file.
    let answer = file.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (mut response, mut record) = (String::new(), Value::Null);
    for mut line in answer {
        response.push_str(line["text"].as_str().unwrap_or_default());
        record = if line["record"].is_object() { line["record"].take() } else { record };
    }
    let mut recording = Recording {
        version: Recording::VERSION,
        record: serde_json::from_value(record).unwrap(),
        url: "http://127.0.0.1/v1/responses".to_owned(),
        request: serde_json::json!({}),
        chat: None,
        status: Some(200),
        response,
    };
    fs::write(bench.directory.join("four.exchange"), recording.to_exchange()).unwrap();
    assert_eq!(parts(&bench.print(&["replay", "--json", "four.exchange"])), parts(&said_again));
    recording.status = Some(402);
    recording.response = r#"{"error":{"message":"No money.","type":"insufficient_funds"}}"#.to_owned();
    fs::write(bench.directory.join("five.exchange"), recording.to_exchange()).unwrap();
    let refused = String::from_utf8(bench.run(&["replay", "--json", "five.exchange"]).stdout).unwrap();
    assert!(refused.contains("noCredit"), "{refused}");
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

/// A gateway whose only model writes 1,000 tokens for $0.40. It counts the answers.
fn priced_gateway() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let answers = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&answers);
    // The thread ends with the test.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || serve(stream, &counted));
        }
    });
    (url, answers)
}

fn serve(mut stream: TcpStream, answers: &AtomicUsize) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) <= 2 {
            break;
        }
        lines.push(line.to_ascii_lowercase());
    }
    let length = lines.iter().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<u64>().ok());
    let _ = reader.take(length.unwrap_or(0)).read_to_end(&mut Vec::new());
    let (kind, body) = match lines.first().map(String::as_str).unwrap_or_default().split(' ').nth(1) {
        Some("/v1/models") => {
            let pricing = serde_json::json!({"input": "0.00000001", "output": "0.0004"});
            let model = serde_json::json!({"id": "acme/priced", "object": "model", "type": "language",
                "context_window": 200_000, "max_tokens": 1_000, "pricing": pricing});
            ("application/json", serde_json::json!({"object": "list", "data": [model]}).to_string())
        }
        Some("/v1/credits") => {
            let used = 0.4 * f64::from(u32::try_from(answers.load(Ordering::SeqCst)).unwrap());
            let credit =
                serde_json::json!({"balance": format!("{:.2}", 100.0 - used), "total_used": format!("{used:.2}")});
            ("application/json", credit.to_string())
        }
        Some("/v1/responses") => {
            answers.fetch_add(1, Ordering::SeqCst);
            let content = serde_json::json!([{"type": "output_text", "text": "Done.", "annotations": []}]);
            let item = serde_json::json!({"type": "message", "id": "m", "role": "assistant", "content": content});
            let usage = serde_json::json!({"input_tokens": 10, "output_tokens": 1_000, "total_tokens": 1_010});
            let response = serde_json::json!({"id": "r", "status": "completed", "output": [item], "usage": usage});
            let event = serde_json::json!({"type": "response.completed", "response": response});
            ("text/event-stream", format!("data: {event}\n\n"))
        }
        _ => ("application/json", "{}".to_owned()),
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n", body.len());
    let _ = write!(stream, "{head}connection: close\r\n\r\n{body}");
}

/// Runs the program with the gateway of [`priced_gateway`].
fn run_at(url: &str, bench: &Bench, arguments: &[&str]) -> Output {
    let mut command = support::sluice(&bench.directory, arguments);
    command.env("XDG_CONFIG_HOME", &bench.directory).env("HOME", &bench.directory);
    command.env("SLUICE_BASE_URL", url).env("SLUICE_API_KEY", "key");
    support::run(&mut command, b"")
}

/// Each of them has a limit for one answer.
#[test]
fn conversations_that_are_not_kept_have_limits_of_their_own() {
    let bench = Bench::new("unkept");
    let (url, answers) = priced_gateway();
    for arguments in [&["models"][..], &["config", "max-output", "1000"]] {
        assert!(run_at(&url, &bench, arguments).status.success());
    }
    let ask = || run_at(&url, &bench, &["chat", "--no-log", "--limit", "0.5", "-m", "acme/priced", "Hello"]);
    thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        for one in all {
            let output = one.join().unwrap();
            assert!(output.status.success(), "{}", told(&output));
        }
    });
    assert_eq!(answers.load(Ordering::SeqCst), 6);
}

/// Checks invariant C1: twenty processes share a limit for seven answers.
#[test]
fn processes_that_run_at_once_stay_below_a_limit_together() {
    let bench = Bench::new("together");
    let (url, answers) = priced_gateway();
    let run = |arguments: &[&str]| run_at(&url, &bench, arguments);
    // The prices come with the list.
    for arguments in [&["models"][..], &["config", "limit.day", "3"], &["config", "max-output", "1000"]] {
        let output = run(arguments);
        assert!(output.status.success(), "{}", told(&output));
    }
    let outputs: Vec<Output> = thread::scope(|scope| {
        let all: Vec<_> =
            (0..20).map(|_| scope.spawn(|| run(&["chat", "--no-log", "-m", "acme/priced", "Hello"]))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let sent = answers.load(Ordering::SeqCst);
    let rejected = outputs.iter().filter(|output| told(output).contains("the request was not sent")).count();
    let said: Vec<String> = outputs.iter().map(told).collect();
    assert_eq!(sent + rejected, 20, "{said:?}");
    assert!((1..=7).contains(&sent), "{sent} answers were paid for: {said:?}");
    // The gateway has counted the same costs.
    let usage: Value = serde_json::from_slice(&run(&["usage", "--json", "--gateway"]).stdout).unwrap();
    let (ours, theirs) = (usage["total"]["cost"].as_f64().unwrap(), usage["gateway"]["usedInTotal"].as_f64().unwrap());
    assert!((ours - theirs).abs() < 0.001, "{usage}");
    assert!(usage["limits"][0]["used"].as_f64().unwrap() - ours < 0.001, "nothing is reserved any more: {usage}");
    let shown = String::from_utf8(run(&["usage", "--gateway"]).stdout).unwrap();
    assert!(shown.contains("of credit is left, and $"), "{shown}");
}
