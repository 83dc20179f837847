//! `sluice chat` in pipes: what is asked, and what is printed where.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;

use serde_json::{Value, json};
use sluice_simulator::server::{Config, Simulator};

use crate::support;

/// A directory for one test, and the gateway.
struct Bench {
    directory: PathBuf,
    simulator: Simulator,
}

impl Bench {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chat").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        Self { directory, simulator: Simulator::start(Config::recording()).unwrap() }
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = support::sluice(&self.directory, arguments);
        support::run(command.env("SLUICE_BASE_URL", self.simulator.url()), input)
    }

    /// Returns what the last request contained as text, part by part.
    fn asked(&self) -> Vec<String> {
        let bodies = support::bodies(&self.simulator);
        let items = bodies.last().expect("a request")["input"].as_array().unwrap().iter();
        let parts = items.flat_map(|item| item["content"].as_array().cloned().unwrap_or_default());
        parts
            .map(|part| match part["type"].as_str().unwrap() {
                "input_text" => part["text"].as_str().unwrap().to_owned(),
                "input_image" => part["image_url"].as_str().unwrap().split(';').next().unwrap().to_owned(),
                "input_file" => part["file_data"].as_str().unwrap().split(';').next().unwrap().to_owned(),
                other => other.to_owned(),
            })
            .collect()
    }
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn standard_input_is_part_of_the_prompt() {
    let bench = Bench::new("input");
    let check = |words: &[&str], input: &str, expected: &str| {
        let output = bench.run(&[&["chat", "-m", "sluice/echo"], words].concat(), input.as_bytes());
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(bench.asked(), [expected], "{words:?} < {input:?}");
    };
    check(&["explain"], "PIPED-IN\n", "explain\n\nPIPED-IN\n");
    check(&["explain", "this", "please"], "PIPED-IN\n", "explain this please\n\nPIPED-IN\n");
    check(&[], "Hello\n", "Hello\n");
    check(&["-"], "Hello\n", "Hello\n");
    check(&["Hello"], "", "Hello");
    check(&["-v", "--", "-1 + 2"], "", "-1 + 2");
}

#[test]
fn files_are_sent_by_what_they_contain() {
    let bench = Bench::new("files");
    fs::write(bench.directory.join("notes.txt"), "one\ntwo").unwrap();
    fs::write(bench.directory.join("paper"), "%PDF-1.7\n").unwrap();
    fs::write(bench.directory.join("dot"), b"GIF89a\x01\x00\x01\x00").unwrap();
    let output =
        bench.run(&["chat", "-m", "sluice/echo", "-f", "notes.txt", "-f", "paper", "--file", "dot", "What?"], b"");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = "<file path=\"notes.txt\">\none\ntwo\n</file>\n";
    assert_eq!(bench.asked(), [text, "data:application/pdf", "data:image/gif", "What?"]);
    let output = bench.run(&["chat", "-m", "sluice/echo", "What is this?"], b"GIF89a\x01\x00\x01\x00");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(bench.asked(), ["data:image/gif", "What is this?"]);
}

#[test]
fn directories_are_sent_without_what_git_ignores() {
    let bench = Bench::new("directories");
    let project = bench.directory.join("project");
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir_all(project.join("built")).unwrap();
    let files: [(&str, &[u8]); 6] = [
        ("src/b.rs", b"two"),
        ("src/a.rs", b"one"),
        ("built/out", b"three"),
        (".hidden", b"four"),
        ("data", b"\0\0"),
        (".gitignore", b"built\n"),
    ];
    for (name, content) in files {
        fs::write(project.join(name), content).unwrap();
    }
    let output = bench.run(&["chat", "-m", "sluice/echo", "-f", "project", "What?"], b"");
    assert!(stderr(&output).contains("files in project that aren't text were left out: 1"), "{}", stderr(&output));
    let file = |path: &str, text: &str| format!("<file path=\"project/src/{path}\">\n{text}\n</file>\n");
    assert_eq!(bench.asked(), [&file("a.rs", "one"), &file("b.rs", "two"), "What?"]);
}

