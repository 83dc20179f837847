//! A conversation in a real pseudo-terminal: editing, pasting, Ctrl-C, commands and what is on the screen.

#![cfg(unix)]

mod support;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Child;

use pty_process::Size;
use pty_process::blocking::{Command, Pty};
use serde_json::Value;
use sluice_simulator::server::{Config, Simulator};

/// A program in a terminal, and everything that it has printed.
struct Terminal {
    pty: Pty,
    screen: vt100::Parser,
    child: Child,
    simulator: Simulator,
    directory: PathBuf,
}

impl Terminal {
    fn start(name: &str, arguments: &[&str], (rows, columns): (u16, u16)) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        Self::start_in(directory, arguments, (rows, columns))
    }

    fn start_in(directory: PathBuf, arguments: &[&str], (rows, columns): (u16, u16)) -> Self {
        let simulator = Simulator::start(Config::recording()).unwrap();
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(Size::new(rows, columns)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"))
            .args(arguments)
            .current_dir(&directory)
            .env("SLUICE_HOME", &directory)
            .env("XDG_CACHE_HOME", &directory)
            .env("SLUICE_BASE_URL", simulator.url())
            .env("TERM", "xterm-256color");
        for name in ["SLUICE_API_KEY", "AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN", "SLUICE_MODEL", "NO_COLOR"] {
            command = command.env_remove(name);
        }
        let child = command.spawn(pts).unwrap();
        let screen = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        Self { pty, screen, child, simulator, directory }
    }

    /// Types keys.
    fn type_keys(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until the screen contains a text.
    fn wait_for(&mut self, text: &str) {
        while !self.screen.screen().contents().contains(text) {
            assert!(self.read() > 0, "{text:?} did not appear:\n{}", self.screen.screen().contents());
        }
    }

    /// Reads until the program waits for a question: the last line is the prompt.
    fn wait_for_prompt(&mut self) {
        while !self.screen.screen().contents().trim_end().ends_with("\n>") {
            assert!(self.read() > 0, "there is no prompt:\n{}", self.screen.screen().contents());
        }
    }

    /// Types keys that make a line, sends it, and waits for the next prompt.
    fn say(&mut self, keys: &str, line: &str) {
        self.type_keys(keys);
        self.wait_for(&format!("> {line}"));
        self.type_keys("\r");
        self.wait_for_prompt();
    }

    /// Returns 0 at the end of the output.
    fn read(&mut self) -> usize {
        let mut chunk = [0; 4096];
        // After the last process is gone, reading is an error.
        let length = self.pty.read(&mut chunk).unwrap_or(0);
        self.screen.process(&chunk[..length]);
        length
    }

    /// Waits for the end of the program and returns its exit code.
    fn end(mut self) -> Option<i32> {
        while self.read() > 0 {}
        self.child.wait().unwrap().code()
    }

    /// Returns the text of the last question.
    fn asked(&self) -> String {
        let requests = self.simulator.requests();
        let body: Value = serde_json::from_slice(&requests.last().expect("a request").body).unwrap();
        let last = body["input"].as_array().unwrap().last().unwrap();
        last["content"].as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap_or("[data]")).collect()
    }
}

const SIZE: (u16, u16) = (40, 100);
const PASTE: [&str; 2] = ["\u{1b}[200~", "\u{1b}[201~"];