#[test]
fn web_pages_are_sent_by_their_address() {
    let bench = Bench::new("pages");
    let page = format!("{}/models", bench.simulator.url());
    let output = bench.run(&["chat", "-m", "sluice/echo", "-f", &page, "What?"], b"");
    assert!(output.status.success(), "{}", stderr(&output));
    let asked = bench.asked();
    assert!(asked[0].starts_with(&format!("<page url=\"{page}\">\n{{\"data\":[")), "{}", asked[0]);
    assert!(asked[0].ends_with("</page>\n") && asked.len() == 2);
    let missing = format!("{}/nowhere", bench.simulator.url());
    let output = bench.run(&["chat", "-m", "sluice/echo", "-f", &missing, "What?"], b"");
    assert!(stderr(&output).contains("the server says 404 Not Found"), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    let bench = Bench::new("refused");
    fs::write(bench.directory.join("text"), "no image").unwrap();
    fs::write(bench.directory.join("empty"), "").unwrap();
    fs::write(bench.directory.join("header"), b"\x89PNG\r\n\x1a\n").unwrap();
    fs::write(bench.directory.join("noise"), b"\xFF\xFE\x00noise").unwrap();
    let check = |arguments: &[&str], input: &[u8], why: &str| {
        let output = bench.run(&[&["chat", "-m", "sluice/echo"], arguments].concat(), input);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
    };
    check(&[""], b"", "the prompt is empty");
    check(&["  "], b"", "the prompt is empty");
    check(&["-"], b"", "there is no prompt");
    check(&[], b" \n", "there is no prompt");
    check(&[], b"", "standard input is an empty pipe");
    for file in ["text", "empty", "header", "noise"] {
        check(&["--image", file, "What?"], b"", "is not an image that models can read");
    }
    check(&["-f", "noise", "What?"], b"", "noise is neither text (UTF-8) nor an image");
    fs::create_dir(bench.directory.join("nothing")).unwrap();
    check(&["-f", "nothing", "What?"], b"", "there are no text files in nothing");
    check(&["-f", "http://127.0.0.1:1/page", "What?"], b"", "cannot fetch http://127.0.0.1:1/page: ");
    check(&["-f", "missing", "What?"], b"", "cannot read missing");
    check(&["What?"], b"\xFF\xFE\x00", "standard input is neither text (UTF-8) nor an image");
    check(&["--max-output", "0", "What?"], b"", "not a number of at least 16");
    assert!(bench.simulator.requests().is_empty());
}

#[test]
fn standard_output_is_the_answer_and_nothing_else() {
    let bench = Bench::new("output");
    let tools = json!({"tools": [{"name": "run", "description": "", "command": ["echo", "done"]}]});
    fs::write(bench.directory.join("tools.json"), tools.to_string()).unwrap();
    let output = bench.run(&["chat", "-m", "sluice/reasoning", "Hello there"], b"");
    assert_eq!(stdout(&output), "I thought about it: Hello there\n");
    assert!(stderr(&output).contains("· thinking:\nThe user says: Hello there"), "{}", stderr(&output));
    assert!(stderr(&output).contains("completed · sluice/reasoning · "), "{}", stderr(&output));

    let folded = bench.run(&["chat", "-m", "sluice/reasoning", "--fold-thinking", "Hello there"], b"");
    assert_eq!(stdout(&folded), stdout(&output));
    assert!(!stderr(&folded).contains("The user says") && stderr(&folded).contains("thought for "), "{folded:?}");

    let quiet = bench.run(&["chat", "-q", "-m", "sluice/reasoning"], b"Hello there");
    assert_eq!((stdout(&quiet), stderr(&quiet)), (stdout(&output), ""));

    let tools = bench.run(&["chat", "-m", "sluice/tools", "--tools", "tools.json", "-y", "run {}"], b"");
    assert!(!stdout(&tools).contains(['→', '←']) && !stdout(&tools).contains("completed"), "{}", stdout(&tools));
    assert!(stderr(&tools).contains("→ run {}") && stderr(&tools).contains("← run: done"), "{}", stderr(&tools));
    assert_eq!(stderr(&tools).matches("completed").count(), 1, "{}", stderr(&tools));
    assert!(stderr(&tools).contains(" · 2 requests · "), "{}", stderr(&tools));

    let failed = bench.run(&["chat", "-m", "sluice/echo+status=402", "Hello"], b"");
    assert_eq!((failed.status.code(), stdout(&failed)), (Some(1), ""));
    assert!(stderr(&failed).contains("failed: "), "{}", stderr(&failed));
}

#[test]
fn json_has_calls_results_and_one_outcome() {
    let bench = Bench::new("json");
    let tools = json!({"tools": [{"name": "run", "description": "", "command": ["echo", "done"]}]});
    fs::write(bench.directory.join("tools.json"), tools.to_string()).unwrap();
    let output =
        bench.run(&["chat", "--json", "-m", "sluice/tools", "--tools", "tools.json", "-y", "run {\"a\": 1}"], b"");
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    kinds.dedup();
    kinds.retain(|kind| *kind != "note" && *kind != "thinking");
    assert_eq!(kinds, ["toolCall", "round", "toolResult", "text", "outcome"], "{}", stdout(&output));
    let find = |kind: &str| lines.iter().find(|line| line["type"] == kind).unwrap();
    assert_eq!(find("toolCall")["input"], json!({"a": 1}));
    assert_eq!(find("toolResult")["callId"], find("toolCall")["callId"]);
    assert_eq!(find("toolResult")["value"], "done\n");
    assert_eq!((&find("toolResult")["isError"], &find("outcome")["status"]), (&json!(false), &json!("completed")));
}

/// The server sends one word and then nothing. It must be printed while the request is still running, and when the pipe
/// is closed, the request ends although nothing more arrives that could be written.
#[test]
fn the_answer_streams_and_a_closed_pipe_ends_the_request() {
    let bench = Bench::new("streams");
    let check = |arguments: &[&str], expected: &str| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let mut child = support::sluice(&bench.directory, &[&["chat", "-m", "m", "Hello"], arguments].concat())
            .env("SLUICE_BASE_URL", url)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        // An answer before the request would be an error.
        assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let event = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\n";
        stream.write_all(format!("{head}{event}").as_bytes()).unwrap();
        let mut printed = vec![0; expected.len()];
        let mut output = child.stdout.take().unwrap();
        output.read_exact(&mut printed).unwrap();
        assert_eq!(String::from_utf8(printed).unwrap(), expected);
        drop(output);
        let server = thread::spawn(move || {
            let mut chunk = [0; 1024];
            while matches!(stream.read(&mut chunk), Ok(1..)) {}
        });
        assert_eq!(child.wait().unwrap().code(), Some(141));
        server.join().unwrap();
    };
    check(&[], "Hi");
    check(&["--json"], "{\"type\":\"text\",\"value\":\"Hi\"}\n");
}

#[test]
fn images_that_the_model_makes_are_saved() {
    let bench = Bench::new("images");
    for number in 1..=2 {
        let output = bench.run(&["chat", "-m", "sluice/image", "Draw"], b"");
        let name = format!("sluice-image-{number}.png");
        assert!(stderr(&output).contains(&name), "{}", stderr(&output));
        assert!(fs::read(bench.directory.join(name)).unwrap().starts_with(b"\x89PNG"));
    }
}