#[test]
fn a_line_is_edited_and_remembered() {
    let mut terminal = Terminal::start("editing", &["chat", "-m", "sluice/echo"], SIZE);
    terminal.wait_for_prompt();
    terminal.say("Helo there\u{1b}[1~\u{1b}[C\u{1b}[C\u{1b}[Cl", "Hello there");
    assert_eq!(terminal.asked(), "Hello there");
    terminal.say("\u{1b}[A!", "Hello there!");
    assert_eq!(terminal.asked(), "Hello there!");
    terminal.type_keys("first\\\rsecond\u{1b}\r");
    terminal.wait_for("second");
    terminal.type_keys("third");
    terminal.wait_for("third");
    terminal.type_keys("\r");
    terminal.wait_for_prompt();
    assert_eq!(terminal.asked(), "first\nsecond\nthird");
    terminal.type_keys("\u{4}");
    let directory = terminal.directory.clone();
    assert_eq!(terminal.end(), Some(0));
    // The history outlives the program, and only its owner can read it.
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(directory.join("history")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let mut terminal = Terminal::start_in(directory, &["chat", "-m", "sluice/echo"], SIZE);
    terminal.wait_for_prompt();
    terminal.say("\u{1b}[A\u{1b}[A\u{1b}[A\u{1b}[A", "Hello there!");
    assert_eq!(terminal.asked(), "Hello there!");
}

#[test]
fn a_pasted_text_is_one_question() {
    let mut terminal = Terminal::start("paste", &["chat", "-m", "sluice/echo"], (120, 100));
    terminal.wait_for_prompt();
    let script = "Explain:\n#!/bin/sh\n\n\ntouch PWNED";
    terminal.type_keys(&PASTE.join(&script.replace('\n', "\r")));
    terminal.wait_for("touch PWNED");
    terminal.type_keys("\r");
    terminal.wait_for_prompt();
    assert_eq!(terminal.asked(), script);
    // A terminal in its usual mode would cut a line after 4,095 bytes.
    let long = format!("{}end", "x".repeat(4500));
    terminal.type_keys(&PASTE.join(&long));
    terminal.wait_for("xend");
    terminal.type_keys("\r");
    terminal.wait_for_prompt();
    assert_eq!(terminal.asked(), long);
    // Nothing is asked by an empty line.
    terminal.type_keys("\r");
    terminal.say("/cost", "/cost");
    terminal.wait_for("2 requests");
    terminal.type_keys("/quit\r");
    let requests = terminal.simulator.requests().len();
    assert_eq!((requests, terminal.end()), (2, Some(0)));
}

#[test]
fn ctrl_c_clears_stops_and_leaves() {
    let mut terminal = Terminal::start("interrupt", &["chat", "-m", "sluice/echo+delay-headers=600000"], SIZE);
    terminal.wait_for_prompt();
    terminal.type_keys("not sent");
    terminal.wait_for("> not sent");
    terminal.type_keys("\u{3}");
    terminal.wait_for("Ctrl-C again or Ctrl-D leaves.");
    terminal.wait_for_prompt();
    terminal.type_keys("a question");
    terminal.wait_for("> a question");
    terminal.type_keys("\r");
    // The request is running; the editor isn't. The spinner goes on, so there is always something to read.
    while terminal.simulator.requests().is_empty() {
        terminal.read();
    }
    assert_eq!(terminal.asked(), "a question");
    terminal.type_keys("\u{3}");
    terminal.wait_for("cancelled");
    terminal.wait_for_prompt();
    // The second one leaves.
    terminal.type_keys("\u{3}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn commands_change_the_conversation() {
    let mut terminal = Terminal::start("commands", &["chat", "-m", "sluice/echo"], (60, 100));
    fs::write(terminal.directory.join("notes.txt"), "the notes").unwrap();
    terminal.wait_for_prompt();
    terminal.say("one", "one");
    terminal.say("/undo", "/undo");
    terminal.say("/system Be brief.", "/system Be brief.");
    terminal.say("/file no\t", "/file notes.txt");
    terminal.say("two", "two");
    assert_eq!(terminal.asked(), "<file path=\"notes.txt\">\nthe notes\n</file>\ntwo");
    let requests = terminal.simulator.requests();
    let body: Value = serde_json::from_slice(&requests.last().unwrap().body).unwrap();
    assert_eq!((&body["instructions"], body["input"].as_array().unwrap().len()), (&"Be brief.".into(), 1));
    terminal.say("/model sluice/reasoning", "/model sluice/reasoning");
    terminal.say("/save talk.md", "/save talk.md");
    terminal.say("/nonsense", "/nonsense");
    terminal.wait_for("there is no command /nonsense");
    let saved = fs::read_to_string(terminal.directory.join("talk.md")).unwrap();
    assert!(saved.contains("## Instructions\n\nBe brief.") && saved.contains("## Answer"), "{saved}");
    terminal.say("/clear", "/clear");
    terminal.say("three", "three");
    let requests = terminal.simulator.requests();
    let body: Value = serde_json::from_slice(&requests.last().unwrap().body).unwrap();
    assert_eq!((&body["model"], body["input"].as_array().unwrap().len()), (&"sluice/reasoning".into(), 1));
    terminal.type_keys("/exit\r");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn a_tool_runs_only_if_the_user_agrees() {
    let tools = r#"{"tools": [{"name": "run", "command": ["sh", "-c", "echo x >> log; echo done"]}]}"#;
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal/agree");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("tools.json"), tools).unwrap();
    let runs = || fs::read_to_string(directory.join("log")).unwrap_or_default().lines().count();
    for (answer, expected) in [("n\r", 0), ("\r", 0), ("y\r", 1), ("a\r", 3)] {
        // Two calls, one after the other.
        let prompt = if expected == 3 { "run {} run {\"a\":1}" } else { "run {}" };
        let arguments = ["chat", "-m", "sluice/tools", "--tools", "tools.json", prompt];
        let mut terminal = Terminal::start_in(directory.clone(), &arguments, SIZE);
        terminal.wait_for("Run run? [y]es, [a]lways, [N]o:");
        terminal.type_keys(answer);
        terminal.wait_for("completed · ");
        assert_eq!(terminal.end(), Some(0));
        assert_eq!(runs(), expected, "{answer:?}");
    }
}
